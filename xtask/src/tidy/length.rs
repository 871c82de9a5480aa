//! Files stay short enough to be read in one sitting.

use super::{fault::Fault, source::Source};

/// Past this a file is asked whether two things live in it.
const ADVISED: usize = 400;
/// Past this tidy fails. Tests are not counted.
const ALLOWED: usize = 600;

/// Refuses files that are too long.
pub(crate) fn check(source: &Source) -> Option<Fault> {
    let lines = source.code().len();
    (lines > ALLOWED).then(|| {
        let what = format!("{lines} lines without tests, {ALLOWED} are allowed");
        Fault::new(&source.path, ALLOWED, what, "find the second thing that lives here and give it a file")
    })
}

/// Files that are long but not too long, with their length.
pub(crate) fn advice(source: &Source) -> Option<(&str, usize)> {
    let lines = if source.is_product_code() { source.code().len() } else { 0 };
    (ADVISED < lines && lines <= ALLOWED).then_some((source.path.as_str(), lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(code: usize, tests: usize) -> Source {
        let text =
            format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "fn a() {}\n".repeat(code), "//\n".repeat(tests));
        Source::new("crates/x/src/a.rs", text)
    }

    /// Would fail if tests counted, or if the bounds were off by one.
    #[test]
    fn only_the_product_counts() {
        assert!(check(&file(600, 1000)).is_none());
        assert!(check(&file(601, 0)).is_some());
        assert_eq!(advice(&file(400, 1000)), None);
        assert_eq!(advice(&file(401, 0)), Some(("crates/x/src/a.rs", 401)));
        assert_eq!(advice(&file(601, 0)), None, "what is refused needs no advice");
    }
}
