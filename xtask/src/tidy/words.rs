//! Words of a higher layer have no place in a lower one.

use super::{fault::Fault, source::Source};

/// Where the rule holds.
const ENGINE: &str = "crates/step-engine/src/";
/// What the engine knows nothing of.
const REFUSED: [&str; 7] = ["llm", "tool", "tools", "agent", "agents", "prompt", "prompts"];

/// Refuses words of higher layers in the engine: in names, in comments, in text.
pub(crate) fn check(source: &Source) -> Vec<Fault> {
    if !source.path.starts_with(ENGINE) {
        return Vec::new();
    }
    let found = source.lines().flat_map(|(line, text)| words(text).into_iter().map(move |word| (line, word)));
    let refused = found.filter(|(_, word)| REFUSED.contains(&word.as_str()));
    let faults = refused.map(|(line, word)| {
        let what = format!("the engine speaks of `{word}`");
        Fault::new(
            &source.path,
            line,
            what,
            "say it in the engine's words (machine, run, effect, child, outcome)",
        )
    });
    faults.collect()
}

/// The words of a line in lower case; `call_llm` and `CallLlm` are two each.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in line.chars() {
        let hump = letter.is_uppercase() && before.is_lowercase();
        if hump || !letter.is_alphabetic() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphabetic(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::tidy::fault::brief;

    /// Would fail if a word could hide in a longer name, or if a word that contains one were refused.
    #[test]
    fn the_engine_knows_no_agents() {
        let text = "//! Drives a machine promptly; a toolchain.\nenum E { CallTool, call_llm }\n// An Agent's turn\nlet s = \"PROMPTS\";\n";
        expect![[r"
            crates/step-engine/src/a.rs:2: the engine speaks of `tool`
            crates/step-engine/src/a.rs:2: the engine speaks of `llm`
            crates/step-engine/src/a.rs:3: the engine speaks of `agent`
            crates/step-engine/src/a.rs:4: the engine speaks of `prompts`
        "]]
        .assert_eq(&brief(&check(&Source::new("crates/step-engine/src/a.rs", text))));
        assert_eq!(check(&Source::new("crates/tools/src/a.rs", text)), []);
    }
}
