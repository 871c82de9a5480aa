//! What holds after every sequence of commands, and for every set of rows.

use std::collections::HashSet;

use proptest::{collection::vec, prelude::*};
use thermidor_conversation_flow::{
    After, Body, Command, Conversation, Event, FoldRow, GroupKind, Link, NodeId, NodeRow, Row, Scope, Version,
};
use thermidor_types::Message;

use crate::script::message;

/// A command in numbers: what, and which of the nodes there are.
type Draw = (u8, usize, usize);

fn command(talk: &Conversation, (what, one, other): Draw, fresh: usize) -> Command {
    let ids: Vec<&NodeId> = talk.ids().collect();
    let pick = |at: usize| ids.get(at % ids.len().max(1)).map_or(NodeId::from("none"), |&id| id.clone());
    let (node, second, id) = (pick(one), pick(other), NodeId::from(format!("n{fresh}")));
    let said = if other % 2 == 0 { Message::user("asks") } else { message("bot!look", "answers") };
    let kind = [GroupKind::Agents, GroupKind::Council, GroupKind::Tasks][other % 3];
    let tip = || talk.tip(&Scope::Main).expect("main is there");
    match what % 17 {
        0..=2 => Command::Append { id, after: tip(), body: said.into() },
        3 => Command::Append { id, after: Some(node), body: said.into() },
        4 => Command::Append { id, after: tip(), body: kind.into() },
        5 | 6 => Command::AddLane { id, group: node, lane: format!("l{}", other % 3).into(), message: said },
        7 => Command::OpenThread { id, on: node, thread: format!("t{}", other % 9).into(), message: said },
        8 => Command::Edit { id, of: node, message: said },
        9 => {
            Command::Regenerate { id, of: node, body: if other % 3 == 0 { kind.into() } else { said.into() } }
        }
        10 => Command::AnswerCall {
            node,
            call: "call-look".into(),
            result: thermidor_types::ToolResult::text("found"),
        },
        11 => Command::Select { node },
        12 => Command::Delete { node, after: if other % 4 == 0 { After::Remove } else { After::Keep } },
        13 => Command::Pin { node },
        14 => Command::Unpin { node },
        15 => Command::Compress { id, first: node, last: second, summary: Message::user("sum") },
        _ => {
            let folds = talk.rows().into_iter().filter_map(|row| match row {
                Row::Fold(fold) => Some(fold.id),
                Row::Node(_) => None,
            });
            let folds: Vec<NodeId> = folds.collect();
            Command::Expand { fold: folds.get(one % folds.len().max(1)).cloned().unwrap_or(node) }
        }
    }
}

fn play(draws: &[Draw]) -> (Conversation, Vec<Event>) {
    let (mut talk, mut events) = (Conversation::new(), Vec::new());
    for (fresh, &draw) in draws.iter().enumerate() {
        let before = talk.clone();
        match talk.execute(command(&talk, draw, fresh)) {
            Ok(event) => events.push(event),
            Err(_) => assert_eq!(talk, before, "a refused command changes nothing"),
        }
    }
    (talk, events)
}

/// The projections of every scope.
fn check_projections(talk: &Conversation) {
    let threads = talk.threads().map(|(thread, _)| Scope::Thread(thread.clone()));
    let nodes = talk.ids().map(|id| Scope::UpTo(id.clone()));
    for scope in std::iter::once(Scope::Main).chain(threads).chain(nodes) {
        check_path(talk, &scope);
        let display = talk.for_display(&scope).expect("the scope is there");
        let view = talk.for_model(&scope).expect("the scope is there");

        // Shown ids and the model's ids are unique, and lead both ways.
        let mut seen = HashSet::new();
        let mut shown = HashSet::new();
        for item in &display.items {
            let surrounding = item.within.as_ref().is_none_or(|within| seen.contains(&within.item));
            assert!(surrounding, "an item comes after what it is inside of");
            assert!(seen.insert(item.id.clone()), "two items are called {}", item.id);
            for node in item.nodes() {
                assert!(shown.insert(node.clone()), "{node} is shown twice");
                assert_eq!(display.item_of(node).map(|item| &item.id), Some(&item.id));
            }
        }
        let mut seen = HashSet::new();
        let mut read = HashSet::new();
        for entry in &view.entries {
            assert!(seen.insert(&entry.id), "two messages are called {}", entry.id);
            for node in &entry.nodes {
                assert!(read.insert(node.clone()), "{node} is read twice");
                assert_eq!(view.entry_of(node).map(|entry| &entry.id), Some(&entry.id));
                assert_ne!(talk.body(node), Some(&Body::Removed), "no tombstone reaches the model");
            }
        }
        // The model reads nothing that is not on the path, lanes included.
        let before: HashSet<NodeId> = match &scope {
            Scope::Thread(thread) => {
                let anchor = talk.threads().find(|(id, _)| *id == thread).and_then(|(_, anchor)| anchor);
                let path = anchor.map(|anchor| talk.path(&Scope::UpTo(anchor.clone())));
                path.map(|path| path.expect("it is there")).unwrap_or_default().into_iter().collect()
            }
            Scope::Main | Scope::UpTo(_) => HashSet::new(),
        };
        assert!(read.iter().all(|node| shown.contains(node) || lies_on(talk, &before, node)));
        check_pins(talk, &shown, &read);
    }
}

/// Whether a node is one of these, or in a lane of one of these.
fn lies_on(talk: &Conversation, path: &HashSet<NodeId>, node: &NodeId) -> bool {
    std::iter::successors(Some(node), |&node| talk.parent(node)).any(|node| path.contains(node))
}

