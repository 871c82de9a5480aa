//! The layers around a model, one table for each. Time is paused: nothing here waits.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use expect_test::{Expect, expect};
use futures_util::{StreamExt, future::join_all};
use proptest::prelude::*;
use thermidor_model_runtime::{
    Breaker, BreakerPolicy, Channel, ChatEvent, ChatModel, ChatRequest, Error, Failover, FaultClass, Limited,
    Limiter, Limits, Observed, Order, Retry, RetryPolicy, StreamEnding,
};
use thermidor_types::{Failure, FailureKind, Message, ModelId};
use tokio::time::{Instant, sleep};

#[path = "support/log.rs"]
mod log;
#[path = "support/scripted.rs"]
mod scripted;
use log::Log;
use scripted::{Scripted, Try, outcome};

fn request(name: &str) -> ChatRequest {
    ChatRequest { call_prefix: name.into(), ..ChatRequest::default() }
}

fn cut(kind: FailureKind) -> StreamEnding {
    StreamEnding::CutOff(Failure::new(kind, "gone"))
}

fn refuse(kind: FailureKind) -> Try {
    Try::Refuse(kind, None)
}

/// Channels `a`, `b`, … that each do one thing, behind a failover.
async fn failover(tries: Vec<Try>, expected: Expect) {
    let log = Arc::new(Log::default());
    let scripts: Vec<_> = tries.into_iter().map(|one| Scripted::new("m", vec![one])).collect();
    let mut channels = scripts
        .iter()
        .zip(["a", "b", "c", "d"])
        .map(|(script, name)| Channel::new(name, Arc::new(Observed::new(script.clone(), name, log.clone()))));
    let first = channels.next().expect("a channel");
    let model = Failover::new(first, channels).observer(log.clone());
    let outcome = outcome(&model, request("t")).await;
    let left = scripts.iter().filter(|script| script.left() > 0).count();
    expected.assert_eq(&format!("{}{outcome}\n{left} not asked\n", log.take()));
}

