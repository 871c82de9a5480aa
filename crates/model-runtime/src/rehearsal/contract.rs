use thermidor_types::{Content, Message, OriginKind};

use super::{
    blocks::{Kind, split},
    language::Language,
};

/// What a prompt asks of an answer, read from its wording alone.
///
/// These wordings are understood, anywhere outside of data blocks:
///
/// | English | Chinese |
/// | --- | --- |
/// | `Write at most 500 words.` | `不超过 500 字。` |
/// | `Use exactly these headings, in this order:` and lines `## Heading` | `按顺序使用以下标题：` and lines `## 标题` |
/// | `End with the project's files` | `最后给出项目文件` |
///
/// Data stands in blocks: `<request>…</request>`, `<output stage="plan" member="Project manager">…</output>`,
/// `<skill name="…">…</skill>`. Nothing in a block is read as wording. The last wording of a kind wins.
///
/// ```
/// use thermidor_model_runtime::{Contract, Language};
/// use thermidor_types::Message;
///
/// let prompt = "<request>\nA tea timer\n</request>\n\nWrite at most 80 words.\n\
///     Use exactly these headings, in this order:\n## Goal\n## Risks\n";
/// let contract = Contract::read(&[Message::user(prompt)]);
/// assert_eq!(contract.request, "A tea timer");
/// assert_eq!(contract.words, Some(80));
/// assert_eq!(contract.headings, ["Goal", "Risks"]);
/// assert_eq!(contract.language, Language::English);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contract {
    /// The language of the request, which is the language of the answer.
    pub language: Language,
    /// What was asked for: the request block, else the last thing a person said.
    pub request: String,
    /// What the answer can build on, in the prompt's order.
    pub materials: Vec<Material>,
    /// The texts of the skills.
    pub skills: Vec<String>,
    /// The most words the answer may have.
    pub words: Option<usize>,
    /// The headings the answer must have, in order.
    pub headings: Vec<String>,
    /// Whether the answer ends with a bundle of files.
    pub files: bool,
}

/// Something the answer can build on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Material {
    /// What it is.
    pub kind: MaterialKind,
    /// The stage's id or the tool's name.
    pub name: String,
    /// Who wrote it; empty for a tool.
    pub member: String,
    /// The words.
    pub text: String,
}

/// What a [`Material`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaterialKind {
    /// The output of an earlier stage.
    Output,
    /// The result of a tool call in the current turn.
    ToolResult,
}

impl Contract {
    /// Reads the contract of a prompt. Never fails: what is not understood is not part of it.
    pub fn read(messages: &[Message]) -> Self {
        let mut contract = Self::default();
        let (mut block, mut said, mut everything) = (None, None, String::new());
        for message in messages {
            if let Message::Assistant(answer) = message {
                contract.materials.extend(answer.exchanges().filter_map(|exchange| {
                    let text = exchange
                        .result
                        .as_ref()?
                        .content
                        .iter()
                        .filter_map(words)
                        .collect::<Vec<_>>()
                        .join("\n");
                    let name = exchange.call.name.to_string();
                    Some(Material { kind: MaterialKind::ToolResult, name, member: String::new(), text })
                }));
                continue;
            }
            let text = message.text();
            let (blocks, outside) = split(&text);
            for found in blocks {
                let body = found.text();
                match found.kind {
                    Kind::Request => block = Some(body),
                    Kind::Skill => contract.skills.push(body),
                    Kind::Output => contract.materials.push(Material {
                        kind: MaterialKind::Output,
                        name: found.attribute("stage"),
                        member: found.attribute("member"),
                        text: body,
                    }),
                }
            }
            let rest = contract.read_wording(&outside);
            everything.push_str(&rest);
            if let Message::User(user) = message {
                contract.materials.retain(|source| source.kind == MaterialKind::Output);
                if !rest.trim().is_empty() && (said.is_none() || user.origin.kind != OriginKind::Context) {
                    said = Some(rest.trim().to_owned());
                }
            }
        }
        contract.request = block.filter(|text| !text.is_empty()).or(said).unwrap_or_default();
        let sample = if contract.request.is_empty() { &everything } else { &contract.request };
        contract.language = Language::of(sample);
        contract
    }

    /// Takes the wordings from a text outside of blocks and returns what is left of it.
    fn read_wording(&mut self, text: &str) -> String {
        let (mut rest, mut listing) = (String::new(), false);
        for line in text.lines() {
            let plain = line.trim();
            if listing {
                if let Some(heading) = plain.strip_prefix("## ") {
                    self.headings.push(heading.trim().to_owned());
                    continue;
                }
                listing = plain.is_empty();
            }
            let mut left = plain.to_owned();
            for (before, after) in [("Write at most ", " word"), ("不超过", "字")] {
                if let Some(limit) = number_between(&left, before, after) {
                    self.words = Some(limit);
                    left = without_sentence(&left, before, &[".", "。"]);
                }
            }
            for wording in ["End with the project's files", "最后给出项目文件"] {
                if left.contains(wording) {
                    self.files = true;
                    left = without_sentence(&left, wording, &[". ", "。"]);
                }
            }
            for wording in ["Use exactly these headings, in this order", "按顺序使用以下标题"] {
                if left.contains(wording) {
                    listing = true;
                    self.headings.clear();
                    left = without_sentence(&left, wording, &[":", "："]);
                }
            }
            rest.push_str(&left);
            rest.push('\n');
        }
        rest
    }
}

fn words(content: &Content) -> Option<&str> {
    match content {
        Content::Text(text) => Some(text.as_str()),
        Content::Media(_) => None,
    }
}

/// A line without the sentence, or the rest of one, that begins with `wording` and ends at the first of `stops`.
fn without_sentence(line: &str, wording: &str, stops: &[&str]) -> String {
    let Some((before, rest)) = line.split_once(wording) else { return line.to_owned() };
    let ends = stops.iter().filter_map(|stop| rest.find(stop).map(|place| place + stop.len()));
    format!("{before}{}", ends.min().map_or("", |end| &rest[end..]))
}

/// The number between two words, with digits grouped by commas or not.
fn number_between(line: &str, before: &str, after: &str) -> Option<usize> {
    let (_, rest) = line.split_once(before)?;
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(rest.len());
    rest[end..].trim_start().starts_with(after.trim_start()).then_some(())?;
    rest[..end].replace(',', "").parse().ok()
}
