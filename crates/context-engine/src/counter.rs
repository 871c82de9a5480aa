use thermidor_types::{Measure, Tokens};

use crate::language::{is_han, is_syllable};

/// Counts the tokens of a text. Special tokens in the text are plain text to it.
///
/// The engine asks it once per text and keeps the answer by content hash, so it must be pure.
pub trait TokenCounter: Send + Sync + 'static {
    /// The number of tokens of `text`.
    fn count(&self, text: &str) -> Tokens;

    /// What sort of figure this is.
    fn measure(&self) -> Measure;
}

/// Guesses tokens from the classes of characters: no vocabulary, about a hundred times as fast as counting.
///
/// It gives between three quarters and one and a half times the `o200k_base` count on prose, code and East Asian
/// text, and never more than the text has bytes.
///
/// ```
/// use thermidor_context_engine::{EstimateCounter, TokenCounter};
/// use thermidor_types::Tokens;
/// assert_eq!(EstimateCounter.count("How much is that?"), Tokens(5));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EstimateCounter;

impl TokenCounter for EstimateCounter {
    fn count(&self, text: &str) -> Tokens {
        Tokens(estimate(text).min(text.len() as u64))
    }

    fn measure(&self) -> Measure {
        Measure::Estimated
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Space,
    Line,
    Mark,
    EastAsian,
    Foreign,
    Symbol,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' => Class::Letter,
        '0'..='9' => Class::Digit,
        '\n' | '\r' => Class::Line,
        c if c.is_whitespace() => Class::Space,
        c if c.is_ascii() => Class::Mark,
        c if is_han(c) || is_syllable(c) => Class::EastAsian,
        c if c.is_alphabetic() => Class::Foreign,
        _ => Class::Symbol,
    }
}

/// Hundredths of a token that a run of `length` characters of one class takes.
fn run_cost(class: Class, length: u64) -> u64 {
    match class {
        Class::Letter => 100 + 100 * ((length - 1) / 7),
        Class::Digit => 100 * length.div_ceil(3),
        // One space belongs to the word behind it; longer indentation is one token up to some width.
        Class::Space => {
            if length == 1 {
                5
            } else {
                100 * length.div_ceil(16)
            }
        }
        Class::Line => 60 * length.min(2) + 10 * (length / 2),
        Class::Mark => 55 + 35 * length,
        Class::EastAsian => 80 * length,
        Class::Foreign => 25 * length + 20,
        Class::Symbol => 150 * length,
    }
}

fn estimate(text: &str) -> u64 {
    let (mut hundredths, mut current, mut length) = (0_u64, None, 0_u64);
    for c in text.chars() {
        let class = class(c);
        if current == Some(class) {
            length += 1;
            continue;
        }
        if let Some(ended) = current {
            hundredths += run_cost(ended, length);
        }
        (current, length) = (Some(class), 1);
    }
    if let Some(ended) = current {
        hundredths += run_cost(ended, length);
    }
    ((hundredths + 50) / 100).max(u64::from(!text.is_empty()))
}
