use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One answer, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// What a client must hear.
    pub(crate) expected: Value,
    pub(crate) ours: Value,
    pub(crate) python: Value,
    /// What the Python client raised, in its words.
    pub(crate) raised: Option<String>,
    /// Why the Python client may hear something else.
    pub(crate) mark: Option<String>,
    pub(crate) verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// All three are the same.
    Equal,
    /// The Python client hears something else, and it is known why.
    Marked,
    /// The Python client hears something else, and nobody has said why.
    Different,
    /// Our client does not hear what it must.
    OursIsWrong,
    /// The Python client is said to hear something else, and does not.
    NeedlessMark,
}

/// What our side says of one answer.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Ours {
    pub(crate) name: String,
    pub(crate) case: Notes,
    pub(crate) heard: Value,
}

/// What the file says of one answer.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Notes {
    pub(crate) stream: bool,
    expected: Value,
    python: Option<String>,
}

/// What the Python side says of one answer.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Theirs {
    pub(crate) name: String,
    pub(crate) heard: Value,
    pub(crate) raised: Option<String>,
}

impl Case {
    /// Compares what both sides heard with what is to be heard.
    pub(crate) fn judge(ours: Ours, theirs: Theirs) -> Self {
        let Notes { expected, python: mark, .. } = ours.case;
        let verdict = match (ours.heard == expected, theirs.heard == expected, &mark) {
            (false, _, _) => Verdict::OursIsWrong,
            (true, true, None) => Verdict::Equal,
            (true, true, Some(_)) => Verdict::NeedlessMark,
            (true, false, Some(_)) => Verdict::Marked,
            (true, false, None) => Verdict::Different,
        };
        let Theirs { heard: python, raised, .. } = theirs;
        Self { name: ours.name, expected, ours: ours.heard, python, raised, mark, verdict }
    }
}

impl Verdict {
    /// Whether it is as it must be.
    pub(crate) fn is_fine(self) -> bool {
        matches!(self, Self::Equal | Self::Marked)
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Marked => "marked",
            Self::Different => "DIFFERENT",
            Self::OursIsWrong => "OURS IS WRONG",
            Self::NeedlessMark => "NEEDLESS MARK",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Would fail if a difference passed, or if a mark outlived its reason.
    #[test]
    fn a_difference_needs_a_reason_and_a_reason_a_difference() {
        let table = [
            ("a", "a", None, Verdict::Equal),
            ("a", "b", None, Verdict::Different),
            ("a", "b", Some("why"), Verdict::Marked),
            ("a", "a", Some("why"), Verdict::NeedlessMark),
            ("b", "b", None, Verdict::OursIsWrong),
            ("b", "a", Some("why"), Verdict::OursIsWrong),
        ];
        for (ours, python, mark, verdict) in table {
            let notes = Notes { stream: true, expected: json!("a"), python: mark.map(str::to_owned) };
            let ours = Ours { name: "x".into(), case: notes, heard: json!(ours) };
            let theirs = Theirs { name: "x".into(), heard: json!(python), raised: None };
            assert_eq!(Case::judge(ours, theirs).verdict, verdict);
        }
    }
}
