//! Compares a recorded request body with ours by what it means: JSON modulo defaults.
//!
//! A test binary makes one [`Report`] with its dialect's [`Rules`], hands it every recorded request with
//! [`Report::compare`], and ends with [`Report::finish`], which prints a table and asserts.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
};

use serde_json::Value;

/// So many differences of one request are told.
const MOST_TOLD: usize = 6;

/// What two bodies of one dialect may differ in.
///
/// Pointers are JSON pointers in which a segment `*` is any one segment.
pub(crate) struct Rules {
    /// Fields that mean nothing when they have this value, given as JSON text; `*` is any value.
    pub(crate) defaults: &'static [(&'static str, &'static str)],
    /// Why a difference is as it should be.
    pub(crate) reasons: &'static [Reason],
}

/// Why a difference is as it should be.
pub(crate) struct Reason {
    /// The cases it is for; `*` stands for any run of letters.
    pub(crate) case: &'static str,
    /// Where the difference is, there or below.
    pub(crate) pointer: &'static str,
    /// The reason, in a sentence.
    pub(crate) why: &'static str,
}

/// A place where two bodies do not mean the same.
#[derive(Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) pointer: String,
    pub(crate) recorded: Value,
    pub(crate) ours: Value,
}

#[derive(Default)]
struct Row {
    equal: usize,
    reasoned: usize,
    different: usize,
}

impl Row {
    const HEAD: &str = "provider       requests  equal  reasoned  different\n";

    fn requests(&self) -> usize {
        self.equal + self.reasoned + self.different
    }

    fn line(&self, name: &str) -> String {
        let Self { equal, reasoned, different } = self;
        format!("{name:<14}{:>9}{equal:>7}{reasoned:>10}{different:>11}\n", self.requests())
    }
}

/// Counts by provider; asserts at the end.
pub(crate) struct Report {
    rules: Rules,
    rows: BTreeMap<String, Row>,
    used: Vec<usize>,
    complaints: Vec<String>,
}

impl Report {
    pub(crate) fn new(rules: Rules) -> Self {
        let used = vec![0; rules.reasons.len()];
        Self { rules, rows: BTreeMap::new(), used, complaints: Vec::new() }
    }

    /// Takes one request: what was recorded and what we would have sent, or why we would not have.
    pub(crate) fn compare(
        &mut self,
        provider: &str,
        case: &str,
        recorded: &str,
        ours: Result<&[u8], String>,
    ) {
        let recorded: Value = serde_json::from_str(recorded).expect("a recorded body is JSON");
        let found = match ours {
            Ok(body) => {
                let ours: Value = serde_json::from_slice(body).expect("our body is JSON");
                differences(&recorded, &ours, self.rules.defaults)
            }
            Err(error) => {
                vec![Difference { pointer: String::new(), recorded: Value::Null, ours: error.into() }]
            }
        };
        let row = self.rows.entry(provider.to_owned()).or_default();
        if found.is_empty() {
            row.equal += 1;
            return;
        }
        let mut open = Vec::new();
        for difference in &found {
            let reason = self
                .rules
                .reasons
                .iter()
                .position(|reason| like(reason.case, case) && below(reason.pointer, &difference.pointer));
            match reason {
                Some(place) => self.used[place] += 1,
                None => open.push(difference),
            }
        }
        if open.is_empty() {
            row.reasoned += 1;
            return;
        }
        row.different += 1;
        let mut told = case.to_owned();
        for difference in open.iter().take(MOST_TOLD) {
            let Difference { pointer, recorded, ours } = difference;
            let (recorded, ours) = (short(recorded), short(ours));
            write!(told, "\n    {pointer:?}: recorded {recorded}, ours {ours}").expect("a string takes all");
        }
        self.complaints.push(told);
    }

    /// Prints the table. Fails when fewer than 95 of 100 requests mean the same, when a difference has no
    /// reason, and when a reason is for nothing.
    pub(crate) fn finish(self) {
        let mut all = Row::default();
        let mut table = Row::HEAD.to_owned();
        for (provider, row) in &self.rows {
            table += &row.line(provider);
            all.equal += row.equal;
            all.reasoned += row.reasoned;
            all.different += row.different;
        }
        table += &all.line("all");
        for (reason, used) in self.rules.reasons.iter().zip(&self.used) {
            writeln!(table, "{used:>5} {} {}: {}", reason.case, reason.pointer, reason.why).expect("fits");
        }
        #[expect(clippy::print_stdout, reason = "the table is what a person runs the test for")]
        {
            println!("{table}");
        }
        for (reason, used) in self.rules.reasons.iter().zip(&self.used) {
            assert!(*used > 0, "a reason for nothing: {} {}", reason.case, reason.pointer);
        }
        let (requests, equal) = (all.requests(), all.equal);
        assert!(self.complaints.is_empty(), "differences without a reason:\n{}", self.complaints.join("\n"));
        assert!(requests > 0 && equal * 100 >= requests * 95, "{equal} of {requests} mean the same");
    }
}

