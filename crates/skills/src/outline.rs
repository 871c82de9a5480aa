use std::path::Path;

use crate::{Fault, Rule};

/// A heading of a Markdown text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading<'a> {
    /// 1 to 6.
    pub level: u8,
    /// The words, without the marks.
    pub text: &'a str,
    /// The line of the text, counted from 1.
    pub line: usize,
}

/// The `#` headings of a Markdown text in order; those inside fenced code are none.
///
/// ```
/// let headings = thermidor_skills::outline("# Role\n```\n# no heading\n```\n## Quality ##\n");
/// assert_eq!(headings.iter().map(|heading| (heading.level, heading.text)).collect::<Vec<_>>(), [(1, "Role"), (2, "Quality")]);
/// ```
pub fn outline(markdown: &str) -> Vec<Heading<'_>> {
    prose_lines(markdown)
        .filter_map(|(line, text)| {
            let indent = text.len() - text.trim_start_matches(' ').len();
            let text = text.trim();
            let level = text.bytes().take_while(|byte| *byte == b'#').count();
            let rest = &text[level..];
            if indent > 3 || !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t']))
            {
                return None;
            }
            let closed = rest.trim_end_matches('#');
            let words = if closed.is_empty() || closed.ends_with([' ', '\t']) { closed } else { rest };
            Some(Heading { level: u8::try_from(level).ok()?, text: words.trim(), line })
        })
        .collect()
}

/// Checks that a translation has the same headings as the original: as many, at the same levels.
///
/// # Errors
/// [`Rule::Translation`] at the first heading of `translation` that differs; `path` is its file.
pub fn same_outline(original: &str, translation: &str, path: &Path) -> Result<(), Fault> {
    let (ours, theirs) = (outline(original), outline(translation));
    let differ = |message: String, line: Option<usize>| {
        Err(Fault::new(path, Rule::Translation, message, "give both languages the same headings").at(line))
    };
    for (a, b) in ours.iter().zip(&theirs) {
        if a.level != b.level {
            let message =
                format!("the heading `{}` has level {}, `{}` has level {}", b.text, b.level, a.text, a.level);
            return differ(message, Some(b.line));
        }
    }
    match (ours.get(theirs.len()), theirs.get(ours.len())) {
        (Some(missing), _) => differ(format!("the heading `{}` has no counterpart", missing.text), None),
        (_, Some(extra)) => {
            differ(format!("the heading `{}` is not in the original", extra.text), Some(extra.line))
        }
        (None, None) => Ok(()),
    }
}

/// The lines outside fenced code, with their numbers from 1.
pub(crate) fn prose_lines(markdown: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    markdown.lines().enumerate().filter_map(move |(at, line)| {
        let text = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
        match (fence, mark) {
            (None, None) => Some((at + 1, line)),
            (None, Some(mark)) => {
                fence = Some(run_of(text, mark));
                None
            }
            (Some(open), _) => {
                // A fence is closed by at least as many of its own marks, alone on the line.
                let closes =
                    text.starts_with(open) && text.trim_end().bytes().all(|byte| open.as_bytes()[0] == byte);
                fence = (!closes).then_some(open);
                None
            }
        }
    })
}

fn run_of<'a>(text: &'a str, mark: &str) -> &'a str {
    let length = text.bytes().take_while(|byte| *byte == mark.as_bytes()[0]).count();
    &text[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_all_shapes() {
        let check = |markdown: &str, expected: &[(u8, &str, usize)]| {
            let found: Vec<_> = outline(markdown).into_iter().map(|h| (h.level, h.text, h.line)).collect();
            assert_eq!(found, expected, "{markdown}");
        };
        check("# 角色\r\ntext\r\n### 例子\r\n", &[(1, "角色", 1), (3, "例子", 3)]);
        check("#no\n####### no\n    # no\n   # yes", &[(1, "yes", 4)]);
        check("# C#\n## F# ##\n#", &[(1, "C#", 1), (2, "F#", 2), (1, "", 3)]);
        check("````\n```\n# no\n````\n# yes", &[(1, "yes", 5)]);
        check("~~~\n```\n# no\n~~~\n# yes", &[(1, "yes", 5)]);
        check("```\n# no", &[]);
        check("", &[]);
    }

    #[test]
    fn outlines_are_compared() {
        let check = |original: &str, translation: &str, expected: &str| {
            let shown = match same_outline(original, translation, Path::new("SKILL.zh.md")) {
                Ok(()) => "same".to_owned(),
                Err(fault) => fault.to_string(),
            };
            assert_eq!(shown, expected);
        };
        let remedy = "give both languages the same headings";
        check("# A\n## B", "# 甲\n## 乙", "same");
        check(
            "# A\n## B",
            "# 甲\n# 乙",
            &format!("SKILL.zh.md:2: the heading `乙` has level 1, `B` has level 2; {remedy}"),
        );
        check("# A\n## B", "# 甲", &format!("SKILL.zh.md: the heading `B` has no counterpart; {remedy}"));
        check(
            "# A",
            "# 甲\n# 乙",
            &format!("SKILL.zh.md:2: the heading `乙` is not in the original; {remedy}"),
        );
    }
}
