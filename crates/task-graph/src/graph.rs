use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
};

use indexmap::IndexSet;
use smol_str::SmolStr;

use crate::{Error, error::Problem};

/// A node of a graph to build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its id, unique in the graph and not empty.
    pub id: SmolStr,
    /// The ids of the nodes that must be done before. Naming one twice changes nothing.
    pub needs: Vec<SmolStr>,
}

impl Node {
    /// A node that needs nothing.
    pub fn new(id: impl Into<SmolStr>) -> Self {
        Self { id: id.into(), needs: Vec::new() }
    }

    /// Makes it need `nodes`, too.
    #[must_use]
    pub fn needing<I: Into<SmolStr>>(mut self, nodes: impl IntoIterator<Item = I>) -> Self {
        self.needs.extend(nodes.into_iter().map(Into::into));
        self
    }
}

/// Which node needs which others. Never changes, never has a circle.
///
/// Look-ups of one node cost O(1) and its edges; whole orders are computed once, in [`TaskGraph::new`].
#[derive(Clone, Debug, Default)]
pub struct TaskGraph {
    ids: IndexSet<SmolStr>,
    needs: Vec<Vec<usize>>,
    dependents: Vec<Vec<usize>>,
    order: Vec<usize>,
}

impl TaskGraph {
    /// Builds a graph from its nodes. Costs O((V + E) log V).
    ///
    /// # Errors
    /// `EmptyId`, `Duplicate`, `UnknownNeed`; `Cycle` when nodes need each other in a circle, with its path.
    pub fn new(nodes: impl IntoIterator<Item = Node>) -> Result<Self, Error> {
        let nodes: Vec<Node> = nodes.into_iter().collect();
        let mut ids = IndexSet::with_capacity(nodes.len());
        for (place, node) in nodes.iter().enumerate() {
            if node.id.is_empty() {
                return Err(Problem::EmptyId(place + 1).into());
            }
            if !ids.insert(node.id.clone()) {
                return Err(Problem::Duplicate(node.id.clone()).into());
            }
        }
        let mut needs = Vec::with_capacity(nodes.len());
        let mut dependents = vec![Vec::new(); nodes.len()];
        for (index, Node { id, needs: wanted }) in nodes.into_iter().enumerate() {
            let mut indices: Vec<usize> = Vec::with_capacity(wanted.len());
            let mut seen = BTreeSet::new();
            for need in wanted {
                let Some(at) = ids.get_index_of(&need) else {
                    return Err(Problem::UnknownNeed { node: id, need }.into());
                };
                if seen.insert(at) {
                    indices.push(at);
                    dependents[at].push(index);
                }
            }
            needs.push(indices);
        }
        let mut graph = Self { ids, needs, dependents, order: Vec::new() };
        graph.order = graph.sort();
        if graph.order.len() < graph.len() {
            return Err(Problem::Cycle(graph.circle()).into());
        }
        Ok(graph)
    }

    /// Kahn's algorithm; of the nodes that could come next, the one declared first comes next.
    fn sort(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.needs.iter().map(Vec::len).collect();
        let free = missing.iter().enumerate().filter(|(_, missing)| **missing == 0);
        let mut next: BinaryHeap<Reverse<usize>> = free.map(|(node, _)| Reverse(node)).collect();
        let mut order = Vec::with_capacity(self.len());
        while let Some(Reverse(node)) = next.pop() {
            order.push(node);
            for &dependent in &self.dependents[node] {
                missing[dependent] -= 1;
                if missing[dependent] == 0 {
                    next.push(Reverse(dependent));
                }
            }
        }
        order
    }

    /// A circle among the nodes that could not be sorted: each of them needs another one of them.
    fn circle(&self) -> Vec<SmolStr> {
        let mut sorted = vec![false; self.len()];
        self.order.iter().for_each(|&node| sorted[node] = true);
        let mut path = IndexSet::new();
        let mut at = sorted.iter().position(|sorted| !sorted);
        while let Some(node) = at {
            if let (start, false) = path.insert_full(node) {
                let circle = path.iter().skip(start).copied().chain([node]);
                return circle.map(|node| self.ids[node].clone()).collect();
            }
            at = self.needs[node].iter().copied().find(|&need| !sorted[need]);
        }
        Vec::new()
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether there is a node `id`.
    pub fn contains(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Where a node stands in the order of declaration, from 0.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.ids.get_index_of(id)
    }

    /// The ids in the order of declaration.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = &SmolStr> {
        self.ids.iter()
    }

    /// The ids so that each comes after what it needs; as declared wherever that is possible.
    pub fn order(&self) -> impl DoubleEndedIterator<Item = &SmolStr> {
        self.order.iter().map(|&node| &self.ids[node])
    }

    /// What a node needs, as declared. Nothing for an unknown node.
    pub fn needs(&self, id: &str) -> impl Iterator<Item = &SmolStr> {
        self.edges(&self.needs, id)
    }

    /// The nodes that need this one, as declared. Nothing for an unknown node.
    pub fn dependents(&self, id: &str) -> impl Iterator<Item = &SmolStr> {
        self.edges(&self.dependents, id)
    }

    fn edges<'a>(&'a self, edges: &'a [Vec<usize>], id: &str) -> impl Iterator<Item = &'a SmolStr> {
        let of = self.position(id).map_or(&[][..], |node| &edges[node]);
        of.iter().map(|&node| &self.ids[node])
    }

    /// Everything a node needs, directly or not, without itself, in topological order. Costs O(V + E).
    pub fn upstream(&self, id: &str) -> Vec<&SmolStr> {
        self.reached(&self.needs, id)
    }

    /// Everything that needs a node, directly or not, without itself, in topological order. Costs O(V + E).
    pub fn downstream(&self, id: &str) -> Vec<&SmolStr> {
        self.reached(&self.dependents, id)
    }

    fn reached(&self, edges: &[Vec<usize>], id: &str) -> Vec<&SmolStr> {
        let mut reached = vec![false; self.len()];
        let mut next: Vec<usize> =
            self.position(id).into_iter().flat_map(|node| &edges[node]).copied().collect();
        while let Some(node) = next.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                next.extend(&edges[node]);
            }
        }
        self.order.iter().filter(|&&node| reached[node]).map(|&node| &self.ids[node]).collect()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Reads `a: b c` as "a needs b and c", one node a line.
    fn graph(text: &str) -> Result<TaskGraph, Error> {
        TaskGraph::new(text.lines().map(|line| {
            let (id, needs) = line.split_once(':').unwrap_or((line, ""));
            Node::new(id.trim()).needing(needs.split_whitespace())
        }))
    }

    fn check(text: &str, expected: Expect) {
        let shown = match graph(text) {
            Ok(graph) => graph.order().map(SmolStr::as_str).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn orders_are_as_declared_where_that_is_possible() {
        check("b\na\nc: a", expect!["b a c"]);
        check("summary: plan\nplan", expect!["plan summary"]);
        check("d: b c\nc: a\nb: a\na", expect!["a c b d"]);
    }

    #[test]
    fn what_cannot_work_is_refused_with_its_place() {
        check("a: b\nb: a", expect!["nodes need each other in a circle: a → b → a"]);
        check("a: a", expect!["nodes need each other in a circle: a → a"]);
        check("x: c\na: c\nb: a\nc: b", expect!["nodes need each other in a circle: c → b → a → c"]);
        check("a\nb: a z", expect![[r#""b" needs "z", which is no node"#]]);
        check("a\na", expect![[r#"two nodes are called "a""#]]);
        check("a\n:a", expect!["node 2 has an empty id"]);
    }
}
