//! When a call is tried again, after what wait, and who is told. Time is paused: nothing here waits.

use std::sync::Arc;

use expect_test::{Expect, expect};
use thermidor_model_runtime::{ChatRequest, Error, Observed, Retry, RetryPolicy, StreamEnding};
use thermidor_types::{Failure, FailureKind, ModelId};

#[path = "support/log.rs"]
mod log;
#[path = "support/scripted.rs"]
#[expect(dead_code, reason = "only a part of what can be scripted is played here")]
mod scripted;
use log::Log;
use scripted::{Scripted, Try, outcome};

async fn check(tries: Vec<Try>, expected: Expect) {
    let scripted = Scripted::new("m", tries);
    let log = Arc::new(Log::default());
    let observed = Arc::new(Observed::new(scripted.clone(), "", log.clone()));
    let model = Retry::new(observed, RetryPolicy::default()).observer(log.clone()).chance(Arc::new(|| 1.0));
    let start = tokio::time::Instant::now();
    let request = ChatRequest { call_prefix: "t1".into(), ..ChatRequest::default() };
    let outcome = outcome(&model, request).await;
    let (left, log) = (scripted.left(), log.take());
    expected.assert_eq(&format!("{log}{outcome}\nafter {:?}, {left} left\n", start.elapsed()));
}

fn fine() -> Try {
    Try::says(&["fine"])
}

#[tokio::test(start_paused = true)]
async fn failures_that_pass_are_tried_again() {
    check(
        vec![Try::Refuse(FailureKind::Overloaded, None), Try::Refuse(FailureKind::Network, None), fine()],
        expect![[r"
            t1#1 started
            t1#1 failed: overloaded
            t1#1 waits 500ms
            t1#2 started
            t1#2 failed: network error
            t1#2 waits 1s
            t1#3 started
            t1#3 first event after 0ns
            t1#3 finished, 0 tokens
            fine Finished
            after 1.5s, 0 left
        "]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn tries_are_counted() {
    let refuse = || Try::Refuse(FailureKind::Server, None);
    check(
        vec![refuse(), refuse(), refuse(), fine()],
        expect![[r"
        t1#1 started
        t1#1 failed: server error
        t1#1 waits 500ms
        t1#2 started
        t1#2 failed: server error
        t1#2 waits 1s
        t1#3 started
        t1#3 failed: server error
        error: server error while calling test/m
        after 1.5s, 1 left
    "]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn failures_that_stay_are_not_tried_again() {
    check(
        vec![Try::Refuse(FailureKind::Credentials, None), fine()],
        expect![[r"
        t1#1 started
        t1#1 failed: credentials refused
        error: credentials refused while calling test/m
        after 0ns, 1 left
    "]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_wait_asked_for_is_a_lower_bound_within_reason() {
    check(
        vec![Try::Refuse(FailureKind::RateLimited, Some(7)), fine()],
        expect![[r"
            t1#1 started
            t1#1 failed: rate limited
            t1#1 waits 7s
            t1#2 started
            t1#2 first event after 0ns
            t1#2 finished, 0 tokens
            fine Finished
            after 7s, 0 left
        "]],
    )
    .await;
    check(
        vec![Try::Refuse(FailureKind::RateLimited, Some(3600)), fine()],
        expect![[r"
        t1#1 started
        t1#1 failed: rate limited
        error: rate limited while calling test/m
        after 0ns, 1 left
    "]],
    )
    .await;
}

/// Would fail if words were said twice: what was seen is never said again.
#[tokio::test(start_paused = true)]
async fn nothing_is_tried_again_once_something_was_seen() {
    let cut = || StreamEnding::CutOff(Failure::new(FailureKind::Network, "gone"));
    check(
        vec![Try::Answer(vec!["par"], cut(), 0), fine()],
        expect![[r#"
            t1#1 started
            t1#1 first event after 0ns
            t1#1 CutOff(Failure { kind: Network, message: "gone" }), 0 tokens
            par CutOff(Failure { kind: Network, message: "gone" })
            after 0ns, 1 left
        "#]],
    )
    .await;
    check(
        vec![Try::Answer(vec![], cut(), 0), Try::Nothing, fine()],
        expect![[r#"
            t1#1 started
            t1#1 CutOff(Failure { kind: Network, message: "gone" }), 0 tokens
            t1#1 waits 500ms
            t1#2 started
            t1#2 failed: malformed answer
            t1#2 waits 1s
            t1#3 started
            t1#3 first event after 0ns
            t1#3 finished, 0 tokens
            fine Finished
            after 1.5s, 0 left
        "#]],
    )
    .await;
}

#[test]
fn waits_grow_to_a_bound_and_chance_takes_at_most_half() {
    let policy = RetryPolicy { attempts: u32::MAX, ..RetryPolicy::default() };
    let error = Error::new(FailureKind::Server, ModelId::new("test", "m"), "");
    let wait = |failed, chance| policy.wait(failed, &error, chance).expect("a wait").as_millis();
    assert_eq!(
        [wait(1, 0.0), wait(1, 1.0), wait(3, 1.0), wait(u32::MAX - 1, 1.0)],
        [250, 500, 2_000, 20_000]
    );
    assert!(policy.wait(u32::MAX, &error, 1.0).is_none());
}
