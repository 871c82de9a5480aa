/// A language in which the bundled teams and skills are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// English, also for requests in a language that nothing is written in.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::En, Self::Zh];

    /// The two-letter code that files use: `en`, `zh`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// The language in which a request is answered: Chinese when it has at least as many Chinese characters
    /// as words of a Latin or other alphabet, and no Japanese syllables. One pass over the text.
    ///
    /// ```
    /// use thermidor_teams::Language;
    /// assert_eq!(Language::of("an AI trainer for job interviews"), Language::En);
    /// assert_eq!(Language::of("用 Rust 写一个面试训练 AI"), Language::Zh);
    /// ```
    pub fn of(text: &str) -> Self {
        let (mut han, mut words, mut inside) = (0usize, 0usize, false);
        for c in text.chars() {
            match c {
                '\u{3040}'..='\u{30ff}' => return Self::En,
                '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{323af}' => {
                    han += 1;
                    inside = false;
                }
                c if c.is_alphabetic() => {
                    words += usize::from(!inside);
                    inside = true;
                }
                _ => inside = false,
            }
        }
        if han > 0 && han >= words { Self::Zh } else { Self::En }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_request() {
        let check = |text: &str, language: Language| assert_eq!(Language::of(text), language, "{text}");
        check("", Language::En);
        check("面试训练", Language::Zh);
        check("A dictionary for the character 茶", Language::En);
        check("面接の練習", Language::En);
        check("12345 ?!", Language::En);
        check("做一个 iOS App，支持 Apple Watch", Language::Zh);
    }
}
