/// The candidate nearest to `wrong`, if one is near: at most a third of its letters differ.
pub(super) fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    let near = candidates.into_iter().filter_map(|candidate| {
        let distance = distance(&wrong, &candidate.to_lowercase());
        (distance * 3 <= candidate.chars().count().max(3)).then_some((distance, candidate))
    });
    near.min().map(|(_, candidate)| candidate)
}

/// Letters to insert, drop, replace or swap with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other);
            let mut best = replaced.min(last[column + 1] + 1).min(line[column] + 1);
            if row > 0 && column > 0 && *letter == to[column - 1] && from[row - 1] == *other {
                best = best.min(before_last[column - 1] + 1);
            }
            line.push(best);
        }
        before_last = std::mem::replace(&mut last, line);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_names_are_suggested() {
        let names = ["openai", "openrouter", "deepseek", "ollama"];
        let check =
            |wrong: &str, expected: Option<&str>| assert_eq!(nearest(wrong, names), expected, "{wrong}");
        check("opnai", Some("openai"));
        check("OpenAI", Some("openai"));
        check("opneai", Some("openai"));
        check("deepsek", Some("deepseek"));
        check("anthropic", None);
        check("", None);
    }
}
