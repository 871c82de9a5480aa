use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use thermidor_types::Usage;

use super::{
    chunk::{Block, CallDelta, Choice, Chunk, Delta, FunctionDelta},
    details::Details,
    shown::{Sounds, picture},
    sources::Sources,
    usage,
};
use crate::{
    Quirk, Quirks,
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
    /// Details of reasoning, where they are to be sent back.
    details: Option<Details>,
    sources: Sources,
    sounds: Sounds,
}

impl ChunkMapper {
    pub(crate) fn new(quirks: &Quirks) -> Self {
        Self {
            bill: Bill::of(quirks),
            details: quirks.has(Quirk::ReasoningDetails).then(Details::default),
            sources: Sources::default(),
            sounds: Sounds::default(),
        }
    }
}

impl Mapper for ChunkMapper {
    fn read(&mut self, _event: &[u8], data: &[u8], answer: &mut Answer) -> bool {
        Reading { mapper: self, answer }.chunk(data)
    }

    fn finish(&mut self, answer: &mut Answer) {
        self.sounds.finish(answer);
        if let Some(details) = &mut self.details {
            details.finish(answer);
        }
        self.sources.finish(answer);
    }
}

/// One chunk on its way into the answer.
struct Reading<'a> {
    mapper: &'a mut ChunkMapper,
    answer: &'a mut Answer,
}

impl Reading<'_> {
    /// Reads one JSON object; false when it is none.
    fn chunk(&mut self, data: &[u8]) -> bool {
        // Checked once as a whole, not string by string.
        let Ok(text) = std::str::from_utf8(data) else { return false };
        let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(text) else {
            let json = serde_json::from_str::<IgnoredAny>(text).is_ok();
            if json {
                self.answer.unknown("an event that is no chunk", text);
            }
            return json;
        };
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            self.answer.fault(read_fault_text(None, error.get()));
            return true;
        }
        if chunk.base_resp.as_ref().is_some_and(|response| response.status_code != 0) {
            self.answer.fault(read_fault(None, data));
            return true;
        }
        let mut known = chunk.usage.is_some_and(|usage| self.usage(usage));
        known |= chunk.choices.is_some() || chunk.prompt_filter_results.is_some();
        for choice in chunk.choices.iter().flatten() {
            self.choice(choice);
        }
        known |= self.mapper.sources.of_chunk(&chunk);
        if let (Some(bill), Some(cost)) = (self.mapper.bill, chunk.cost)
            && let Some(billed) = bill.beside_usage(cost)
        {
            let usage = self.answer.usage().copied().unwrap_or_default();
            self.answer.set_usage(Usage { cost: Some(billed), ..usage });
            known = true;
        }
        if !known {
            self.answer.unknown("an event without choices and usage", text);
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
        if let Some(error) = choice.error.filter(|error| error.get() != "null") {
            return self.answer.fault(read_fault_text(None, error.get()));
        }
        if let Some(delta) = &choice.delta {
            self.delta(delta, Form::Fragments);
        }
        // Some streams say the whole message once more, at the end or all along: then it is no news.
        if let Some(message) = choice.message.filter(|message| message.get() != "null")
            && self.answer.is_empty()
        {
            match serde_json::from_str(message.get()) {
                Ok(message) => self.delta(&message, Form::Whole),
                Err(_) => self.answer.unknown("a message", message.get()),
            }
            if choice.delta.is_none() || !self.answer.is_empty() {
                self.answer.whole();
            }
        }
        self.mapper.sources.of_messages(choice.messages);
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
        } else if delta.content.is_some_and(|content| !matches!(content.get(), "null" | "\"\"" | "{}")) {
            self.answer.unknown("a content", raw(delta.content));
        }
        if let Some(text) = string(delta.refusal) {
            self.answer.refused();
            self.answer.text(&text);
        }
        if let Some(images) = delta.images {
            self.images(images);
        }
        if let Some(audio) = delta.audio
            && let Some(words) = self.mapper.sounds.hear(audio, self.answer)
        {
            self.answer.text(&words);
        }
        self.mapper.sources.read(delta.annotations);
        match list::<CallDelta<'_>>(delta.tool_calls) {
            Ok(calls) if calls.is_empty() => {}
            Ok(calls) => self.answer.calls(calls.iter().map(CallDelta::read), form),
            Err(_) => self.answer.unknown("a tool call", raw(delta.tool_calls)),
        }
        match list::<FunctionDelta<'_>>(delta.function_call) {
            Ok(functions) => {
                for function in functions {
                    let call =
                        CallDelta { index: Some(0), id: None, function: Some(function), extra_content: None };
                    self.answer.calls([call.read()], form);
                }
            }
            Err(_) => self.answer.unknown("a function call", raw(delta.function_call)),
        }
    }

    /// One source of reasoning per chunk: some servers say the same in several fields.
    fn reasoning(&mut self, delta: &Delta<'_>) {
        if let (Some(details), Some(raw)) = (&mut self.mapper.details, delta.reasoning_details) {
            details.add(raw);
        }
        let sources = [delta.reasoning_content, delta.reasoning, delta.reasoning_text];
        if let Some(text) = sources.into_iter().find_map(string) {
            self.answer.reasoning(&text);
        } else if delta.reasoning_details.is_some() {
            match list::<Block<'_>>(delta.reasoning_details) {
                Ok(blocks) => {
                    for block in &blocks {
                        if let Some(text) = string(block.text).or_else(|| string(block.summary)) {
                            self.answer.reasoning(&text);
                        }
                    }
                }
                Err(_) => self.answer.unknown("reasoning details", raw(delta.reasoning_details)),
            }
        }
    }

    fn images(&mut self, images: &RawValue) {
        match list::<&RawValue>(Some(images)) {
            Ok(images) => {
                for image in images {
                    match picture(image) {
                        Some(picture) => self.answer.media(picture),
                        None => self.answer.unknown("an image", image.get()),
                    }
                }
            }
            Err(_) => self.answer.unknown("a list of images", images.get()),
        }
    }

    /// A content given as a list of blocks: words, thoughts and images.
    fn blocks(&mut self, content: Option<&RawValue>) {
        let Ok(blocks) = list::<&RawValue>(content) else {
            return self.answer.unknown("a content list", raw(content));
        };
        for one in blocks {
            if let Some(text) = string(Some(one)) {
                self.answer.text(&text);
                continue;
            }
            let Ok(block) = serde_json::from_str::<Block<'_>>(one.get()) else {
                self.answer.unknown("a content block", one.get());
                continue;
            };
            if let Some(text) = string(block.text) {
                self.answer.text(&text);
            } else if let Some(text) = string(block.refusal) {
                self.answer.refused();
                self.answer.text(&text);
            } else if let Some(text) = string(block.thinking) {
                self.answer.reasoning(&text);
            } else if let Some(thoughts) = block.thinking {
                match list::<Block<'_>>(Some(thoughts)) {
                    Ok(thoughts) => {
                        for text in thoughts.iter().filter_map(|thought| string(thought.text)) {
                            self.answer.reasoning(&text);
                        }
                    }
                    Err(_) => self.answer.unknown("a thinking block", one.get()),
                }
            } else if let Some(picture) = picture(one) {
                self.answer.media(picture);
            } else if block.text.is_none() {
                self.answer.unknown("a content block", one.get());
            }
        }
    }

    /// Whether it was a usage; the last one counts.
    fn usage(&mut self, raw: &RawValue) -> bool {
        match usage::read(raw, self.mapper.bill) {
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
