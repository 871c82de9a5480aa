use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use thermidor_types::{Measure, Usage};

use super::line::{Call, Line, Message};
use crate::dialect::{
    answer::{Answer, Stop},
    calls::Form,
    fault::read_fault,
    lenient::{count, list, string},
    mapper::Mapper,
};

/// What a line, or a whole answer, means. Both have one shape; the last line is `done`.
#[derive(Debug)]
pub(crate) struct LineMapper;

impl Mapper for LineMapper {
    fn read(&mut self, _event: &[u8], data: &[u8], answer: &mut Answer) -> bool {
        let Ok(line) = serde_json::from_slice::<Line<'_>>(data) else {
            let json = serde_json::from_slice::<IgnoredAny>(data).is_ok();
            if json {
                answer.unknown("a line of another kind", &String::from_utf8_lossy(data));
            }
            return json;
        };
        if line.error.is_some_and(|error| error.get() != "null") {
            answer.fault(read_fault(None, data));
            return true;
        }
        if let Some(message) = &line.message {
            self::message(message, answer);
        } else if line.done.is_none() {
            answer.unknown("a line without a message", &String::from_utf8_lossy(data));
        }
        if line.done == Some(true) {
            done(&line, answer);
        }
        true
    }
}

fn message(message: &Message<'_>, answer: &mut Answer) {
    if let Some(thoughts) = string(message.thinking) {
        answer.reasoning(&thoughts);
    }
    if let Some(words) = string(message.content) {
        answer.text(&words);
    }
    for raw in list::<&RawValue>(message.tool_calls).unwrap_or_default() {
        match serde_json::from_str::<Call<'_>>(raw.get()) {
            Ok(call) => answer.calls([call.read()], Form::Whole),
            Err(_) => answer.unknown("a tool call", raw.get()),
        }
    }
    if let Some(images) = message.images.filter(|images| !matches!(images.get(), "null" | "[]")) {
        answer.unknown("an image of unknown type", images.get());
    }
}

/// A last line without a reason is the end as well; figures it leaves out are 0.
fn done(line: &Line<'_>, answer: &mut Answer) {
    if line.prompt_eval_count.is_some() || line.eval_count.is_some() {
        answer.set_usage(Usage {
            input: count(line.prompt_eval_count.as_ref()),
            output: count(line.eval_count.as_ref()),
            measure: Measure::Reported,
            ..Usage::default()
        });
    }
    if let Some(reason) = string(line.done_reason) {
        answer.stop(&reason, Stop::of(&reason));
    }
    answer.complete();
}
