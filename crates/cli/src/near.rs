//! "Did you mean …?"

/// The candidate most like `wrong`, if one is alike at all.
pub(crate) fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let rated =
        candidates.into_iter().map(|name| (strsim::normalized_damerau_levenshtein(wrong, name), name));
    rated.filter(|(likeness, _)| *likeness > 0.6).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}
