//! `thermidor config path|show`

use serde::Serialize;

use crate::{
    exit::Trouble,
    screen::Screen,
    settings::{From, Settings},
};

/// Prints every file and folder, and which of them exist.
pub(super) fn path(settings: &Settings, screen: Screen) -> Result<(), Trouble> {
    let named = settings.places.named();
    let width = named.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = named.iter().map(|(name, path)| {
        let there = if path.exists() { "" } else { "  (not there)" };
        format!("{name:width$}  {}{there}\n", path.display())
    });
    Ok(screen.print(&lines.collect::<String>())?)
}

/// Prints the settings in force as they would stand in a file, with `origin` each with where it comes from.
pub(super) fn show(origin: bool, settings: &Settings, screen: Screen) -> Result<(), Trouble> {
    let user = From::User(settings.places.user_config());
    let mut lines: Vec<(String, Option<&From>)> = Vec::new();
    match &settings.model {
        Some(model) => lines.push((entry("model", &model.value), Some(&model.from))),
        None => lines.push((
            "# model is not set: the first key, local server, or the rehearsal model".to_owned(),
            None,
        )),
    }
    lines.push((entry("team", &settings.team.value), Some(&settings.team.from)));
    for (name, provider) in &settings.providers {
        lines.push((format!("[providers.{name}]"), None));
        let texts = [
            ("base_url", &provider.base_url),
            ("format", &provider.format.map(written)),
            ("path", &provider.path),
            ("key_env", &provider.key_env),
            ("key_header", &provider.key_header),
            ("default_model", &provider.default_model),
        ];
        for (key, value) in texts {
            lines.extend(value.iter().map(|value| (entry(key, value), Some(&user))));
        }
        let quirks = provider.quirks.iter().map(|quirks| {
            let names: Vec<String> = quirks.iter().map(|quirk| format!("{:?}", written(quirk))).collect();
            (format!("quirks = [{}]", names.join(", ")), Some(&user))
        });
        lines.extend(quirks);
        lines.extend(
            provider.context_window.iter().map(|window| (format!("context_window = {window}"), Some(&user))),
        );
    }
    for card in &settings.models {
        lines.push(("[[models]]".to_owned(), None));
        let text = toml::to_string(card).unwrap_or_default();
        let plain = text.lines().filter(|line| !line.is_empty());
        // Its tables would be the whole file's: they are shown in the place they have below a card.
        lines.extend(plain.map(|line| match line.strip_prefix('[') {
            Some(table) => (format!("[models.{table}"), None),
            None => (line.to_owned(), Some(&user)),
        }));
    }
    let width =
        lines.iter().filter(|(_, from)| from.is_some()).map(|(line, _)| line.len()).max().unwrap_or(0);
    let text = lines.iter().map(|(line, from)| match from.filter(|_| origin) {
        Some(from) => format!("{line:width$}  # {from}\n"),
        None => format!("{line}\n"),
    });
    Ok(screen.print(&text.collect::<String>())?)
}

fn entry(key: &str, value: &str) -> String {
    format!("{key} = {}", toml::Value::from(value))
}

/// The name that a word of the settings has in a file.
fn written(word: impl Serialize) -> String {
    serde_json::to_value(word).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}
