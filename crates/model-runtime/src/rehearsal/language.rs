use serde::{Deserialize, Serialize};

/// The languages the rehearsal model writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    /// English; also the answer to any language but Chinese.
    #[default]
    English,
    /// Chinese, simplified.
    Chinese,
}

impl Language {
    /// The language a text is written in: Chinese when it has more Han characters than other words.
    ///
    /// ```
    /// use thermidor_model_runtime::Language;
    /// assert_eq!(Language::of("用 React 做一个网页"), Language::Chinese);
    /// assert_eq!(Language::of("translate 你好 into English, please"), Language::English);
    /// assert_eq!(Language::of("面接練習のためのトレーナーを作る"), Language::English);
    /// ```
    pub fn of(text: &str) -> Self {
        let (_, other) = census(text);
        let han = text.chars().filter(|&c| is_han(c)).count();
        // Kana and Hangul beside the ideographs make it Japanese or Korean; Chinese knows a の at the most.
        let others = text.chars().filter(|&c| is_east_asian(c) && !is_han(c)).count();
        if han > other && others * 4 <= han { Self::Chinese } else { Self::English }
    }

    /// Counts words as this language does: English by white space, Chinese by characters (each Han, kana
    /// or Hangul character is one, each run of other letters and digits is one, punctuation is none).
    ///
    /// ```
    /// use thermidor_model_runtime::Language;
    /// assert_eq!(Language::English.count_words("## A plan, in short"), 5);
    /// assert_eq!(Language::Chinese.count_words("用 React 18 做网页。"), 6);
    /// ```
    pub fn count_words(self, text: &str) -> usize {
        match self {
            Self::English => text.split_whitespace().count(),
            Self::Chinese => {
                let (han, other) = census(text);
                han + other
            }
        }
    }

    /// Picks the wording for this language.
    pub(super) fn pick<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }
}

/// The number of East Asian characters, and of runs of other letters and digits.
fn census(text: &str) -> (usize, usize) {
    let (mut han, mut other, mut inside) = (0, 0, false);
    for c in text.chars() {
        if is_east_asian(c) {
            han += 1;
            inside = false;
        } else if c.is_alphanumeric() {
            other += usize::from(!inside);
            inside = true;
        } else {
            inside = false;
        }
    }
    (han, other)
}

/// Whether `c` is a Han ideograph.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

fn is_east_asian(c: char) -> bool {
    is_han(c) || matches!(c, '\u{3041}'..='\u{30fa}' | '\u{ac00}'..='\u{d7a3}')
}

/// About how many quarters of a token a text is: one a character, three a Han character.
pub(super) fn quarter_tokens(text: &str) -> u64 {
    text.chars().map(|c| if is_east_asian(c) { 3 } else { 1 }).sum()
}
