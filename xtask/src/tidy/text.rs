//! What holds for every line of every text file.

use super::{fault::Fault, source::Source};

/// Marks of unfinished work.
const UNFINISHED: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
/// How a path begins that exists on one person's machine only.
const MACHINES: [&str; 5] = [
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/Us", "ers/"),
    concat!("C:\\Us", "ers\\"),
];

/// Refuses tabs, trailing space, marks of unfinished work and paths of one machine; wants a line break at the end.
pub(crate) fn check(source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |line, what: String, mend: &str| faults.push(Fault::new(&source.path, line, what, mend));
    for (line, text) in source.lines() {
        if text.contains('\t') {
            fault(line, "a tab".into(), "use spaces; in a string write `\\t`");
        }
        if text.ends_with(char::is_whitespace) {
            fault(line, "space at the end of the line".into(), "remove it");
        }
        if let Some(mark) = UNFINISHED.iter().find(|mark| has_word(text, mark)) {
            fault(line, format!("`{mark}`"), "finish it, leave it out, or open an issue");
        }
        if let Some(path) = MACHINES.iter().find(|path| begins_path(text, path)) {
            fault(
                line,
                format!("`{path}…` is a path of one machine"),
                "make it relative, or a temporary folder",
            );
        }
    }
    let count = source.text.lines().count();
    if !source.text.is_empty() && !source.text.ends_with('\n') {
        fault(count, "no line break at the end of the file".into(), "add one");
    }
    if source.text.ends_with("\n\n") {
        fault(count, "empty lines at the end of the file".into(), "remove them");
    }
    faults
}

fn has_word(text: &str, word: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word))
}

/// Whether an absolute path begins with `path`: `src/x/` inside a longer path does not count.
fn begins_path(text: &str, path: &str) -> bool {
    let inside =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '~' | '}' | '>');
    text.match_indices(path).any(|(at, _)| !text[..at].ends_with(inside))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::tidy::fault::brief;

    fn check_text(text: &str, expected: Expect) {
        let faults = brief(&check(&Source::new("a.md", text)));
        expected.assert_eq(&faults.replace(UNFINISHED[0], "MARK").replace(MACHINES[0], "PATH"));
    }

    /// Would fail if one of these passed.
    #[test]
    fn untidy_lines_are_named() {
        let text = format!("a\tb\nc \n{}: d\nsee {}x", UNFINISHED[0], MACHINES[0]);
        check_text(
            &text,
            expect![[r"
                a.md:1: a tab
                a.md:2: space at the end of the line
                a.md:3: `MARK`
                a.md:4: `PATH…` is a path of one machine
                a.md:4: no line break at the end of the file
            "]],
        );
        check_text("a\n\n", expect!["a.md:2: empty lines at the end of the file\n"]);
    }

    /// Would fail if words and links that only look alike were refused.
    #[test]
    fn tidy_lines_pass() {
        check_text("", expect![""]);
        check_text(
            "a todo list, MASTODONS\nhttps://example.org/users/home/\n$HOME/x ./some/y docs/root/z\n",
            expect![""],
        );
    }
}
