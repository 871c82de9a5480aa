//! Every file says what it is about.

use super::{fault::Fault, source::Source};

/// Requires a crate doc in `lib.rs` and `main.rs`; elsewhere a module doc or a documented first item.
pub(crate) fn check(source: &Source) -> Option<Fault> {
    let root = matches!(source.file_name(), "lib.rs" | "main.rs");
    if source.text.starts_with("//!") {
        return None;
    }
    if root {
        let mend = "begin with `//! One sentence.`, and for a library an example that runs";
        return Some(Fault::new(&source.path, 1, "the crate has no doc at its first line", mend));
    }
    let lines: Vec<&str> = source.text.lines().collect();
    let first = source.code().into_iter().find(|(_, code)| is_item(code))?.0;
    let before = lines[..first - 1].iter().rev();
    let documented = before
        .take_while(|line| !line.is_empty() && !line.starts_with('}'))
        .any(|line| line.starts_with("///"));
    (!documented).then(|| {
        let what = "neither the file nor its first shared item says what it is";
        Fault::new(
            &source.path,
            first,
            what,
            "begin the file with `//! One sentence.` or document the item with `///`",
        )
    })
}

/// An item at the left margin that other files can see. Re-exports, aliases and constants speak for themselves.
fn is_item(code: &str) -> bool {
    let Some(rest) = code.strip_prefix("pub") else { return false };
    let rest =
        rest.split_once(") ").filter(|_| rest.starts_with('(')).map_or(rest, |(_, item)| item).trim_start();
    let mut words = rest.split_whitespace();
    match words.next().unwrap_or_default() {
        "use" | "mod" | "type" | "static" => false,
        "const" => words.next() == Some("fn"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Would fail if a file that explains nothing passed, or one that does were refused.
    #[test]
    fn a_file_says_what_it_is() {
        let table = [
            ("lib.rs", "//! Words.\n", true),
            ("lib.rs", "use std::fmt;\n", false),
            ("a.rs", "//! Words.\npub struct A;\n", true),
            ("a.rs", "use x;\n\n/// Words.\n#[derive(Debug)]\npub struct A;\npub struct B;\n", true),
            ("a.rs", "use x;\n\n/// Words.\n#[derive(\n    Debug\n)]\npub(crate) struct A;\n", true),
            ("a.rs", "/// Words.\nstruct A;\n\npub(crate) struct B;\n", false),
            ("a.rs", "pub(super) fn a() {}\n", false),
            ("a.rs", "pub(crate) type A = B;\n\n/// Words.\npub(crate) trait C {}\n", true),
            ("mod.rs", "mod a;\npub use a::A;\npub(crate) mod b;\n", true),
            ("a.rs", "impl A {}\n", true),
        ];
        for (name, text, fine) in table {
            let source = Source::new(&format!("crates/x/src/{name}"), text);
            assert_eq!(check(&source).is_none(), fine, "{name}: {text}");
        }
    }
}
