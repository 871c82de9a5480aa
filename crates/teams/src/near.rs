/// The name nearest to `wanted`, if one is near enough to have been meant.
pub(crate) fn near<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(wanted);
    if wanted.is_empty() || wanted.len() > 64 {
        return None;
    }
    names
        .into_iter()
        .filter_map(|name| {
            let other = plain(name);
            let longer = wanted.len().max(other.len());
            let apart = if other.len() <= 64 { distance(&wanted, &other) } else { usize::MAX };
            (apart <= (longer / 3).max(1) && apart < longer).then_some((apart, name))
        })
        .min_by_key(|(apart, _)| *apart)
        .map(|(_, name)| name)
}

/// `did you mean "…"?`, or what there is, or nothing.
pub(crate) fn suggest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().collect();
    match near(wanted, names.iter().copied()) {
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

/// Lower case, without what separates words.
fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many letters to put in, take out, replace or swap with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut cost = (last[j] + usize::from(a[i] != b[j])).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_have_been_meant_is_suggested() {
        let names = ["needs", "agent", "prompt", "id"];
        let check =
            |wanted: &str, expected: Option<&str>| assert_eq!(near(wanted, names), expected, "{wanted}");
        check("need", Some("needs"));
        check("Agent", Some("agent"));
        check("promt", Some("prompt"));
        check("ids", Some("id"));
        check("nedes", Some("needs"));
        check("x", None);
        check("temperature", None);
        check(&"n".repeat(100_000), None);
    }
}
