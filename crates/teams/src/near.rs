use thermidor_types::near;

/// The name nearest to `wanted`, if one is near enough to have been meant.
pub(crate) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near(wanted, names, 1).pop()
}

/// `did you mean "…"?`, or what there is, or nothing.
pub(crate) fn suggest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().collect();
    match nearest(wanted, names.iter().copied()) {
        Some(name) => Some(format!("did you mean {name:?}?")),
        None if names.is_empty() => None,
        None => Some(format!("there is {}", list(names))),
    }
}

/// `"a", "b" and "c"`, at most twelve.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.into_iter().map(|name| format!("{name:?}")).collect();
    if names.len() > 12 {
        let more = names.len() - 11;
        names.truncate(11);
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => "nothing".into(),
    }
}
