use std::ops::Range;

use thermidor_types::{Measure, ModelId, Tokens};
use tiktoken_rs::{
    CoreBPE,
    tokenizer::{Tokenizer, get_tokenizer},
};

use crate::TokenCounter;

/// Longer runs of one class of characters are sampled instead of counted.
const LONGEST_RUN: usize = 10 * 1024;
const SAMPLE: usize = 1024;
const SAMPLES: usize = 4;

/// A vocabulary that can be counted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    /// `o200k_base`: the newer models of `OpenAI`; also the stand-in for everybody else's.
    O200k,
    /// `cl100k_base`: `gpt-4` and `gpt-3.5`.
    Cl100k,
}

/// Counts with `OpenAI`'s vocabularies, by tiktoken-rs.
///
/// A vocabulary is read on its first count, which costs some 100 to 400 ms once per process; after that about
/// 10 MB of text a second. For a model of another maker the count is an estimate by a foreign vocabulary.
///
/// Its worst case is bounded: a run of more than 10 KB of one class of characters (spaces, letters, …) is
/// measured on samples, because the vocabulary's own algorithm grows faster than its input there.
///
/// ```
/// use thermidor_context_engine::{TiktokenCounter, TokenCounter};
/// use thermidor_types::{Measure, Tokens};
///
/// let counter = TiktokenCounter::for_model(&"openai/gpt-5".parse()?);
/// assert_eq!((counter.count("hello world"), counter.measure()), (Tokens(2), Measure::Counted));
/// # Ok::<(), thermidor_types::ParseModelIdError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TiktokenCounter {
    vocabulary: Vocabulary,
    measure: Measure,
}

impl TiktokenCounter {
    /// The counter for a model, by its name.
    pub fn for_model(model: &ModelId) -> Self {
        let name = model.model().rsplit('/').next().unwrap_or_default();
        let (vocabulary, measure) = match get_tokenizer(name) {
            Some(Tokenizer::Cl100kBase) => (Vocabulary::Cl100k, Measure::Counted),
            Some(Tokenizer::O200kBase | Tokenizer::O200kHarmony) => (Vocabulary::O200k, Measure::Counted),
            _ => (Vocabulary::O200k, Measure::Estimated),
        };
        Self { vocabulary, measure }
    }

    /// The vocabulary in use.
    pub fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    fn bpe(self) -> &'static CoreBPE {
        match self.vocabulary {
            Vocabulary::O200k => tiktoken_rs::o200k_base_singleton(),
            Vocabulary::Cl100k => tiktoken_rs::cl100k_base_singleton(),
        }
    }

    /// The tokens of a long run, from samples of it.
    fn sampled(self, run: &str) -> u64 {
        let (mut tokens, mut bytes) = (0, 0);
        for index in 0..SAMPLES {
            let start = run.floor_char_boundary((run.len() - SAMPLE) / (SAMPLES - 1) * index);
            let end = run.ceil_char_boundary((start + SAMPLE).min(run.len()));
            tokens += self.bpe().count_ordinary(&run[start..end]) as u64;
            bytes += (end - start) as u64;
        }
        (tokens * run.len() as u64).div_ceil(bytes)
    }
}

impl TokenCounter for TiktokenCounter {
    fn count(&self, text: &str) -> Tokens {
        let (mut tokens, mut rest) = (0, text);
        while let Some(run) = long_run(rest) {
            tokens += self.bpe().count_ordinary(&rest[..run.start]) as u64;
            tokens += self.sampled(&rest[run.clone()]);
            rest = &rest[run.end..];
        }
        Tokens(tokens + self.bpe().count_ordinary(rest) as u64)
    }

    fn measure(&self) -> Measure {
        self.measure
    }
}

