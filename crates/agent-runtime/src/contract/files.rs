use serde::{Deserialize, Serialize};
use thermidor_types::Text;

use super::lines::{Line, lines};

/// A file of a project, as a model wrote it into its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectFile {
    /// Where it belongs, relative to the project's folder, with `/` between the parts. Never leads outside.
    pub path: Text,
    /// Its content; ends with a line break unless it is empty.
    pub content: Text,
}

/// Takes the project's files out of an answer: a line `File: path` (`文件：path`) and then a fenced block.
///
/// The line may be a heading, bold or a list item, the path in backticks. Left out are files whose path is
/// absolute, leads outside, or is no path, and a last file that was cut off before its fence closed. Of
/// two files with one path the later one counts.
///
/// ```
/// use thermidor_agent_runtime::parse_files;
/// let files = parse_files("## Files\n\nFile: src/app.js\n```js\nstart();\n```\n\nFile: ../etc/passwd\n```\nroot\n```\n");
/// assert_eq!(files.len(), 1);
/// assert_eq!((&*files[0].path, &*files[0].content), ("src/app.js", "start();\n"));
/// ```
pub fn parse_files(text: &str) -> Vec<ProjectFile> {
    let mut files: Vec<ProjectFile> = Vec::new();
    for (path, content) in named_blocks(text) {
        let Some(path) = inside(&path) else { continue };
        let file = ProjectFile { path: path.into(), content: content.into() };
        match files.iter_mut().find(|known| known.path == file.path) {
            Some(known) => *known = file,
            None => files.push(file),
        }
    }
    files
}

/// The paths of files that [`parse_files`] leaves out because of their path.
pub(super) fn bad_paths(text: &str) -> Vec<String> {
    named_blocks(text).into_iter().map(|(path, _)| path).filter(|path| inside(path).is_none()).collect()
}

/// Each path with its block, in order.
fn named_blocks(text: &str) -> Vec<(String, String)> {
    let (mut files, mut named, mut content) = (Vec::new(), None, None::<String>);
    for line in lines(text) {
        match line {
            Line::Prose(line) if line.trim().is_empty() => {}
            Line::Prose(line) => named = path(line),
            Line::Opens => content = named.is_some().then(String::new),
            Line::Fenced(line) => {
                if let Some(content) = &mut content {
                    content.push_str(line);
                    content.push('\n');
                }
            }
            Line::Closes => files.extend(named.take().zip(content.take())),
        }
    }
    files
}

/// The path that a line names.
fn path(line: &str) -> Option<String> {
    let marks = ['#', '*', '_', '-', '+', ' ', '\t', '\u{3000}'];
    let line = line.trim().trim_start_matches(marks);
    let (label, rest) = line.split_once([':', '：'])?;
    let label = label.trim_matches(marks).to_lowercase();
    if !matches!(label.as_str(), "file" | "文件" | "filename" | "文件名") {
        return None;
    }
    let rest = rest
        .trim_matches(|c| matches!(c, '*' | '`' | '"' | '\'') || char::is_whitespace(c))
        .trim_end_matches([':', '：']);
    let rest = rest.trim_end_matches(['`', '*']);
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// The path in its plain form, if it stays inside of the folder it is relative to, on every system.
fn inside(path: &str) -> Option<String> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let fits = |part: &str| {
        !matches!(part, "" | "." | "..")
            && !part.contains(['\\', ':', '<', '>', '"', '|', '?', '*', '\0'])
            && !part.chars().any(char::is_control)
            && !part.starts_with([' ', '~'])
            && !part.ends_with([' ', '.'])
    };
    (path.split('/').all(fits) && path.len() <= 240).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: Expect) {
        let files = parse_files(text);
        let shown: Vec<String> =
            files.iter().map(|file| format!("{} {:?}", file.path, &*file.content)).collect();
        expected.assert_eq(&shown.join("\n"));
    }

    #[test]
    fn files_are_found() {
        check(
            "File: README.md\n```markdown\n# Hi\n\ntext\n```\n### **文件：`src/a b.rs`**\n\n~~~~rust\n```\nfn\n~~~\n~~~~\n",
            expect![[r##"
                README.md "# Hi\n\ntext\n"
                src/a b.rs "```\nfn\n~~~\n""##]],
        );
        check("- **File:** ./index.html\n```html\n```\n", expect![[r#"index.html """#]]);
        check("File: a\n```\none\n```\nFile: a\n```\ntwo\n```", expect![[r#"a "two\n""#]]);
        // A path without a block, words between path and block, a block without a path, a cut off block.
        check("File: a\nFile: b\nand then\n```\nx\n```\n```\ny\n```\nFile: c\n```\nz", expect![""]);
        check("```\nFile: a\n```\n```\nx\n```", expect![""]);
    }

    #[test]
    fn no_path_leads_outside() {
        for path in [
            "/etc/passwd",
            "../a",
            "a/../b",
            "a//b",
            "C:/a",
            "a\\b",
            "~/.ssh/id",
            "a/.",
            "a/",
            "a\u{7}b",
            "..",
            "a:b",
        ] {
            assert_eq!(parse_files(&format!("File: {path}\n```\nx\n```\n")), [], "{path}");
        }
        assert_eq!(bad_paths("File: ../a\n```\nx\n```\n"), ["../a"]);
    }

    proptest! {
        /// Would fail if any answer, however strange, gave a path that leads outside, or broke the parser.
        #[test]
        fn whatever_is_written(text in "(File: |```|~~~|\\.\\./|/|[a-z]|文件：|\n|\\PC){0,60}") {
            for file in parse_files(&text) {
                prop_assert!(!file.path.starts_with('/') && file.path.split('/').all(|part| part != ".." && !part.is_empty()));
            }
        }
    }
}