fn check_pins(talk: &Conversation, shown: &HashSet<NodeId>, read: &HashSet<NodeId>) {
    for row in talk.rows() {
        if let Row::Node(row) = row
            && row.pinned
            && matches!(row.body, Body::Message(_))
            && shown.contains(&row.id)
        {
            assert!(read.contains(&row.id), "{} is pinned", row.id);
        }
    }
}

/// A path goes from parent to child and ends at the tip.
fn check_path(talk: &Conversation, scope: &Scope) {
    let path = talk.path(scope).expect("the scope is there");
    for pair in path.windows(2) {
        assert_eq!(talk.parent(&pair[1]), Some(&pair[0]), "a path goes from parent to child");
    }
    assert_eq!(talk.tip(scope).expect("the scope is there").as_ref(), path.last());
    if let (Scope::Main, Some(last)) = (scope, path.last()) {
        assert_ne!(talk.body(last), Some(&Body::Removed), "the main path ends with something");
    }
}

/// Every node is a child of exactly one place, after its parent.
fn check_tree(talk: &Conversation) {
    let mut seen = HashSet::new();
    for id in talk.ids() {
        assert!(talk.parent(id).is_none_or(|parent| seen.contains(parent)), "parents come first");
        assert!(seen.insert(id), "{id} is there once");
        let here = talk.alternatives(id).into_iter().filter(|&one| one == id).count();
        assert!(here <= 1, "{id} is one of its alternatives");
    }
    assert_eq!(seen.len(), talk.len());
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let node = (0..12u8, proptest::option::of(0..12u8), 0..6u8, 0..20u64, 0..4u8, any::<(bool, bool)>());
    let node = node.prop_map(|(id, parent, link, order, body, (pinned, selected))| {
        let link = match link {
            0 => Link::Lane("a".into()),
            1 => Link::Thread("t".into()),
            _ => Link::Next,
        };
        let body = match body {
            0 => Body::Removed,
            1 => GroupKind::Tasks.into(),
            _ => Message::assistant("x").into(),
        };
        let parent = parent.map(|parent| NodeId::from(format!("n{parent}")));
        Row::Node(NodeRow { link, pinned, selected, ..NodeRow::new(format!("n{id}"), parent, order, body) })
    });
    let fold = (0..3u8, vec(0..12u8, 0..4)).prop_map(|(id, members)| {
        Row::Fold(FoldRow {
            version: Version::default(),
            id: format!("f{id}").into(),
            members: members.into_iter().map(|id| format!("n{id}").into()).collect(),
            summary: Message::user("sum").into(),
        })
    });
    vec(prop_oneof![6 => node, 1 => fold], 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// State changes only by events, and they give the same state again, also from JSON (invariant 1).
    #[test]
    fn every_sequence_of_commands_keeps_the_rules(draws in vec(any::<Draw>(), 0..60)) {
        let (talk, events) = play(&draws);
        let mut again = Conversation::new();
        for event in &events {
            let json = serde_json::to_string(event).expect("events are written");
            again.apply(&serde_json::from_str(&json).expect("events are read"));
        }
        prop_assert_eq!(&again, &talk);
        let (read, faults) = Conversation::from_rows(talk.rows());
        prop_assert_eq!(faults, []);
        prop_assert_eq!(&read, &talk);
        check_tree(&talk);
        check_projections(&talk);
    }

    /// A selected node is on the path from then on, whatever is appended elsewhere.
    #[test]
    fn a_selection_holds(draws in vec(any::<Draw>(), 1..40), at in any::<usize>(), more in vec(any::<usize>(), 0..8)) {
        let (mut talk, _) = play(&draws);
        let ids: Vec<NodeId> = talk.ids().cloned().collect();
        prop_assume!(!ids.is_empty());
        let chosen = ids[at % ids.len()].clone();
        prop_assume!(talk.alternatives(&chosen).contains(&&chosen));
        talk.execute(Command::Select { node: chosen.clone() }).ok(); // refused when it is selected already
        let on_path = |talk: &Conversation| talk.path(&Scope::Main).expect("main is there").contains(&chosen);
        let was = on_path(&talk);
        for (fresh, parent) in more.into_iter().enumerate() {
            let after = Some(ids[parent % ids.len()].clone());
            let id = NodeId::from(format!("later{fresh}"));
            talk.execute(Command::Append { id, after, body: Message::user("later").into() }).ok();
        }
        prop_assert_eq!(on_path(&talk), was);
    }

    /// An event of another conversation, or a second time, harms nothing.
    #[test]
    fn apply_takes_every_event(draws in vec(any::<Draw>(), 0..40), others in vec(any::<Draw>(), 0..40)) {
        let (mut talk, _) = play(&draws);
        let (_, events) = play(&others);
        for event in &events {
            talk.apply(event);
        }
        check_tree(&talk);
        check_projections(&talk);
        prop_assert_eq!(Conversation::from_rows(talk.rows()).0, talk);
    }

    /// Whatever the rows: each is taken or handed back, and what was taken can be used and stored.
    #[test]
    fn every_row_is_taken_or_handed_back(rows in rows(), draws in vec(any::<Draw>(), 0..12)) {
        let (mut talk, faults) = Conversation::from_rows(rows.clone());
        let left_out = faults.iter().filter(|fault| fault.left_out.is_some()).count();
        prop_assert_eq!(talk.rows().len() + left_out, rows.len());
        check_tree(&talk);
        check_projections(&talk);
        prop_assert_eq!(&Conversation::from_rows(talk.rows()).0, &talk);
        for (fresh, draw) in draws.into_iter().enumerate() {
            let command = command(&talk, draw, 100 + fresh);
            talk.execute(command).ok();
        }
        check_tree(&talk);
        check_projections(&talk);
        prop_assert_eq!(&Conversation::from_rows(talk.rows()).0, &talk);
    }
}
