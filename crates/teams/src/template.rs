use std::collections::BTreeSet;

use minijinja::Environment;

/// What the prompt of a stage may ask for.
pub(crate) const VALUES: [&str; 19] = [
    "request",
    "outputs",
    "params",
    "facts",
    "member",
    "language",
    "model",
    "date",
    "time",
    "weekday",
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "second",
    "timezone",
    "iso",
    "timestamp",
];

/// The most tags in a prompt. Each may nest, and nesting costs the template compiler stack.
const TAGS: usize = 200;
/// The longest tag, in bytes.
const TAG: usize = 500;

/// The values that a prompt asks for, with the attribute if one is named: `request`, `outputs.plan`.
///
/// The error says what is no template, and in which line of the prompt.
pub(crate) fn placeholders(prompt: &str) -> Result<BTreeSet<String>, String> {
    let tags = tags(prompt);
    if tags.len() > TAGS {
        return Err(format!("it has {} tags, more than {TAGS}", tags.len()));
    }
    if let Some(longest) = tags.into_iter().max().filter(|longest| *longest > TAG) {
        return Err(format!("it has a tag of {longest} bytes, more than {TAG}"));
    }
    let environment = Environment::new();
    let template = environment.template_from_str(prompt).map_err(|fault| {
        let what = fault.detail().map_or_else(|| fault.kind().to_string(), str::to_owned);
        match fault.line() {
            Some(line) if prompt.contains('\n') => format!("{what} in line {line} of the prompt"),
            _ => what,
        }
    })?;
    let globals: BTreeSet<String> = environment.globals().map(|(name, _)| name.to_owned()).collect();
    let mut asked: BTreeSet<String> = template.undeclared_variables(true).into_iter().collect();
    asked.retain(|name| !globals.contains(root(name)));
    Ok(asked)
}

/// `outputs` of `outputs.plan`.
pub(crate) fn root(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// The lengths of the tags, at least as long as the template compiler sees them.
fn tags(prompt: &str) -> Vec<usize> {
    let (mut found, mut rest) = (Vec::new(), prompt.as_bytes());
    while let Some(start) = rest.windows(2).position(|pair| matches!(pair, b"{{" | b"{%" | b"{#")) {
        rest = &rest[start..];
        let end = if rest[1] == b'#' { comment_end(rest) } else { tag_end(rest) };
        if rest[1] != b'#' {
            found.push(end);
        }
        rest = &rest[end..];
    }
    found
}

fn comment_end(text: &[u8]) -> usize {
    text.windows(2).position(|pair| pair == b"#}").map_or(text.len(), |at| at + 2)
}

/// A tag ends at its closing pair outside quotes and braces.
fn tag_end(text: &[u8]) -> usize {
    let (mut at, mut quote, mut depth) = (2, None, 0_usize);
    while let Some(byte) = text.get(at) {
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), _) if open == byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'}' | b'%') if depth == 0 && text.get(at + 1) == Some(&b'}') => return at + 2,
            (None, b'{') => depth += 1,
            (None, b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_measured_to_their_real_end() {
        let check = |prompt: &str, expected: &[usize]| assert_eq!(tags(prompt), expected, "{prompt}");
        check("no tag } }} here", &[]);
        check("{{ a }} and {% if b %}", &[7, 10]);
        check("{{ '}}' }}{{ \"\\\"}}\" }}", &[10, 12]);
        check("{{ {'a': {'b': 1}} }}", &[21]);
        check("{# {{ a }} #}{{ b }}", &[7]);
        check("{{ open", &[7]);
        check("{{", &[2]);
    }

    #[test]
    fn names_that_are_asked_for() {
        let check = |prompt: &str, expected: &[&str]| {
            assert_eq!(
                placeholders(prompt).expect(prompt),
                expected.iter().map(ToString::to_string).collect(),
                "{prompt}"
            );
        };
        check(
            "{{ request }} {% for i in range(3) %}{{ i }}{{ outputs.plan }}{% endfor %}",
            &["outputs.plan", "request"],
        );
        check("costs 5 % {of} it", &[]);
    }
}
