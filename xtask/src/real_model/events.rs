//! What the events of a run say, stage by stage.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// One call of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// Tokens of the prompt, those that the server still knew included.
    pub(crate) input: u64,
    /// The part of them that the server still knew.
    pub(crate) cached: u64,
    /// Tokens of the answer.
    pub(crate) output: u64,
    /// Whether these figures are the server's.
    pub(crate) reported: bool,
    /// Milliseconds until the first fragment.
    pub(crate) first: Option<u64>,
    /// Milliseconds until the end.
    pub(crate) total: u64,
    /// `Finished`, `Length` or `CutOff`.
    pub(crate) ending: String,
}

/// One stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stage {
    /// Its id.
    pub(crate) id: String,
    /// The calls of the model.
    pub(crate) calls: Vec<Call>,
    /// How it ended: `Done`; empty when it did not.
    pub(crate) status: String,
    /// What it made.
    pub(crate) text: String,
    /// Where that does not meet what was asked.
    pub(crate) unfit: Vec<String>,
    /// Whether a repair was asked for, and if so whether it was better.
    pub(crate) repaired: Option<bool>,
}

/// A whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The stages in the order in which they began.
    pub(crate) stages: Vec<Stage>,
    /// How the run ended: `Done`; empty when it did not.
    pub(crate) status: String,
    /// The answer.
    pub(crate) answer: String,
    /// Tokens that the run says it spent.
    pub(crate) tokens: u64,
}

/// Reads the lines of `runs show --json`. Events that are of no interest here are passed over.
pub(crate) fn read(lines: &str) -> Result<Seen> {
    let mut seen = Seen::default();
    for line in lines.lines() {
        let event: Value = serde_json::from_str(line).with_context(|| format!("no event: {line}"))?;
        ensure!(event["v"] == 1, "an event of another version: {line}");
        take(&mut seen, &event).with_context(|| format!("an event that says too little: {line}"))?;
    }
    Ok(seen)
}

fn take(seen: &mut Seen, event: &Value) -> Option<()> {
    let text = |name: &str| event[name].as_str().map(str::to_owned);
    let list = |name: &str| -> Vec<String> {
        event[name].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let number = usize::try_from(event["turn"].as_u64().unwrap_or_default()).ok()?;
    let kind = event["type"].as_str()?;
    if kind == "run_ended" {
        seen.status = text("status")?;
        seen.answer = text("text")?;
        seen.tokens = event["spent"]["tokens"].as_u64().unwrap_or_default();
    } else if kind == "turn_started" {
        seen.stages.push(Stage { id: text("stage")?, ..Stage::default() });
    } else if number > 0 {
        let stage = seen.stages.get_mut(number - 1)?;
        match kind {
            "said" => stage.calls.push(call(event)?),
            "answer_repaired" => stage.repaired = Some(event["better"].as_bool()?),
            "turn_ended" => {
                stage.status = text("status")?;
                stage.text = text("text")?;
                stage.unfit = list("unfit");
            }
            _ => {}
        }
    }
    Some(())
}

fn call(event: &Value) -> Option<Call> {
    let usage = &event["usage"];
    Some(Call {
        input: usage["input"].as_u64()?,
        cached: usage["cached_input"].as_u64().unwrap_or_default(),
        output: usage["output"].as_u64()?,
        reported: usage["measure"] == "Reported",
        first: event["first_millis"].as_u64(),
        total: event["total_millis"].as_u64()?,
        ending: event["ending"].as_str()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    const RUN: &str = r#"{"v":1,"run":"r","seq":1,"at":0,"node":0,"type":"run_started","title":"t","team":"x","request":"y"}
{"v":1,"seq":2,"node":1,"type":"turn_started","turn":1,"member":"gm","name":"GM","stage":"analysis","title":"A"}
{"v":1,"seq":3,"node":1,"type":"said","turn":1,"member":"gm","call":1,"text":"a","ending":"Length","usage":{"input":90,"cached_input":10,"output":7,"measure":"Reported"},"first_millis":5,"total_millis":30,"attempts":1}
{"v":1,"seq":3,"node":1,"type":"answer_repaired","turn":1,"member":"gm","better":false}
{"v":1,"seq":4,"node":1,"type":"turn_ended","turn":1,"member":"gm","stage":"analysis","status":"Done","text":"a","usage":{"input":90,"output":7},"unfit":["The heading is missing."]}
{"v":1,"seq":5,"node":0,"type":"run_ended","status":"Done","text":"a","spent":{"tokens":97}}
"#;

    #[test]
    fn a_run_is_read_stage_by_stage() {
        expect![[r#"
            Seen {
                stages: [
                    Stage {
                        id: "analysis",
                        calls: [
                            Call {
                                input: 90,
                                cached: 10,
                                output: 7,
                                reported: true,
                                first: Some(
                                    5,
                                ),
                                total: 30,
                                ending: "Length",
                            },
                        ],
                        status: "Done",
                        text: "a",
                        unfit: [
                            "The heading is missing.",
                        ],
                        repaired: Some(
                            false,
                        ),
                    },
                ],
                status: "Done",
                answer: "a",
                tokens: 97,
            }
        "#]]
        .assert_debug_eq(&read(RUN).expect("events"));
    }

    /// Would fail if a form of events that this cannot judge were passed over.
    #[test]
    fn what_cannot_be_read_is_refused() {
        for (line, expected) in [
            ("no", "no event: no"),
            (r#"{"v":2}"#, r#"an event of another version: {"v":2}"#),
            (
                r#"{"v":1,"type":"said","turn":1}"#,
                r#"an event that says too little: {"v":1,"type":"said","turn":1}"#,
            ),
        ] {
            assert_eq!(read(line).expect_err("refused").to_string(), expected);
        }
    }
}
