//! Which branch is active, and what commands refuse.

use expect_test::{Expect, expect};
use thermidor_conversation_flow::{Conversation, ErrorKind, Event, NodeId, Scope};

use crate::script::{check, read, run, run_all, shown};

const TALK: &str = "
    say u1 . user one
    say a1 . bot first
    say u2 . user two
    say a2 . bot second";

fn with(more: &str) -> String {
    format!("{TALK}\n{more}")
}

/// An edit of an old message begins a branch there, and nothing of the old branch is lost.
#[test]
fn an_old_message_is_edited() {
    check(
        &with("edit u1b u1 user other"),
        expect![[r"
            user u1b 2/2
            ---
            u1b: other
        "]],
    );
    check(
        &with("edit u1b u1 user other\n select a2"),
        expect![[r"
            user u1 1/2
            answer of bot: a1
            user u2
            answer of bot: a2
            ---
            u1: one
            a1: first
            u2: two
            a2: second
        "]],
    );
}

/// A choice holds while its branch and other branches grow; without a choice the newest is active.
#[test]
fn a_selection_survives_growth() {
    let regenerated = with("regen a2b a2 bot again\n regen a2c a2 bot thrice");
    check(
        &format!(
            "{regenerated}\n select a2b\n say u3 . user on\n say late u2 bot late\n say more a2c user more\n say high u1 bot late"
        ),
        expect![[r"
            user u1
            answer of bot: a1 1/2
            user u2
            answer of bot: a2b 2/4
            user u3
            ---
            u1: one
            a1: first
            u2: two
            a2b: again
            u3: on
        "]],
    );
    check(
        &with("say late u1 bot late"),
        expect![[r"
            user u1
            answer of bot: late 2/2
            ---
            u1: one
            late: late
        "]],
    );
}

/// When the active one is deleted the newest of the others is active; a tombstone with something after it
/// keeps its branch.
#[test]
fn the_active_branch_is_deleted() {
    check(
        &with("regen a2b a2 bot again\n regen a2c a2 bot thrice\n select a2b\n delete a2b"),
        expect![[r"
            user u1
            answer of bot: a1
            user u2
            answer of bot: a2c 2/2
            ---
            u1: one
            a1: first
            u2: two
            a2c: thrice
        "]],
    );
    check(
        &with("regen a1b a1 bot again\n select a1\n delete a1"),
        expect![[r"
            user u1
            removed a1 1/2
            user u2
            answer of bot: a2
            ---
            u1: one
            u2: two
            a2: second
        "]],
    );
    check(
        &with("prune u1"),
        expect![[r"
        ---
    "]],
    );
    check(
        &with("prune u2\n say u3 . user three"),
        expect![[r"
            user u1
            answer of bot: a1
            user u3
            ---
            u1: one
            a1: first
            u3: three
        "]],
    );
}

/// Two messages sent to one conversation at the same moment: both are there, side by side.
#[test]
fn two_messages_at_the_same_moment() {
    let talk = run(&with("say u3 a2 user mine\n say u3x a2 user yours"));
    assert_eq!(talk.alternatives(&"u3".into()), [&NodeId::from("u3"), &"u3x".into()]);
    assert!(shown(&talk, &Scope::Main).ends_with("user u3x 2/2\n"));
}

/// The answer to a message that streams while somebody looks at another branch belongs to its own question,
/// and does not pull them back.
#[test]
fn a_late_answer_stays_in_its_branch() {
    let talk = run("
        say u1 . user one
        edit u1b u1 user other
        select u1
        say a1b u1b bot late");
    assert_eq!(read(&talk, &Scope::Main), "u1: one\n");
    assert_eq!(talk.parent(&"a1b".into()), Some(&"u1b".into()));
}

#[test]
fn two_branches_are_compared() {
    let talk = run(&with("regen a1b a1 bot again\n say u2b . user on"));
    let check = |left: &str, right: &str, expected: Expect| {
        let found = talk.compare(&left.into(), &right.into()).expect("both are there");
        let names = |ids: &[NodeId]| ids.iter().map(NodeId::as_str).collect::<Vec<_>>().join(" ");
        let common = found.common.map(|id| id.to_string());
        expected.assert_eq(&format!("{common:?} | {} | {}", names(&found.left), names(&found.right)));
    };
    check("a2", "u2b", expect![[r#"Some("u1") | a1 u2 a2 | a1b u2b"#]]);
    check("a2", "u2", expect![[r#"Some("u2") | a2 | "#]]);
    check("a2", "a2", expect![[r#"Some("a2") |  | "#]]);
    let apart = run(&with("edit u1b u1 user other"));
    assert_eq!(apart.compare(&"u1".into(), &"u1b".into()).expect("both are there").common, None);
}

/// A fork has the path, the lanes of its groups and its folds, shares the messages, and goes its own way.
#[test]
fn a_conversation_is_forked() {
    let talk = run(&with(
        "
        group g . agents
        lane m1 g ann ann hello
        lane m2 g bob bob hi
        thread t1 a1 aside user why
        say t2 t1 bot so
        say u3 . user three
        fold f u1 a1 short",
    ));
    let fork = |at: &str| {
        let event = talk.fork(&at.into()).expect("it is there");
        let json = serde_json::to_string(&event).expect("events are written");
        assert_eq!(serde_json::from_str::<Event>(&json).expect("events are read"), event);
        let mut fork = Conversation::new();
        fork.apply(&event);
        fork
    };
    expect![[r"
        f <u1 a1>: short
        u2: two
        a2: second
        m1: hello
        m2: hi
    "]]
    .assert_eq(&read(&fork("g"), &Scope::Main));
    // Along a thread: the thread is how the fork goes on, and the fold that does not fit is gone.
    expect![[r"
        f <u1 a1>: short
        t1: why
        t2: so
    "]]
    .assert_eq(&read(&fork("t2"), &Scope::Main));
    expect![[r"
        u1: one
    "]]
    .assert_eq(&read(&fork("u1"), &Scope::Main));
    let (old, new) = (talk.for_model(&Scope::Main), fork("g").for_model(&Scope::Main));
    let (old, new) = (old.expect("main is there"), new.expect("main is there"));
    assert!(std::sync::Arc::ptr_eq(&old.entries[1].message, &new.entries[1].message), "content is shared");
}

#[test]
fn refusals_say_what_to_do_instead() {
    let (talk, refused) = run_all(&with(
        "
        say u1 . user again
        say x nowhere user hm
        lane x a1 ann ann hm
        edit x u1 bot hm
        regen x u1 bot hm
        regen x a1 user hm
        thread t a1 side user hm
        thread x a1 side user hm
        fold f a1 u2 short
        delete a1
        fold g u1 a1 short
        fold g u2 a1 short
        fold u1 u1 u1 short
        select nowhere
        pin u1
        pin u1
        unpin u2
        result a1 search found
        expand g
        prune a2
        select a2
        say x a2 user hm
        delete a2",
    ));
    expect![[r"
        say u1 . user again: the id `u1` is taken: ids are never used twice
        say x nowhere user hm: there is no node `nowhere`
        lane x a1 ann ann hm: node `a1` is not a group: only groups have lanes
        edit x u1 bot hm: `u1` cannot be replaced by something of another role: append instead
        regen x u1 bot hm: `u1` is not an answer: edit it instead
        regen x a1 user hm: `a1` cannot be replaced by something of another role: append instead
        thread x a1 side user hm: there is a thread `side` already: append to its last message
        delete a1: `a1` belongs to fold `f`, which would be cut in two: expand it first
        fold g u1 a1 short: `u2` belongs to fold `f`, which would be cut in two: expand it first
        fold g u2 a1 short: `a1` does not follow `u2` on one path: name two nodes of one branch, the older first
        fold u1 u1 u1 short: the id `u1` is taken: ids are never used twice
        select nowhere: there is no node `nowhere`
        pin u1: `u1` is so already
        unpin u2: `u2` is so already
        result a1 search found: node `a1` has no open call `call-search`
        expand g: there is no fold `g`
        select a2: node `a2` was removed: choose one that is still there
        say x a2 user hm: node `a2` was removed: choose one that is still there
        delete a2: node `a2` was removed: choose one that is still there
    "]]
    .assert_eq(&refused);
    let unknown = talk.for_model(&Scope::Thread("none".into())).expect_err("there is no such thread");
    assert_eq!(unknown.kind(), ErrorKind::Unknown);
}
