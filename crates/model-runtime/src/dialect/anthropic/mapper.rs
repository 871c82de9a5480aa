use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{
    event::{Delta, Event},
    open::Open,
    usage::Figures,
};
use crate::dialect::{
    answer::{Answer, Stop},
    fault::read_fault,
    lenient::{list, string},
    mapper::Mapper,
};

/// What an event, or a whole answer, means.
#[derive(Debug, Default)]
pub(crate) struct EventMapper {
    /// Blocks that were started and not stopped, by their index.
    open: Vec<(i64, Open)>,
    calls: i64,
    figures: Figures,
}

impl Mapper for EventMapper {
    fn read(&mut self, name: &[u8], data: &[u8], answer: &mut Answer) -> bool {
        let Ok(event) = serde_json::from_slice::<Event<'_>>(data) else {
            let json = serde_json::from_slice::<IgnoredAny>(data).is_ok();
            if json {
                answer.unknown("an event that is no object", &String::from_utf8_lossy(data));
            }
            return json;
        };
        let kind = string(event.r#type).unwrap_or_else(|| String::from_utf8_lossy(name));
        match &*kind {
            "ping" => {}
            "error" => answer.fault(read_fault(None, data)),
            _ if event.error.is_some() => answer.fault(read_fault(None, data)),
            "message_start" => match event.message.map(RawValue::get).map(serde_json::from_str) {
                Some(Ok(message)) => self.message(&message, answer),
                _ => answer.unknown("a start without a message", &String::from_utf8_lossy(data)),
            },
            "message" => {
                self.message(&event, answer);
                answer.complete();
            }
            "content_block_start" => match event.content_block {
                Some(block) => self.start(index(&event), block, answer),
                None => answer.unknown("a start without a block", &String::from_utf8_lossy(data)),
            },
            "content_block_delta" => self.delta(index(&event), event.delta, answer),
            "content_block_stop" => self.stop(index(&event), answer),
            "message_delta" => {
                if let Some(Ok(delta)) = event.delta.map(RawValue::get).map(serde_json::from_str::<Delta<'_>>)
                {
                    if string(delta.stop_reason).is_some() {
                        self.stop(None, answer); // a model that is done has no block on its way
                    }
                    stop_reason(delta.stop_reason, answer);
                }
                self.usage(event.usage, answer);
            }
            "message_stop" => {
                self.stop(None, answer);
                answer.complete();
            }
            "" => answer.unknown("an event without a type", &String::from_utf8_lossy(data)),
            kind => {
                answer.unknown(&format!("an event of type {kind}"), &String::from_utf8_lossy(data));
            }
        }
        true
    }
}

impl EventMapper {
    /// A message, whole or at its start.
    fn message(&mut self, message: &Event<'_>, answer: &mut Answer) {
        self.usage(message.usage, answer);
        match list::<&RawValue>(message.content) {
            Ok(blocks) => {
                for block in blocks {
                    Open::start(block, &mut self.calls, answer).stop(answer);
                }
            }
            Err(_) => answer.unknown("a content", message.content.map_or("", RawValue::get)),
        }
        stop_reason(message.stop_reason, answer);
    }

    fn start(&mut self, index: Option<i64>, block: &RawValue, answer: &mut Answer) {
        // A block whose stop was lost ends here.
        self.stop(None, answer);
        let open = Open::start(block, &mut self.calls, answer);
        self.open.push((index.unwrap_or_default(), open));
    }

    fn delta(&mut self, index: Option<i64>, raw: Option<&RawValue>, answer: &mut Answer) {
        let text = raw.map_or("", RawValue::get);
        let Ok(delta) = serde_json::from_str::<Delta<'_>>(text) else {
            return answer.unknown("a delta that is no object", text);
        };
        let kind = string(delta.r#type).unwrap_or_default();
        let place = self.open.iter().position(|(known, _)| index.is_none_or(|index| index == *known));
        let place = place.or_else(|| {
            let open = Open::implied_by(&kind, answer)?;
            // Blocks do not overlap: whichever was open has lost its stop.
            self.stop(None, answer);
            self.open.push((index.unwrap_or_default(), open));
            Some(self.open.len() - 1)
        });
        if !place.is_some_and(|place| self.open[place].1.more(&kind, &delta, answer)) {
            answer.unknown(&format!("a delta of type {kind}"), text);
        }
    }

    /// Ends the block at `index`, or all of them.
    fn stop(&mut self, index: Option<i64>, answer: &mut Answer) {
        for (_, open) in self.open.extract_if(.., |(known, _)| index.is_none_or(|index| index == *known)) {
            open.stop(answer);
        }
    }

    fn usage(&mut self, raw: Option<&RawValue>, answer: &mut Answer) {
        let Some(raw) = raw else { return };
        match self.figures.take(raw) {
            Ok(None) => {}
            Ok(Some(usage)) => answer.set_usage(usage),
            Err(_) => answer.unknown("a usage", raw.get()),
        }
    }
}

fn index(event: &Event<'_>) -> Option<i64> {
    event.index.and_then(|index| index.get().parse().ok())
}

fn stop_reason(raw: Option<&RawValue>, answer: &mut Answer) {
    if let Some(reason) = string(raw) {
        answer.stop(&reason, Stop::of(&reason));
    }
}
