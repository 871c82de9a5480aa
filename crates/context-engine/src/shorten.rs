//! Cutting the middle out of a text, and sharing room among texts.

use thermidor_types::Tokens;
use unicode_segmentation::GraphemeCursor;

use crate::{Language, TokenCounter};

/// Cuts the middle out of `text` so that the rest, with a note of how much is missing, takes at most `most`
/// tokens.
///
/// Beginning and end stay, each about half. Both cuts are at borders of graphemes. Where not even the note
/// fits an ellipsis stands for the text, and where that does not fit nothing does.
///
/// ```
/// use thermidor_context_engine::{EstimateCounter, Language, shorten};
/// use thermidor_types::Tokens;
///
/// let long = "All work and no play makes a dull day. ".repeat(40);
/// let short = shorten(&long, Tokens(40), &EstimateCounter, Language::En);
/// assert!(short.contains("characters left out"), "{short}");
/// ```
pub fn shorten(text: &str, most: Tokens, counter: &dyn TokenCounter, language: Language) -> String {
    shorten_with(text, most, language, &|text| counter.count(text))
}

/// Like [`shorten`], for a text whose weight is that of something around it as well.
pub(crate) fn shorten_with(
    text: &str,
    most: Tokens,
    language: Language,
    weigh: &dyn Fn(&str) -> Tokens,
) -> String {
    let mut whole = weigh(text).0;
    if whole <= most.0 {
        return text.to_owned();
    }
    // A candidate too heavy is replaced by one smaller in proportion; each round takes off a sixteenth at least.
    let mut keep = text.len();
    while keep > 0 {
        let proportional = u128::from(most.0) * keep as u128 / u128::from(whole.max(1));
        keep = usize::try_from(proportional).unwrap_or(0).min(keep - keep / 16 - 1);
        let candidate = without_middle(text, keep, language);
        whole = weigh(&candidate).0;
        if whole <= most.0 {
            return candidate;
        }
    }
    ["…", ""].into_iter().find(|rest| weigh(rest) <= most).unwrap_or_default().to_owned()
}

/// About `keep` bytes of the text, half from either end, and the note.
fn without_middle(text: &str, keep: usize, language: Language) -> String {
    let head = border(text, keep.div_ceil(2), Side::Before);
    let tail = border(text, text.len() - keep / 2, Side::After).max(head);
    let missing = grouped(text[head..tail].chars().count());
    let note = language
        .pick(format!("[… {missing} characters left out …]"), format!("[……此处省略 {missing} 个字符……]"));
    let (head, tail) = (text[..head].trim_end(), text[tail..].trim_start());
    [head, &note, tail].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Before,
    After,
}

/// The grapheme border at `at` or next to it.
fn border(text: &str, at: usize, side: Side) -> usize {
    let at = if side == Side::Before { text.floor_char_boundary(at) } else { text.ceil_char_boundary(at) };
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    if cursor.is_boundary(text, 0) != Ok(false) {
        return at;
    }
    match side {
        Side::Before => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
        Side::After => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
    }
}

/// `12345` as `12,345`.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The level to which the largest of `sizes` must sink so that all together take at most `room`.
///
/// What is smaller keeps its size. With too little room for one token each it is zero.
pub(crate) fn water_level(sizes: &[Tokens], room: Tokens) -> Tokens {
    let mut sorted: Vec<u64> = sizes.iter().map(|size| size.0).collect();
    sorted.sort_unstable();
    let mut left = room.0;
    for (index, &size) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index) as u64;
        if size > share {
            return Tokens(share);
        }
        left -= size;
    }
    Tokens(sorted.last().copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;
    use crate::{EstimateCounter, TiktokenCounter};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Would fail if a cut fell inside a grapheme, the limit was passed, or something was cut in silence.
        #[test]
        fn a_cut_is_whole_says_so_and_keeps_the_limit(
            text in r"(a|中|🔥|👩‍👩‍👧‍👦|é|🇩🇪|✓|\r\n| the){20,300}",
            most in 0_u64..64, exact: bool,
        ) {
            let tiktoken = TiktokenCounter::for_model(&thermidor_types::ModelId::new("openai", "gpt-5"));
            let counter: &dyn TokenCounter = if exact { &tiktoken } else { &EstimateCounter };
            let short = shorten(&text, Tokens(most), counter, Language::Zh);
            prop_assert!(counter.count(&short).0 <= most);
            if short == text || short.is_empty() || short == "…" { return Ok(()); }
            let Some((head, tail)) = short.split_once("[……此处省略") else { return Err(TestCaseError::fail("no note")) };
            let tail = tail.split_once("……]").expect("the note ends").1;
            let (head, tail) = (head.trim_end(), tail.trim_start());
            let whole: Vec<&str> = text.graphemes(true).collect();
            let (begins, ends): (Vec<&str>, Vec<&str>) = (head.graphemes(true).collect(), tail.graphemes(true).collect());
            prop_assert!(whole.starts_with(&begins), "{head:?}");
            prop_assert!(whole.ends_with(&ends), "{tail:?}");
        }

        #[test]
        fn the_level_fills_the_room(sizes in prop::collection::vec(0_u64..10_000, 1..12), room in 0_u64..40_000) {
            let sizes: Vec<Tokens> = sizes.into_iter().map(Tokens).collect();
            let level = water_level(&sizes, Tokens(room)).0;
            let at = |level: u64| sizes.iter().map(|size| size.0.min(level)).sum::<u64>();
            prop_assert!(at(level) <= room);
            let all: u64 = sizes.iter().map(|size| size.0).sum();
            prop_assert!(all <= room || at(level + 1) > room, "room is left");
        }
    }

    #[test]
    fn long_outputs_of_one_character_are_cut_at_every_byte_position() {
        for text in
            ["中".repeat(40_000), format!("a{}", "中".repeat(40_000)), format!("ab{}", "🔥".repeat(20_000))]
        {
            for most in [20, 21, 22, 23, 1_000] {
                let short = shorten(&text, Tokens(most), &EstimateCounter, Language::En);
                assert!(
                    EstimateCounter.count(&short).0 <= most && short.contains("characters left out"),
                    "{most}"
                );
                assert!(!short.contains('\u{fffd}'));
            }
        }
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
