//! Rows that do not fit, and how rows look when they are stored.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use thermidor_conversation_flow::{Conversation, FoldRow, GroupKind, Link, NodeRow, Row, Scope, Version};
use thermidor_types::Message;

use crate::script::{read, shown};

fn node(id: &str, parent: &str, order: u64) -> NodeRow {
    let parent = Some(parent).filter(|parent| !parent.is_empty()).map(Into::into);
    NodeRow::new(id, parent, order, Message::user(id.to_uppercase()))
}

fn fold(id: &str, members: &[&str]) -> Row {
    let members = members.iter().map(|&id| id.into()).collect();
    Row::Fold(FoldRow {
        version: Version::default(),
        id: id.into(),
        members,
        summary: Message::user("sum").into(),
    })
}

fn check(rows: Vec<Row>, expected: Expect) {
    let count = rows.len();
    let (talk, faults) = Conversation::from_rows(rows.clone());
    let mut out = String::new();
    for fault in &faults {
        writeln!(out, "{fault}").expect("a string takes all");
    }
    expected.assert_eq(&format!(
        "{out}---\n{}---\n{}",
        shown(&talk, &Scope::Main),
        read(&talk, &Scope::Main)
    ));
    let left_out = faults.iter().filter(|fault| fault.left_out.is_some()).count();
    assert_eq!(talk.rows().len() + left_out, count, "a row is taken or handed back");
    let (again, _) = Conversation::from_rows(talk.rows());
    assert_eq!(again, talk, "what was taken is stored as it was");
}

fn rows(nodes: impl IntoIterator<Item = NodeRow>) -> Vec<Row> {
    nodes.into_iter().map(Row::Node).collect()
}

