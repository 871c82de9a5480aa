use thermidor_types::Tokens;

/// Tokens of one ASCII character where nothing is learnt yet.
const ASCII: f64 = 0.25;
/// Tokens of one wide character (Chinese, Japanese, Korean) where nothing is learnt yet.
const WIDE: f64 = 0.7;
/// ASCII characters that one letter of another script counts as.
const OTHER: f64 = 1.6;
/// What is left of an observation's weight after the next one: the last twenty decide.
const KEPT: f64 = 0.95;
/// The weight of the figures above, in observations.
const PRIOR: f64 = 0.1;
/// A model may need so many times more, or fewer, tokens than the figures above say. What lies further off is no
/// measure of the text: a hidden prompt, thoughts that were not shown.
const FURTHEST: f64 = 3.0;
/// Texts of fewer tokens say little.
const FEWEST: u64 = 16;

/// Characters of a text, by what they weigh in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Characters {
    ascii: u64,
    wide: u64,
    other: u64,
}

impl Characters {
    /// Counts `text` in. Cost: linear in it.
    pub(crate) fn add(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '\0'..='\x7f' => self.ascii += 1,
                // From the CJK radicals to the compatibility ideographs, full-width forms, and the planes beyond.
                '\u{2e80}'..='\u{d7ff}'
                | '\u{f900}'..='\u{faff}'
                | '\u{ff00}'..='\u{ffef}'
                | '\u{20000}'.. => {
                    self.wide += 1;
                }
                _ => self.other += 1,
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "no text is that long")]
    fn weights(self) -> (f64, f64) {
        ((self.ascii as f64 + self.other as f64 * OTHER) * ASCII, self.wide as f64 * WIDE)
    }
}

/// How many tokens a model makes of a text, learnt from what its provider reports: one factor for ASCII and the
/// scripts like it, one for wide characters, by least squares over the answers so far.
///
/// Pure and of constant size. The same observations in the same order give the same estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TokenRatio {
    uu: f64,
    uv: f64,
    vv: f64,
    u: f64,
    v: f64,
}

impl Default for TokenRatio {
    fn default() -> Self {
        Self { uu: PRIOR, uv: 0.0, vv: PRIOR, u: PRIOR, v: PRIOR }
    }
}

impl TokenRatio {
    /// The tokens of a text with these characters.
    pub(crate) fn estimate(&self, characters: Characters) -> Tokens {
        let (ascii, wide) = characters.weights();
        let (factor, wide_factor) = self.factors();
        let tokens = (ascii * factor + wide * wide_factor).ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "never negative, and the cast saturates"
        )]
        let tokens = tokens as u64;
        Tokens(tokens)
    }

    /// Takes note that a text with these characters had so many tokens.
    pub(crate) fn learn(&mut self, characters: Characters, tokens: Tokens) {
        let (ascii, wide) = characters.weights();
        #[expect(clippy::cast_precision_loss, reason = "no text is that long")]
        let told = tokens.0 as f64;
        let off = (ascii + wide) / told;
        if tokens.0 < FEWEST || !(1.0 / FURTHEST..=FURTHEST).contains(&off) {
            return;
        }
        // Relative errors count: long texts weigh no more than short ones.
        let (u, v) = (ascii / told, wide / told);
        let fade = |sum: f64, prior: f64| prior + (sum - prior) * KEPT;
        self.uu = fade(self.uu, PRIOR) + u * u;
        self.uv = fade(self.uv, 0.0) + u * v;
        self.vv = fade(self.vv, PRIOR) + v * v;
        self.u = fade(self.u, PRIOR) + u;
        self.v = fade(self.v, PRIOR) + v;
    }

    /// The solution of the two equations. Their matrix is never singular: the prior stands on its diagonal.
    fn factors(&self) -> (f64, f64) {
        let determinant = self.uu * self.vv - self.uv * self.uv;
        let within = |factor: f64| factor.clamp(1.0 / FURTHEST, FURTHEST);
        (
            within((self.u * self.vv - self.v * self.uv) / determinant),
            within((self.v * self.uu - self.u * self.uv) / determinant),
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn characters(text: &str) -> Characters {
        let mut characters = Characters::default();
        characters.add(text);
        characters
    }

    /// How far the estimate of `text` is from `tokens`, in percent.
    fn off(ratio: &TokenRatio, text: &str, tokens: u64) -> u64 {
        ratio.estimate(characters(text)).0.abs_diff(tokens) * 100 / tokens
    }

    /// Would fail if one language's ratio were learnt from another's, or not at all.
    #[test]
    fn each_script_learns_its_own_ratio() {
        let (english, chinese) =
            ("The quick brown fox jumps. ".repeat(20), "春眠不觉晓，处处闻啼鸟。".repeat(20));
        // A vocabulary with 3 ASCII characters a token, and one and a quarter tokens a wide character.
        let (few, many) = (english.len() as u64 / 3, chinese.chars().count() as u64 * 5 / 4);
        let mut ratio = TokenRatio::default();
        assert!(off(&ratio, &english, few) > 20 && off(&ratio, &chinese, many) > 20);
        for _ in 0..4 {
            ratio.learn(characters(&english), Tokens(few));
        }
        assert!(off(&ratio, &english, few) <= 5);
        assert_eq!(
            ratio.estimate(characters(&chinese)),
            TokenRatio::default().estimate(characters(&chinese))
        );
        for _ in 0..4 {
            ratio.learn(characters(&chinese), Tokens(many));
            ratio.learn(characters(&format!("{english}{chinese}")), Tokens(few + many));
        }
        assert!(off(&ratio, &english, few) <= 10 && off(&ratio, &chinese, many) <= 10);
    }

    #[test]
    fn what_measures_no_text_teaches_nothing() {
        let text = characters(&"word ".repeat(100));
        let mut ratio = TokenRatio::default();
        for tokens in [0, 15, 40, 2_000, u64::MAX] {
            ratio.learn(text, Tokens(tokens));
        }
        ratio.learn(Characters::default(), Tokens(500));
        assert_eq!(ratio, TokenRatio::default());
    }

    proptest! {
        /// Would fail if any sequence of reports led the estimates out of their bounds.
        #[test]
        fn estimates_stay_within_bounds(reports in prop::collection::vec((0..9_000_u64, 0..9_000_u64, 0..9_000_u64), 0..60)) {
            let mut ratio = TokenRatio::default();
            for (ascii, wide, tokens) in reports {
                ratio.learn(Characters { ascii, wide, other: ascii / 7 }, Tokens(tokens));
                let (factor, wide_factor) = ratio.factors();
                prop_assert!((1.0 / FURTHEST..=FURTHEST).contains(&factor), "{factor}");
                prop_assert!((1.0 / FURTHEST..=FURTHEST).contains(&wide_factor), "{wide_factor}");
            }
        }
    }
}
