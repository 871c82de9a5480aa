use super::{
    contract::{Contract, Material, MaterialKind},
    language::Language,
    phrases::{clip, phrases, plain, sentences},
};

/// What an answer can speak of, taken from the prompt.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Key phrases of the request, never empty.
    pub(super) request: Vec<String>,
    /// What each source says.
    pub(super) sources: Vec<Voice>,
    /// What the skill says must be delivered.
    pub(super) deliverables: Vec<String>,
    /// What the skill says good work is measured by.
    pub(super) criteria: Vec<String>,
}

/// One source: how it is called in a sentence, and what it says.
#[derive(Debug)]
pub(super) struct Voice {
    pub(super) label: String,
    pub(super) phrases: Vec<String>,
    pub(super) sentences: Vec<String>,
}

impl Facts {
    pub(super) fn of(contract: &Contract) -> Self {
        let language = contract.language;
        let mut request = phrases(&contract.request, 12);
        if request.is_empty() {
            request.push(language.pick("the task", "这项任务").to_owned());
        }
        let voices = contract
            .materials
            .iter()
            .enumerate()
            .map(|(place, source)| voice(source, place, language, &request));
        let sources = voices.filter(|voice| !voice.phrases.is_empty()).collect();
        let items = |words: &[&str]| {
            contract.skills.iter().flat_map(|skill| listed(skill, words, language)).collect()
        };
        Self {
            sources,
            deliverables: items(&["deliver", "output", "交付", "产出"]),
            criteria: items(&["quality", "criteria", "acceptance", "质量", "标准", "验收"]),
            request,
        }
    }
}

fn voice(source: &Material, place: usize, language: Language, request: &[String]) -> Voice {
    let mut own = phrases(&source.text, 16);
    let fresh: Vec<String> = own.iter().filter(|phrase| !request.contains(phrase)).cloned().collect();
    if fresh.len() > 1 {
        own = fresh;
    }
    let (member, name) = (plain(&source.member), plain(&source.name));
    let fits =
        |name: &String| !name.is_empty() && (language == Language::English || Language::of(name) == language);
    let label = match (source.kind, language) {
        (MaterialKind::ToolResult, Language::English) => format!("the tool {name}"),
        (MaterialKind::ToolResult, Language::Chinese) => "工具返回的结果".to_owned(),
        (MaterialKind::Output, Language::English) if fits(&member) && fits(&name) => {
            format!("{member} ({name})")
        }
        (MaterialKind::Output, _) => match (fits(&member), fits(&name), language) {
            (true, ..) => member,
            (_, true, Language::English) => format!("the stage {name}"),
            (_, true, Language::Chinese) => format!("{name}阶段"),
            (_, _, Language::English) => format!("the output before, no. {}", place + 1),
            (_, _, Language::Chinese) => format!("第{}份上游产出", place + 1),
        },
    };
    Voice { label, phrases: own, sentences: sentences(&source.text, 12) }
}

/// The list items under the headings of a skill that contain one of `words`, in the answer's language.
fn listed(skill: &str, words: &[&str], language: Language) -> Vec<String> {
    let (mut found, mut wanted) = (Vec::new(), false);
    for line in skill.lines().map(str::trim) {
        if line.starts_with('#') {
            let heading = line.to_lowercase();
            wanted = words.iter().any(|word| heading.contains(word));
        } else if wanted
            && (line.starts_with(['-', '*', '+']) || line.starts_with(|c: char| c.is_ascii_digit()))
        {
            let item = item(line, language);
            if !item.is_empty() && Language::of(&item) == language {
                found.push(item);
            }
        }
    }
    found
}

/// What a list item is about: what stands in bold at its beginning, else its first clause, else its first words.
fn item(line: &str, language: Language) -> String {
    let text =
        line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | '-' | '+' | ' '));
    let text = text.strip_prefix("* ").unwrap_or(text).replace(['“', '”', '"'], "");
    let bold = text.strip_prefix("**").and_then(|rest| rest.split_once("**")).map(|(bold, _)| bold);
    let clause = text.split([',', ';', ':', '，', '；', '：', '。']).next().unwrap_or_default();
    let short =
        |part: &str| (language.pick(3, 4)..=language.pick(16, 28)).contains(&language.count_words(part));
    let whole = bold.or_else(|| Some(clause).filter(|clause| short(clause))).unwrap_or(&text);
    clip(&plain(whole), language, 16, 28)
}
