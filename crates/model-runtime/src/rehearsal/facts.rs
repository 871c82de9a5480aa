use super::{
    brief::{Brief, bare},
    contract::{Contract, Material, MaterialKind},
    language::Language,
    phrases::{phrases, plain},
    points::{Point, lines, points, sentences_of, without_mark},
};

/// What an answer can speak of, taken from the prompt.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The request, taken apart.
    pub(super) brief: Brief,
    /// Key phrases of the request, never empty.
    pub(super) request: Vec<String>,
    /// What each source says; sources that say nothing are left out.
    pub(super) sources: Vec<Voice>,
    /// What the skill says good work is measured by, whole items only.
    pub(super) criteria: Vec<String>,
}

/// One source: how it is called in a sentence, and what it says.
#[derive(Debug)]
pub(super) struct Voice {
    pub(super) label: String,
    /// The same in brackets.
    pub(super) aside: String,
    pub(super) points: Vec<Point>,
}

impl Facts {
    pub(super) fn of(contract: &Contract) -> Self {
        let language = contract.language;
        let brief = Brief::of(&contract.request, language);
        let mut request = phrases(&contract.request, 12);
        if request.is_empty() {
            request.push(language.pick("the task", "这项任务").to_owned());
        }
        let own = brief.all();
        let voices = contract.materials.iter().enumerate().map(|(place, source)| {
            let mut points = points(&source.text, &own);
            // What a member copied from the rules of the trade is not the member's.
            points.retain(|point| !contract.skills.iter().any(|skill| skill.contains(&point.text)));
            let label = label(source, place, language);
            let aside = label.strip_prefix("the ").unwrap_or(&label).replace(" (", ", ").replace(')', "");
            Voice { label, aside, points }
        });
        let sources = voices.filter(|voice| !voice.points.is_empty()).collect();
        let criteria = contract.skills.iter().flat_map(|skill| criteria(skill, language)).collect();
        Self { brief, request, sources, criteria }
    }
}

fn label(source: &Material, place: usize, language: Language) -> String {
    let (member, name) = (bare(&source.member), bare(&source.name));
    let fits =
        |name: &String| !name.is_empty() && (language == Language::English || Language::of(name) == language);
    match (source.kind, language) {
        (MaterialKind::ToolResult, Language::English) => format!("the tool {name}"),
        (MaterialKind::ToolResult, Language::Chinese) => "工具返回的结果".to_owned(),
        (MaterialKind::Output, Language::English) if fits(&member) && fits(&name) => {
            format!("{} ({name})", role(member))
        }
        (MaterialKind::Output, _) => match (fits(&member), fits(&name), language) {
            (true, _, Language::English) => role(member),
            (true, _, Language::Chinese) => member,
            (_, true, Language::English) => format!("the stage {name}"),
            (_, true, Language::Chinese) => format!("{name}阶段"),
            (_, _, Language::English) => format!("the output before, no. {}", place + 1),
            (_, _, Language::Chinese) => format!("第{}份上游产出", place + 1),
        },
    }
}

/// `General manager` is a role and becomes `the general manager`; `Ada` and `Ada Lovelace` are names.
fn role(member: String) -> String {
    let mut words = member.split(' ');
    let capital = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
    let first = words.next().unwrap_or_default();
    let plain_first = first.chars().skip(1).all(char::is_lowercase);
    let mut others = words.peekable();
    if !capital(first) || !plain_first || others.peek().is_none() || others.any(capital) {
        return member;
    }
    format!("the {}", member.to_lowercase())
}

/// The whole list items under the headings of a skill that speak of quality, short enough to be quoted.
fn criteria(skill: &str, language: Language) -> Vec<String> {
    let wanted = |heading: &str| {
        ["quality", "criteria", "acceptance", "质量", "标准", "验收"]
            .iter()
            .any(|word| heading.contains(word))
    };
    let (mut found, mut inside) = (Vec::new(), false);
    for line in skill.lines().map(str::trim) {
        if line.starts_with('#') {
            inside = wanted(&line.to_lowercase());
        } else if inside && without_mark(line).len() < line.len() {
            let item = plain(without_mark(line));
            let size = language.count_words(&item);
            let quoted = item.contains(['“', '”', '"']);
            if (3..=language.pick(20, 36)).contains(&size) && !quoted && Language::of(&item) == language {
                found.push(item);
            }
        }
    }
    found
}

/// Whole lines that can stand in a list for a source: one under each heading first, then the others.
pub(super) fn highlights(voice: &Voice, most: usize) -> Vec<&str> {
    let (mut first, mut rest, mut seen) = (Vec::new(), Vec::new(), None);
    for point in &voice.points {
        let list = if seen == Some(&point.kinds) { &mut rest } else { &mut first };
        list.push(point.text.as_str());
        seen = Some(&point.kinds);
    }
    first.extend(rest);
    first.truncate(most);
    first
}

/// The sentences of all sources, to keep an answer from saying them again.
pub(super) fn spoken(contract: &Contract) -> Vec<String> {
    let outputs = contract.materials.iter().filter(|source| source.kind == MaterialKind::Output);
    outputs
        .flat_map(|source| lines(&source.text))
        .flat_map(|line| {
            sentences_of(&line.text)
                .into_iter()
                .map(|sentence| sentence.trim().to_owned())
                .collect::<Vec<_>>()
        })
        .collect()
}
