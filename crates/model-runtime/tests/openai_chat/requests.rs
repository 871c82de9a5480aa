//! Every recorded request, read into a [`ChatRequest`] and written again.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Map, Value, json};
use thermidor_model_runtime::{
    CacheMarks, ChatRequest, PromptCache, Provider, ReasoningEffort, ResponseSchema, ToolChoice,
    dialect::{Target, encode},
};
use thermidor_types::{
    Abilities, AssistantMessage, Content, Exchange, Json, Media, MediaSource, Message, ModelCard, ModelId,
    NativeItem, Part, Reasoning, Tokens, ToolCall, ToolResult, ToolSchema, UserMessage,
};

use crate::{
    FURTHER,
    exchange::{exchanges, row},
    support::meaning::{Reason, Report, Rules},
};

const RULES: Rules = Rules {
    defaults: &[
        ("/tool_choice", r#""auto""#),
        ("/messages/*/content", r#""""#),
        ("/messages/*/prefix", "false"),
        ("/messages/*/tool_calls/*/index", "*"),
        ("/messages/*/content/*/image_url/detail", r#""auto""#),
    ],
    reasons: &[Reason {
        case: "openai/error_identity_edge/chat_completions_validation_error*",
        pointer: "",
        why: "a temperature of 99, which the provider refused, does not leave",
    }],
};

/// Fields that say how much to think.
const THINKING: [&str; 6] = [
    "reasoning_effort",
    "reasoning",
    "enable_thinking",
    "thinking_budget",
    "thinking",
    "chat_template_kwargs",
];

#[test]
fn recorded_requests_are_written_with_the_same_meaning() {
    let mut report = Report::new(RULES);
    let mut extras: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for exchange in exchanges("chat/completions") {
        let recorded = exchange.request.as_deref().expect("a body");
        let mut body: Map<String, Value> = serde_json::from_str(recorded).expect("an object");
        let model = body["model"].as_str().expect("a model").to_owned();
        let further = FURTHER.iter().find(|(name, _)| *name == exchange.provider);
        let row = row(&exchange.provider, &model, further.map_or(&[], |(_, quirks)| quirks));
        // The old name of one field: providers that renamed it take both.
        if let Some(limit) = body.remove("max_tokens") {
            let renamed = row.quirks.has(thermidor_model_runtime::Quirk::MaxCompletionTokens);
            body.insert(if renamed { "max_completion_tokens" } else { "max_tokens" }.to_owned(), limit);
        }
        let recorded = Value::Object(body.clone()).to_string();
        let card = card(&row, &model);
        let request = Reader { row: &row, card: &card, rest: body }.request();
        let count = extras.entry(exchange.provider.clone()).or_default();
        count.0 += usize::from(request.extra.is_some());
        count.1 += 1;
        let ours = encode(&request, Target { card: &card, provider: &row });
        let ours = ours.as_ref().map(|wire| wire.body.as_slice()).map_err(ToString::to_string);
        report.compare(&exchange.provider, &exchange.case, &recorded, ours);
    }
    let mut table = "provider       with fields of its own\n".to_owned();
    for (provider, (with, all)) in &extras {
        writeln!(table, "{provider:<14}{with:>5} of {all}").expect("a string takes all");
    }
    #[expect(clippy::print_stdout, reason = "the table is what a person runs the test for")]
    {
        println!("{table}");
    }
    report.finish();
}

/// A model that can do everything but think: one that thinks gets fields of its own.
fn card(row: &Provider, model: &str) -> ModelCard {
    let abilities = Abilities {
        tools: true,
        vision: true,
        audio: true,
        video: true,
        files: true,
        structured_output: true,
        ..Abilities::default()
    };
    ModelCard { abilities, ..ModelCard::unknown(ModelId::new(row.name.clone(), model), Tokens(1 << 20)) }
}

struct Reader<'a> {
    row: &'a Provider,
    card: &'a ModelCard,
    rest: Map<String, Value>,
}

impl Reader<'_> {
    /// The request; what it has no field for is left in `extra`.
    fn request(mut self) -> ChatRequest {
        for settled in ["model", "stream", "stream_options"] {
            self.rest.remove(settled);
        }
        let messages = self.messages();
        let tools: Vec<ToolSchema> = self.tools();
        let reasoning = self.reasoning();
        let limit = self.rest.remove("max_completion_tokens").or_else(|| self.rest.remove("max_tokens"));
        let stop = match self.rest.remove("stop") {
            Some(Value::Array(words)) => words.iter().map(|word| words_of(word).into()).collect(),
            Some(Value::String(word)) => vec![word.into()],
            _ => Vec::new(),
        };
        let mut request = ChatRequest {
            messages,
            tool_choice: self.tool_choice(&tools),
            tools,
            max_output: limit.and_then(|limit| limit.as_u64()).map(Tokens),
            temperature: self.figure("temperature"),
            top_p: self.figure("top_p"),
            stop,
            reasoning,
            parallel_calls: self.rest.remove("parallel_tool_calls").and_then(|wish| wish.as_bool()),
            response_schema: self.response_schema(),
            cache: PromptCache { marks: CacheMarks::Off, ..PromptCache::default() },
            ..ChatRequest::default()
        };
        if self.row.quirks.has(thermidor_model_runtime::Quirk::PromptCacheKey) {
            request.cache.key = self.rest.remove("prompt_cache_key").map(|key| words_of(&key).into());
        }
        request.extra = (!self.rest.is_empty()).then(|| Json::of(&self.rest).expect("JSON"));
        request
    }

    #[expect(clippy::cast_possible_truncation, reason = "figures of a few digits")]
    fn figure(&mut self, name: &str) -> Option<f32> {
        self.rest.remove(name).and_then(|figure| figure.as_f64()).map(|figure| figure as f32)
    }

    /// The wish whose form here is the recorded one, if there is one.
    fn reasoning(&mut self) -> Option<ReasoningEffort> {
        let fields: Vec<_> = THINKING.iter().map(|name| self.rest.get(*name).cloned()).collect();
        let budget = self.rest.get("reasoning").and_then(|object| object["max_tokens"].as_u64());
        let wishes = [
            ReasoningEffort::Off,
            ReasoningEffort::Minimal,
            ReasoningEffort::Low,
            ReasoningEffort::Medium,
            ReasoningEffort::High,
            ReasoningEffort::Max,
        ];
        let wishes = wishes.into_iter().chain(budget.map(|budget| ReasoningEffort::Budget(Tokens(budget))));
        let written = |wish| {
            let request = ChatRequest {
                messages: vec![Message::user("x")],
                reasoning: Some(wish),
                ..ChatRequest::default()
            };
            let wire = encode(&request, Target { card: self.card, provider: self.row }).expect("encodable");
            let body: Value = serde_json::from_slice(&wire.body).expect("JSON");
            THINKING.iter().map(|name| body.get(*name).cloned()).collect::<Vec<_>>()
        };
        if fields.iter().all(Option::is_none) {
            return None;
        }
        let wish = wishes.into_iter().find(|wish| written(*wish) == fields)?;
        for name in THINKING {
            self.rest.remove(name);
        }
        Some(wish)
    }

    fn tools(&mut self) -> Vec<ToolSchema> {
        let Some(Value::Array(tools)) = self.rest.remove("tools") else { return Vec::new() };
        let function = |tool: &Value| ToolSchema {
            name: words_of(&tool["function"]["name"]).into(),
            description: words_of(&tool["function"]["description"]).into(),
            parameters: Json::of(&tool["function"]["parameters"]).expect("JSON"),
        };
        tools.iter().map(function).collect()
    }

    fn tool_choice(&mut self, tools: &[ToolSchema]) -> ToolChoice {
        if tools.is_empty() {
            return ToolChoice::Auto;
        }
        match self.rest.remove("tool_choice") {
            Some(Value::String(word)) if word == "required" || word == "any" => ToolChoice::Required,
            Some(Value::String(word)) if word == "none" => ToolChoice::None,
            Some(Value::Object(named)) => ToolChoice::Named(words_of(&named["function"]["name"]).into()),
            _ => ToolChoice::Auto,
        }
    }

    fn response_schema(&mut self) -> Option<ResponseSchema> {
        let format = self.rest.get("response_format")?.get("json_schema")?.clone();
        self.rest.remove("response_format");
        let schema = Json::of(&format["schema"]).expect("JSON");
        Some(ResponseSchema { name: words_of(&format["name"]).into(), schema })
    }

    fn messages(&mut self) -> Vec<Message> {
        let Some(Value::Array(entries)) = self.rest.remove("messages") else { panic!("no messages") };
        let mut messages: Vec<Message> = Vec::new();
        for entry in &entries {
            match entry["role"].as_str().expect("a role") {
                "system" => messages.push(Message::system(words_of(&entry["content"]))),
                "user" => {
                    let content = contents(&entry["content"]);
                    messages.push(Message::User(UserMessage { content, ..UserMessage::default() }));
                }
                "assistant" => messages.push(Message::Assistant(self.assistant(entry))),
                "tool" => {
                    let Some(Message::Assistant(message)) = messages.last_mut() else { panic!("no calls") };
                    let id = words_of(&entry["tool_call_id"]);
                    let exchange = message.exchanges_mut().find(|exchange| exchange.call.id.as_str() == id);
                    exchange.expect("a call").result =
                        Some(ToolResult { content: contents(&entry["content"]), ..ToolResult::text("") });
                }
                other => panic!("{other}"),
            }
        }
        messages
    }

    fn assistant(&self, entry: &Value) -> AssistantMessage {
        let mut parts = Vec::new();
        if let Some(text) = entry["reasoning_content"].as_str() {
            parts.push(Part::Reasoning(Reasoning { text: text.into(), ..Reasoning::default() }));
        }
        if let Some(details) = entry.get("reasoning_details") {
            let item = Json::of(&json!({ "reasoning_details": details })).expect("JSON");
            parts.push(Part::Native(NativeItem { model: self.card.id.clone(), item }));
        }
        let text = words_of(&entry["content"]);
        if !text.is_empty() {
            parts.push(Part::text(text));
        }
        for call in entry["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let call = ToolCall::new(
                words_of(&call["id"]),
                words_of(&function["name"]),
                words_of(&function["arguments"]),
            );
            parts.push(Part::Exchange(Exchange::open(call)));
        }
        AssistantMessage { parts, model: Some(self.card.id.clone()), ..AssistantMessage::default() }
    }
}

