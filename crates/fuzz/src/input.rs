use std::hash::{DefaultHasher, Hash, Hasher};

/// Arbitrary bytes as a source of choices. Where they end, every choice is the first.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    /// Chance of its own, where the bytes are the matter and not the choices.
    state: Option<u64>,
}

impl<'a> Input<'a> {
    /// Choices from `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, state: None }
    }

    /// Endless choices that depend on `bytes` and use none of them up.
    pub(crate) fn of_hash(bytes: &[u8]) -> Self {
        Self { bytes: &[], state: Some(hash(bytes) | 1) }
    }

    /// The next byte; 0 behind the end.
    pub(crate) fn byte(&mut self) -> u8 {
        if let Some(state) = &mut self.state {
            // xorshift64
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            return state.to_be_bytes()[0];
        }
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    /// A number below `most`, which is at most 256.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        usize::from(self.byte()) % most.max(1)
    }

    /// True in one of `times` cases.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.state.is_none()
    }

    /// Up to so many bytes as text, what is no UTF-8 replaced.
    pub(crate) fn text(&mut self, most: usize) -> String {
        let length = self.below(most + 1).min(self.bytes.len());
        let (text, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    /// `bytes` in pieces of 0 to 40 bytes.
    pub(crate) fn cuts(mut self, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut rest = bytes;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (piece, left) = rest.split_at(self.below(41).min(rest.len()));
            rest = left;
            Some(piece)
        })
    }
}

/// The same in every process.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
