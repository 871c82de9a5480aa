//! Figures as people read them.

use std::{borrow::Cow, time::Duration};

use thermidor_types::{Timestamp, Tokens, Usage};

/// `12,345`.
pub(crate) fn tokens(tokens: Tokens) -> String {
    let digits = tokens.0.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `400 ms`, `12.3 s`, `4 m 05 s`, `1 h 02 m`.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 => format!("{} ms", time.as_millis()),
        1..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3_600 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} m", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// How long ago: `now`, `5 min ago`, `3 h ago`, `2 days ago`.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    match now.since(then).as_secs() {
        0..5 => "now".to_owned(),
        seconds @ 5..60 => format!("{seconds} s ago"),
        seconds @ 60..3_600 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..172_800 => format!("{} h ago", seconds / 3_600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

/// `1,234 + 456 tokens`, and the cost where it is known.
pub(crate) fn usage(usage: &Usage) -> String {
    let cost = usage.cost.map(|cost| format!(", {cost}")).unwrap_or_default();
    format!("{} + {} tokens{cost}", tokens(usage.input), tokens(usage.output))
}

/// `1 turn`, `2 turns`.
pub(crate) fn count(count: impl Into<u64>, what: &str) -> String {
    let count = count.into();
    format!("{} {what}{}", tokens(Tokens(count)), if count == 1 { "" } else { "s" })
}

/// A text that cannot move a terminal's cursor or change its colours, whoever wrote it.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(harmful) {
        Cow::Owned(text.chars().filter(|c| !harmful(*c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// The text on one line.
pub(crate) fn one_line(text: &str) -> String {
    harmless(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(["1", "999", "1,000", "1,234,567"], [1, 999, 1_000, 1_234_567].map(|n| tokens(Tokens(n))));
        let times = [(40, "40 ms"), (59_940, "59.9 s"), (65_000, "1 m 05 s"), (3_720_000, "1 h 02 m")];
        for (millis, words) in times {
            assert_eq!(time(Duration::from_millis(millis)), words);
        }
        let then = Timestamp::from_millis(0);
        let ago = |seconds: i64| ago(then, Timestamp::from_millis(seconds * 1_000));
        assert_eq!(
            [ago(1), ago(90), ago(7_200), ago(200_000)],
            ["now", "1 min ago", "2 h ago", "2 days ago"]
        );
    }

    /// Would fail if a model's answer could rewrite what a terminal shows.
    #[test]
    fn escape_sequences_lose_their_escape() {
        assert_eq!(harmless("a\u{1b}[2Jb\u{9b}31m\r\nc\td"), "a[2Jb31m\nc\td");
        assert!(matches!(harmless("plain\n\ttext 文"), Cow::Borrowed(_)));
    }
}