/// The first run that the vocabulary would treat as one piece and that is too long for it.
fn long_run(text: &str) -> Option<Range<usize>> {
    if text.len() <= LONGEST_RUN {
        return None;
    }
    let pieces: [fn(char) -> bool; 3] = [char::is_whitespace, letter_like, symbol_like];
    let mut starts = [None; 3];
    for (at, c) in text.char_indices() {
        for (start, belongs) in starts.iter_mut().zip(pieces) {
            if belongs(c) {
                start.get_or_insert(at);
            } else if let Some(run) =
                start.take().map(|start| start..at).filter(|run| run.len() > LONGEST_RUN)
            {
                return Some(run);
            }
        }
    }
    starts.into_iter().flatten().map(|start| start..text.len()).find(|run| run.len() > LONGEST_RUN)
}

/// May stand in a piece of letters; in doubt yes, since combining marks do.
fn letter_like(c: char) -> bool {
    let punctuation = matches!(c, '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}');
    c.is_alphabetic() || !(c.is_ascii() || c.is_whitespace() || c.is_numeric() || punctuation)
}

/// May stand in a piece of signs.
fn symbol_like(c: char) -> bool {
    !(c.is_alphabetic() || c.is_numeric() || c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EstimateCounter;

    fn counter() -> TiktokenCounter {
        TiktokenCounter::for_model(&ModelId::new("openai", "gpt-5"))
    }

    #[test]
    fn the_model_decides_the_vocabulary_and_the_measure() {
        for (model, vocabulary, measure) in [
            ("gpt-4o-mini", Vocabulary::O200k, Measure::Counted),
            ("openai/gpt-4-turbo", Vocabulary::Cl100k, Measure::Counted),
            ("claude-opus-4", Vocabulary::O200k, Measure::Estimated),
        ] {
            let counter = TiktokenCounter::for_model(&ModelId::new("any", model));
            assert_eq!((counter.vocabulary(), counter.measure()), (vocabulary, measure), "{model}");
        }
    }

    /// Would fail if sampling was far off, or a special token was counted as one.
    #[test]
    fn long_runs_are_sampled_close_to_the_count() {
        let plain = |text: &str| tiktoken_rs::o200k_base_singleton().count_ordinary(text) as u64;
        for text in ["中".repeat(12_000), "ab".repeat(7_000), format!("x {}y", "-".repeat(11_000))] {
            let (counted, exact) = (counter().count(&text).0, plain(&text));
            assert!(counted.abs_diff(exact) * 20 <= exact + 200, "{counted} for {exact}");
        }
        assert!(counter().count("<|endoftext|>").0 > 1);
    }

    /// Hostile input: without the guard this text takes minutes or overflows the pattern's stack.
    #[test]
    fn half_a_megabyte_of_one_class_is_no_work() {
        for unit in [" ", "a", "!", "🔥!", "\u{301}"] {
            let text = unit.repeat(500_000 / unit.len());
            assert!(counter().count(&text) <= Tokens(500_000), "{unit:?}");
        }
    }

    /// Would fail if a text of another script was taken for four characters a token.
    #[test]
    fn estimates_are_near_the_count_in_every_script() {
        for text in [
            "人工智能助手需要在长对话中保持上下文。",
            "会議の議事録を日本語で要約してください。",
            "회의 내용을 한국어로 요약해 주세요.",
            "🔥🎉💯👩\u{200d}👩\u{200d}👧\u{200d}👦🇩🇪",
            "The quick brown fox jumps over the lazy dog, and nobody in the whole office noticed anything unusual. ",
            "fn main() {\n    let x: Vec<u32> = (0..10).map(|n| n * 2).collect();\n}\n",
            "{\"name\": \"thermidor\", \"values\": [1, 22, 333, 4444], \"ok\": true}\n",
            "Совещание переносится на четверг, пожалуйста, подтвердите. ",
        ] {
            let text = text.repeat(40);
            let (exact, guess) = (counter().count(&text).0, EstimateCounter.count(&text).0);
            assert!(guess * 4 >= exact * 3 && guess * 4 <= exact * 6, "{guess} for {exact}: {text:.30}");
        }
    }
}
