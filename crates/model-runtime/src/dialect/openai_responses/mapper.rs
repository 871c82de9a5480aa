use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use thermidor_types::FailureKind;

use super::{
    event::{Event, Incomplete, Item, Response, number, present},
    spoken::{Items, Thoughts},
    usage,
};
use crate::{
    Quirks,
    dialect::{
        answer::{Answer, Stop},
        billed::Bill,
        fault::{read_fault, read_fault_text},
        lenient::{arguments, list, string},
        mapper::Mapper,
    },
};

/// What an event, or a whole answer, means.
#[derive(Debug)]
pub(crate) struct EventMapper {
    bill: Option<Bill>,
    items: Items,
}

impl EventMapper {
    pub(crate) fn new(quirks: &Quirks) -> Self {
        Self { bill: Bill::of(quirks), items: Items::default() }
    }
}

impl Mapper for EventMapper {
    fn read(&mut self, event: &[u8], data: &[u8], answer: &mut Answer) -> bool {
        let object = Some(data).filter(|data| data.starts_with(b"{"));
        let Some(parsed) = object.and_then(|data| serde_json::from_slice::<Event<'_>>(data).ok()) else {
            let json = serde_json::from_slice::<IgnoredAny>(data).is_ok();
            if json {
                answer.unknown("an event that is no event", &String::from_utf8_lossy(data));
            }
            return json;
        };
        let kind = string(parsed.kind);
        match kind.as_deref().or_else(|| std::str::from_utf8(event).ok()) {
            Some("error") => answer.fault(read_fault(None, data)),
            Some(kind) if !kind.is_empty() && kind != "response" => {
                if !self.event(kind, &parsed, answer) {
                    answer.unknown(&format!("an event of type {kind}"), &String::from_utf8_lossy(data));
                }
            }
            _ => self.document(&parsed, data, answer),
        }
        true
    }
}

