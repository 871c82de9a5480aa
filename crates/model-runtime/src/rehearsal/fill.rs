//! Makes a JSON value that fits a schema, from phrases at hand.

use serde_json::{Map, Value, json};

const DEEPEST: usize = 12;

/// Which properties of an object are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The required ones: what a tool call needs.
    Required,
    /// All, down to a few levels: what a reader wants to see.
    All,
}

/// Fills a schema. Each string takes the next of `phrases`.
pub(super) struct Filler<'a> {
    root: &'a Value,
    phrases: &'a [String],
    next: usize,
    extent: Extent,
}

impl<'a> Filler<'a> {
    pub(super) fn new(root: &'a Value, phrases: &'a [String], extent: Extent) -> Self {
        Self { root, phrases, next: 0, extent }
    }

    /// A value for the whole schema.
    pub(super) fn value(mut self) -> Value {
        self.fill(self.root, 0)
    }

    fn fill(&mut self, schema: &Value, depth: usize) -> Value {
        if depth > DEEPEST {
            return Value::Null;
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let found = target.strip_prefix('#').and_then(|path| self.root.pointer(path));
            return found.map_or(Value::Null, |found| self.fill(found, depth + 1));
        }
        if let Some(fixed) = schema.get("const").or_else(|| schema.get("enum").and_then(|all| all.get(0))) {
            return fixed.clone();
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.all_of(schema, parts, depth);
        }
        for key in ["anyOf", "oneOf"] {
            let Some(forms) = schema.get(key).and_then(Value::as_array) else { continue };
            let real = forms.iter().find(|form| form.get("type") != Some(&json!("null"))).or(forms.first());
            return real.map_or(Value::Null, |form| self.fill(form, depth + 1));
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "string" => self.string(schema),
            "integer" | "number" => number(schema),
            "boolean" => json!(false),
            _ => Value::Null,
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let everything = self.extent == Extent::All && depth < 4;
        let mut filled = Map::new();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if everything || required.contains(&name.as_str()) {
                filled.insert(name.clone(), self.fill(property, depth + 1));
            }
        }
        for name in required {
            if !filled.contains_key(name) {
                let value = json!(self.phrase());
                filled.insert(name.to_owned(), value);
            }
        }
        Value::Object(filled)
    }

    fn all_of(&mut self, schema: &Value, parts: &[Value], depth: usize) -> Value {
        let mut merged = self.object(schema, depth);
        for part in parts {
            match (self.fill(part, depth + 1), &mut merged) {
                (Value::Object(more), Value::Object(all)) => all.extend(more),
                (other, _) => return other,
            }
        }
        merged
    }

    fn array(&mut self, schema: &Value, depth: usize) -> Value {
        let bound = |key: &str, default: u64| schema.get(key).and_then(Value::as_u64).unwrap_or(default);
        let wanted = if self.extent == Extent::All { 2 } else { 0 };
        let length = bound("minItems", 0).max(wanted).min(bound("maxItems", u64::MAX)).min(64);
        let mut items = Vec::new();
        for _ in 0..length {
            items.push(match schema.get("items") {
                Some(form) => self.fill(form, depth + 1),
                None => json!(self.phrase()),
            });
        }
        if schema.get("uniqueItems") == Some(&json!(true)) {
            let mut seen = Vec::new();
            items.retain(|item| {
                let fresh = !seen.contains(item);
                seen.push(item.clone());
                fresh
            });
        }
        Value::Array(items)
    }

    fn string(&mut self, schema: &Value) -> Value {
        let form = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        let fixed = match form {
            "date" => "2000-01-01",
            "time" => "00:00:00Z",
            "date-time" => "2000-01-01T00:00:00Z",
            "email" => "nobody@example.org",
            "uri" | "url" => "https://example.org/",
            "uuid" => "00000000-0000-4000-8000-000000000000",
            _ => "",
        };
        if !fixed.is_empty() {
            return json!(fixed);
        }
        let bound =
            |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
        let mut text = self.phrase();
        let least = bound("minLength").unwrap_or(0).min(10_000);
        while text.chars().count() < least {
            text.push(' ');
            let more = self.phrase();
            text.push_str(if more.is_empty() { "…" } else { &more });
        }
        json!(text.chars().take(bound("maxLength").unwrap_or(usize::MAX)).collect::<String>())
    }

    fn phrase(&mut self) -> String {
        let phrase = self.phrases.get(self.next % self.phrases.len().max(1)).cloned().unwrap_or_default();
        self.next += 1;
        phrase
    }
}

/// The type a schema asks for; the first real one of several.
fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(one)) => one,
        Some(Value::Array(several)) => {
            several.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ if schema.get("items").is_some() => "array",
        _ => "string",
    }
}

/// One, or the nearest number that the bounds allow.
fn number(schema: &Value) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound.floor() + 1.0));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound.ceil() - 1.0));
    let wanted = 1.0_f64.max(least.unwrap_or(f64::MIN)).min(most.unwrap_or(f64::MAX));
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let value = step.map_or(wanted, |step| (wanted / step).ceil() * step);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is whole and small, or a schema's own bound"
    )]
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}