/// A text, or a list of texts.
fn words_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(|item| words_of(&item["text"])).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

fn contents(value: &Value) -> Vec<Content> {
    match value {
        Value::Array(list) => list.iter().map(content).collect(),
        value => vec![Content::text(words_of(value))],
    }
}

fn content(item: &Value) -> Content {
    let kind = item["type"].as_str().expect("a type");
    let (media_type, address) = match kind {
        "text" => return Content::text(words_of(&item["text"])),
        "image_url" => ("image/png", words_of(&item["image_url"]["url"])),
        "video_url" => ("video/mp4", words_of(&item["video_url"]["url"])),
        "document_url" => ("application/pdf", words_of(&item["document_url"])),
        "input_audio" => {
            assert_eq!(item["input_audio"]["format"], "mp3");
            ("audio/mpeg", format!("data:audio/mpeg;base64,{}", words_of(&item["input_audio"]["data"])))
        }
        other => panic!("{other}"),
    };
    let (media_type, source) =
        match address.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
            Some((media_type, data)) => (media_type, MediaSource::Base64(data.into())),
            None => (media_type, MediaSource::Url(address.as_str().into())),
        };
    let name = item["document_name"].as_str().map(Into::into);
    Content::Media(Media { media_type: media_type.into(), source, name })
}
