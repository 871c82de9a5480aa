use thermidor_model_runtime::{Dialect, bundled_providers};

use super::{decode, encode, fault, repair, schema};
use crate::seeds;

/// A check over arbitrary bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    name: String,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Decode(Dialect),
    Encode(Dialect),
    Fault,
    Repair,
    Schema,
}

impl Target {
    fn new(name: impl Into<String>, what: What) -> Self {
        Self { name: name.into(), what }
    }

    /// What it is called: the name of its folder of findings.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Checks one input.
    ///
    /// # Panics
    /// When a promise is broken; the message says which.
    pub fn run(&self, input: &[u8]) {
        match self.what {
            What::Decode(dialect) => decode::check(dialect, input),
            What::Encode(dialect) => encode::check(dialect, input),
            What::Fault => fault::check(input),
            What::Repair => repair::check(input),
            What::Schema => schema::check(input),
        }
    }

    /// Inputs to begin with: recorded traffic, where there is some.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        match self.what {
            What::Decode(dialect) => seeds::answers(&dialect_name(dialect)),
            What::Encode(_) => seeds::noise(),
            What::Fault => seeds::faults(),
            What::Repair => seeds::arguments(),
            What::Schema => seeds::schemas(),
        }
    }
}

/// All targets. Decoding and encoding are there once for each dialect that a bundled provider speaks,
/// be it for some of its models only.
pub fn targets() -> Vec<Target> {
    let mut targets = Vec::new();
    for dialect in dialects() {
        let name = dialect_name(dialect);
        targets.push(Target::new(format!("decode-{name}"), What::Decode(dialect)));
        targets.push(Target::new(format!("encode-{name}"), What::Encode(dialect)));
    }
    targets.push(Target::new("fault", What::Fault));
    targets.push(Target::new("repair", What::Repair));
    targets.push(Target::new("schema", What::Schema));
    targets
}

fn dialects() -> Vec<Dialect> {
    let mut dialects: Vec<Dialect> = Vec::new();
    for provider in bundled_providers() {
        let of_models = provider.models.iter().filter_map(|rule| rule.dialect);
        for dialect in std::iter::once(provider.dialect).chain(of_models) {
            if !dialects.contains(&dialect) {
                dialects.push(dialect);
            }
        }
    }
    dialects
}

/// The name of a dialect as it is written in a row.
fn dialect_name(dialect: Dialect) -> String {
    let written = serde_json::to_value(dialect).ok();
    written.as_ref().and_then(|name| name.as_str()).map_or_else(|| format!("{dialect:?}"), str::to_owned)
}
