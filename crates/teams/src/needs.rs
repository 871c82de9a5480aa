//! Which stages feed which, as indices.

/// Resolves what each of the stages needs: `needs[i]` are indices or, as `None`, a `*`.
///
/// A `*` is every stage listed before that does not wait for this one. The answer is sorted and free of doubles,
/// or a way round through the stages that wait for each other: first and last are the same.
pub(crate) fn resolve(needs: &[Vec<Option<usize>>]) -> Result<Vec<Vec<usize>>, Vec<usize>> {
    let mut edges: Vec<Vec<usize>> =
        needs.iter().map(|needs| needs.iter().copied().flatten().collect()).collect();
    if let Some(round) = cycle(&edges) {
        return Err(round);
    }
    for (at, _) in needs.iter().enumerate().filter(|(_, needs)| needs.contains(&None)) {
        let before: Vec<usize> = (0..at).filter(|other| !reaches(&edges, *other, at)).collect();
        edges[at].extend(before);
    }
    for inputs in &mut edges {
        inputs.sort_unstable();
        inputs.dedup();
    }
    Ok(edges)
}

/// Whether `from` waits for `to`, directly or through others.
fn reaches(edges: &[Vec<usize>], from: usize, to: usize) -> bool {
    let (mut seen, mut open) = (vec![false; edges.len()], vec![from]);
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            open.extend(&edges[at]);
        }
    }
    false
}

/// The first way round, in the order of waiting.
fn cycle(edges: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut done = vec![false; edges.len()];
    for start in 0..edges.len() {
        // The way to here, with the next edge to try at each stop.
        let mut way: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((at, next)) = way.last_mut() {
            let at = *at;
            let target = if done[at] { None } else { edges[at].get(*next).copied() };
            *next += 1;
            let Some(target) = target else {
                done[at] = true;
                way.pop();
                continue;
            };
            if let Some(from) = way.iter().position(|(stop, _)| *stop == target) {
                return Some(way[from..].iter().map(|(stop, _)| *stop).chain([target]).collect());
            }
            way.push((target, 0));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_star_is_what_comes_before_and_does_not_wait() {
        let check = |needs: &[Vec<Option<usize>>], expected: Result<Vec<Vec<usize>>, Vec<usize>>| {
            assert_eq!(resolve(needs), expected, "{needs:?}");
        };
        check(&[vec![], vec![Some(0)], vec![None]], Ok(vec![vec![], vec![0], vec![0, 1]]));
        check(&[vec![Some(1)], vec![None]], Ok(vec![vec![1], vec![]]));
        check(&[vec![Some(0)]], Err(vec![0, 0]));
        check(&[vec![Some(2)], vec![Some(0)], vec![Some(1)]], Err(vec![0, 2, 1, 0]));
        // Two stars and a stage between them that waits for the last: no way round may come of it.
        check(&[vec![Some(2)], vec![None], vec![None]], Ok(vec![vec![2], vec![0], vec![]]));
    }

    proptest! {
        /// Would fail if a cycle went unseen, a star made one, or one was seen where there is none.
        #[test]
        fn what_is_resolved_can_be_put_in_order(
            needs in (1usize..9).prop_flat_map(|n| {
                prop::collection::vec(prop::collection::vec(prop::option::weighted(0.8, 0..n), 0..4), n)
            })
        ) {
            match resolve(&needs) {
                Ok(edges) => {
                    let mut done = vec![false; edges.len()];
                    for _ in 0..edges.len() {
                        for at in 0..edges.len() {
                            done[at] |= edges[at].iter().all(|input| done[*input]);
                        }
                    }
                    prop_assert!(done.iter().all(|done| *done), "{:?}", edges);
                }
                Err(round) => {
                    prop_assert!(round.len() > 1 && round.first() == round.last());
                    for step in round.windows(2) {
                        prop_assert!(needs[step[0]].contains(&Some(step[1])));
                    }
                }
            }
        }
    }
}
