//! The graph and its progress against models that are too simple to be wrong.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use smol_str::{SmolStr, format_smolstr};
use thermidor_task_graph::{ErrorKind, Node, NodeState, Progress, TaskGraph};

const MOST: usize = 7;

fn id(index: usize) -> SmolStr {
    format_smolstr!("n{index}")
}

/// A matrix of needs: `edges[a][b]` says that a needs b.
type Edges = Vec<Vec<bool>>;

fn nodes(edges: &Edges) -> Vec<Node> {
    let needs = |row: &Vec<bool>| -> Vec<SmolStr> {
        row.iter().enumerate().filter(|(_, needs)| **needs).map(|(need, _)| id(need)).collect()
    };
    edges.iter().enumerate().map(|(node, row)| Node::new(id(node)).needing(needs(row))).collect()
}

/// Who needs whom, directly or not.
fn closure(edges: &Edges) -> Edges {
    let (mut reach, count) = (edges.clone(), edges.len());
    for via in 0..count {
        for from in 0..count {
            for to in 0..count {
                reach[from][to] |= reach[from][via] && reach[via][to];
            }
        }
    }
    reach
}

fn any_edges() -> impl Strategy<Value = Edges> {
    (0..=MOST).prop_flat_map(|count| {
        prop::collection::vec(prop::collection::vec(prop::bool::weighted(0.2), count..=count), count..=count)
    })
}

/// Edges without circles, whose order of declaration is not topological.
fn acyclic_edges() -> impl Strategy<Value = Edges> {
    let lower = prop::collection::vec(prop::collection::vec(prop::bool::weighted(0.35), MOST), 1..=MOST);
    lower.prop_flat_map(|rows| {
        Just((0..rows.len()).collect::<Vec<_>>()).prop_shuffle().prop_map(move |places| {
            let mut edges = vec![vec![false; rows.len()]; rows.len()];
            for a in 0..rows.len() {
                for b in 0..a {
                    edges[places[a]][places[b]] = rows[a][b];
                }
            }
            edges
        })
    })
}

fn indices<'a>(ids: impl IntoIterator<Item = &'a SmolStr>) -> Vec<usize> {
    ids.into_iter().map(|id| id[1..].parse().expect("an index")).collect()
}

proptest! {
    /// Would fail if a circle were let through, a sound graph refused, or the path shown were no circle.
    #[test]
    fn exactly_the_circles_are_refused(edges in any_edges()) {
        let reach = closure(&edges);
        let circular = (0..edges.len()).any(|node| reach[node][node]);
        match TaskGraph::new(nodes(&edges)) {
            Ok(_) => prop_assert!(!circular),
            Err(error) => {
                prop_assert!(circular);
                prop_assert_eq!(error.kind(), ErrorKind::Cycle);
                let path = indices(error.cycle().expect("a path"));
                prop_assert!(path.len() > 1 && path.first() == path.last());
                prop_assert!(path.windows(2).all(|step| edges[step[0]][step[1]]));
                let inner: BTreeSet<_> = path[1..].iter().collect();
                prop_assert_eq!(inner.len(), path.len() - 1);
            }
        }
    }

    /// Would fail if the order broke a need, left one out, or moved a node further than its needs demand.
    #[test]
    fn the_order_is_the_first_one_that_works(edges in acyclic_edges()) {
        let graph = TaskGraph::new(nodes(&edges)).expect("no circles");
        let mut expected: Vec<usize> = Vec::new();
        while expected.len() < edges.len() {
            let fits = |node: &usize| !expected.contains(node)
                && (0..edges.len()).all(|need| !edges[*node][need] || expected.contains(&need));
            let next = (0..edges.len()).find(fits).expect("no circles");
            expected.push(next);
        }
        prop_assert_eq!(indices(graph.order()), expected);
    }

    /// Would fail if up- or downstream missed a node or took one too many.
    #[test]
    fn streams_are_the_closure(edges in acyclic_edges()) {
        let graph = TaskGraph::new(nodes(&edges)).expect("no circles");
        let (reach, count) = (closure(&edges), edges.len());
        for (node, needed) in reach.iter().enumerate() {
            let sorted = |list: Vec<&SmolStr>| { let mut list = indices(list); list.sort_unstable(); list };
            let expected: Vec<_> = (0..count).filter(|other| needed[*other]).collect();
            prop_assert_eq!(sorted(graph.upstream(&id(node))), expected);
            let expected: Vec<_> = (0..count).filter(|other| reach[*other][node]).collect();
            prop_assert_eq!(sorted(graph.downstream(&id(node))), expected);
        }
    }

    /// Would fail if any change were accepted or refused against the model, a node were ready too early or
    /// too late, a reset reached too far or not far enough, or the stored form lost something.
    #[test]
    fn progress_follows_the_model(
        edges in acyclic_edges(),
        moves in prop::collection::vec((0..5u8, 0..MOST), 0..60),
    ) {
        let graph = TaskGraph::new(nodes(&edges)).expect("no circles");
        let (reach, count) = (closure(&edges), edges.len());
        let mut progress = Progress::new();
        let mut model: BTreeMap<usize, (NodeState, u32)> = (0..count).map(|node| (node, (NodeState::Pending, 0))).collect();
        for (what, node) in moves {
            let node = node % count;
            let inputs = (0..count).all(|need| !edges[node][need] || model[&need].0 == NodeState::Done);
            let (state, attempts) = model[&node];
            let (expected, did) = match what {
                0 => {
                    let can = state == NodeState::Pending && inputs;
                    (can.then_some((NodeState::Running, attempts + 1)), progress.start(&graph, &id(node)).is_ok())
                }
                1 => ((state == NodeState::Running).then_some((NodeState::Done, attempts)), progress.complete(&id(node)).is_ok()),
                2 => ((state == NodeState::Running).then_some((NodeState::Failed, attempts)), progress.fail(&id(node)).is_ok()),
                3 => ((state == NodeState::Failed).then_some((NodeState::Pending, attempts)), progress.retry(&id(node)).is_ok()),
                _ => {
                    let undone = progress.reset(&graph, &id(node)).expect("known");
                    let mut expected = BTreeMap::new();
                    for (other, mark) in &mut model {
                        if (*other == node || reach[*other][node]) && mark.0 != NodeState::Pending {
                            expected.insert(id(*other), mark.0);
                            mark.0 = NodeState::Pending;
                        }
                    }
                    prop_assert_eq!(undone.into_iter().collect::<BTreeMap<_, _>>(), expected);
                    (None, false)
                }
            };
            prop_assert_eq!(did, expected.is_some());
            if let Some(mark) = expected {
                model.insert(node, mark);
            }
            for (node, (state, attempts)) in &model {
                prop_assert_eq!((progress.state(&id(*node)), progress.attempts(&id(*node))), (*state, *attempts));
            }
            let ready: Vec<_> = (0..count).filter(|node| model[node].0 == NodeState::Pending
                && (0..count).all(|need| !edges[*node][need] || model[&need].0 == NodeState::Done)).collect();
            prop_assert_eq!(indices(progress.ready(&graph)), ready);
            prop_assert_eq!(progress.is_complete(&graph), model.values().all(|mark| mark.0 == NodeState::Done));
            let stored = serde_json::to_string(&progress).expect("serialises");
            prop_assert_eq!(&serde_json::from_str::<Progress>(&stored).expect("reads back"), &progress);
        }
    }
}