#[test]
fn the_order_of_rows_does_not_matter() {
    check(
        rows([node("c", "b", 3), node("a", "", 1), node("b", "a", 2)]),
        expect![[r"
            ---
            user a
            user b
            user c
            ---
            a: A
            b: B
            c: C
        "]],
    );
    check(
        rows([node("c", "b", 1), node("b", "a", 2), node("a", "", 3)]),
        expect![[r"
            row 0 (`c`): it claims to be older than its parent b; it was taken after it
            row 1 (`b`): it claims to be older than its parent a; it was taken after it
            ---
            user a
            user b
            user c
            ---
            a: A
            b: B
            c: C
        "]],
    );
}

/// A stray never hides a real beginning; where only a part was read, it is the beginning.
#[test]
fn parents_are_missing() {
    check(
        rows([node("a", "", 1), node("x", "gone", 2), node("y", "x", 3)]),
        expect![[r"
            row 1 (`x`): its parent gone is not there; it was kept as a stray beginning
            ---
            user a 1/2
            ---
            a: A
        "]],
    );
    check(
        rows([node("x", "gone", 2), node("y", "x", 3)]),
        expect![[r"
            row 0 (`x`): its parent gone is not there; it was kept as a stray beginning
            ---
            user x
            user y
            ---
            x: X
            y: Y
        "]],
    );
    let thread = NodeRow { link: Link::Thread("t".into()), ..node("x", "gone", 2) };
    let (talk, faults) = Conversation::from_rows(rows([node("a", "", 1), thread, node("y", "x", 3)]));
    assert_eq!(faults.len(), 1);
    assert_eq!(read(&talk, &Scope::Thread("t".into())), "x: X\ny: Y\n", "the thread keeps its name");
}

#[test]
fn rows_go_round_in_circles() {
    check(
        rows([node("t", "b", 1), node("a", "c", 2), node("b", "a", 3), node("c", "b", 4), node("s", "s", 5)]),
        expect![[r"
            row 0 (`t`): it claims to be older than its parent b; it was taken after it
            row 1 (`a`): it is its own ancestor through c; it was kept as a stray beginning
            row 4 (`s`): it is its own ancestor through s; it was kept as a stray beginning
            ---
            user s 2/2
            ---
            s: S
        "]],
    );
}

#[test]
fn ids_are_empty_or_taken() {
    check(
        rows([node("a", "", 1), node("a", "", 2), node("", "a", 3), node("b", "a", 4)]),
        expect![[r"
            row 1 (`a`): an earlier row has this id; the row was left out
            row 2 (``): the id is empty; the row was left out
            ---
            user a
            user b
            ---
            a: A
            b: B
        "]],
    );
}

#[test]
fn lanes_threads_and_selections_do_not_fit() {
    let lane = NodeRow { link: Link::Lane("ann".into()), ..node("x", "a", 2) };
    let thread = |id, parent, order| NodeRow { link: Link::Thread("t".into()), ..node(id, parent, order) };
    let chosen = |id, order| NodeRow { selected: true, ..node(id, "b", order) };
    check(
        rows([
            node("a", "", 1),
            lane,
            node("b", "a", 3),
            thread("t1", "a", 4),
            thread("t2", "b", 5),
            chosen("c", 6),
            chosen("d", 7),
            node("e", "b", 8),
        ]),
        expect![[r"
            row 1 (`x`): it begins a lane, but a is not a group; it was kept as a stray branch
            row 4 (`t2`): thread t began at another message; its name leads there
            row 6 (`d`): a second alternative is selected; this one holds
            ---
            user a (t: 1)
            user b 2/2 (t: 1)
            user d 2/3
            ---
            a: A
            b: B
            d: D
        "]],
    );
}

#[test]
fn folds_do_not_fit() {
    let mut all = rows([node("a", "", 1), node("b", "a", 2), node("c", "b", 3), node("d", "c", 4)]);
    let folds: [(&str, &[&str]); 6] = [
        ("f", &["a", "b"]),
        ("overlap", &["b", "c"]),
        ("gap", &["c", "a"]),
        ("gone", &["x"]),
        ("none", &[]),
        ("a", &["d"]),
    ];
    all.extend(folds.map(|(id, members)| fold(id, members)));
    check(
        all,
        expect![[r"
            row 5 (`overlap`): its member b belongs to fold f; the fold was left out
            row 6 (`gap`): its member a does not come directly after the one before; the fold was left out
            row 7 (`gone`): its member x does not come directly after the one before; the fold was left out
            row 8 (`none`): it has no members; the fold was left out
            row 9 (`a`): an earlier row has this id; the row was left out
            ---
            fold f of 2
              user a
              user b
            user c
            user d
            ---
            f <a b>: sum
            c: C
            d: D
        "]],
    );
}

/// Stored names are a promise: this is how rows look, and every later version reads these.
#[test]
fn rows_as_they_are_stored() {
    let lane = NodeRow { link: Link::Lane("ann".into()), pinned: true, ..node("m", "g", 2) };
    let group = NodeRow::new("g", None, 1, GroupKind::Agents);
    let written = |row: &Row| serde_json::to_string(row).expect("rows are written");
    let texts: Vec<String> =
        [Row::Node(group), Row::Node(lane), fold("f", &["g"])].iter().map(written).collect();
    expect![[r#"
        {"Node":{"version":1,"id":"g","link":"Next","order":1,"body":{"Group":"Agents"},"pinned":false,"selected":false}}
        {"Node":{"version":1,"id":"m","parent":"g","link":{"Lane":"ann"},"order":2,"body":{"Message":{"User":{"content":[{"Text":"M"}],"origin":{"kind":"Person"}}}},"pinned":true,"selected":false}}
        {"Fold":{"version":1,"id":"f","members":["g"],"summary":{"User":{"content":[{"Text":"sum"}],"origin":{"kind":"Person"}}}}}"#]]
    .assert_eq(&texts.join("\n"));
    for text in texts {
        let read: Row = serde_json::from_str(&text).expect("rows are read");
        assert_eq!(written(&read), text);
    }
}

/// What this program does not know is refused with its name, not dropped.
#[test]
fn unknown_rows_are_refused() {
    let check = |json: &str, expected: Expect| {
        let error = serde_json::from_str::<Row>(json).expect_err("it is not known");
        expected.assert_eq(&error.to_string());
    };
    check(
        r#"{"Poll":{"version":1,"id":"p"}}"#,
        expect!["unknown variant `Poll`, expected `Node` or `Fold` at line 1 column 7"],
    );
    check(
        r#"{"Node":{"version":2,"id":"p","order":1,"body":"Removed"}}"#,
        expect![
            "row version 2 is not known (this program reads version 1): read it with the program that wrote it, or update at line 1 column 20"
        ],
    );
    check(
        r#"{"Node":{"version":1,"id":"p","order":1,"body":{"Video":1}}}"#,
        expect!["unknown variant `Video`, expected one of `Message`, `Group`, `Removed` at line 1 column 55"],
    );
    check(
        r#"{"Node":{"version":1,"id":"p","order":1,"body":"Removed","mood":"good"}}"#,
        expect![
            "unknown field `mood`, expected one of `version`, `id`, `parent`, `link`, `order`, `body`, `pinned`, `selected` at line 1 column 63"
        ],
    );
}
