use std::{fmt, sync::Arc};

use async_trait::async_trait;
use smol_str::SmolStr;
use thermidor_types::{ModelCard, Part, Text, ToolSchema};

use super::{
    note,
    tap::{Tap, tapped},
    words,
};
use crate::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, Error, ResponseSchema, StreamEnd, ToolChoice,
    repair::repair,
    schema::{SchemaDialect, narrow},
};

/// Gets answers of a form out of models that take no schema.
///
/// A request with a [`response_schema`](ChatRequest::response_schema) goes one of three ways, the surest first:
///
/// 1. The model's card says that it answers by a schema: the request is passed on.
/// 2. It calls tools, the request offers none, and the schema is one of an object: the schema becomes the one
///    tool, called by force, and its arguments become the text of the answer. Words before the call are held
///    back and left out; an answer without the call, a refusal for instance, stays text.
/// 3. Else the schema is told in words, in an operator's message after those at the head. The answer is handed
///    out as it comes, without the line that opens a code fence; in the message stands the JSON that
///    [`repair`] finds in it. Where it finds none, or a cut document, the text stays as it came.
///
/// Repairs and words left out are recorded in [`StreamEnd::unknown`]. Whether the answer fits the schema is not
/// checked here. Cost: nothing for requests without a schema.
pub struct StructuredOutput(Arc<dyn ChatModel>);

impl StructuredOutput {
    /// Gives `model` forms of answers.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self(model)
    }
}

impl fmt::Debug for StructuredOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StructuredOutput").field(&self.0.card().id).finish()
    }
}

#[async_trait]
impl ChatModel for StructuredOutput {
    fn card(&self) -> &ModelCard {
        self.0.card()
    }

    async fn stream(&self, mut request: ChatRequest) -> Result<ChatStream, Error> {
        let abilities = self.card().abilities;
        let Some(form) = request.response_schema.take_if(|_| !abilities.structured_output) else {
            return self.0.stream(request).await;
        };
        let is_object = || narrow(&form.schema, SchemaDialect::Anthropic).is_ok();
        if abilities.tools && request.tools.is_empty() && is_object() {
            let tap = ForcedTool::new(form.name.clone());
            return Ok(tapped(self.0.stream(forced(request, form)).await?, tap));
        }
        words::tell(&mut request.messages, words::schema_in_words(&form.schema));
        Ok(tapped(self.0.stream(request).await?, Told::default()))
    }
}

fn forced(request: ChatRequest, form: ResponseSchema) -> ChatRequest {
    let tool = ToolSchema {
        name: form.name.clone(),
        description: "Gives the answer.".into(),
        parameters: form.schema,
    };
    ChatRequest { tools: vec![tool], tool_choice: ToolChoice::Named(form.name), ..request }
}

/// The arguments of a forced call, as text.
struct ForcedTool {
    name: SmolStr,
    /// Words before the call.
    held: String,
    /// The place of the call that is the answer.
    place: Option<usize>,
    told: bool,
}

impl ForcedTool {
    fn new(name: SmolStr) -> Self {
        Self { name, held: String::new(), place: None, told: false }
    }

    fn end(&mut self, mut end: Box<StreamEnd>) -> Vec<ChatEvent> {
        let answer = end.message.exchanges().find(|exchange| exchange.call.name == self.name);
        let Some(answer) = answer.map(|exchange| exchange.call.arguments.clone()) else {
            let held = std::mem::take(&mut self.held);
            let held = (!held.is_empty()).then(|| ChatEvent::Text(held.into()));
            return held.into_iter().chain([ChatEvent::Ended(end)]).collect();
        };
        let beside = set_text(&mut end, answer.clone());
        note::left_out(&mut end, "words beside the answer", &beside);
        let late = (!self.told).then_some(ChatEvent::Text(answer));
        late.into_iter().chain([ChatEvent::Ended(end)]).collect()
    }
}

impl Tap for ForcedTool {
    fn feed(&mut self, event: ChatEvent) -> Vec<ChatEvent> {
        match event {
            ChatEvent::Text(text) => {
                self.held.push_str(&text);
                Vec::new()
            }
            ChatEvent::Call { index, name, fragment } => {
                let is_answer = name == self.name && *self.place.get_or_insert(index) == index;
                if !is_answer || fragment.is_empty() {
                    return Vec::new();
                }
                self.told = true;
                vec![ChatEvent::Text(fragment)]
            }
            ChatEvent::Ended(end) => self.end(end),
            ChatEvent::Reasoning(_) | ChatEvent::Media(_) => vec![event],
        }
    }
}

/// Makes `text` the only words of the message, without calls; gives back the words there were.
fn set_text(end: &mut StreamEnd, text: Text) -> String {
    let before = end.message.text();
    let parts = std::mem::take(&mut end.message.parts);
    let spoken = |part: &Part| matches!(part, Part::Text(_) | Part::Exchange(_));
    end.message.parts = parts.into_iter().filter(|part| !spoken(part)).collect();
    end.message.parts.push(Part::Text(text));
    before
}

/// An answer to a schema in words.
#[derive(Default)]
struct Told {
    /// What may become the line that opens a fence; `None` once that is decided.
    opening: Opening,
}

#[derive(Default)]
enum Opening {
    #[default]
    Nothing,
    Held(String),
    Over,
}

impl Told {
    /// What of `text` may be shown: all but a fence at the head.
    fn shown(&mut self, text: &str) -> Option<String> {
        let mut held = match std::mem::take(&mut self.opening) {
            Opening::Over => {
                self.opening = Opening::Over;
                return Some(text.to_owned());
            }
            Opening::Nothing => String::new(),
            Opening::Held(held) => held,
        };
        held.push_str(text);
        let head = held.trim_start();
        if head.is_empty() || "```".starts_with(head) || (head.starts_with("```") && !head.contains('\n')) {
            self.opening = Opening::Held(held);
            return None;
        }
        self.opening = Opening::Over;
        match head.strip_prefix("```").and_then(|rest| rest.split_once('\n')) {
            Some((_, rest)) => (!rest.is_empty()).then(|| rest.to_owned()),
            None => Some(held),
        }
    }

    fn end(&mut self, mut end: Box<StreamEnd>) -> Vec<ChatEvent> {
        let held = match std::mem::take(&mut self.opening) {
            Opening::Held(held) => Some(ChatEvent::Text(held.into())),
            Opening::Nothing | Opening::Over => None,
        };
        let has_calls = end.message.exchanges().next().is_some();
        match repair(&end.message.text()) {
            Ok(repaired) if !repaired.was_cut() && !has_calls => {
                set_text(&mut end, repaired.value.as_str().into());
                note::edits(&mut end, &repaired.edits);
            }
            Ok(_) | Err(_) => {}
        }
        held.into_iter().chain([ChatEvent::Ended(end)]).collect()
    }
}

impl Tap for Told {
    fn feed(&mut self, event: ChatEvent) -> Vec<ChatEvent> {
        match event {
            ChatEvent::Text(text) => {
                self.shown(&text).map(|text| ChatEvent::Text(text.into())).into_iter().collect()
            }
            ChatEvent::Ended(end) => self.end(end),
            ChatEvent::Reasoning(_) | ChatEvent::Call { .. } | ChatEvent::Media(_) => vec![event],
        }
    }
}
