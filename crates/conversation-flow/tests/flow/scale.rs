//! 100,000 rows in every shape, on a small stack: no recursion, and growth that is linear.

use std::time::{Duration, Instant};

use thermidor_conversation_flow::{
    Conversation, FoldRow, GroupKind, Link, NodeId, NodeRow, Row, Scope, Version,
};
use thermidor_types::Message;

const MANY: usize = 100_000;

type Shape = fn(usize) -> NodeRow;

fn name(at: usize) -> NodeId {
    format!("n{at}").into()
}

fn row(at: usize, parent: Option<usize>, link: Link) -> NodeRow {
    let order = at.try_into().unwrap_or(u64::MAX);
    NodeRow { link, ..NodeRow::new(name(at), parent.map(name), order, Message::user("x")) }
}

fn chain(at: usize) -> NodeRow {
    row(at, at.checked_sub(1), Link::Next)
}

fn bush(at: usize) -> NodeRow {
    row(at, (at > 0).then_some(0), Link::Next)
}

fn threads(at: usize) -> NodeRow {
    let link = if at == 0 { Link::Next } else { Link::Thread(format!("t{at}").into()) };
    row(at, at.checked_sub(1), link)
}

fn many_threads(at: usize) -> NodeRow {
    NodeRow { parent: (at > 0).then(|| name(0)), ..threads(at) }
}

fn groups(at: usize) -> NodeRow {
    let link = if at == 0 { Link::Next } else { Link::Lane("m".into()) };
    NodeRow { body: GroupKind::Agents.into(), ..row(at, at.checked_sub(1), link) }
}

fn lanes(at: usize) -> NodeRow {
    match at {
        0 => NodeRow { body: GroupKind::Tasks.into(), ..row(0, None, Link::Next) },
        _ => row(at, Some(0), Link::Lane(format!("m{at}").into())),
    }
}

fn backwards(at: usize) -> NodeRow {
    NodeRow { order: u64::MAX - at as u64, ..chain(at) }
}

/// One circle of a thousand after the other.
fn circles(at: usize) -> NodeRow {
    let parent = if at.is_multiple_of(1000) { at + 999 } else { at - 1 };
    row(at, Some(parent), Link::Next)
}

/// Reads, projects in every way, compares, forks, compresses, deletes and writes. Gives the number of nodes.
fn work(shape: Shape, many: usize) -> usize {
    let (mut talk, _) = Conversation::from_rows((0..many).map(|at| Row::Node(shape(at))));
    let (first, last) = (name(0), name(many - 1));
    let mut scopes = vec![Scope::Main, Scope::UpTo(last.clone())];
    scopes.extend(talk.threads().last().map(|(thread, _)| Scope::Thread(thread.clone())));
    for scope in &scopes {
        let display = talk.for_display(scope).expect("the scope is there");
        assert!(!display.items.is_empty(), "something is shown");
        talk.for_model(scope).expect("the scope is there");
    }
    talk.compare(&first, &last).expect("both are there");
    let mut fork = Conversation::new();
    fork.apply(&talk.fork(&last).expect("it is there"));
    assert!(!fork.is_empty(), "the fork begins with something");
    let path = talk.path(&Scope::Main).expect("the main path is there");
    let (from, to) = (path[0].clone(), path[path.len() - 1].clone());
    let summary = Message::user("short");
    let fold =
        thermidor_conversation_flow::Command::Compress { id: "f".into(), first: from, last: to, summary };
    talk.execute(fold).expect("the main path can be compressed");
    assert_eq!(talk.rows().len(), many + 1, "the nodes and the fold");
    let select = thermidor_conversation_flow::Command::Select { node: last };
    talk.execute(select).expect("the last is there and was not selected");
    let delete = thermidor_conversation_flow::Command::Delete {
        node: talk.ids().next().expect("there are nodes").clone(),
        after: thermidor_conversation_flow::After::Remove,
    };
    talk.execute(delete).expect("the first is there");
    talk.len()
}

/// A stack of 128 KB holds a few hundred calls, so anything that recurses over the tree fails here, dropping
/// it included. Then growth: eight times the rows take about eight times as long; quadratic work would take
/// sixty-four times. The bound is generous, since machines are busy.
#[expect(clippy::disallowed_methods, reason = "growth is measured, no result depends on it")]
fn check(shape: Shape) {
    let worker = std::thread::Builder::new().stack_size(128 * 1024).spawn(move || work(shape, MANY));
    let done = worker.expect("a thread can be started").join();
    assert_eq!(done.expect("nothing overflows"), MANY);
    let time = |many: usize| {
        let start = Instant::now();
        assert_eq!(work(shape, many), many);
        start.elapsed()
    };
    let small = time(2_000).max(Duration::from_millis(5));
    let large = time(16_000);
    assert!(large < small * 32, "{small:?} for 2,000 rows, {large:?} for 16,000");
}

#[test]
fn chains_grow_linearly() {
    check(chain);
}

#[test]
fn bushes_grow_linearly() {
    check(bush);
}

#[test]
fn threads_on_threads_grow_linearly() {
    check(threads);
}

#[test]
fn threads_on_one_message_grow_linearly() {
    check(many_threads);
}

#[test]
fn groups_in_groups_grow_linearly() {
    check(groups);
}

#[test]
fn tasks_of_one_group_grow_linearly() {
    check(lanes);
}

#[test]
fn rows_that_come_backwards_grow_linearly() {
    check(backwards);
}

#[test]
fn circles_grow_linearly() {
    check(circles);
}

/// Folds that are all wrong cost no more than the members they name.
#[test]
fn many_folds_that_do_not_fit() {
    let nodes = (0..MANY).map(|at| Row::Node(chain(at)));
    let folds = (0..MANY).map(|at| {
        let members = vec![name(at), name(at + 1), name(MANY / 2)];
        let id = format!("f{at}").into();
        Row::Fold(FoldRow { version: Version::default(), id, members, summary: Message::user("s").into() })
    });
    let (talk, faults) = Conversation::from_rows(nodes.chain(folds));
    assert_eq!(talk.len(), MANY);
    assert_eq!(faults.len(), MANY - 1, "one of them does fit");
}
