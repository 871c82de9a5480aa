//! What a person sees and what a model reads.

use expect_test::expect;
use thermidor_conversation_flow::{Command, Conversation, NodeId, Row, Scope};
use thermidor_types::{AssistantMessage, Message, Origin, Part, Reasoning};

use crate::script::{check, check_scope, read, run, shown};

/// Tool calls stand with their results in the answer they belong to, over all its steps.
#[test]
fn tool_calls_are_grouped() {
    check(
        "
        say s . system rules
        say u1 . user look it up
        say a1 . bot!search searching
        say a2 . bot!fetch fetching
        result a1 search found
        say a3 . bot done
        say b1 . eve my turn",
        expect![[r"
            system s
            user u1
            answer of bot: a1 + a2 + a3 [a1 search answered] [a2 fetch open]
            answer of eve: b1
            ---
            s: rules
            u1: look it up
            a1: searching
            a2: fetching
            a3: done
            b1: my turn
        "]],
    );
}

/// A step that was taken anew has its switcher inside the answer.
#[test]
fn a_step_is_taken_anew() {
    check(
        "
        say u1 . user look it up
        say a1 . bot!search searching
        say a2 . bot wrong
        regen a2b a2 bot right",
        expect![[r"
            user u1
            answer of bot: a1 + a2b 2/2 [a1 search open]
            ---
            u1: look it up
            a1: searching
            a2b: right
        "]],
    );
}

const GROUP: &str = "
    say u1 . user all of you
    group g . agents
    lane m1 g ann ann hello
    lane m2 g bob bob!look hi
    say m3 m2 bob there
    say v . lead thanks";

/// Members side by side: lanes for a person, one after the other for a model. Nobody's reply is lost.
#[test]
fn members_answer_side_by_side() {
    check(
        GROUP,
        expect![[r"
            user u1
            Agents g | ann m1..m1 (1) | bob m2..m3 (2)
              ann: answer of ann: m1
              bob: answer of bob: m2 + m3 [m2 look open]
            answer of lead: v
            ---
            u1: all of you
            m1: hello
            m2: hi
            m3: there
            v: thanks
        "]],
    );
    // One member anew, then the group anew.
    check(
        &format!("{GROUP}\n regen m1b m1 ann better"),
        expect![[r"
            user u1
            Agents g | ann m1b..m1b (1) | bob m2..m3 (2)
              ann: answer of ann: m1b 2/2
              bob: answer of bob: m2 + m3 [m2 look open]
            answer of lead: v
            ---
            u1: all of you
            m1b: better
            m2: hi
            m3: there
            v: thanks
        "]],
    );
    check(
        &format!("{GROUP}\n regroup g2 g\n lane n1 g2 ann ann anew"),
        expect![[r"
            user u1
            Agents g2 2/2 | ann n1..n1 (1)
              ann: answer of ann: n1
            ---
            u1: all of you
            n1: anew
        "]],
    );
    check(
        &format!("{GROUP}\n delete g"),
        expect![[r"
            user u1
            removed g
            answer of lead: v
            ---
            u1: all of you
            v: thanks
        "]],
    );
    check_scope(
        GROUP,
        &Scope::UpTo("m3".into()),
        expect![[r"
            user u1
            Agents g | ann m1..m1 (1) | bob m2..m3 (2)
            answer of bob: m2 + m3 [m2 look open]
            ---
            u1: all of you
            m2: hi
            m3: there
        "]],
    );
}

/// A council inside a lane; groups stand in groups.
#[test]
fn a_council_votes() {
    check(
        "
        say u1 . user decide
        group g . agents
        lane m1 g ann ann I ask around
        group c m1 council
        lane c1 c x x yes
        lane c2 c y y no
        say m2 c ann undecided",
        expect![[r"
            user u1
            Agents g | ann m1..m2 (2)
              ann: answer of ann: m1
              ann: Council c | x c1..c1 (1) | y c2..c2 (1)
                x: answer of x: c1
                y: answer of y: c2
              ann: answer of ann: m2
            ---
            u1: decide
            m1: I ask around
            c1: yes
            c2: no
            m2: undecided
        "]],
    );
}

/// A task is its instruction and its result for the model, with its whole work for a person.
#[test]
fn tasks_show_their_work_to_people_alone() {
    check(
        "
        say u1 . user do two things
        group g . tasks
        lane i1 g one user first thing
        say w1 i1 ann!dig digging
        say w2 w1 ann still digging
        say r1 w2 ann dug
        lane i2 g two user second thing
        pin w1",
        expect![[r"
            user u1
            Tasks g | one i1..r1 (4) | two i2..- (1)
              one: user i1
              one: answer of ann: w1 pinned + w2 + r1 [w1 dig open]
              two: user i2
            ---
            u1: do two things
            i1: first thing
            w1: digging
            r1: dug
            i2: second thing
        "]],
    );
}

const THREADS: &str = "
    say u1 . user one
    say a1 . bot first
    say u2 . user two
    thread t1 a1 aside user why?
    say t2 t1 bot therefore
    thread s1 t2 deeper user really?
    edit t1b t1 user how?
    say t3 t1b bot thus";

/// A thread has what it is about before it, even when that is no longer active, and branches of its own.
#[test]
fn threads_hang_on_messages() {
    check(
        THREADS,
        expect![[r"
            user u1
            answer of bot: a1 (aside: 2)
            user u2
            ---
            u1: one
            a1: first
            u2: two
        "]],
    );
    check_scope(
        &format!("{THREADS}\n regen a1b a1 bot other"),
        &Scope::Thread("aside".into()),
        expect![[r"
            user t1b 2/2
            answer of bot: t3
            ---
            u1: one
            a1: first
            t1b: how?
            t3: thus
        "]],
    );
    check_scope(
        THREADS,
        &Scope::Thread("deeper".into()),
        expect![[r"
            user s1
            ---
            u1: one
            a1: first
            t1: why?
            t2: therefore
            s1: really?
        "]],
    );
    // The message is deleted: the thread stays.
    check_scope(
        &format!("{THREADS}\n delete a1"),
        &Scope::Thread("aside".into()),
        expect![[r"
            user t1b 2/2
            answer of bot: t3
            ---
            u1: one
            t1b: how?
            t3: thus
        "]],
    );
}

const FOLDED: &str = "
    say u1 . user one
    say a1 . bot first
    group g . agents
    lane m1 g ann ann hello
    say u2 . user two
    say a2 . bot second
    pin a1
    fold f u1 g short";

/// A fold stands as its summary for the model, with what is pinned after it; a person can open it.
#[test]
fn a_stretch_is_compressed() {
    check(
        FOLDED,
        expect![[r"
            fold f of 3
              user u1
              answer of bot: a1 pinned
              Agents g | ann m1..m1 (1)
                ann: answer of ann: m1
            user u2
            answer of bot: a2
            ---
            f <u1 g m1>: short
            a1: first
            u2: two
            a2: second
        "]],
    );
    // A longer fold takes the place of the older one; undoing it brings back the messages.
    check(
        &format!("{FOLDED}\n fold f2 u1 u2 shorter"),
        expect![[r"
            fold f2 of 4
              user u1
              answer of bot: a1 pinned
              Agents g | ann m1..m1 (1)
                ann: answer of ann: m1
              user u2
            answer of bot: a2
            ---
            f2 <u1 g m1 u2>: shorter
            a1: first
            a2: second
        "]],
    );
    check(
        &format!("{FOLDED}\n fold f2 u2 a2 rest\n expand f"),
        expect![[r"
            user u1
            answer of bot: a1 pinned
            Agents g | ann m1..m1 (1)
              ann: answer of ann: m1
            fold f2 of 2
              user u2
              answer of bot: a2
            ---
            u1: one
            a1: first
            m1: hello
            f2 <u2 a2>: rest
        "]],
    );
}

/// A branch that leaves the stretch is not what was summed up.
#[test]
fn another_branch_is_not_compressed() {
    check(
        &format!("{FOLDED}\n regen a1b a1 bot other"),
        expect![[r"
            user u1
            answer of bot: a1b 2/2
            ---
            u1: one
            a1b: other
        "]],
    );
    check(
        &format!("{FOLDED}\n prune u1"),
        expect![[r"
            ---
        "]],
    );
}

/// What is stored is what the model gets, byte for byte: braces, reasoning with its signature, empty text.
/// Also after the conversation was stored and read again.
#[test]
fn messages_go_through_unchanged() {
    let answer = Message::Assistant(AssistantMessage {
        parts: vec![
            Part::Reasoning(Reasoning {
                text: "I should look up the time first.".into(),
                signature: Some("sig".into()),
                model: None,
            }),
            Part::text("{\n \"root\": {\"a\": [1, 2]}\n}"),
        ],
        origin: Origin::member("bot"),
        ..AssistantMessage::default()
    });
    let said = [Message::user("use {{name}} in my Vue file, and {context} too"), answer, Message::user("")];
    let mut talk = Conversation::new();
    for (at, message) in said.iter().enumerate() {
        let after = talk.tip(&Scope::Main).expect("main is there");
        let id = NodeId::from(format!("n{at}"));
        let body = message.clone().into();
        talk.execute(Command::Append { id, after, body }).expect("ids are new");
    }
    let json = serde_json::to_string(&talk.rows()).expect("rows are written");
    let rows: Vec<Row> = serde_json::from_str(&json).expect("rows are read");
    let (again, faults) = Conversation::from_rows(rows);
    assert_eq!(faults, []);
    assert_eq!(again.for_model(&Scope::Main).expect("main is there").messages(), said);
}

/// From an item or a message to its nodes, and back.
#[test]
fn ids_lead_both_ways() {
    let talk = run(FOLDED);
    let view = talk.for_model(&Scope::Main).expect("main is there");
    assert_eq!(view.entry_of(&"m1".into()).map(|entry| &entry.id), Some(&"f".into()));
    assert_eq!(view.entry_of(&"a1".into()).map(|entry| &entry.id), Some(&"a1".into()));
    let display = talk.for_display(&Scope::Main).expect("main is there");
    assert_eq!(display.item_of(&"m1".into()).map(|item| &item.id), Some(&"m1".into()));
    let fold = NodeId::from("f");
    let inside: Vec<&str> = display.inside(Some(&fold)).map(|item| item.id.as_str()).collect();
    assert_eq!(inside, ["u1", "a1", "g"]);
    assert_eq!(read(&talk, &Scope::UpTo("a1".into())), "u1: one\na1: first\n");
}

/// A stretch inside a lane is compressed. Of a task the model reads the result all the same.
#[test]
fn a_stretch_of_a_lane_is_compressed() {
    let script = |kind: &str| {
        format!(
            "
            group g . {kind}
            lane i1 g one user thing
            say w1 i1 ann!dig digging
            say r1 w1 ann dug
            fold f i1 w1 short"
        )
    };
    check(
        &script("agents"),
        expect![[r"
            Agents g | one i1..r1 (3)
              one: fold f of 2
                user i1
                answer of ann: w1 [w1 dig open]
              one: answer of ann: r1
            ---
            f <i1 w1>: short
            r1: dug
        "]],
    );
    check(
        &script("tasks"),
        expect![[r"
            Tasks g | one i1..r1 (3)
              one: fold f of 2
                user i1
                answer of ann: w1 [w1 dig open]
              one: answer of ann: r1
            ---
            i1: thing
            r1: dug
        "]],
    );
}

/// What is chosen in a thread moves nobody on the main path.
#[test]
fn a_choice_in_a_thread_stays_there() {
    let talk = run(&format!("{THREADS}\n regen a1b a1 bot other\n select t2"));
    assert_eq!(read(&talk, &Scope::Main), "u1: one\na1b: other\n");
    assert!(read(&talk, &Scope::Thread("aside".into())).ends_with("t1: why?\nt2: therefore\n"));
}

/// The same member in another turn of the group gives another answer.
#[test]
fn turns_are_answers_of_their_own() {
    let mut talk = Conversation::new();
    for (id, turn) in [("a1", 1), ("a2", 1), ("b1", 2)] {
        let origin = Origin { turn: Some(turn), ..Origin::member("bot") };
        let message = Message::Assistant(AssistantMessage { origin, ..AssistantMessage::default() });
        let after = talk.tip(&Scope::Main).expect("main is there");
        let command = Command::Append { id: id.into(), after, body: message.into() };
        talk.execute(command).expect("ids are new");
    }
    expect![[r"
        answer of bot: a1 + a2
        answer of bot: b1
    "]]
    .assert_eq(&shown(&talk, &Scope::Main));
}
