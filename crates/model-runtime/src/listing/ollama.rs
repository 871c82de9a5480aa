use serde_json::Value;
use thermidor_types::{Abilities, Tokens};

use super::{ListedModel, ModelKind, Page, told};

/// `{models: [{name, modified_at, details}]}`
pub(super) fn read(list: &Value) -> Option<Page> {
    let entries = list.get("models")?.as_array()?;
    let models = entries.iter().filter_map(|entry| {
        let name = told::text(entry, "/name").or_else(|| told::text(entry, "/model"))?;
        Some(ListedModel { created: told::moment(entry, "/modified_at"), ..ListedModel::named(name) })
    });
    Some(Page { models: models.collect(), next: None })
}

/// `{capabilities: [...], parameters, model_info: {"general.architecture": a, "a.context_length": n}}`
///
/// The window in use is `num_ctx` where the model's parameters set it; the length it was trained for otherwise,
/// which the server may be told to cut.
pub(super) fn details(model: ListedModel, shown: &Value) -> Option<ListedModel> {
    let can = |ability: &str| told::has(shown, "/capabilities", ability);
    let abilities = shown.get("capabilities").and_then(Value::as_array).map(|_| Abilities {
        tools: can("tools"),
        vision: can("vision"),
        audio: can("audio"),
        reasoning: can("thinking"),
        // The server constrains every model's answer to a schema.
        structured_output: true,
        ..Abilities::default()
    });
    let info = shown.get("model_info")?;
    let trained = info
        .get("general.architecture")
        .and_then(Value::as_str)
        .and_then(|architecture| info.get(format!("{architecture}.context_length"))?.as_u64().map(Tokens));
    let set = told::text(shown, "/parameters").and_then(|parameters| {
        let line = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx"))?;
        line.trim().parse::<u64>().ok().map(Tokens)
    });
    let kind = match abilities {
        Some(_) if can("completion") => ModelKind::Chat,
        Some(_) if can("embedding") => ModelKind::Embedding,
        _ => model.kind,
    };
    Some(ListedModel {
        window: set.or(trained).or(model.window),
        abilities: abilities.or(model.abilities),
        kind,
        ..model
    })
}
