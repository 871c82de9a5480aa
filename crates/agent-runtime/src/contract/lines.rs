//! Markdown lines, told apart by whether they stand in a fenced block.

/// A line of Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Outside of fences.
    Prose(&'a str),
    /// The line that opens a fence.
    Opens,
    /// Inside of a fence.
    Fenced(&'a str),
    /// The line that closes a fence.
    Closes,
}

/// The lines of `text`. A fence opens with three or more backticks or tildes, and closes with at least as
/// many of the same and nothing else; one that never closes goes to the end.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut open: Option<(char, usize)> = None;
    text.lines().map(move |line| match (open, fence(line)) {
        (None, Some((mark, length, info))) if mark == '~' || !info.contains('`') => {
            open = Some((mark, length));
            Line::Opens
        }
        (None, _) => Line::Prose(line),
        (Some((mark, length)), Some((closing, closing_length, "")))
            if closing == mark && closing_length >= length =>
        {
            open = None;
            Line::Closes
        }
        (Some(_), _) => Line::Fenced(line),
    })
}

/// The mark of a fence, how often it stands, and what follows it.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (length >= 3).then(|| (mark, length, rest.trim()))
}
