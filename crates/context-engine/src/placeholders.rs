//! Fills placeholders of the operator's text: one pass, values are data.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use minijinja::{
    Environment, Output, State, UndefinedBehavior, Value,
    value::{Enumerator, Object, ObjectRepr, Rest, ValueKind},
};
use thermidor_types::FailureKind;

use crate::{Error, View, date::LocalTime};

/// The most work one template may do, in minijinja's fuel (about one unit per instruction or written byte).
const FUEL: u64 = 2_000_000;

/// A template with its placeholders filled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// The text. A placeholder without a value stands in it as `{{ name }}`, visible to whoever reads it.
    pub text: String,
    /// What was asked for and has no value, in the order of use, each once.
    pub missing: Vec<String>,
}

/// Fills the placeholders of `template`, which must be the operator's text, with values of the view.
///
/// Values: `request`, `outputs.ID`, `params.NAME`, `facts.NAME`, `member`, `date` (2026-04-01), `time` (07:30),
/// `year`, `month`, `day`, `hour`, `minute`, `second`, `weekday` (Tuesday), `timezone`, `iso`, `timestamp` (ms),
/// `language`, `model`. The syntax is minijinja's: filters, conditions, loops. A name without a value is an empty one for
/// conditions and loops, stays visible where it would be printed, and is named in [`Filled::missing`] unless
/// `default` or `is defined` has dealt with it. Values are never expanded again.
///
/// ```
/// # use thermidor_context_engine::{View, fill};
/// # use thermidor_types::{ModelCard, Timestamp, Tokens};
/// # let model = ModelCard::unknown("openai/gpt-5".parse()?, Tokens(128_000));
/// let view = View::new(Timestamp::default(), model, "what is {{ date }}?");
/// let filled = fill("{{ date }}, {{ nope }}: {{ request }}", &view)?;
/// assert_eq!(filled.text, "1970-01-01, {{ nope }}: what is {{ date }}?");
/// assert_eq!(filled.missing, ["nope"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `Configuration` when the template cannot be read, calls something that does not exist, or runs out of
/// its bound on work.
pub fn fill(template: &str, view: &View) -> Result<Filled, Error> {
    if is_plain(template) {
        return Ok(Filled { text: template.to_owned(), missing: Vec::new() });
    }
    let missing = Missing::default();
    let root = Value::from_object(Scope {
        path: String::new(),
        values: values(view, &missing),
        missing: missing.clone(),
    });
    let text = environment(&missing).render_str(template, root).map_err(|error| {
        Error::new(FailureKind::Configuration, format!("a template cannot be filled: {error}"))
            .caused_by(error)
    })?;
    Ok(Filled { text, missing: missing.names() })
}

/// The names a template asks for, nested ones with dots (`outputs.plan`), sorted.
///
/// # Errors
/// `Configuration` when the template cannot be read.
pub fn placeholders(template: &str) -> Result<Vec<String>, Error> {
    if is_plain(template) {
        return Ok(Vec::new());
    }
    let environment = Environment::new();
    let parsed = environment.template_from_str(template).map_err(|error| {
        Error::new(FailureKind::Configuration, format!("a template cannot be read: {error}")).caused_by(error)
    })?;
    let mut names: Vec<_> = parsed.undeclared_variables(true).into_iter().collect();
    names.sort_unstable();
    Ok(names)
}

/// Whether there is nothing to fill: spares the machinery, whose making alone takes longer than the rest of a step.
fn is_plain(template: &str) -> bool {
    !["{{", "{%", "{#"].iter().any(|mark| template.contains(mark))
}

fn environment(missing: &Missing) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_fuel(Some(FUEL));
    let seen = missing.clone();
    environment.set_formatter(move |out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value| {
        let name = seen.printed(value.is_undefined());
        match name.filter(|_| value.is_undefined()) {
            Some(name) => Ok(out.write_str(&format!("{{{{ {name} }}}}"))?),
            None => minijinja::escape_formatter(out, state, value),
        }
    });
    let seen = missing.clone();
    let or_default = move |value: Value, others: Rest<Value>| {
        let other = others.first().cloned().unwrap_or_else(|| Value::from(""));
        let lax = others.get(1).is_some_and(Value::is_true);
        if value.is_undefined() {
            seen.forget(usize::from(other.is_undefined()));
        }
        if value.is_undefined() || (lax && !value.is_true()) { other } else { value }
    };
    environment.add_filter("default", or_default.clone());
    environment.add_filter("d", or_default);
    let seen = missing.clone();
    environment.add_test("defined", move |value: Value| {
        if value.is_undefined() {
            seen.forget(0);
        }
        !value.is_undefined()
    });
    let seen = missing.clone();
    environment.add_test("undefined", move |value: Value| {
        if value.is_undefined() {
            seen.forget(0);
        }
        value.is_undefined()
    });
    environment
}

