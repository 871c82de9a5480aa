use std::path::Path;

use indexmap::IndexMap;
use smol_str::SmolStr;
use thermidor_types::Text;

use crate::{
    Fault, Rule,
    front_matter::{AllowedTools, FrontMatter, KEYS},
};

/// The limits of the Agent Skills specification, in characters.
const NAME: usize = 64;
const DESCRIPTION: usize = 1024;
const COMPATIBILITY: usize = 500;

/// Front matter that keeps the rules.
pub(crate) struct Checked {
    pub(crate) name: SmolStr,
    pub(crate) description: Text,
    pub(crate) license: Option<Text>,
    pub(crate) compatibility: Option<Text>,
    pub(crate) metadata: IndexMap<SmolStr, Text>,
    pub(crate) allowed_tools: Vec<SmolStr>,
}

/// Applies the rules of the specification. `front` is the text, to find lines in.
pub(crate) fn check(
    read: FrontMatter,
    front: &str,
    path: &Path,
    warnings: &mut Vec<Fault>,
) -> Result<Checked, Fault> {
    let line = |key: &str| {
        let is_key =
            |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'));
        front.lines().position(is_key).map(|at| at + 2)
    };
    let fault = |rule: Rule, message: String, remedy: &str| {
        Fault::new(path, rule, message, remedy).at(line(rule.name()))
    };

    let name = read.name.unwrap_or_default();
    if let Err(what) = name_fits(&name) {
        let remedy =
            "use 1 to 64 of a-z, 0-9 and single hyphens, not first or last, for instance `pdf-forms`";
        return Err(fault(Rule::Name, what, remedy));
    }
    if let Some(folder) = folder_name(path)
        && folder != name
    {
        let message = format!("the name is `{name}`, the folder `{folder}`");
        return Err(fault(Rule::Name, message, "give both the same name"));
    }
    let description = read.description.unwrap_or_default().trim().to_owned();
    let length = description.chars().count();
    if length == 0 {
        let remedy = "say in `description:` what the skill does and when to use it";
        return Err(fault(Rule::Description, "there is no description".into(), remedy));
    }
    if length > DESCRIPTION {
        let message = format!("the description has {length} characters, {DESCRIPTION} are allowed");
        return Err(fault(Rule::Description, message, "move details into the body"));
    }
    if let Some(note) = &read.compatibility {
        let length = note.trim().chars().count();
        if length == 0 || length > COMPATIBILITY {
            let message =
                format!("the compatibility note has {length} characters, 1 to {COMPATIBILITY} are allowed");
            return Err(fault(Rule::Compatibility, message, "shorten it, or leave the key out"));
        }
    }
    for key in read.unknown {
        let message = format!("the key `{key}` is not part of the format");
        let remedy = format!("move it under `metadata:`; the keys are {}", KEYS.join(", "));
        warnings.push(Fault::new(path, Rule::UnknownKey, message, remedy).at(line(&key)));
    }
    let allowed_tools = match read.allowed_tools {
        None => Vec::new(),
        Some(AllowedTools::Line(tools)) => split_tools(&tools),
        Some(AllowedTools::List(tools)) => {
            let remedy = format!("write `allowed-tools: {}`", tools.join(" "));
            warnings.push(fault(Rule::AllowedTools, "the allowed tools are a list".into(), &remedy));
            tools.into_iter().map(SmolStr::from).collect()
        }
    };
    let text = |value: String| Text::from(value.trim());
    Ok(Checked {
        name: name.into(),
        description: description.into(),
        license: read.license.map(text),
        compatibility: read.compatibility.map(text),
        metadata: read.metadata.into_iter().map(|(key, value)| (key.into(), text(value))).collect(),
        allowed_tools,
    })
}

fn name_fits(name: &str) -> Result<(), String> {
    let length = name.chars().count();
    if length == 0 {
        return Err("there is no name".into());
    }
    if length > NAME {
        return Err(format!("the name has {length} characters, {NAME} are allowed"));
    }
    if let Some(c) = name.chars().find(|c| !matches!(c, 'a'..='z' | '0'..='9' | '-')) {
        return Err(format!("the name holds {c:?}"));
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        return Err(format!("the name `{name}` has a hyphen where none may be"));
    }
    Ok(())
}

/// The name of the folder that holds the file; none for a bare file name.
fn folder_name(path: &Path) -> Option<&str> {
    path.parent()?.file_name()?.to_str()
}

/// `Bash(git: *) Read` is two tools: spaces inside parentheses do not separate, and commas do.
fn split_tools(line: &str) -> Vec<SmolStr> {
    let mut depth = 0_usize;
    let separates = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c.is_whitespace() || c == ',')
    };
    line.split(separates).filter(|tool| !tool.is_empty()).map(SmolStr::from).collect()
}
