use super::lines::{Line, lines};

/// Counts words as a person would: what stands between blanks and has a letter or digit is one word; of
/// Chinese and Japanese every character counts, and every run of other letters between them. Fenced blocks
/// are not words.
///
/// ```
/// use thermidor_agent_runtime::count_words;
/// assert_eq!(count_words("## A well-made plan\n- don't *panic*\n```\nlet x = 1;\n```"), 5);
/// assert_eq!(count_words("用 React 做训练器v2。"), 7);
/// ```
pub fn count_words(text: &str) -> usize {
    let prose = lines(text).filter_map(|line| match line {
        Line::Prose(line) => Some(line),
        Line::Opens | Line::Fenced(_) | Line::Closes => None,
    });
    prose.flat_map(str::split_whitespace).map(in_token).sum()
}

/// Words between two blanks.
fn in_token(token: &str) -> usize {
    let (mut count, mut in_run) = (0, false);
    for c in token.chars() {
        if is_ideographic(c) {
            count += 1;
            in_run = false;
        } else if c.is_alphanumeric() {
            count += usize::from(!in_run);
            in_run = true;
        } else if !c.is_ascii() {
            // Full-width punctuation parts words as a blank does.
            in_run = in_run && matches!(c, '’' | '‘' | '‐' | '‑' | '–' | '—');
        }
    }
    count
}

/// Whether `c` is written without blanks between words: Han, kana, and their compatibility forms.
fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_like_a_person_does() {
        for (text, words) in [
            ("", 0),
            ("one two  three", 3),
            ("# - | --- | *", 0),
            ("state-of-the-art isn't 3.5", 3),
            ("面试训练器", 5),
            ("AI面试App，支持iOS。", 7),
            ("é naïve — café", 3),
            ("before\n~~~~\nnot words\n~~~\nnor these\n~~~~\nafter", 2),
            ("never closed\n```\na b c", 2),
        ] {
            assert_eq!(count_words(text), words, "{text:?}");
        }
    }
}
