use crate::{StreamEnd, UnknownShape, repair::Edit};

/// The longest sample of something left out, in bytes.
const LONGEST_SAMPLE: usize = 2 << 10;

/// Records what was changed in an answer to read it.
pub(super) fn edits(end: &mut StreamEnd, edits: &[Edit]) {
    if !edits.is_empty() {
        let list: Vec<String> = edits.iter().take(64).map(ToString::to_string).collect();
        note(end, "repairs of an answer", edits.len(), &list.join("; "));
    }
}

/// Records words that are not part of the message.
pub(super) fn left_out(end: &mut StreamEnd, what: &str, text: &str) {
    if !text.trim().is_empty() {
        note(end, what, 1, text);
    }
}

fn note(end: &mut StreamEnd, what: &str, count: usize, sample: &str) {
    tracing::debug!(what, count, sample, "an answer was not in the form asked for");
    let sample = &sample[..sample.floor_char_boundary(LONGEST_SAMPLE)];
    end.unknown.push(UnknownShape { what: what.into(), count: count as u64, sample: sample.into() });
}
