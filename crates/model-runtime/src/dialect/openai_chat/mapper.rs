use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use thermidor_types::Usage;

use super::{
    chunk::{Block, CallDelta, Choice, Chunk, Delta, FunctionDelta},
    usage,
};
use crate::{
    Quirks,
    dialect::{
        answer::{Answer, Stop},
        billed::Bill,
        calls::Form,
        fault::{read_fault, read_fault_text},
        lenient::{list, string},
        mapper::Mapper,
    },
};

/// What a chunk, or a whole answer, means.
#[derive(Debug)]
pub(crate) struct ChunkMapper {
    bill: Option<Bill>,
}

impl ChunkMapper {
    pub(crate) fn new(quirks: &Quirks) -> Self {
        Self { bill: Bill::of(quirks) }
    }
}

impl Mapper for ChunkMapper {
    fn read(&mut self, _event: &[u8], data: &[u8], answer: &mut Answer) -> bool {
        Reading { bill: self.bill, answer }.chunk(data)
    }
}

/// One chunk on its way into the answer.
struct Reading<'a> {
    bill: Option<Bill>,
    answer: &'a mut Answer,
}

impl Reading<'_> {
    /// Reads one JSON object; false when it is none.
    fn chunk(&mut self, data: &[u8]) -> bool {
        let Ok(chunk) = serde_json::from_slice::<Chunk<'_>>(data) else {
            let json = serde_json::from_slice::<IgnoredAny>(data).is_ok();
            if json {
                self.answer.unknown("an event that is no chunk", &String::from_utf8_lossy(data));
            }
            return json;
        };
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            self.answer.fault(read_fault_text(None, error.get()));
            return true;
        }
        if chunk.base_resp.is_some_and(|response| response.status_code != 0) {
            self.answer.fault(read_fault(None, data));
            return true;
        }
        let mut known = chunk.usage.is_some_and(|usage| self.usage(usage));
        for choice in chunk.choices.iter().flatten() {
            known = true;
            self.choice(choice);
        }
        if let (Some(bill), Some(cost)) = (self.bill, chunk.cost)
            && let Some(billed) = bill.beside_usage(cost)
        {
            let usage = self.answer.usage().copied().unwrap_or_default();
            self.answer.set_usage(Usage { cost: Some(billed), ..usage });
            known = true;
        }
        if !known {
            self.answer.unknown("an event without choices and usage", &String::from_utf8_lossy(data));
        }
        true
    }

    fn choice(&mut self, choice: &Choice<'_>) {
        if choice.index.is_some_and(|index| index != 0) {
            return self.answer.unknown("a second choice", "");
        }
        if let Some(usage) = choice.usage {
            self.usage(usage);
        }
        if let Some(delta) = &choice.delta {
            self.delta(delta, Form::Fragments);
        } else if let Some(message) = &choice.message
            && self.answer.is_empty()
        {
            // Some streams end with the whole message once more: then it is no news.
            self.delta(message, Form::Whole);
            self.answer.whole();
        }
        if let Some(reason) = string(choice.finish_reason) {
            self.answer.stop(&reason, Stop::of(&reason));
        }
    }

    fn delta(&mut self, delta: &Delta<'_>, form: Form) {
        if string(delta.role).as_deref() == Some("tool") {
            return; // the result of a tool that the provider ran itself
        }
        self.reasoning(delta);
        if let Some(text) = string(delta.content) {
            self.answer.text(&text);
        } else if delta.content.is_some_and(|content| content.get().starts_with('[')) {
            self.blocks(delta.content);
        }
        if let Some(text) = string(delta.refusal) {
            self.answer.text(&text);
        }
        match list::<CallDelta<'_>>(delta.tool_calls) {
            Ok(calls) if calls.is_empty() => {}
            Ok(calls) => self.answer.calls(calls.iter().map(CallDelta::read), form),
            Err(_) => self.answer.unknown("a tool call", raw(delta.tool_calls)),
        }
        match list::<FunctionDelta<'_>>(delta.function_call) {
            Ok(functions) => {
                for function in functions {
                    let call = CallDelta { index: Some(0), id: None, function: Some(function) };
                    self.answer.calls([call.read()], form);
                }
            }
            Err(_) => self.answer.unknown("a function call", raw(delta.function_call)),
        }
    }

    /// One source of reasoning per chunk: some servers say the same in several fields.
    fn reasoning(&mut self, delta: &Delta<'_>) {
        let sources = [delta.reasoning_content, delta.reasoning, delta.reasoning_text];
        if let Some(text) = sources.into_iter().find_map(string) {
            self.answer.reasoning(&text);
        } else if delta.reasoning_details.is_some() {
            match list::<Block<'_>>(delta.reasoning_details) {
                Ok(blocks) => {
                    for text in blocks.iter().filter_map(|block| string(block.text)) {
                        self.answer.reasoning(&text);
                    }
                }
                Err(_) => self.answer.unknown("reasoning details", raw(delta.reasoning_details)),
            }
        }
    }

    /// A content given as a list of blocks, thinking ones among them.
    fn blocks(&mut self, content: Option<&RawValue>) {
        let Ok(blocks) = list::<Block<'_>>(content) else {
            return self.answer.unknown("a content list", raw(content));
        };
        for block in blocks {
            if let Some(text) = string(block.text) {
                self.answer.text(&text);
            } else if let Some(text) = string(block.thinking) {
                self.answer.reasoning(&text);
            } else if let Ok(thoughts) = list::<Block<'_>>(block.thinking) {
                for text in thoughts.iter().filter_map(|thought| string(thought.text)) {
                    self.answer.reasoning(&text);
                }
            }
        }
    }

    /// Whether it was a usage; the last one counts.
    fn usage(&mut self, raw: &RawValue) -> bool {
        match usage::read(raw, self.bill) {
            Ok(None) => false,
            Ok(Some(usage)) => {
                // A bill that came before stands until another comes.
                let cost = usage.cost.or(self.answer.usage().and_then(|before| before.cost));
                self.answer.set_usage(Usage { cost, ..usage });
                true
            }
            Err(_) => {
                self.answer.unknown("a usage", raw.get());
                true
            }
        }
    }
}

/// What is shown of something unknown.
fn raw(value: Option<&RawValue>) -> &str {
    value.map_or("", RawValue::get)
}