#[tokio::test(start_paused = true)]
async fn failures_of_the_place_lead_to_the_next_channel() {
    failover(
        vec![
            refuse(FailureKind::Credentials),
            refuse(FailureKind::NotFound),
            Try::says(&["fine"]),
            Try::Nothing,
        ],
        expect![[r"
            t#1 a started
            t#1 a failed: credentials refused
            t#1 b started
            t#1 b failed: not found
            t#1 c started
            t#1 c first event after 0ns
            t#1 c finished, 0 tokens
            fine Finished
            1 not asked
        "]],
    )
    .await;
}

/// Would fail if a request that is wrong everywhere were sent everywhere.
#[tokio::test(start_paused = true)]
async fn failures_of_the_request_do_not() {
    for kind in [FailureKind::InvalidRequest, FailureKind::ContextTooLong, FailureKind::ContentRefused] {
        let (first, second) =
            (Scripted::new("a", vec![refuse(kind)]), Scripted::new("b", vec![Try::Nothing]));
        let model = Failover::new(Channel::new("a", first), [Channel::new("b", second.clone())]);
        let error = model.stream(request("t")).await.err().expect("refused");
        assert_eq!((error.kind(), second.left()), (kind, 1));
    }
    let unable =
        |class| Error::new(FailureKind::InvalidRequest, ModelId::new("t", "m"), "").with_class(class);
    assert!(unable(FaultClass::CapabilityNotSupported).failover(), "another deployment may be able");
    assert!(!unable(FaultClass::InvalidRequestFormat).failover());
}

/// Would fail if words of a discarded answer leaked, or what it cost were forgotten.
#[tokio::test(start_paused = true)]
async fn answers_nobody_saw_are_discarded_and_paid_for() {
    failover(
        vec![
            Try::Answer(vec![" ", "\n"], cut(FailureKind::Network), 10),
            Try::Answer(vec![" "], StreamEnding::Finished, 5),
            Try::Nothing,
            Try::Answer(vec!["\n", " ", "fine"], StreamEnding::Finished, 2),
        ],
        expect![[r#"
            t#1 a started
            t#1 a first event after 0ns
            t#1 a CutOff(Failure { kind: Network, message: "gone" }), 10 tokens
            t#1 a discarded: network error: gone, 10 tokens
            t#1 b started
            t#1 b first event after 0ns
            t#1 b finished, 5 tokens
            t#1 b discarded: malformed answer: ModelEmptyCompletion, 5 tokens
            t#1 c started
            t#1 c failed: malformed answer
            t#1 d started
            t#1 d first event after 0ns
            t#1 d finished, 2 tokens

               fine Finished (17 tokens)
            0 not asked
        "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn after_the_first_word_a_break_is_an_ending() {
    failover(
        vec![Try::Answer(vec!["par"], cut(FailureKind::Network), 3), Try::says(&["no"])],
        expect![[r#"
        t#1 a started
        t#1 a first event after 0ns
        t#1 a CutOff(Failure { kind: Network, message: "gone" }), 3 tokens
        par CutOff(Failure { kind: Network, message: "gone" }) (3 tokens)
        1 not asked
    "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn when_nobody_answers_the_most_promising_failure_is_told() {
    failover(
        vec![
            refuse(FailureKind::Credentials),
            Try::Refuse(FailureKind::RateLimited, Some(9)),
            Try::Refuse(FailureKind::Overloaded, Some(2)),
            Try::Answer(vec![], cut(FailureKind::Quota), 4),
        ],
        expect![[r#"
            t#1 a started
            t#1 a failed: credentials refused
            t#1 b started
            t#1 b failed: rate limited
            t#1 c started
            t#1 c failed: overloaded
            t#1 d started
            t#1 d CutOff(Failure { kind: Quota, message: "gone" }), 4 tokens
            t#1 d discarded: quota used up: gone, 4 tokens
            error: overloaded while calling test/m (4 tokens)
            0 not asked
        "#]],
    )
    .await;
    failover(
        vec![Try::Answer(vec![" "], StreamEnding::Finished, 4), refuse(FailureKind::Server)],
        expect![[r"
            t#1 a started
            t#1 a first event after 0ns
            t#1 a finished, 4 tokens
            t#1 a discarded: malformed answer: ModelEmptyCompletion, 4 tokens
            t#1 b started
            t#1 b failed: server error
              Finished (4 tokens)
            0 not asked
        "]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn channels_take_turns() {
    let scripts: Vec<_> =
        ["a", "b", "c"].map(|name| Scripted::new(name, vec![Try::says(&["x"]), Try::says(&["x"])])).into();
    let mut channels = scripts.iter().map(|script| Channel::new("", script.clone()));
    let first = channels.next().expect("a channel");
    let model = Failover::new(first, channels).order(Order::Turns(Arc::new(AtomicUsize::new(0))));
    for expected in [[1, 2, 2], [1, 1, 2], [1, 1, 1], [0, 1, 1]] {
        outcome(&model, request("t")).await;
        assert_eq!(scripts.iter().map(|script| script.left()).collect::<Vec<_>>(), expected);
    }
}

/// A retry begins a new round of all channels; one more failure is no reason to give up.
#[tokio::test(start_paused = true)]
async fn retries_go_through_all_channels_again() {
    let log = Arc::new(Log::default());
    let channel = |name: &'static str, tries| {
        Channel::new(name, Arc::new(Observed::new(Scripted::new("m", tries), name, log.clone())))
    };
    let first = channel("a", vec![refuse(FailureKind::Overloaded), Try::says(&["fine"])]);
    let second = channel("b", vec![Try::Answer(vec![], cut(FailureKind::Network), 7)]);
    let model = Arc::new(Failover::new(first, [second]).observer(log.clone()));
    let model = Retry::new(model, RetryPolicy::default()).observer(log.clone()).chance(Arc::new(|| 1.0));
    let outcome = outcome(&model, request("t")).await;
    expect![[r#"
        t#1 a started
        t#1 a failed: overloaded
        t#1 b started
        t#1 b CutOff(Failure { kind: Network, message: "gone" }), 7 tokens
        t#1 b discarded: network error: gone, 7 tokens
        t#1 waits 500ms
        t#2 a started
        t#2 a first event after 0ns
        t#2 a finished, 0 tokens
        fine Finished (7 tokens)
    "#]]
    .assert_eq(&format!("{}{outcome}\n", log.take()));
}

fn breaking(tries: Vec<Try>) -> (Breaker, Arc<Log>) {
    let log = Arc::new(Log::default());
    let policy = BreakerPolicy {
        failures: 2,
        open_for: Duration::from_secs(10),
        longest_open: Duration::from_mins(1),
    };
    (Breaker::new(Scripted::new("m", tries), policy).observer("a", log.clone()), log)
}

#[tokio::test(start_paused = true)]
async fn a_breaker_refuses_at_once_and_probes_once() {
    let (model, log) = breaking(vec![
        refuse(FailureKind::Server),
        Try::Answer(vec!["par"], cut(FailureKind::Timeout), 0),
        Try::Slow(vec!["one", "two"]),
        Try::says(&["fine"]),
    ]);
    let mut lines = Vec::new();
    for name in ["1", "2", "3"] {
        lines.push(outcome(&model, request(name)).await);
    }
    let refused = model.stream(request("4")).await.err().expect("open");
    assert_eq!(
        (refused.kind(), refused.retry_after()),
        (FailureKind::Overloaded, Some(Duration::from_secs(10)))
    );
    assert!(!refused.was_sent() && refused.failover());
    sleep(Duration::from_secs(10)).await;
    let probe = async {
        let mut stream = model.stream(request("5")).await.expect("the probe");
        assert!(model.stream(request("6")).await.is_err(), "one probe at a time");
        assert!(matches!(stream.next().await, Some(ChatEvent::Text(_))));
        stream
    };
    let rest = probe.await;
    // A first word is enough to know, although the answer goes on.
    lines.push(outcome(&model, request("7")).await);
    drop(rest);
    expect![[r#"
        2#1 a breaker Open
        3#1 a refused: overloaded: test/m: the channel is taken to be down after several failures; next try in 10 s
        4#1 a refused: overloaded: test/m: the channel is taken to be down after several failures; next try in 10 s
        5#1 a breaker HalfOpen
        6#1 a refused: overloaded: test/m: the channel is taken to be down after several failures; next try in 1 s
        5#1 a breaker Closed
        error: server error while calling test/m
        par CutOff(Failure { kind: Timeout, message: "gone" })
        error: overloaded while calling test/m: the channel is taken to be down after several failures; next try in 10 s
        fine Finished
    "#]].assert_eq(&format!("{}{}\n", log.take(), lines.join("\n")));
}

/// Would fail if a caller who left kept a breaker half-open for ever, or a wrong key opened one.
#[tokio::test(start_paused = true)]
async fn what_says_nothing_of_health_moves_no_breaker() {
    let wrong = || refuse(FailureKind::Credentials);
    let (model, log) = breaking(vec![wrong(), wrong(), wrong()]);
    for _ in 0..3 {
        outcome(&model, request("t")).await;
    }
    assert_eq!(log.take(), "");
    let sick = || refuse(FailureKind::Network);
    let (model, log) = breaking(vec![sick(), sick(), Try::Slow(vec!["never heard"]), Try::says(&["fine"])]);
    outcome(&model, request("t")).await;
    outcome(&model, request("t")).await;
    sleep(Duration::from_secs(10)).await;
    drop(model.stream(request("left")).await.expect("the probe"));
    assert_eq!(outcome(&model, request("next")).await, "fine Finished");
    expect![[r"
        t#1 a breaker Open
        left#1 a breaker HalfOpen
        left#1 a breaker Open
        next#1 a breaker HalfOpen
        next#1 a breaker Closed
    "]]
    .assert_eq(&log.take());
}

/// Calls through a limiter, each at a second; when each one began and ended.
async fn limited(limits: Limits, calls: &[(u64, usize, Try)], expected: Expect) {
    let log = Arc::new(Log::default());
    let limiter = Arc::new(Limiter::new(limits));
    let start = Instant::now();
    let calls = calls.iter().enumerate().map(|(place, (second, bytes, one))| {
        let model =
            Limited::new(Scripted::new("m", vec![one.clone()]), limiter.clone()).observer("", log.clone());
        let asked =
            ChatRequest { messages: vec![Message::user("x".repeat(*bytes))], ..request(&place.to_string()) };
        async move {
            sleep(Duration::from_secs(*second)).await;
            let heard = outcome(&model, asked).await;
            format!("{place}: {heard}, after {} s\n", start.elapsed().as_secs())
        }
    });
    let lines = join_all(calls).await;
    expected.assert_eq(&format!("{}{}", log.take(), lines.concat()));
}

#[tokio::test(start_paused = true)]
async fn places_are_held_until_an_answer_ends() {
    let slow = || Try::Slow(vec!["a", "b"]);
    let one = Limits { concurrency: Some(1), ..Limits::default() };
    limited(
        one,
        &[(0, 0, slow()), (1, 0, slow()), (2, 0, refuse(FailureKind::Server)), (2, 0, slow())],
        expect![[r"
            1#1 had to wait 2s
            2#1 had to wait 4s
            3#1 had to wait 4s
            0: a b Finished, after 3 s
            1: a b Finished, after 6 s
            2: error: server error while calling test/m, after 6 s
            3: a b Finished, after 9 s
        "]],
    )
    .await;
    let limiter = Arc::new(Limiter::new(one));
    let model = Limited::new(Scripted::new("m", vec![slow(), Try::says(&["fine"])]), limiter);
    let stream = model.stream(request("t")).await.expect("a place");
    drop(stream);
    assert_eq!(outcome(&model, request("t")).await, "fine Finished", "a dropped answer gives its place back");
}

#[tokio::test(start_paused = true)]
async fn requests_wait_in_their_order() {
    let limits = Limits { requests_per_minute: Some(2), ..Limits::default() };
    let fine = || Try::says(&["fine"]);
    limited(
        limits,
        &[(0, 0, fine()), (0, 0, fine()), (1, 0, fine()), (2, 0, fine())],
        expect![[r"
        2#1 had to wait 29.001s
        3#1 had to wait 58.001s
        0: fine Finished, after 0 s
        1: fine Finished, after 0 s
        2: fine Finished, after 30 s
        3: fine Finished, after 60 s
    "]],
    )
    .await;
}

/// The estimate is four characters a token, and four tokens around; what was reported replaces it.
#[tokio::test(start_paused = true)]
async fn tokens_are_taken_by_estimate_and_corrected() {
    let limits = Limits { tokens_per_minute: Some(60), ..Limits::default() };
    let took = |tokens| Try::Answer(vec!["x"], StreamEnding::Finished, tokens);
    // 40 estimated and 60 taken: the next 20 wait for 20. A refusal gives its estimate back.
    limited(
        limits,
        &[(0, 144, took(60)), (1, 64, took(20)), (30, 144, refuse(FailureKind::Server)), (31, 64, took(0))],
        expect![[r"
            1#1 had to wait 19.001s
            2#1 had to wait 30.001s
            3#1 had to wait 29.001s
            0: x Finished (60 tokens), after 0 s
            1: x Finished (20 tokens), after 20 s
            2: error: server error while calling test/m, after 60 s
            3: x Finished, after 60 s
        "]],
    )
    .await;
    // Larger than the bucket: through when it is full.
    limited(
        limits,
        &[(0, 24, took(10)), (1, 384, took(100)), (2, 0, took(4))],
        expect![[r"
            1#1 had to wait 9.001s
            2#1 had to wait 52.002s
            0: x Finished (10 tokens), after 0 s
            1: x Finished (100 tokens), after 10 s
            2: x Finished (4 tokens), after 54 s
        "]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn waits_are_bounded() {
    let limits = Limits {
        requests_per_minute: Some(1),
        concurrency: Some(1),
        longest_wait: Some(Duration::from_secs(5)),
        ..Limits::default()
    };
    let slow = Try::Slow(vec!["a", "b", "c", "d", "e", "f", "g"]);
    limited(limits, &[(0, 0, slow), (1, 0, Try::Nothing), (9, 0, Try::Nothing)], expect![[r"
        1#1 refused: rate limited: test/m: no turn within 5s: our own limits of this channel are used up
        2#1 refused: rate limited: test/m: no turn within 5s: our own limits of this channel are used up
        0: a b c d e f g Finished, after 8 s
        1: error: rate limited while calling test/m: no turn within 5s: our own limits of this channel are used up, after 6 s
        2: error: rate limited while calling test/m: no turn within 5s: our own limits of this channel are used up, after 9 s
    "]]).await;
}

/// Behaviours of a channel, each with words of its own.
fn behaviours() -> impl Strategy<Value = Vec<(u8, FailureKind)>> {
    let kinds = prop::sample::select(vec![
        FailureKind::Network,
        FailureKind::Credentials,
        FailureKind::InvalidRequest,
        FailureKind::RateLimited,
    ]);
    prop::collection::vec((0_u8..8, kinds), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Invariant: whatever the channels do, what is heard are the words of one attempt, all of them, and no word of
    /// a discarded one; every token is paid for once.
    #[test]
    fn an_answer_is_of_one_attempt(script in behaviours(), retries in 1_u32..3) {
        const WORDS: [[&str; 3]; 5] =
            [["\n", "a0", "a1"], ["\n", "b0", "b1"], ["\n", "c0", "c1"], ["\n", "d0", "d1"], ["\n", "e0", "e1"]];
        let asked = |place: usize, (what, kind): (u8, FailureKind)| match what {
            0 => Try::Refuse(kind, None),
            1 => Try::Nothing,
            2 => Try::Answer(vec![], cut(kind), 1),
            3 => Try::Answer(vec![WORDS[place][0]], cut(kind), 10),
            4 => Try::Answer(vec![WORDS[place][0]], StreamEnding::Finished, 100),
            5 => Try::Answer(WORDS[place].to_vec(), cut(kind), 1_000),
            6 => Try::Answer(WORDS[place].to_vec(), StreamEnding::Length, 1_000),
            _ => Try::Answer(WORDS[place].to_vec(), StreamEnding::Finished, 1_000),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let tries = script.iter().enumerate().map(|(place, what)| {
                let one = asked(place, *what);
                Scripted::new("m", vec![one; retries as usize])
            });
            let scripts: Vec<_> = tries.collect();
            let mut channels = scripts.iter().map(|script| Channel::new("", script.clone()));
            let model = Failover::new(channels.next().expect("one"), channels);
            let policy = RetryPolicy { attempts: retries, ..RetryPolicy::default() };
            let model = Retry::new(Arc::new(model), policy);
            let mut heard: Vec<String> = Vec::new();
            let mut total = 0;
            match model.stream(request("t")).await {
                Err(error) => total = error.usage().total().0,
                Ok(mut stream) => while let Some(event) = stream.next().await {
                    match event {
                        ChatEvent::Text(text) => heard.push(text.to_string()),
                        ChatEvent::Ended(end) => total = end.message.usage.total().0,
                        other => panic!("{other:?}"),
                    }
                }
            }
            let authors: BTreeSet<char> = heard.iter().filter_map(|text| text.trim().chars().next()).collect();
            assert!(authors.len() <= 1, "{heard:?}");
            if let Some(author) = authors.first() {
                assert_eq!(heard, ["\n".to_owned(), format!("{author}0"), format!("{author}1")]);
            }
            let tokens = [0, 0, 1, 10, 100, 1_000, 1_000, 1_000];
            let spent: u64 = scripts.iter().zip(&script)
                .map(|(script, (what, _))| (retries as usize - script.left()) as u64 * tokens[usize::from(*what)])
                .sum();
            assert_eq!(total, spent, "{script:?}");
        });
    }
}
