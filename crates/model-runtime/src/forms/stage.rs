//! A scripted model, and the requests and answers of the tests.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use expect_test::Expect;
use futures_util::{FutureExt, StreamExt, stream};
use thermidor_types::{
    Abilities, AssistantMessage, Ending, Json, Message, ModelCard, ModelId, Part, Tokens, ToolSchema,
};

use super::{ConstrainedTools, StructuredOutput};
use crate::{ChatEvent, ChatModel, ChatRequest, ChatStream, Error, ResponseSchema, StreamEnd, StreamEnding};

/// Answers as it is told, and keeps the request.
struct Scripted {
    card: ModelCard,
    events: Mutex<Vec<ChatEvent>>,
    seen: Mutex<Option<ChatRequest>>,
}

#[async_trait]
impl ChatModel for Scripted {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        *self.seen.lock().expect("no panic") = Some(request);
        Ok(stream::iter(std::mem::take(&mut *self.events.lock().expect("no panic"))).boxed())
    }
}

pub(super) const NOTHING: Abilities = Abilities {
    tools: false,
    vision: false,
    audio: false,
    reasoning: false,
    structured_output: false,
    video: false,
    files: false,
    image_output: false,
};
pub(super) const TOOLS: Abilities = Abilities { tools: true, ..NOTHING };
pub(super) const SCHEMA: Abilities = Abilities { structured_output: true, ..NOTHING };

/// An answer in these pieces of text.
pub(super) fn text(pieces: &[&str], ending: StreamEnding) -> Vec<ChatEvent> {
    let parts = vec![Part::text(pieces.concat())];
    ended(pieces.iter().map(|piece| ChatEvent::Text((*piece).into())).collect(), parts, ending)
}

pub(super) fn ended(mut events: Vec<ChatEvent>, parts: Vec<Part>, ending: StreamEnding) -> Vec<ChatEvent> {
    let shown = match ending {
        StreamEnding::Finished => Ending::Finished,
        StreamEnding::Length => Ending::Length,
        StreamEnding::CutOff(_) | StreamEnding::Failed(_) => Ending::CutOff,
    };
    let message = AssistantMessage { parts, ending: shown, ..AssistantMessage::default() };
    events.push(ChatEvent::Ended(Box::new(StreamEnd::new(message, ending))));
    events
}

pub(super) fn show(events: &[ChatEvent]) -> String {
    let mut text = String::new();
    for event in events {
        let _ = match event {
            ChatEvent::Text(words) => writeln!(text, "> {words:?}"),
            ChatEvent::Reasoning(words) => writeln!(text, "> thinks {words:?}"),
            ChatEvent::Call { index, name, fragment } => writeln!(text, "> {index} {name} {fragment}"),
            ChatEvent::Media(_) => writeln!(text, "> a medium"),
            ChatEvent::Ended(end) => {
                let _ = writeln!(text, "{:?}, message {:?}", end.ending, end.message.ending);
                for part in &end.message.parts {
                    let _ = match part {
                        Part::Text(words) => writeln!(text, "  text {words:?}"),
                        Part::Exchange(exchange) => {
                            let call = &exchange.call;
                            writeln!(text, "  {} {} {}", call.id, call.name, call.arguments)
                        }
                        other => writeln!(text, "  {other:?}"),
                    };
                }
                for shape in &end.unknown {
                    let _ = writeln!(text, "  note {} x{}: {}", shape.what, shape.count, shape.sample);
                }
                Ok(())
            }
        };
    }
    text
}

/// What is asked of the model, and what comes of its answer.
pub(super) fn outcome(
    abilities: Abilities,
    request: ChatRequest,
    events: Vec<ChatEvent>,
) -> (ChatRequest, Vec<ChatEvent>) {
    let card = ModelCard { abilities, ..ModelCard::unknown(ModelId::new("test", "m"), Tokens(1_000)) };
    let scripted = Arc::new(Scripted { card, events: Mutex::new(events), seen: Mutex::new(None) });
    let model = ConstrainedTools::new(Arc::new(StructuredOutput::new(scripted.clone())));
    let events = async {
        match model.stream(request).await {
            Ok(stream) => stream.collect().await,
            Err(error) => {
                let failure = StreamEnding::Failed(error.to_failure());
                vec![ChatEvent::Ended(Box::new(StreamEnd::new(AssistantMessage::default(), failure)))]
            }
        }
    };
    let events = events.now_or_never().expect("a scripted model never waits");
    let seen = scripted.seen.lock().expect("no panic").take().unwrap_or_default();
    (seen, events)
}

pub(super) fn check(abilities: Abilities, request: ChatRequest, events: Vec<ChatEvent>, expected: Expect) {
    expected.assert_eq(&show(&outcome(abilities, request, events).1));
}

pub(super) fn asked(request: ChatRequest, abilities: Abilities, expected: Expect) {
    let (seen, _) = outcome(abilities, request, text(&[""], StreamEnding::Finished));
    let mut lines = String::new();
    for message in &seen.messages {
        let _ = writeln!(lines, "{:?}: {}", message.role(), message.text());
    }
    for tool in &seen.tools {
        let _ = writeln!(lines, "tool {} {}", tool.name, tool.parameters);
    }
    let schema = seen.response_schema.map(|form| format!("{} {}", form.name, form.schema));
    let last = format!("{:?} {}", seen.tool_choice, schema.unwrap_or_default());
    let _ = writeln!(lines, "{}", last.trim_end());
    expected.assert_eq(&lines);
}

pub(super) fn json(text: &str) -> Json {
    Json::parse(text).expect("a document")
}

pub(super) fn with_schema() -> ChatRequest {
    let schema = json(r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#);
    ChatRequest {
        messages: vec![Message::system("Be brief."), Message::user("How many?")],
        response_schema: Some(ResponseSchema { name: "count".into(), schema }),
        call_prefix: "t1".into(),
        ..ChatRequest::default()
    }
}

pub(super) fn with_tools() -> ChatRequest {
    let tool = |name: &str, parameters: &str| ToolSchema {
        name: name.into(),
        description: format!("Does {name}.").into(),
        parameters: json(parameters),
    };
    ChatRequest {
        messages: vec![Message::system("Be brief."), Message::user("Add 1 and 2.")],
        tools: vec![
            tool("add", r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#),
            tool("now", "{}"),
        ],
        call_prefix: "t1".into(),
        ..ChatRequest::default()
    }
}
