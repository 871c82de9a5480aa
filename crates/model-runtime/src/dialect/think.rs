//! Tells `<think>…</think>` at the head of an answer from the answer, tags cut anywhere.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";
/// More blanks than this before the first word are the answer's own.
const LONGEST_BLANK: usize = 256;

/// A piece of text, told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told<'a> {
    Text(&'a str),
    Reasoning(&'a str),
}

/// Holds back at most one partial tag. Only a tag that is the first thing said counts: an answer that
/// speaks *about* such tags stays whole.
#[derive(Debug, Default)]
pub(super) struct ThinkTags {
    place: Place,
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Head,
    Thinking,
    /// After the closing tag: blanks before the first word are layout.
    Gap,
    Answer,
}

impl ThinkTags {
    pub(super) fn feed(&mut self, text: &str, mut tell: impl FnMut(Told<'_>)) {
        if self.place == Place::Answer {
            return tell(Told::Text(text));
        }
        self.held.push_str(text);
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        if self.place == Place::Head {
            let word = rest.trim_start();
            if let Some(thoughts) = word.strip_prefix(OPEN) {
                (self.place, rest) = (Place::Thinking, thoughts);
            } else if !OPEN.starts_with(word) || rest.len() > LONGEST_BLANK {
                self.place = Place::Answer;
            }
        }
        if self.place == Place::Thinking {
            if let Some(end) = memchr::memmem::find(rest.as_bytes(), CLOSE.as_bytes()) {
                tell_some(&rest[..end], Told::Reasoning, &mut tell);
                (self.place, rest) = (Place::Gap, &rest[end + CLOSE.len()..]);
            } else {
                let safe = rest.len() - partial_tag(rest);
                tell_some(&rest[..safe], Told::Reasoning, &mut tell);
                rest = &rest[safe..];
            }
        }
        if self.place == Place::Gap {
            rest = rest.trim_start();
            if !rest.is_empty() {
                self.place = Place::Answer;
            }
        }
        if self.place == Place::Answer {
            tell_some(rest, Told::Text, &mut tell);
        } else {
            self.held.push_str(rest);
        }
    }

    /// Gives up what was held back: no more text comes.
    pub(super) fn finish(&mut self, mut tell: impl FnMut(Told<'_>)) {
        let held = std::mem::take(&mut self.held);
        match self.place {
            Place::Thinking => tell_some(&held, Told::Reasoning, &mut tell),
            Place::Head | Place::Gap | Place::Answer => tell_some(&held, Told::Text, &mut tell),
        }
    }
}

fn tell_some<'a>(text: &'a str, told: fn(&'a str) -> Told<'a>, tell: &mut impl FnMut(Told<'_>)) {
    if !text.is_empty() {
        tell(told(text));
    }
}

/// How many bytes at the end of `text` may be the head of the closing tag.
fn partial_tag(text: &str) -> usize {
    (1..CLOSE.len()).rev().find(|&length| text.ends_with(&CLOSE[..length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, size: usize) -> (String, String) {
        let (mut tags, mut words, mut thoughts) = (ThinkTags::default(), String::new(), String::new());
        let mut tell = |told: Told<'_>| match told {
            Told::Text(text) => words += text,
            Told::Reasoning(text) => thoughts += text,
        };
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(size) {
            tags.feed(&piece.iter().collect::<String>(), &mut tell);
        }
        tags.finish(&mut tell);
        (thoughts, words)
    }

    /// Users saw `</thi` in answers where the tag was searched for delta by delta.
    #[test]
    fn tags_are_found_whatever_their_cut() {
        let check = |text: &str, thoughts: &str, words: &str| {
            for size in 1..=text.len() {
                assert_eq!(split(text, size), (thoughts.into(), words.into()), "{text:?} cut at {size}");
            }
        };
        check("<think>let me see</think>It is 7, as 1 < 2", "let me see", "It is 7, as 1 < 2");
        check("\n<think>\na</b></think>\n\n答", "\na</b>", "答");
        check("No <think>tags</think> here", "", "No <think>tags</think> here");
        check("<thin", "", "<thin");
        check("<think>open </thi", "open </thi", "");
    }

    /// Would fail if what is held grew with the thoughts: cost would be quadratic.
    #[test]
    fn a_long_thought_holds_back_one_partial_tag() {
        let mut tags = ThinkTags::default();
        tags.feed("<think>", |_| ());
        for _ in 0..40_000 {
            tags.feed("<", |_| ());
            assert!(tags.held.len() < CLOSE.len());
        }
    }
}
