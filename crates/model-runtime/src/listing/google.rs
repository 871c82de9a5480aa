use serde_json::Value;
use thermidor_types::{Abilities, Tokens};

use super::{ListedModel, ModelKind, Page, told};

/// `{models: [{name, displayName, inputTokenLimit, outputTokenLimit, supportedGenerationMethods, thinking?}],
/// nextPageToken?}`. Abilities but thinking are not told, so only what every chat model there can is not left open.
pub(super) fn read(list: &Value) -> Option<Page> {
    let entries = list.get("models")?.as_array()?;
    let models = entries.iter().filter_map(|entry| {
        let name = told::text(entry, "/name")?;
        let listed = ListedModel::named(name.strip_prefix("models/").unwrap_or(name));
        let does = |method: &str| told::has(entry, "/supportedGenerationMethods", method);
        let kind = match listed.kind {
            ModelKind::Chat if does("generateContent") => ModelKind::Chat,
            _ if does("embedContent") => ModelKind::Embedding,
            ModelKind::Chat => ModelKind::Other,
            guessed => guessed,
        };
        let input = told::tokens(entry, &["/inputTokenLimit"]);
        let max_output = told::tokens(entry, &["/outputTokenLimit"]);
        let window = input.map(|input| input + max_output.unwrap_or(Tokens(0)));
        let thinks = entry.get("thinking").and_then(Value::as_bool);
        let abilities = thinks.filter(|_| kind == ModelKind::Chat).map(|reasoning| Abilities {
            tools: true,
            vision: true,
            audio: true,
            video: true,
            files: true,
            reasoning,
            structured_output: true,
            image_output: false,
        });
        Some(ListedModel {
            title: told::title(entry, "/displayName"),
            window,
            max_output,
            abilities: abilities.filter(|_| listed.id.starts_with("gemini-")),
            kind,
            ..listed
        })
    });
    Some(Page { models: models.collect(), next: told::text(list, "/nextPageToken").map(str::to_owned) })
}