/// Where the bodies do not mean the same, in the order of the document.
///
/// Not told apart: nulls, empty lists and absent fields; `stream` and `stream_options`; a list of one text and
/// that text; call ids, as long as the same ones belong together; JSON in `arguments`, however it is written;
/// `1.0` and `1`; a field of `defaults` that has its default, and an absent one.
pub(crate) fn differences(recorded: &Value, ours: &Value, defaults: &[(&str, &str)]) -> Vec<Difference> {
    let (mut recorded, mut ours) = (recorded.clone(), ours.clone());
    for body in [&mut recorded, &mut ours] {
        if let Value::Object(fields) = body {
            fields.remove("stream");
            fields.remove("stream_options");
        }
        let mut ids = HashMap::new();
        plain(body, "", "", defaults, &mut ids);
    }
    let mut found = Vec::new();
    compare("", &recorded, &ours, &mut found);
    found
}

/// Brings `value`, the field `name` at `pointer`, into the form that is compared.
fn plain(
    value: &mut Value,
    name: &str,
    pointer: &str,
    defaults: &[(&str, &str)],
    ids: &mut HashMap<String, String>,
) {
    match value {
        Value::Object(fields) => {
            let called = name == "functionCall"
                || name == "functionResponse"
                || fields.contains_key("function")
                || fields.get("type").and_then(Value::as_str).is_some_and(|kind| {
                    matches!(kind, "tool_use" | "server_tool_use" | "function_call" | "function_call_output")
                });
            for (key, field) in fields.iter_mut() {
                let is_id = matches!(key.as_str(), "tool_call_id" | "call_id" | "tool_use_id")
                    || (key == "id" && called);
                match field {
                    Value::String(id) if is_id => {
                        let next = format!("call {}", ids.len());
                        *id = ids.entry(std::mem::take(id)).or_insert(next).clone();
                    }
                    Value::String(text) if key == "arguments" => {
                        let text = if text.trim().is_empty() { "{}" } else { text.as_str() };
                        if let Ok(arguments) = serde_json::from_str(text) {
                            *field = arguments;
                        }
                    }
                    _ => plain(field, key, &format!("{pointer}/{key}"), defaults, ids),
                }
            }
            fields.retain(|key, field| {
                let pointer = format!("{pointer}/{key}");
                let default = defaults.iter().any(|(pattern, default)| {
                    let equal = || serde_json::from_str::<Value>(default).is_ok_and(|value| value == *field);
                    at(pattern, &pointer) && (*default == "*" || equal())
                });
                !default && !field.is_null() && field.as_array().is_none_or(|list| !list.is_empty())
            });
        }
        Value::Array(list) => {
            for (place, item) in list.iter_mut().enumerate() {
                plain(item, "", &format!("{pointer}/{place}"), defaults, ids);
            }
            if let [Value::Object(only)] = list.as_slice()
                && let Some(Value::String(text)) = only.get("text")
                && only.keys().all(|key| key == "text" || key == "type")
            {
                *value = Value::String(text.clone());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn compare(pointer: &str, recorded: &Value, ours: &Value, found: &mut Vec<Difference>) {
    match (recorded, ours) {
        (Value::Object(a), Value::Object(b)) => {
            let further = b.keys().filter(|key| !a.contains_key(*key));
            for key in a.keys().chain(further) {
                let [a, b] = [a, b].map(|fields| fields.get(key).unwrap_or(&Value::Null));
                compare(&format!("{pointer}/{key}"), a, b, found);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for place in 0..a.len().max(b.len()) {
                let [a, b] = [a, b].map(|list| list.get(place).unwrap_or(&Value::Null));
                compare(&format!("{pointer}/{place}"), a, b, found);
            }
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => {}
        _ if recorded == ours => {}
        _ => found.push(Difference {
            pointer: pointer.to_owned(),
            recorded: recorded.clone(),
            ours: ours.clone(),
        }),
    }
}

/// Whether `pointer` is the place that `pattern` names.
fn at(pattern: &str, pointer: &str) -> bool {
    pattern.split('/').count() == pointer.split('/').count() && below(pattern, pointer)
}

/// Whether `pointer` is the place that `pattern` names, or below it.
fn below(pattern: &str, pointer: &str) -> bool {
    let mut there = pointer.split('/');
    pattern.split('/').all(|wanted| there.next().is_some_and(|found| wanted == "*" || wanted == found))
}

/// Whether `pattern` with its stars stands for `text`.
fn like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| like(tail, rest)))
        }),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    let end = text.floor_char_boundary(160);
    if end < text.len() { format!("{}…", &text[..end]) } else { text }
}
