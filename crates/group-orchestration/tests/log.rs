//! Tables of event logs: what goes in, and all that follows from it.

mod support;

use expect_test::{Expect, expect};
use support::{pipeline, room::Room};
use thermidor_group_orchestration::Supervisors;

fn check(stages: &str, inputs: &str, expected: Expect) {
    let mut room = Room::new(pipeline(stages), &Supervisors::new());
    room.inputs(inputs.split(", "));
    expected.assert_eq(&room.log);
}

/// Would fail if a stage of a relay began before the one it needs, or saw something else.
#[test]
fn strict_relay() {
    check(
        "a@boss\nb: a\nc@boss: b *",
        "start, done 1, done 2, done 3",
        expect![[r#"
        > start
        began "a trainer" with 2 members
        decided (1): call_agent 1 [ready: a]
        turn 1: a by boss sees []
          opens turn:1: agent
        > done 1
        spoke 1: Done
        decided (2): call_agent 2 [ready: b]
        turn 2: b by b sees [1]
          opens turn:2: agent
        > done 2
        spoke 2: Done
        decided (3): call_agent 3 [ready: c]
        turn 3: c by boss sees [1, 2]
          opens turn:3: agent
        > done 3
        spoke 3: Done
        decided (4): finish "all_stages_done" [every stage is done]
        ended Done [1, 2, 3]: all_stages_done
    "#]],
    );
}

/// Would fail if `d` waited for `b`, which it does not need, or the outputs came in the order of completion.
#[test]
fn parallel_stages_without_a_barrier() {
    check(
        "a\nb: a\nc: a\nd: c\ne: b d",
        "start, done 1, done 3, done 4, done 2, done 5",
        expect![[r#"
        > start
        began "a trainer" with 5 members
        decided (1): call_agent 1 [ready: a]
        turn 1: a by a sees []
          opens turn:1: agent
        > done 1
        spoke 1: Done
        decided (2): call_agent 2, call_agent 3 [ready: b, c]
        turn 2: b by b sees [1]
        turn 3: c by c sees [1]
          opens turn:2: agent
          opens turn:3: agent
        > done 3
        spoke 3: Done
        decided (3): call_agent 4 [ready: d]
        turn 4: d by d sees [3]
          opens turn:4: agent
        > done 4
        spoke 4: Done
        decided (4): nothing [what is left waits for stages under way]
        > done 2
        spoke 2: Done
        decided (5): call_agent 5 [ready: e]
        turn 5: e by e sees [2, 4]
          opens turn:5: agent
        > done 5
        spoke 5: Done
        decided (6): finish "all_stages_done" [every stage is done]
        ended Done [1, 2, 3, 4, 5]: all_stages_done
    "#]],
    );
}

/// Would fail if a view showed more or less than it says.
#[test]
fn views() {
    check(
        "a\nb: a -\nc: b\nd: c *",
        "start, done 1, done 2, done 3",
        expect![[r#"
        > start
        began "a trainer" with 4 members
        decided (1): call_agent 1 [ready: a]
        turn 1: a by a sees []
          opens turn:1: agent
        > done 1
        spoke 1: Done
        decided (2): call_agent 2 [ready: b]
        turn 2: b by b sees []
          opens turn:2: agent
        > done 2
        spoke 2: Done
        decided (3): call_agent 3 [ready: c]
        turn 3: c by c sees [2]
          opens turn:3: agent
        > done 3
        spoke 3: Done
        decided (4): call_agent 4 [ready: d]
        turn 4: d by d sees [1, 2, 3]
          opens turn:4: agent
    "#]],
    );
}

/// Would fail if others were not let finish, something new began, or resuming repeated what was done.
#[test]
fn a_failure_lets_others_finish_and_can_be_resumed() {
    check(
        "a\nb: a\nc: a\nd: c\ne: b d",
        "start, done 1, failed 2, done 3, resume, done 5, done 4, done 6",
        expect![[r#"
        > start
        began "a trainer" with 5 members
        decided (1): call_agent 1 [ready: a]
        turn 1: a by a sees []
          opens turn:1: agent
        > done 1
        spoke 1: Done
        decided (2): call_agent 2, call_agent 3 [ready: b, c]
        turn 2: b by b sees [1]
        turn 3: c by c sees [1]
          opens turn:2: agent
          opens turn:3: agent
        > failed 2
        spoke 2: Failed
        > done 3
        spoke 3: Done
        ended Failed [1, 3]: B (b): server error: b is down
        > resume
        resumed
        turn 4: b by b sees [1] again after 2
        decided (3): call_agent 5 [ready: d]
        turn 5: d by d sees [3]
          opens turn:4: agent
          opens turn:5: agent
        > done 5
        spoke 5: Done
        decided (4): nothing [what is left waits for stages under way]
        > done 4
        spoke 4: Done
        decided (5): call_agent 6 [ready: e]
        turn 6: e by e sees [4, 5]
          opens turn:6: agent
        > done 6
        spoke 6: Done
        decided (6): finish "all_stages_done" [every stage is done]
        ended Done [1, 4, 3, 5, 6]: all_stages_done
    "#]],
    );
}

/// Would fail if the way it ended depended on who ended first.
#[test]
fn the_worst_end_counts_and_then_the_order_of_stages() {
    check(
        "a\nb\nc\nd",
        "start, stopped 1, failed 4, failed 3, limit 2",
        expect![[r#"
        > start
        began "a trainer" with 4 members
        decided (1): call_agent 1, call_agent 2, call_agent 3, call_agent 4 [ready: a, b, c, d]
        turn 1: a by a sees []
        turn 2: b by b sees []
        turn 3: c by c sees []
        turn 4: d by d sees []
          opens turn:1: agent
          opens turn:2: agent
          opens turn:3: agent
          opens turn:4: agent
        > stopped 1
        spoke 1: Stopped
        > failed 4
        spoke 4: Failed
        > failed 3
        spoke 3: Failed
        > limit 2
        spoke 2: Limit
        ended Failed []: C (c): server error: c is down
    "#]],
    );
}

/// Would fail if a stop let somebody go on, lost what was finished, or could not be undone.
#[test]
fn stop_and_resume() {
    check(
        "a\nb\nc: a b",
        "resume, start, start, done 2, resume, stop, stop, stopped 1, stop, resume, done 3, done 4, resume",
        expect![[r#"
        > resume
        refused: the group has not ended: there is nothing to resume
        > start
        began "a trainer" with 3 members
        decided (1): call_agent 1, call_agent 2 [ready: a, b]
        turn 1: a by a sees []
        turn 2: b by b sees []
          opens turn:1: agent
          opens turn:2: agent
        > start
        refused: the group has begun
        > done 2
        spoke 2: Done
        decided (2): nothing [what is left waits for stages under way]
        > resume
        refused: the group has not ended: there is nothing to resume
        > stop
        stop asked
          stops turn:1
        > stop
        > stopped 1
        spoke 1: Stopped
        ended Stopped [2]: it was asked to stop
        > stop
        > resume
        resumed
        turn 3: a by a sees [] again after 1
        decided (3): nothing [what is left waits for stages under way]
          opens turn:3: agent
        > done 3
        spoke 3: Done
        decided (4): call_agent 4 [ready: c]
        turn 4: c by c sees [3, 2]
          opens turn:4: agent
        > done 4
        spoke 4: Done
        decided (5): finish "all_stages_done" [every stage is done]
        ended Done [3, 2, 4]: all_stages_done
        > resume
        refused: the group is done: there is nothing to resume
    "#]],
    );
}

/// Would fail if a limit left a turn open, or a turn that ended well in spite of it were lost.
#[test]
fn limit() {
    check(
        "a\nb\nc: a b",
        "start, limit, done 1, stopped 2, resume",
        expect![[r#"
        > start
        began "a trainer" with 3 members
        decided (1): call_agent 1, call_agent 2 [ready: a, b]
        turn 1: a by a sees []
        turn 2: b by b sees []
          opens turn:1: agent
          opens turn:2: agent
        > limit
        limit reached
          stops turn:1
          stops turn:2
        > done 1
        spoke 1: Done
        > stopped 2
        spoke 2: Stopped
        ended Limit [1]: it reached a limit
        > resume
        resumed
        turn 3: b by b sees [] again after 2
        decided (2): nothing [what is left waits for stages under way]
          opens turn:3: agent
    "#]],
    );
}

/// Would fail if a stop after a failure waited for those who speak.
#[test]
fn a_stop_overrides_a_failure() {
    check(
        "a\nb",
        "start, failed 1, stop, stopped 2",
        expect![[r#"
        > start
        began "a trainer" with 2 members
        decided (1): call_agent 1, call_agent 2 [ready: a, b]
        turn 1: a by a sees []
        turn 2: b by b sees []
          opens turn:1: agent
          opens turn:2: agent
        > failed 1
        spoke 1: Failed
        > stop
        stop asked
          stops turn:2
        > stopped 2
        spoke 2: Stopped
        ended Stopped []: it was asked to stop
    "#]],
    );
}
