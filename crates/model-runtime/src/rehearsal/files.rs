//! The project's files at the end of an answer, made from what the prompt gave.

use std::fmt::Write as _;

use serde::Serialize;

use super::{
    brief::bare,
    contract::Contract,
    facts::{Facts, highlights},
    language::Language,
    phrases::plain,
};

/// Points of a source in a file.
const MOST_POINTS: usize = 6;

#[derive(Serialize)]
struct Outline<'a> {
    request: &'a str,
    subject: &'a str,
    points: &'a [String],
    sources: Vec<Entry<'a>>,
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

/// The request when it is short, else the name of what it asks for; with a capital.
fn title(contract: &Contract, facts: &Facts) -> String {
    let whole = bare(&contract.request);
    let short = (1..=contract.language.pick(12, 24)).contains(&contract.language.count_words(&whole));
    let title = if short && whole.len() <= 120 { &whole } else { &facts.brief.name };
    capital(title)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn readme(language: Language, title: &str, contract: &Contract, facts: &Facts) -> String {
    let mut text = format!("# {title}\n\n> {}\n", plain(&contract.request));
    let _ = write!(text, "\n## {}\n\n", language.pick("What was asked for", "需求"));
    for point in facts.brief.all() {
        let _ = writeln!(text, "- {point}");
    }
    let _ = write!(
        text,
        "\n{}\n",
        language.pick(
            "Open `index.html` in a browser. `data/outline.json` holds the same facts for programs. A rehearsal made these files.",
            "用浏览器打开 `index.html`；`data/outline.json` 里是同样的内容，供程序读取。这些文件由彩排生成。",
        )
    );
    for voice in &facts.sources {
        let _ = write!(text, "\n## {}\n\n", capital(&voice.label));
        for point in highlights(voice, MOST_POINTS) {
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
    for point in facts.brief.all() {
        let _ = writeln!(text, "<li>{}</li>", escape(&point));
    }
    text.push_str("</ul>\n");
    for voice in &facts.sources {
        let _ = write!(text, "<section>\n<h2>{}</h2>\n<ul>\n", escape(&capital(&voice.label)));
        for point in highlights(voice, MOST_POINTS) {
            let _ = writeln!(text, "<li>{}</li>", escape(point));
        }
        text.push_str("</ul>\n</section>\n");
    }
    text.push_str("</body>\n</html>\n");
    text
}

fn outline(contract: &Contract, facts: &Facts) -> String {
    let points = facts.brief.all();
    let outline = Outline {
        request: &contract.request,
        subject: &facts.brief.name,
        points: &points,
        sources: facts
            .sources
            .iter()
            .map(|voice| Entry { from: &voice.label, points: highlights(voice, MOST_POINTS) })
            .collect(),
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
