use serde::{Deserialize, Serialize};

/// The languages in which the engine's own sentences exist.
///
/// It decides the wording around the data, not the language of the answer: that is the request's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    /// English; also for every language but Chinese.
    #[default]
    En,
    /// Chinese, simplified.
    Zh,
}

impl Language {
    /// The language of `text`: Chinese when it has more Han characters than words of anything else.
    ///
    /// ```
    /// use thermidor_context_engine::Language;
    /// assert_eq!(Language::of("用 React 做一个面试训练器"), Language::Zh);
    /// assert_eq!(Language::of("Translate 你好 into English"), Language::En);
    /// ```
    pub fn of(text: &str) -> Self {
        let (mut han, mut others, mut in_word) = (0_usize, 0_usize, false);
        for c in text.chars() {
            if is_han(c) {
                han += 1;
                in_word = false;
            } else if is_syllable(c) {
                // Japanese is full of Han characters; its kana tell it apart.
                others += 3;
                in_word = false;
            } else if c.is_alphanumeric() {
                others += usize::from(!in_word);
                in_word = true;
            } else {
                in_word = false;
            }
        }
        if han > others { Self::Zh } else { Self::En }
    }

    /// The wording for this language.
    pub fn pick<T>(self, en: T, zh: T) -> T {
        match self {
            Self::En => en,
            Self::Zh => zh,
        }
    }
}

/// Whether `c` is a Han ideograph.
pub(crate) fn is_han(c: char) -> bool {
    matches!(c, '\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// Whether `c` is kana or hangul, written without spaces between words.
pub(crate) fn is_syllable(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_sentences_go_to_the_language_that_carries_them() {
        for (text, expected) in [
            ("", Language::En),
            ("an AI trainer for job interviews", Language::En),
            ("面试训练器", Language::Zh),
            ("做一个 AI 面试训练器，支持 iOS", Language::Zh),
            ("会議の議事録を日本語で要約してください。", Language::En),
            ("回议录", Language::Zh),
        ] {
            assert_eq!(Language::of(text), expected, "{text}");
        }
    }
}
