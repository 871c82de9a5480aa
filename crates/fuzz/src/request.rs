//! Any request, made from choices.

use smol_str::SmolStr;
use thermidor_model_runtime::{CacheMarks, ChatRequest, ReasoningEffort, ResponseSchema, ToolChoice};
use thermidor_types::{
    AssistantMessage, Content, Exchange, Json, Media, MediaSource, Message, ModelId, Part, Reasoning, Text,
    Tokens, ToolCall, ToolOutcome, ToolResult, ToolSchema, UserMessage,
};

use crate::input::Input;

const MEDIA_TYPES: [&str; 6] =
    ["image/png", "audio/wav", "audio/mpeg", "application/pdf", "video/mp4", "nonsense"];
const SCHEMAS: [&str; 4] = [
    r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#,
    r#"{"type":"object"}"#,
    "true",
    r##"{"$ref":"#"}"##,
];
/// More messages than this show nothing that fewer do not.
const MOST_MESSAGES: usize = 12;

/// A request with whatever a caller may put into one.
pub(crate) fn any(input: &mut Input<'_>) -> ChatRequest {
    let effort = match input.below(9) {
        0 => Some(ReasoningEffort::Off),
        1 => Some(ReasoningEffort::Minimal),
        2 => Some(ReasoningEffort::Low),
        3 => Some(ReasoningEffort::Max),
        4 => Some(ReasoningEffort::Budget(Tokens(u64::from(input.byte()) << 8))),
        _ => None,
    };
    let mut request = ChatRequest {
        temperature: number(input),
        top_p: number(input),
        frequency_penalty: number(input),
        presence_penalty: number(input),
        seed: input.one_in(8).then_some(u64::MAX),
        max_output: input.one_in(4).then(|| Tokens(u64::from(input.byte()))),
        parallel_calls: input.one_in(4).then(|| input.one_in(2)),
        strict_tools: input.one_in(4),
        reasoning: effort,
        call_prefix: "t".into(),
        ..ChatRequest::default()
    };
    while input.one_in(3) && request.stop.len() < 5 {
        request.stop.push(text(input));
    }
    while input.one_in(2) && request.tools.len() < 4 {
        request.tools.push(ToolSchema {
            name: name(input),
            description: text(input),
            parameters: schema(input),
        });
    }
    request.tool_choice = match input.below(6) {
        0 => ToolChoice::Required,
        1 => ToolChoice::None,
        2 => ToolChoice::Named(name(input)),
        _ => ToolChoice::Auto,
    };
    if input.one_in(4) {
        request.response_schema = Some(ResponseSchema { name: name(input), schema: schema(input) });
    }
    if input.one_in(4) {
        let places = (0..input.below(4)).map(|_| input.below(16)).collect();
        request.cache.marks = CacheMarks::After(places);
    }
    if input.one_in(8) {
        request.extra = Json::parse(input.text(40)).ok();
    }
    while !input.is_empty() && request.messages.len() < MOST_MESSAGES {
        let message = message(input);
        request.messages.push(message);
    }
    request
}

fn message(input: &mut Input<'_>) -> Message {
    match input.below(4) {
        0 => Message::system(text(input)),
        1 => {
            let content = (0..input.below(4)).map(|_| content(input)).collect();
            Message::User(UserMessage { content, ..UserMessage::default() })
        }
        _ => {
            let parts = (0..input.below(6)).map(|_| part(input)).collect();
            let model = input.one_in(2).then(|| model(input));
            Message::Assistant(AssistantMessage { parts, model, ..AssistantMessage::default() })
        }
    }
}

fn part(input: &mut Input<'_>) -> Part {
    match input.below(6) {
        0 => Part::Text(text(input)),
        1 => Part::Reasoning(Reasoning {
            text: text(input),
            signature: input.one_in(2).then(|| text(input)),
            model: input.one_in(2).then(|| model(input)),
        }),
        2 => Part::Media(media(input)),
        _ => {
            let call = ToolCall {
                wire_id: input.one_in(2).then(|| input.text(12).into()),
                signature: input.one_in(4).then(|| text(input)),
                ..ToolCall::new(input.text(6), name(input), arguments(input))
            };
            let exchange = Exchange::open(call);
            Part::Exchange(if input.one_in(3) { exchange } else { exchange.answered(result(input)) })
        }
    }
}

fn result(input: &mut Input<'_>) -> ToolResult {
    let outcome = match input.below(5) {
        0 => ToolOutcome::Success,
        1 => ToolOutcome::Error,
        2 => ToolOutcome::Refused,
        3 => ToolOutcome::Interrupted,
        _ => ToolOutcome::Unknown,
    };
    ToolResult { content: (0..input.below(3)).map(|_| content(input)).collect(), outcome }
}

fn content(input: &mut Input<'_>) -> Content {
    if input.one_in(3) { Content::Media(media(input)) } else { Content::Text(text(input)) }
}

fn media(input: &mut Input<'_>) -> Media {
    let source = if input.one_in(2) {
        MediaSource::Url(text(input))
    } else {
        MediaSource::Base64(if input.one_in(2) { "aGVsbG8=".into() } else { text(input) })
    };
    let media_type = MEDIA_TYPES[input.below(MEDIA_TYPES.len())].into();
    Media { media_type, source, name: input.one_in(2).then(|| text(input)) }
}

/// Half of the time the model that is asked, to which its own reasoning may go back.
fn model(input: &mut Input<'_>) -> ModelId {
    if input.one_in(2) { ModelId::new("fuzz", "m") } else { ModelId::new("other", "x") }
}

fn name(input: &mut Input<'_>) -> SmolStr {
    match input.below(4) {
        0 => "weather".into(),
        1 => "time".into(),
        _ => input.text(70).into(),
    }
}

fn arguments(input: &mut Input<'_>) -> Text {
    match input.below(4) {
        0 => r#"{"city":"Oslo"}"#.into(),
        1 => r#"{"city":"Os"#.into(),
        2 => "".into(),
        _ => text(input),
    }
}

fn schema(input: &mut Input<'_>) -> Json {
    let own = input.one_in(2).then(|| Json::parse(input.text(80)).ok()).flatten();
    own.or_else(|| Json::parse(SCHEMAS[input.below(SCHEMAS.len())]).ok()).unwrap_or_default()
}

fn text(input: &mut Input<'_>) -> Text {
    input.text(60).into()
}

fn number(input: &mut Input<'_>) -> Option<f32> {
    match input.below(8) {
        0 => Some(f32::NAN),
        1 => Some(f32::INFINITY),
        2 => Some(-1.5),
        3 => Some(f32::from(input.byte()) / 100.0),
        _ => None,
    }
}
