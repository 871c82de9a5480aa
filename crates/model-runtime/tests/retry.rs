//! When a call is tried again, after what wait, and who is told. Time is paused: nothing here waits.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use expect_test::{Expect, expect};
use futures_util::{StreamExt, stream};
use thermidor_model_runtime::{
    CallObserver, CallReport, CallStep, ChatEvent, ChatModel, ChatRequest, ChatStream, Error, Retry,
    RetryPolicy, StreamEnd, StreamEnding,
};
use thermidor_types::{AssistantMessage, Failure, FailureKind, ModelCard, ModelId, Part, Tokens};

/// What one try does.
enum Try {
    Refuse(FailureKind, Option<u64>),
    /// Words, then an ending.
    Answer(Vec<&'static str>, StreamEnding),
    Nothing,
}

struct Scripted {
    card: ModelCard,
    tries: Mutex<VecDeque<Try>>,
}

#[async_trait]
impl ChatModel for Scripted {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    async fn stream(&self, _request: ChatRequest) -> Result<ChatStream, Error> {
        let next = self.tries.lock().expect("no panic").pop_front().expect("no more tries than scripted");
        match next {
            Try::Nothing => Ok(stream::empty().boxed()),
            Try::Refuse(kind, wait) => {
                let error = Error::new(kind, self.card.id.clone(), "");
                Err(match wait {
                    Some(wait) => error.with_retry_after(Duration::from_secs(wait)),
                    None => error,
                })
            }
            Try::Answer(words, ending) => {
                let parts = words.iter().map(|word| Part::text(*word)).collect();
                let message = AssistantMessage { parts, ..AssistantMessage::default() };
                let end = ChatEvent::Ended(Box::new(StreamEnd::new(message, ending)));
                let deltas = words.into_iter().map(|word| ChatEvent::Text(word.into())).chain([end]);
                Ok(stream::iter(deltas.collect::<Vec<_>>()).boxed())
            }
        }
    }
}

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl CallObserver for Log {
    fn observe(&self, report: CallReport<'_>) {
        let step = match report.step {
            CallStep::Started => "started".to_owned(),
            CallStep::Failed(failure) => format!("failed: {}", failure.kind),
            CallStep::Waiting(wait) => format!("waits {wait:?}"),
        };
        let line = format!("{}#{} {step}\n", report.call_prefix, report.attempt);
        self.0.lock().expect("no panic").push(line);
    }
}

async fn check(tries: Vec<Try>, expected: Expect) {
    let card = ModelCard::unknown(ModelId::new("test", "m"), Tokens(1));
    let scripted = Arc::new(Scripted { card, tries: Mutex::new(tries.into()) });
    let log = Arc::new(Log::default());
    let model =
        Retry::new(scripted.clone(), RetryPolicy::default()).observer(log.clone()).chance(Arc::new(|| 1.0));
    let start = tokio::time::Instant::now();
    let request = ChatRequest { call_prefix: "t1".into(), ..ChatRequest::default() };
    let outcome = match model.stream(request).await {
        Err(error) => format!("error: {error}"),
        Ok(stream) => {
            let events = stream.map(|event| match event {
                ChatEvent::Text(text) => text.to_string(),
                ChatEvent::Ended(end) => format!("{:?}", end.ending),
                other => format!("{other:?}"),
            });
            events.collect::<Vec<_>>().await.join(" ")
        }
    };
    let left = scripted.tries.lock().expect("no panic").len();
    let log = log.0.lock().expect("no panic").concat();
    expected.assert_eq(&format!("{log}{outcome}\nafter {:?}, {left} left\n", start.elapsed()));
}

fn fine() -> Try {
    Try::Answer(vec!["fine"], StreamEnding::Finished)
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
        vec![Try::Answer(vec!["par"], cut()), fine()],
        expect![[r#"
        t1#1 started
        par CutOff(Failure { kind: Network, message: "gone" })
        after 0ns, 1 left
    "#]],
    )
    .await;
    check(
        vec![Try::Answer(vec![], cut()), Try::Nothing, fine()],
        expect![[r"
        t1#1 started
        t1#1 failed: network error
        t1#1 waits 500ms
        t1#2 started
        t1#2 failed: malformed answer
        t1#2 waits 1s
        t1#3 started
        fine Finished
        after 1.5s, 0 left
    "]],
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
