use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use serde_json::Value;
use smol_str::{SmolStr, format_smolstr};
use thermidor_model_runtime::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, Error, StreamEnd, StreamEnding,
};
use thermidor_types::{
    AssistantMessage, Ending, Exchange, Failure, FailureKind, Measure, Message, ModelCard, ModelId, Part,
    Text, Tokens, ToolCall, Usage,
};

const WINDOW: Tokens = Tokens(128_000);

/// A model that answers as a test says, one step for each call, and remembers what it was asked.
///
/// Clones share the script and the record. Text streams word by word, with a pause before each word if
/// [`paced`](Self::paced); a call beyond the last step fails and says so. Usage counts words.
///
/// ```
/// use futures_util::StreamExt;
/// use serde_json::json;
/// use thermidor_model_runtime::{ChatModel, ChatRequest};
/// use thermidor_testing::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let model = ScriptedModel::new("test/one").calls("clock", json!({"zone": "UTC"})).says("It is noon.");
/// for deltas in [2, 3] {
///     let events = model.stream(ChatRequest::default()).await.expect("scripted");
///     assert_eq!(events.count().await, deltas + 1);
/// }
/// assert_eq!(model.requests().len(), 2);
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    card: ModelCard,
    pace: Duration,
    script: Arc<Mutex<Script>>,
    abandoned: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Script {
    steps: VecDeque<Reply>,
    rule: Option<Rule>,
    requests: Vec<ChatRequest>,
}

type Rule = Box<dyn FnMut(&ChatRequest) -> Reply + Send>;

/// One answer of a [`ScriptedModel`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Words, to the end.
    Says(String),
    /// Tool calls, by wire name and arguments as JSON.
    Calls(Vec<(SmolStr, String)>),
    /// Words up to the length allowed.
    RunsLong(String),
    /// Words, and then the connection breaks.
    BreaksOff(String),
    /// No answer.
    Fails(FailureKind),
}

impl Reply {
    /// Words, to the end.
    pub fn says(text: impl Into<String>) -> Self {
        Self::Says(text.into())
    }

    /// One tool call.
    pub fn calls(tool: impl Into<SmolStr>, arguments: Value) -> Self {
        Self::Calls(vec![(tool.into(), arguments.to_string())])
    }
}

impl ScriptedModel {
    /// A model without a step yet. An id without a slash becomes `scripted/<id>`.
    pub fn new(id: &str) -> Self {
        let id = id.parse().unwrap_or_else(|_| ModelId::new("scripted", id));
        Self {
            card: ModelCard::unknown(id, WINDOW),
            pace: Duration::ZERO,
            script: Arc::default(),
            abandoned: Arc::default(),
        }
    }

    /// A model that answers every call by a rule over the request.
    pub fn answering(id: &str, rule: impl FnMut(&ChatRequest) -> Reply + Send + 'static) -> Self {
        let model = Self::new(id);
        model.script().rule = Some(Box::new(rule));
        model
    }

    /// Pauses before each delta; works with paused time.
    #[must_use]
    pub fn paced(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// The window its card states.
    #[must_use]
    pub fn with_window(mut self, window: Tokens) -> Self {
        self.card.context_window = window;
        self
    }

    /// Next, it says this.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.then(Reply::says(text))
    }

    /// Next, it calls this tool.
    #[must_use]
    pub fn calls(self, tool: impl Into<SmolStr>, arguments: Value) -> Self {
        self.then(Reply::calls(tool, arguments))
    }

    /// Next, no answer begins.
    #[must_use]
    pub fn fails(self, kind: FailureKind) -> Self {
        self.then(Reply::Fails(kind))
    }

    /// Next, it says this and the connection breaks.
    #[must_use]
    pub fn breaks_off(self, text: impl Into<String>) -> Self {
        self.then(Reply::BreaksOff(text.into()))
    }

    /// Next, any reply.
    #[must_use]
    pub fn then(self, reply: Reply) -> Self {
        self.script().steps.push_back(reply);
        self
    }