impl EventMapper {
    /// Something without a type: a whole answer, or a failure.
    fn document(&mut self, document: &Event<'_>, data: &[u8], answer: &mut Answer) {
        if document.output.is_none() && present(document.error).is_some() {
            return answer.fault(read_fault(None, data));
        }
        match serde_json::from_slice::<Response<'_>>(data) {
            Ok(response) if response.output.is_some() => {
                let status = string(response.status);
                self.response(status.as_deref().unwrap_or("completed"), &response, answer);
            }
            Ok(_) | Err(_) => answer.unknown("an answer without output", &String::from_utf8_lossy(data)),
        }
    }

    /// False when nobody knows such an event.
    fn event(&mut self, kind: &str, event: &Event<'_>, answer: &mut Answer) -> bool {
        let (content, summary) = (
            number(event.content_index).unwrap_or_default(),
            number(event.summary_index).unwrap_or_default(),
        );
        if kind.starts_with("response.refusal.") {
            answer.refused();
        }
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                if let Some(words) = string(event.delta) {
                    self.items.of(event).say(content, &words, answer);
                }
            }
            "response.output_text.done" | "response.refusal.done" => {
                if let Some(words) = string(event.text).or_else(|| string(event.refusal)) {
                    self.items.of(event).say_all(content, &words, answer);
                }
            }
            "response.reasoning_summary_text.delta" => {
                if let Some(thoughts) = string(event.delta) {
                    self.items.of(event).think(Thoughts::Summary, summary, &thoughts, answer);
                }
            }
            "response.reasoning_summary_text.done" => {
                if let Some(thoughts) = string(event.text) {
                    self.items.of(event).think_all(Thoughts::Summary, summary, &thoughts, answer);
                }
            }
            "response.reasoning_text.delta" => {
                if let Some(thoughts) = string(event.delta) {
                    self.items.of(event).think(Thoughts::Text, content, &thoughts, answer);
                }
            }
            "response.reasoning_text.done" => {
                if let Some(thoughts) = string(event.text) {
                    self.items.of(event).think_all(Thoughts::Text, content, &thoughts, answer);
                }
            }
            "response.content_part.done" | "response.reasoning_summary_part.done" => {
                if let Some(part) = present(event.part) {
                    let place = if event.summary_index.is_some() { summary } else { content };
                    self.items.of(event).whole_part(place, part, answer);
                }
            }
            "response.function_call_arguments.delta" => {
                let fragment = arguments(event.delta);
                self.items.of(event).argue(fragment, answer);
            }
            "response.function_call_arguments.done" => {
                let whole = arguments(event.arguments);
                self.items.of(event).argue_all(whole, answer);
            }
            "response.output_text.annotation.added" | "response.output_text_annotation.added" => {
                if let Some(annotation) = present(event.annotation) {
                    self.items.of(event).cite(content, annotation, answer);
                }
            }
            "response.output_item.added" | "response.output_item.done" => {
                self.item(kind.ends_with("done"), event, answer);
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled"
            | "response.done" => self.terminal(kind, event, answer),
            _ => return is_progress(kind),
        }
        true
    }

    fn item(&mut self, done: bool, event: &Event<'_>, answer: &mut Answer) {
        let Some(raw) = present(event.item) else { return };
        match serde_json::from_str::<Item<'_>>(raw.get()) {
            Ok(item) if done => self.items.ended(event, &item).end(&item, raw, answer),
            Ok(item) => self.items.begun(event, &item).begin(&item, answer),
            Err(_) => answer.unknown("an item", raw.get()),
        }
    }

    /// The last event of a stream.
    fn terminal(&mut self, kind: &str, event: &Event<'_>, answer: &mut Answer) {
        let response = event.response.map_or("{}", RawValue::get);
        match serde_json::from_str::<Response<'_>>(response) {
            Ok(response) => {
                let status = string(response.status);
                let said = kind.strip_prefix("response.").filter(|status| *status != "done");
                let status = said.or(status.as_deref()).unwrap_or("completed");
                self.response(status, &response, answer);
            }
            Err(_) => answer.fail(FailureKind::Malformed, "the last event of the answer cannot be read"),
        }
    }

    /// The answer as a whole: its figures and its end, and its items where none was told of before.
    fn response(&mut self, status: &str, response: &Response<'_>, answer: &mut Answer) {
        if self.items.is_empty() {
            self.output(response.output, answer);
        }
        match response.usage.map(|usage| usage::read(usage, self.bill)) {
            Some(Ok(Some(usage))) => answer.set_usage(usage),
            Some(Err(_)) => answer.unknown("a usage", response.usage.map_or("", RawValue::get)),
            Some(Ok(None)) | None => {}
        }
        match status {
            "queued" | "in_progress" => return, // an answer that is to be asked for again: it is not complete
            "failed" => match present(response.error) {
                Some(error) => answer.fault(read_fault_text(None, error.get())),
                None => answer.fail(FailureKind::Server, "the provider failed without saying why"),
            },
            "cancelled" => {
                let what = "the answer was cancelled at the provider";
                answer.stop(status, Stop::Failed(FailureKind::Cancelled, what));
            }
            "incomplete" => incomplete(response.incomplete_details, answer),
            _ => answer.stop(status, Stop::of(status)),
        }
        answer.complete();
    }

    fn output(&mut self, output: Option<&RawValue>, answer: &mut Answer) {
        let Ok(items) = list::<&RawValue>(output) else {
            return answer.unknown("an output", output.map_or("", RawValue::get));
        };
        for (index, raw) in items.into_iter().enumerate() {
            match serde_json::from_str::<Item<'_>>(raw.get()) {
                Ok(item) => {
                    let spoken = self.items.at(index);
                    spoken.begin(&item, answer);
                    spoken.end(&item, raw, answer);
                }
                Err(_) => answer.unknown("an item", raw.get()),
            }
        }
    }
}

/// An answer that is known to be incomplete is never a finished one, whatever the reason.
fn incomplete(details: Option<&RawValue>, answer: &mut Answer) {
    let details = details.and_then(|details| serde_json::from_str::<Incomplete<'_>>(details.get()).ok());
    let reason = details.and_then(|details| string(details.reason));
    let reason = reason.as_deref().unwrap_or("incomplete");
    let stop = match Stop::of(reason) {
        Stop::Finished => {
            Stop::Failed(FailureKind::Server, "the provider stopped before the answer was complete")
        }
        known @ (Stop::Length | Stop::Failed(..)) => known,
    };
    answer.stop(reason, stop);
}

/// Events that say nothing which does not come again in an item, or in the end.
fn is_progress(kind: &str) -> bool {
    const TOOLS: [&str; 8] = [
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "computer_call",
        "local_shell_call",
    ];
    match kind.strip_prefix("response.") {
        None => kind == "keepalive",
        Some(
            "created"
            | "in_progress"
            | "queued"
            | "content_part.added"
            | "reasoning_summary_part.added"
            | "code_interpreter_call_code.delta"
            | "code_interpreter_call_code.done"
            | "mcp_call_arguments.delta"
            | "mcp_call_arguments.done"
            | "custom_tool_call_input.delta"
            | "custom_tool_call_input.done",
        ) => true,
        Some(step) => step.split_once('.').is_some_and(|(tool, _)| TOOLS.contains(&tool)),
    }
}
