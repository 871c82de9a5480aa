use std::fmt;

use super::answer::Answer;

/// The decoding half of a dialect: says what one JSON document of an answer means.
///
/// A document is one event of a stream, or a whole answer that came without streaming. Mappers are pure; the
/// [`Decoder`](super::Decoder) does the framing, the [`Answer`] the assembly.
pub(crate) trait Mapper: fmt::Debug + Send + Sync {
    /// Reads one JSON object; `event` is the event's name, empty where the framing has none. False when `data`
    /// is no JSON at all.
    ///
    /// Something unknown inside is told to [`Answer::unknown`]; a failure to [`Answer::fault`]; a whole answer
    /// ends with [`Answer::complete`].
    fn read(&mut self, event: &[u8], data: &[u8], answer: &mut Answer) -> bool;

    /// Says what only the end of the answer decides; no more documents come.
    fn finish(&mut self, _answer: &mut Answer) {}
}
