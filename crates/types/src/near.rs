/// The longest name worth comparing, in characters: a bound on the work that a hostile name can cause.
const LONGEST: usize = 128;

/// The names that somebody who wrote `wanted` may have meant, nearest first, at most `most` of them.
///
/// Case and what separates words do not count. A name is near when at most a third of its letters differ (one put
/// in, left out, replaced, or swapped with its neighbour), or when one of the two contains the other.
///
/// ```
/// use thermidor_types::near;
/// assert_eq!(near("readFile", ["read_file", "write_file"], 1), ["read_file"]);
/// assert_eq!(near("softwar", ["software-company", "debate"], 1), ["software-company"]);
/// assert!(near("weather", ["read_file", "write_file"], 3).is_empty());
/// ```
pub fn near<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let Some(wanted) = plain(wanted) else { return Vec::new() };
    let mut found: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let other = plain(name)?;
            let (shorter, longer) = (wanted.len().min(other.len()), wanted.len().max(other.len()));
            let apart = strsim::generic_damerau_levenshtein(&wanted, &other);
            let part = shorter > 2 && (contains(&wanted, &other) || contains(&other, &wanted));
            (part || (apart <= (longer / 3).max(1) && apart < longer)).then_some((apart, name))
        })
        .collect();
    found.sort_by_key(|(apart, _)| *apart);
    found.into_iter().take(most).map(|(_, name)| name).collect()
}

/// Lower case, without what separates words; `None` when nothing is left, or too much.
fn plain(name: &str) -> Option<Vec<char>> {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase);
    let plain: Vec<char> = letters.take(LONGEST + 1).collect();
    (1..=LONGEST).contains(&plain.len()).then_some(plain)
}

fn contains(long: &[char], short: &[char]) -> bool {
    long.windows(short.len()).any(|window| window == short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_have_been_meant_is_near() {
        let names = ["needs", "agent", "prompt", "id", "openai", "openrouter", "天气"];
        let check =
            |wanted: &str, expected: &[&str]| assert_eq!(near(wanted, names, 3), expected, "{wanted}");
        check("need", &["needs"]);
        check("Agent", &["agent"]);
        check("promt", &["prompt"]);
        check("ids", &["id"]);
        check("nedes", &["needs"]);
        check("opneai", &["openai"]);
        check("open", &["openai", "openrouter"]);
        check("天气预报", &[]);
        check("x", &[]);
        check("temperature", &[]);
        check("", &[]);
        check(&"n".repeat(100_000), &[]);
    }
}
