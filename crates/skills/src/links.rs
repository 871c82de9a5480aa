use crate::outline::prose_lines;

/// The subfolders of the format; a path into one of them is a link even without link syntax.
const SUBFOLDERS: [&str; 3] = ["references/", "scripts/", "assets/"];

/// A relative path that a text points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) path: String,
    /// The line of the text, counted from 1.
    pub(crate) line: usize,
}

/// The relative paths a Markdown text points to, outside fenced code, each once: the targets of `[…](…)`,
/// and code spans that begin with one of the format's subfolders.
pub(crate) fn links(markdown: &str) -> Vec<Link> {
    let mut found: Vec<Link> = Vec::new();
    for (line, text) in prose_lines(markdown) {
        for path in targets(text).chain(spans(text)) {
            if !found.iter().any(|link| link.path == path) {
                found.push(Link { path, line });
            }
        }
    }
    found
}

fn targets(line: &str) -> impl Iterator<Item = String> {
    line.match_indices("](").filter_map(|(at, open)| {
        let rest = line[at + open.len()..].trim_start();
        let target = match rest.strip_prefix('<') {
            Some(rest) => rest.split_once('>')?.0,
            None => rest.split([')', ' ', '\t']).next()?,
        };
        local(target)
    })
}

fn spans(line: &str) -> impl Iterator<Item = String> {
    let inside = line.split('`').skip(1).step_by(2);
    inside.filter(|span| is_subfolder(span) && !span.contains(char::is_whitespace)).filter_map(local)
}

fn is_subfolder(path: &str) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path);
    SUBFOLDERS.iter().any(|folder| path.len() > folder.len() && path.starts_with(folder))
}

/// The path of a link to a file, without fragment; none for addresses, folders and places in the same text.
fn local(target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next()?;
    let scheme = path.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    if path.is_empty() || path.ends_with('/') || scheme || path.starts_with("//") {
        return None;
    }
    let path = path.replace("%20", " ");
    Some(path.strip_prefix("./").map(str::to_owned).unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_as_a_link() {
        let check = |markdown: &str, expected: &[&str]| {
            let found: Vec<String> = links(markdown).into_iter().map(|link| link.path).collect();
            assert_eq!(found, expected, "{markdown}");
        };
        check("See [a](references/a.md) and [b](./b.md#part \"title\").", &["references/a.md", "b.md"]);
        check("![图](assets/图.png) [x](<a b.md>) [y](a%20b.md)", &["assets/图.png", "a b.md"]);
        check("[web](https://example.com) [mail](mailto:a@b.c) [here](#part) [](//host/x)", &[]);
        check("run `scripts/go.py`, not `cargo run` or `references/`", &["scripts/go.py"]);
        check("```\n[no](no.md)\n```\n[up](../up.md) [root](/etc/passwd)", &["../up.md", "/etc/passwd"]);
        check("](", &[]);
    }
}
