//! The project's files at the end of an answer, made from what the prompt gave.

use std::fmt::Write as _;

use serde::Serialize;

use super::{
    contract::Contract,
    facts::{Facts, Voice},
    language::Language,
    phrases::{clip, plain},
};

#[derive(Serialize)]
struct Outline<'a> {
    request: &'a str,
    key_phrases: &'a [String],
    sources: Vec<Entry<'a>>,
    deliverables: &'a [String],
    criteria: &'a [String],
}

#[derive(Serialize)]
struct Entry<'a> {
    from: &'a str,
    points: Vec<&'a str>,
}

/// Appends `README.md`, `index.html` and `data/outline.json`, each named and fenced.
pub(super) fn append(answer: &mut String, contract: &Contract, facts: &Facts) {
    let label = contract.language.pick("File: ", "文件：");
    let title = title(contract, facts);
    for (path, kind, text) in [
        ("README.md", "markdown", readme(contract.language, &title, contract, facts)),
        ("index.html", "html", page(contract.language, &title, contract, facts)),
        ("data/outline.json", "json", outline(contract, facts)),
    ] {
        let _ = write!(answer, "\n\n{label}{path}\n```{kind}\n{}\n```", text.trim_end());
    }
}

fn title(contract: &Contract, facts: &Facts) -> String {
    let title = clip(&plain(&contract.request), contract.language, 12, 24);
    if title.is_empty() { facts.request.join(", ") } else { title }
}

/// The points of a source: its sentences, or its phrases when it has none worth quoting.
fn points(voice: &Voice) -> impl Iterator<Item = &str> {
    let list = if voice.sentences.is_empty() { &voice.phrases } else { &voice.sentences };
    list.iter().take(5).map(String::as_str)
}

fn readme(language: Language, title: &str, contract: &Contract, facts: &Facts) -> String {
    let mut text = format!("# {title}\n\n> {}\n", plain(&contract.request));
    let _ = write!(
        text,
        "\n{}\n",
        language.pick(
            "Open `index.html` in a browser. `data/outline.json` holds the same facts for programs. A rehearsal made these files.",
            "用浏览器打开 `index.html`；`data/outline.json` 里是同样的内容，供程序读取。这些文件由彩排生成。",
        )
    );
    for voice in &facts.sources {
        let _ = write!(text, "\n## {}\n\n", voice.label);
        for point in points(voice) {
            let _ = writeln!(text, "- {point}");
        }
    }
    text
}

fn page(language: Language, title: &str, contract: &Contract, facts: &Facts) -> String {
    let lang = language.pick("en", "zh-CN");
    let mut text = format!(
        "<!doctype html>\n<html lang=\"{lang}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n\
         <style>body{{font:1rem/1.6 system-ui;max-width:42rem;margin:2rem auto;padding:0 1rem}}</style>\n</head>\n\
         <body>\n<h1>{0}</h1>\n<p>{1}</p>\n<ul>\n",
        escape(title),
        escape(&plain(&contract.request)),
    );
    for phrase in &facts.request {
        let _ = writeln!(text, "<li>{}</li>", escape(phrase));
    }
    text.push_str("</ul>\n");
    for voice in &facts.sources {
        let _ = write!(text, "<section>\n<h2>{}</h2>\n<ul>\n", escape(&voice.label));
        for point in points(voice) {
            let _ = writeln!(text, "<li>{}</li>", escape(point));
        }
        text.push_str("</ul>\n</section>\n");
    }
    text.push_str("</body>\n</html>\n");
    text
}

fn outline(contract: &Contract, facts: &Facts) -> String {
    let outline = Outline {
        request: &contract.request,
        key_phrases: &facts.request,
        sources: facts
            .sources
            .iter()
            .map(|voice| Entry { from: &voice.label, points: points(voice).collect() })
            .collect(),
        deliverables: &facts.deliverables,
        criteria: &facts.criteria,
    };
    // Only strings and lists: there is nothing in it that has no JSON form.
    serde_json::to_string_pretty(&outline).unwrap_or_default()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