fn values(view: &View, missing: &Missing) -> BTreeMap<String, Value> {
    let texts = |path: &str, texts: BTreeMap<String, Value>| missing.watch(path, Value::from(texts));
    let outputs =
        view.upstream.iter().map(|output| (output.id.to_string(), Value::from(output.text.as_str())));
    let params = view.params.iter().map(|(name, json)| {
        (name.to_string(), json.read::<Value>().unwrap_or_else(|_| Value::from(json.as_str())))
    });
    let facts = view.facts.iter().map(|(name, text)| (name.to_string(), Value::from(text.as_str())));
    let mut values: BTreeMap<String, Value> = [
        ("request", Value::from(view.request.as_str())),
        ("outputs", texts("outputs", outputs.collect())),
        ("params", texts("params", params.collect())),
        ("facts", texts("facts", facts.collect())),
        ("model", Value::from(view.model.id.to_string())),
        ("language", Value::from(view.language.pick("en", "zh"))),
        ("timestamp", Value::from(view.now.as_millis())),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    values.extend(view.member.iter().map(|member| ("member".to_owned(), Value::from(member.as_str()))));
    values.extend(LocalTime::of(view).values());
    values
}

/// The names that were looked up in vain, in the order of lookup.
#[derive(Clone, Debug, Default)]
struct Missing {
    names: Arc<Mutex<Vec<String>>>,
    /// How many of them there were when something was printed last.
    printed: Arc<Mutex<usize>>,
}

impl Missing {
    fn with<R>(&self, f: impl FnOnce(&mut Vec<String>) -> R) -> R {
        f(&mut self.names.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The value in a form that notes, at any depth, what was asked of it in vain.
    fn watch(&self, path: &str, value: Value) -> Value {
        let Ok(items) = value.try_iter() else { return value };
        match value.kind() {
            ValueKind::Map => {
                let entry = |key: Value| {
                    let name = key.to_string();
                    let found = value.get_item(&key).unwrap_or_default();
                    (name.clone(), self.watch(&format!("{path}.{name}"), found))
                };
                let values = items.map(entry).collect();
                Value::from_object(Scope { path: format!("{path}."), values, missing: self.clone() })
            }
            ValueKind::Seq => {
                let values = items.enumerate().map(|(at, item)| self.watch(&format!("{path}[{at}]"), item));
                let (path, values) = (path.to_owned(), values.collect());
                Value::from_object(Items { path, values, missing: self.clone() })
            }
            _ => value,
        }
    }

    fn note(&self, name: String) {
        self.with(|names| names.push(name));
    }

    /// Called for every value that is printed. For one that does not exist it gives the name to print: the last one
    /// looked up in vain since something was printed, or, where no name of ours was asked for, words for that.
    fn printed(&self, undefined: bool) -> Option<String> {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        self.with(|names| {
            if undefined && names.len() <= *printed {
                names.push("a value without a name".to_owned());
            }
            *printed = names.len();
            names.last().cloned()
        })
    }

    /// Takes back the last lookup but `later`: the template has dealt with it.
    fn forget(&self, later: usize) {
        self.with(|names| {
            if let Some(place) = names.len().checked_sub(later + 1) {
                names.remove(place);
            }
        });
    }

    fn names(&self) -> Vec<String> {
        self.with(|names| {
            let mut unique: Vec<String> = Vec::new();
            for name in names.drain(..) {
                if !unique.contains(&name) {
                    unique.push(name);
                }
            }
            unique
        })
    }
}

/// A map that notes which of its keys were asked for and not there.
#[derive(Debug)]
struct Scope {
    path: String,
    values: BTreeMap<String, Value>,
    missing: Missing,
}

impl Object for Scope {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let key = key.as_str()?;
        let found = self.values.get(key).cloned();
        if found.is_none() && !(self.path.is_empty() && GLOBALS.contains(&key)) {
            self.missing.note(format!("{}{key}", self.path));
        }
        found
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.values.keys().map(|key| Value::from(key.as_str())).collect())
    }
}

/// A list that notes which of its places were asked for and not there.
#[derive(Debug)]
struct Items {
    path: String,
    values: Vec<Value>,
    missing: Missing,
}

impl Object for Items {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let found = key.as_usize().and_then(|at| self.values.get(at).cloned());
        if found.is_none() {
            self.missing.note(format!("{}[{key}]", self.path));
        }
        found
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.values.len())
    }
}

/// Functions of minijinja, which it looks for in the values first.
const GLOBALS: [&str; 5] = ["range", "dict", "debug", "namespace", "loop"];

#[cfg(test)]
mod tests {
    use thermidor_types::{Json, ModelCard, Timestamp, Tokens};

    use super::*;
    use crate::Upstream;

