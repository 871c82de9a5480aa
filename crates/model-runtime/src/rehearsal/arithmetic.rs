//! Finds the arithmetic in a sentence: what a calculator is to be called with.

const OPERATORS: [char; 5] = ['+', '-', '*', '/', '^'];

/// The first run of figures with an operator between them.
pub(super) fn arithmetic(said: &str) -> Option<String> {
    let belongs = |c: char| c.is_ascii_digit() || OPERATORS.contains(&c) || " .()".contains(c);
    let runs = said.split(|c: char| !belongs(c)).map(|run| {
        let run = run.trim_start_matches(|c: char| !(c.is_ascii_digit() || "(-".contains(c)));
        run.trim_end_matches(|c: char| !(c.is_ascii_digit() || c == ')'))
    });
    let calculates = |run: &&str| {
        let after = run.split_once(|c: char| c.is_ascii_digit()).map_or("", |(_, after)| after);
        after.split_once(OPERATORS).is_some_and(|(_, second)| second.contains(|c: char| c.is_ascii_digit()))
    };
    runs.into_iter().find(calculates).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_with_an_operator_between() {
        for (said, expected) in [
            ("what is 17 * 23?", Some("17 * 23")),
            ("green tea, and work out 3 * 2.5.", Some("3 * 2.5")),
            ("on page 12, (1 + 2)/4 - of all", Some("(1 + 2)/4")),
            ("well-known since 1848", None),
            ("12 people - and tea", None),
        ] {
            assert_eq!(arithmetic(said).as_deref(), expected, "{said}");
        }
    }
}
