use serde_json::Value;
use smol_str::SmolStr;
use thermidor_types::{Content, Message};

use super::{
    compose::compose,
    contract::Contract,
    facts::Facts,
    fill::{Extent, Filler},
    language::Language,
    notice::notice,
    tools::decide,
};
use crate::ChatRequest;

/// A whole answer before it is streamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) language: Language,
    pub(super) text: String,
    pub(super) calls: Vec<(SmolStr, String)>,
}

/// Decides and writes the answer to a request: the same request, the same answer.
pub(super) fn answer(request: &ChatRequest) -> Answer {
    let contract = Contract::read(&request.messages);
    let language = contract.language;
    let facts = Facts::of(&contract);
    let calls = decide(request, &contract, &facts.request);
    let text = if !calls.is_empty() {
        let names: Vec<String> = calls.iter().map(|(name, _)| format!("`{name}`")).collect();
        let does = language.pick("Calling", "调用");
        format!(
            "{}\n\n{does} {}{}",
            notice(language, usize::MAX, 0),
            names.join(", "),
            language.pick(".", "。")
        )
    } else if let Some(form) = &request.response_schema {
        let schema: Value = form.schema.read().unwrap_or_default();
        Filler::new(&schema, &material(&facts, language), Extent::All).value().to_string()
    } else {
        compose(&contract, &facts, seed(&request.messages))
    };
    Answer { language, text, calls }
}

/// Strings for a typed answer; the first says what wrote it.
fn material(facts: &Facts, language: Language) -> Vec<String> {
    let mut phrases = facts.request.clone();
    for source in &facts.sources {
        phrases.extend(source.points.iter().take(3).map(|point| point.text.clone()));
    }
    phrases[0] = format!("{}{}", language.pick("rehearsal: ", "彩排："), phrases[0]);
    phrases
}

/// All words that a message puts into the window: its text, its calls and their results.
pub(super) fn whole_text(message: &Message) -> String {
    let mut text = message.text();
    if let Message::Assistant(answer) = message {
        for exchange in answer.exchanges() {
            text.push_str(&exchange.call.arguments);
            for content in exchange.result.iter().flat_map(|result| &result.content) {
                if let Content::Text(words) = content {
                    text.push_str(words);
                }
            }
        }
    }
    text
}

/// A hash of the prompt's words (FNV-1a).
fn seed(messages: &[Message]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for message in messages {
        for byte in whole_text(message).bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}