    /// Every request so far, also those that failed.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.script().requests.clone()
    }

    /// How many answers were dropped before their end.
    pub fn abandoned(&self) -> usize {
        self.abandoned.load(Ordering::SeqCst)
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_reply(&self, request: &ChatRequest) -> Result<Reply, Error> {
        let mut script = self.script();
        script.requests.push(request.clone());
        let number = script.requests.len();
        if let Some(reply) = script.steps.pop_front() {
            return Ok(reply);
        }
        let missing =
            || self.error(FailureKind::Internal, &format!("the script has no answer for call {number}"));
        script.rule.as_mut().map(|rule| rule(request)).ok_or_else(missing)
    }

    fn error(&self, kind: FailureKind, message: &str) -> Error {
        Error::new(kind, self.card.id.clone(), message)
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.script();
        let (steps, requests) = (&script.steps, script.requests.len());
        f.debug_struct("ScriptedModel")
            .field("id", &self.card.id)
            .field("steps", steps)
            .field("requests", &requests)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl ChatModel for ScriptedModel {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let (text, calls, ending) = match self.next_reply(&request)? {
            Reply::Says(text) => (text, Vec::new(), StreamEnding::Finished),
            Reply::Calls(calls) => (String::new(), calls, StreamEnding::Finished),
            Reply::RunsLong(text) => (text, Vec::new(), StreamEnding::Length),
            Reply::BreaksOff(text) => {
                let failure = Failure::new(FailureKind::Network, "the script breaks off here");
                (text, Vec::new(), StreamEnding::CutOff(failure))
            }
            Reply::Fails(kind) => return Err(self.error(kind, "the script fails here")),
        };
        let words = |text: &str| text.split_whitespace().count() as u64;
        let input = request.messages.iter().map(|message: &Message| words(&message.text())).sum();
        let output = words(&text) + calls.len() as u64;
        let mut events: VecDeque<ChatEvent> =
            text.split_inclusive(' ').map(|word| ChatEvent::Text(Text::from(word))).collect();
        let mut parts: Vec<Part> = if text.is_empty() { Vec::new() } else { vec![Part::text(text)] };
        for (index, (name, arguments)) in calls.into_iter().enumerate() {
            events.push_back(ChatEvent::Call { index, name: name.clone(), fragment: Text::default() });
            events.push_back(ChatEvent::Call {
                index,
                name: name.clone(),
                fragment: Text::from(arguments.as_str()),
            });
            let id = format_smolstr!("{}.{index}", request.call_prefix);
            parts.push(Part::Exchange(Exchange::open(ToolCall::new(id, name, arguments))));
        }
        let message = AssistantMessage {
            parts,
            model: Some(self.card.id.clone()),
            usage: Usage {
                input: Tokens(input),
                output: Tokens(output),
                measure: Measure::Reported,
                ..Usage::default()
            },
            ending: match ending {
                StreamEnding::Finished => Ending::Finished,
                StreamEnding::Length => Ending::Length,
                StreamEnding::CutOff(_) | StreamEnding::Failed(_) => Ending::CutOff,
            },
            ..AssistantMessage::default()
        };
        events.push_back(ChatEvent::Ended(Box::new(StreamEnd::new(message, ending))));
        let answer = Open { events, abandoned: Arc::clone(&self.abandoned) };
        let pace = self.pace;
        Ok(stream::unfold(answer, move |mut answer| async move {
            if !pace.is_zero() && !answer.events.is_empty() {
                tokio::time::sleep(pace).await;
            }
            answer.events.pop_front().map(|event| (event, answer))
        })
        .boxed())
    }
}

/// An answer on its way; counts itself if it is dropped before its end.
struct Open {
    events: VecDeque<ChatEvent>,
    abandoned: Arc<AtomicUsize>,
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.events.is_empty() {
            self.abandoned.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn answer(model: &ScriptedModel, request: ChatRequest) -> (String, StreamEnd) {
        let mut text = String::new();
        let mut stream = model.stream(request).await.expect("an answer");
        while let Some(event) = stream.next().await {
            match event {
                ChatEvent::Text(more) => text.push_str(&more),
                ChatEvent::Ended(end) => return (text, *end),
                ChatEvent::Reasoning(_) | ChatEvent::Call { .. } | ChatEvent::Media(_) => {}
            }
        }
        panic!("no ending");
    }

    #[tokio::test]
    async fn steps_come_in_order_and_requests_are_kept() {
        let model = ScriptedModel::new("one")
            .says("a b  c")
            .calls("t", json!({"x": 1}))
            .breaks_off("d")
            .fails(FailureKind::Quota);
        let request = ChatRequest {
            call_prefix: "s1".into(),
            messages: vec![Message::user("hi you")],
            ..ChatRequest::default()
        };
        let (text, end) = answer(&model, request.clone()).await;
        assert_eq!(
            (text.as_str(), end.message.text().as_str(), end.message.usage.total()),
            ("a b  c", "a b  c", Tokens(5))
        );
        let (_, end) = answer(&model, request.clone()).await;
        let call = &end.message.exchanges().next().expect("a call").call;
        assert_eq!(
            (call.id.as_str(), call.name.as_str(), call.arguments.as_str()),
            ("s1.0", "t", r#"{"x":1}"#)
        );
        let (_, end) = answer(&model, request.clone()).await;
        assert!(matches!(end.ending, StreamEnding::CutOff(_)) && end.message.ending == Ending::CutOff);
        let kind = |result: Result<ChatStream, Error>| result.err().map(|error| error.kind());
        assert_eq!(kind(model.stream(request.clone()).await), Some(FailureKind::Quota));
        assert_eq!(kind(model.stream(request.clone()).await), Some(FailureKind::Internal));
        assert_eq!(model.requests(), vec![request; 5]);
    }

    #[tokio::test]
    async fn a_rule_sees_the_request() {
        let model = ScriptedModel::answering("x/echo", |request| {
            Reply::says(request.messages[0].text().to_uppercase())
        });
        let request = ChatRequest { messages: vec![Message::user("tea")], ..ChatRequest::default() };
        assert_eq!(answer(&model, request).await.0, "TEA");
    }

    /// Would fail if an answer came faster than its pace, or a dropped one went unnoticed.
    #[tokio::test(start_paused = true)]
    async fn pace_and_dropping() {
        let model = ScriptedModel::new("slow")
            .says("one two three")
            .says("one two three")
            .paced(Duration::from_mins(1));
        let started = tokio::time::Instant::now();
        answer(&model, ChatRequest::default()).await;
        assert_eq!(started.elapsed(), Duration::from_mins(4));
        assert_eq!(model.abandoned(), 0);
        let mut stream = model.stream(ChatRequest::default()).await.expect("an answer");
        assert_eq!(stream.next().await, Some(ChatEvent::Text(Text::from("one "))));
        drop(stream);
        assert_eq!(model.abandoned(), 1);
    }
}
