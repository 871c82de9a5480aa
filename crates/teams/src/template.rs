use std::collections::BTreeSet;

use minijinja::Environment;

/// What the prompt of a stage may ask for.
pub(crate) const VALUES: [&str; 19] = [
    "request",
    "outputs",
    "params",
    "facts",
    "member",
    "language",
    "model",
    "date",
    "time",
    "weekday",
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "second",
    "timezone",
    "iso",
    "timestamp",
];

/// The values that a prompt asks for, with the attribute if one is named: `request`, `outputs.plan`.
///
/// The error says what is no template, and in which line of the prompt.
pub(crate) fn placeholders(prompt: &str) -> Result<BTreeSet<String>, String> {
    let environment = Environment::new();
    let template = environment.template_from_str(prompt).map_err(|fault| {
        let what = fault.detail().map_or_else(|| fault.kind().to_string(), str::to_owned);
        match fault.line() {
            Some(line) if prompt.contains('\n') => format!("{what} in line {line} of the prompt"),
            _ => what,
        }
    })?;
    let globals: BTreeSet<String> = environment.globals().map(|(name, _)| name.to_owned()).collect();
    let mut asked: BTreeSet<String> = template.undeclared_variables(true).into_iter().collect();
    asked.retain(|name| !globals.contains(root(name)));
    Ok(asked)
}

/// `outputs` of `outputs.plan`.
pub(crate) fn root(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}