    fn view() -> View {
        let model = ModelCard::unknown("openai/gpt-5".parse().expect("valid"), Tokens(8_000));
        let now = Timestamp::from_millis(1_774_999_800_000); // 2026-03-31T23:30:00Z
        let mut view = View::new(now, model, "say {{ date }} and </request>");
        view.upstream.push(Upstream {
            id: "plan".into(),
            text: "step {{ member }}".into(),
            ..Upstream::default()
        });
        view.params.insert("tags".into(), Json::parse(r#"["a","b"]"#).expect("valid"));
        view.params.insert("deep".into(), Json::parse(r#"{"n":{"x":7}}"#).expect("valid"));
        view
    }

    #[track_caller]
    fn check(template: &str, text: &str, missing: &[&str]) {
        let filled = fill(template, &view()).expect("fills");
        assert_eq!(
            (filled.text.as_str(), filled.missing),
            (text, missing.iter().map(ToString::to_string).collect())
        );
    }

    /// Invariant 9: would fail if a value was scanned again.
    #[test]
    fn values_are_never_expanded_again() {
        check("{{ request }}|{{ outputs.plan }}", "say {{ date }} and </request>|step {{ member }}", &[]);
        check("{{ outputs['plan'] | upper }}", "STEP {{ MEMBER }}", &[]);
    }

    #[test]
    fn a_name_without_a_value_stays_visible_and_is_named_once() {
        check(
            "{{ nope }} {{ nope }} {{ outputs.x }}",
            "{{ nope }} {{ nope }} {{ outputs.x }}",
            &["nope", "outputs.x"],
        );
        check("{{ nope.deeper }}", "{{ nope }}", &["nope"]);
        check("{% for a in nope %}{{ a }}{% endfor %}.", ".", &["nope"]);
        check(
            "{% if nope %}x{% endif %}{{ member | d('m') }}{{ params.deep.n.y }}",
            "m{{ params.deep.n.y }}",
            &["nope", "params.deep.n.y"],
        );
        check(
            "{{ params.tags[0] }} {{ params.tags[2] }} {{ params.tags | length }}",
            "a {{ params.tags[2] }} 2",
            &["params.tags[2]"],
        );
        check("{{ request.length }}", "{{ a value without a name }}", &["a value without a name"]);
        check("{{ constructor }}{{ self }}", "{{ constructor }}{{ self }}", &["constructor", "self"]);
    }

    #[test]
    fn default_and_defined_deal_with_a_missing_name() {
        check("{{ nope | default('x') }}{{ member | d }}", "x", &[]);
        check("{{ nope | default(worse) }}", "{{ worse }}", &["worse"]);
        check("{% if nope is defined %}a{% else %}b{% endif %}", "b", &[]);
        check("{{ params.tags | join(', ') }} {{ params.deep.n.x }}", "a, b 7", &[]);
        check("{% for i in range(3) %}{{ loop.index }}{% endfor %}", "123", &[]);
    }

    /// The date always belongs to the zone that is printed.
    #[test]
    fn date_and_time_are_the_users() {
        for (zone, expected) in [
            ("Asia/Shanghai", "2026-04-01 07:30 Wednesday Asia/Shanghai"),
            ("America/New_York", "2026-03-31 19:30 Tuesday America/New_York"),
            ("Asia/Kolkata", "2026-04-01 05:00 Wednesday Asia/Kolkata"),
            ("Nowhere/At_All", "2026-03-31 23:30 Tuesday UTC"),
        ] {
            let view = View { zone: zone.into(), ..view() };
            let filled = fill("{{ date }} {{ time }} {{ weekday }} {{ timezone }}", &view).expect("fills");
            assert_eq!(filled.text, expected);
        }
        let midnight =
            View { zone: "Asia/Kolkata".into(), now: Timestamp::from_millis(1_767_637_800_000), ..view() };
        let filled =
            fill("{{ hour }}:{{ minute }} {{ day }} {{ weekday }} {{ iso }} {{ timestamp }}", &midnight);
        assert_eq!(filled.expect("fills").text, "00:00 06 Tuesday 2026-01-06T00:00:00+05:30 1767637800000");
    }

    #[test]
    fn a_template_that_cannot_work_is_a_configuration_error() {
        for template in [
            "{{ request",
            "{{ request | nofilter }}",
            "{% for a in range(90000) %}{% for b in range(90000) %}x{% endfor %}{% endfor %}",
        ] {
            let error = fill(template, &view()).expect_err("refused");
            assert_eq!(error.kind(), FailureKind::Configuration, "{template}");
        }
    }

    #[test]
    fn names_of_a_template_can_be_listed() {
        assert_eq!(
            placeholders("{{ outputs.plan }} {{ request }}").expect("reads"),
            ["outputs.plan", "request"]
        );
    }
}
