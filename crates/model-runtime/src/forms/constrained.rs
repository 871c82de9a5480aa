use std::{fmt, sync::Arc};

use async_trait::async_trait;
use smol_str::{SmolStr, format_smolstr};
use thermidor_types::{Ending, Exchange, Failure, FailureKind, Message, ModelCard, Part, Text, ToolCall};

use super::{
    decode::{Said, decode},
    history::without_exchanges,
    note,
    spoken::Spoken,
    tap::{Tap, tapped},
    union::union,
    words::{Form, tell, tools_in_words},
};
use crate::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, Error, ResponseSchema, StreamEnd, StreamEnding, ToolChoice,
};

/// Gives tools to models that cannot call them.
///
/// The tools become a form of the answer: a union of `{"tool": name, "arguments": …}` for each tool and
/// `{"answer": text}`. A server that holds a model to a schema makes every call well-formed, with any model.
/// Where the model's card does not say that it answers by a schema, the form is told in words alone.
///
/// Put it around a [`StructuredOutput`](super::StructuredOutput), for requests that have a schema and no tools.
///
/// - The tools are told in an operator's message after those at the head. Calls in the history become what the
///   model said, their results what it was told.
/// - [`tool_choice`](ChatRequest::tool_choice) chooses the branches: no answer when a call is required, one
///   tool when it is named, no union when none may be called. Several calls at once, as a list, only when
///   [`parallel_calls`](ChatRequest::parallel_calls) says so. A
///   [`response_schema`](ChatRequest::response_schema) takes the place of the answer's text.
/// - The answer's text is handed out while it grows; calls when they are whole. Ids are the request's prefix, a
///   dot and the place.
/// - A call that is cut off or has no name is none. Where the provider says that the answer is complete it
///   fails as [`Malformed`](FailureKind::Malformed), and nobody saw any of it: it may be tried again. Where the
///   answer was cut off, or too long, that stays its ending. The text is kept in [`StreamEnd::unknown`],
///   with all repairs.
/// - An answer in no form of the union stays text.
///
/// Cost: nothing for models that call tools, and for requests without tools in offer and history.
pub struct ConstrainedTools(Arc<dyn ChatModel>);

impl ConstrainedTools {
    /// Gives `model` tools.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self(model)
    }

    fn wrong(&self, message: impl Into<String>) -> Error {
        Error::new(FailureKind::InvalidRequest, self.card().id.clone(), message)
    }
}

impl fmt::Debug for ConstrainedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConstrainedTools").field(&self.0.card().id).finish()
    }
}

#[async_trait]
impl ChatModel for ConstrainedTools {
    fn card(&self) -> &ModelCard {
        self.0.card()
    }

    async fn stream(&self, mut request: ChatRequest) -> Result<ChatStream, Error> {
        let has_calls = |message: &Message| match message {
            Message::Assistant(message) => message.exchanges().next().is_some(),
            Message::System(_) | Message::User(_) => false,
        };
        if self.card().abilities.tools
            || (request.tools.is_empty() && !request.messages.iter().any(has_calls))
        {
            return self.0.stream(request).await;
        }
        request.messages = without_exchanges(request.messages);
        let mut tools = std::mem::take(&mut request.tools);
        let form = Form {
            several: request.parallel_calls.take() == Some(true),
            answer: !matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_)),
        };
        match std::mem::take(&mut request.tool_choice) {
            ToolChoice::Named(name) => {
                tools.retain(|tool| tool.name == name);
                if tools.is_empty() {
                    return Err(self.wrong(format!("the tool {name:?} is to be called but is not offered")));
                }
            }
            ToolChoice::None => tools.clear(),
            ToolChoice::Required if tools.is_empty() => {
                return Err(self.wrong("a tool is to be called but none is offered"));
            }
            ToolChoice::Required | ToolChoice::Auto => {}
        }
        if tools.is_empty() {
            return self.0.stream(request).await;
        }
        let wanted = request.response_schema.take().map(|wanted| wanted.schema);
        if self.card().abilities.structured_output {
            let schema =
                union(&tools, form, wanted.as_ref()).map_err(|error| self.wrong(error.to_string()))?;
            request.response_schema = Some(ResponseSchema { name: "step".into(), schema });
        }
        tell(&mut request.messages, tools_in_words(&tools, form, wanted.as_ref()));
        let reader = Reader::new(request.call_prefix.clone());
        Ok(tapped(self.0.stream(request).await?, reader))
    }
}

/// Reads calls and answers out of text.
struct Reader {
    call_prefix: SmolStr,
    spoken: Spoken,
    told: String,
}

impl Reader {
    fn new(call_prefix: SmolStr) -> Self {
        Self { call_prefix, spoken: Spoken::default(), told: String::new() }
    }

    fn end(&mut self, mut end: Box<StreamEnd>) -> Vec<ChatEvent> {
        let text: String = end.message.parts.iter().filter_map(words).map(Text::as_str).collect();
        let (said, edits) = decode(&text);
        let mut events = Vec::new();
        if said != Said::Otherwise {
            end.message.parts.retain(|part| words(part).is_none());
        }
        match said {
            Said::Answer(answer) => {
                self.rest(&answer, &mut events);
                if !answer.is_empty() {
                    end.message.parts.push(Part::text(answer));
                }
            }
            Said::Calls(calls) => {
                for (index, (name, arguments)) in calls.into_iter().enumerate() {
                    let id = format_smolstr!("{}.{index}", self.call_prefix);
                    let arguments = Text::from(arguments);
                    let call = ToolCall::new(id, name.clone(), &arguments);
                    end.message.parts.push(Part::Exchange(Exchange::open(call)));
                    events.push(ChatEvent::Call { index, name, fragment: arguments });
                }
            }
            Said::Broken => {
                note::left_out(&mut end, "an answer that broke off", &text);
                if end.ending == StreamEnding::Finished {
                    let words = "the model's answer is not in the form asked for";
                    end.ending = StreamEnding::Failed(Failure::new(FailureKind::Malformed, words));
                    end.message.ending = Ending::CutOff;
                }
            }
            Said::Otherwise => self.rest(&text, &mut events),
        }
        note::edits(&mut end, &edits);
        events.push(ChatEvent::Ended(end));
        events
    }

    /// What was not handed out yet.
    fn rest(&self, whole: &str, events: &mut Vec<ChatEvent>) {
        if let Some(rest) = whole.strip_prefix(&self.told).filter(|rest| !rest.is_empty()) {
            events.push(ChatEvent::Text(rest.into()));
        }
    }
}

fn words(part: &Part) -> Option<&Text> {
    match part {
        Part::Text(text) => Some(text),
        Part::Reasoning(_) | Part::Exchange(_) | Part::Media(_) | Part::Native(_) => None,
    }
}

impl Tap for Reader {
    fn feed(&mut self, event: ChatEvent) -> Vec<ChatEvent> {
        match event {
            ChatEvent::Text(text) => {
                let said = self.spoken.feed(&text);
                self.told.push_str(&said);
                (!said.is_empty()).then(|| ChatEvent::Text(said.into())).into_iter().collect()
            }
            ChatEvent::Ended(end) => self.end(end),
            ChatEvent::Reasoning(_) | ChatEvent::Call { .. } | ChatEvent::Media(_) => vec![event],
        }
    }
}
