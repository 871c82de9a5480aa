/// The longest name worth comparing, in characters.
const LONGEST: usize = 128;
/// How many suggestions are made.
const SHOWN: usize = 3;

/// The names nearest to `wanted`, best first, at most three; none when nothing comes near.
pub(crate) fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = plain(wanted);
    if wanted.is_empty() || wanted.len() > LONGEST {
        return Vec::new();
    }
    let mut found: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let other = plain(name);
            let longer = wanted.len().max(other.len());
            if other.is_empty() || longer > LONGEST {
                return None;
            }
            let apart = distance(&wanted, &other);
            let part =
                wanted.len().min(other.len()) > 2 && (contains(&wanted, &other) || contains(&other, &wanted));
            (part || apart <= longer / 3).then_some((apart, name))
        })
        .collect();
    found.sort_by_key(|(apart, _)| *apart);
    found.into_iter().take(SHOWN).map(|(_, name)| name).collect()
}

/// Lower case, without what separates words.
pub(crate) fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn contains(long: &[char], short: &[char]) -> bool {
    long.windows(short.len()).any(|window| window == short)
}

/// The Levenshtein distance.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_by_nearness() {
        let names = ["read_file", "write_file", "search", "天气"];
        let check = |wanted: &str, expected: &[&str]| {
            assert_eq!(near(wanted, names.into_iter()), expected, "{wanted}");
        };
        check("readFile", &["read_file"]);
        check("serach", &["search"]);
        check("search_web", &["search"]);
        check("rite_file", &["write_file"]);
        check("天气预报", &[]);
        check("", &[]);
        check(&"a".repeat(10_000), &[]);
    }
}
