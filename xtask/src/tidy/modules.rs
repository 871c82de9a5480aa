//! `lib.rs` and `mod.rs` are tables of contents, and every file has a name that says something.

use super::{fault::Fault, source::Source};

/// `lib.rs` stays under this many lines.
const TABLE_OF_CONTENTS: usize = 80;
/// Names that say nothing.
const EMPTY_NAMES: [&str; 7] = ["common", "helper", "helpers", "misc", "shared", "util", "utils"];
/// What a table of contents does not hold.
const MEAT: [&str; 11] =
    ["async", "const", "enum", "fn", "impl", "macro_rules!", "static", "struct", "trait", "type", "unsafe"];

/// Refuses files and folders whose name says nothing.
pub(crate) fn check_name(source: &Source) -> Option<Fault> {
    if !source.is_rust() {
        return None;
    }
    let path = source.path.strip_suffix(".rs").unwrap_or(&source.path);
    let name = path.split('/').find(|part| EMPTY_NAMES.contains(part))?;
    Some(Fault::new(
        &source.path,
        1,
        format!("`{name}` says nothing"),
        "name it after the one thing it holds",
    ))
}

/// Refuses a long `lib.rs` and items in `mod.rs`.
pub(crate) fn check_body(source: &Source) -> Vec<Fault> {
    match source.file_name() {
        "lib.rs" => too_long(source).into_iter().collect(),
        "mod.rs" => meat(source),
        _ => Vec::new(),
    }
}

fn too_long(source: &Source) -> Option<Fault> {
    let lines = source.text.lines().count();
    (lines >= TABLE_OF_CONTENTS).then(|| {
        let what = format!("lib.rs has {lines} lines, it stays under {TABLE_OF_CONTENTS}");
        Fault::new(
            &source.path,
            TABLE_OF_CONTENTS,
            what,
            "leave the crate doc, `mod` and `pub use`; move the rest to a named file",
        )
    })
}

fn meat(source: &Source) -> Vec<Fault> {
    let code = source.code();
    let items = code.iter().filter_map(|(line, code)| Some((*line, item(code)?)));
    let faults = items.map(|(line, keyword)| {
        let what = format!("mod.rs holds a `{keyword}`, it only re-exports");
        Fault::new(&source.path, line, what, "move it to a file named after it")
    });
    faults.collect()
}

/// The keyword of the item that starts on this line, if a table of contents does not hold such items.
fn item(code: &str) -> Option<&str> {
    let mut words = code.split_whitespace();
    let first = words.find(|word| !word.starts_with("pub") && !word.starts_with("#["))?;
    let keyword = first.split(['<', '(']).next()?;
    MEAT.contains(&keyword).then_some(keyword)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::tidy::fault::brief;

    /// Would fail if code could hide in a table of contents, or if its ordinary lines were refused.
    #[test]
    fn a_table_of_contents_holds_no_items() {
        let text = "//! The fn of it.\n\nmod a;\npub(crate) use a::{\n    constant, typed,\n};\npub(crate) fn b() {}\nimpl<T> A {}\n";
        let faults = check_body(&Source::new("crates/x/src/y/mod.rs", text));
        expect![[r"
            crates/x/src/y/mod.rs:7: mod.rs holds a `fn`, it only re-exports
            crates/x/src/y/mod.rs:8: mod.rs holds a `impl`, it only re-exports
        "]]
        .assert_eq(&brief(&faults));
        assert_eq!(check_body(&Source::new("crates/x/src/lib.rs", "//!\n".repeat(79))), []);
        assert_eq!(check_body(&Source::new("crates/x/src/lib.rs", "//!\n".repeat(80))).len(), 1);
    }

    /// Would fail if such a name passed as a folder, or as a part of a good name were refused.
    #[test]
    fn names_say_something() {
        for (path, fine) in [
            ("crates/x/src/utils.rs", false),
            ("crates/x/src/common/mod.rs", false),
            ("crates/x/src/common_prefix.rs", true),
            ("docs/common.md", true),
        ] {
            assert_eq!(check_name(&Source::new(path, "")).is_none(), fine, "{path}");
        }
    }
}
