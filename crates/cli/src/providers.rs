//! The models there are: bundled and own providers, their keys, the built-in one.

use std::{fmt::Display, sync::Arc};

use thermidor_agent_runtime::Tries;
use thermidor_model_runtime::{
    Auth, ModelRuntime, ModelRuntimeBuilder, Provider, Rehearsal, bundled_providers,
};
use thermidor_types::{ModelCard, Tokens};

use crate::{
    exit::Trouble,
    lists::Lists,
    paced::Paced,
    settings::{Settings, now},
    tape::Take,
};

/// How fast the built-in model writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pace {
    /// At once.
    #[default]
    Instant,
    /// So that somebody can watch it.
    Watched,
}

/// What goes into a runtime besides the settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extras {
    /// How fast the built-in model writes.
    pub(crate) pace: Pace,
    /// What servers told of their models.
    pub(crate) cards: Vec<ModelCard>,
    /// Counts the requests of each call.
    pub(crate) tries: Tries,
    /// Whether exchanges are written down, or answered from a file.
    pub(crate) take: Take,
}

/// All models that the settings make usable: bundled and own providers, their keys, the rehearsal model.
///
/// # Errors
/// `Configuration` when a provider of the settings cannot be used.
pub(crate) fn runtime(settings: &Settings, extras: Extras) -> Result<ModelRuntime, Trouble> {
    let Extras { pace, cards, tries, take } = extras;
    let mut builder = ModelRuntime::builder().observer(Arc::new(tries));
    builder = match pace {
        Pace::Instant => builder.register(Rehearsal::instant()),
        Pace::Watched => builder.register(Paced(Rehearsal::instant())),
    };
    let rows = providers(settings)?;
    for provider in rows.clone() {
        if let Some(key) = provider.key_variables.iter().find_map(|name| settings.environment.get(name)) {
            builder = builder.key(provider.name.clone(), key.to_owned());
        }
        builder = builder.provider(provider);
    }
    let cards = settings.models.iter().cloned().chain(cards);
    let builder = cards.fold(builder, ModelRuntimeBuilder::card);
    let lists = Lists::load(&settings.places)?.used(&rows);
    let builder = lists.fold(builder, |builder, (name, models)| builder.listed(name, models));
    let builder = match take {
        Take::Live => builder,
        Take::Record(path) => builder.record(path, now()),
        Take::Replay(path) => builder.replay(path),
    };
    builder.build().map_err(|error| {
        // What the settings can do wrong has to do with a provider; a cassette has with none.
        if error.model().provider().is_empty() {
            return Trouble::configuration(error.message());
        }
        in_settings(settings, error.message())
    })
}

/// The rows of all providers: the user's own first, then the bundled ones as the settings change them.
fn providers(settings: &Settings) -> Result<Vec<Provider>, Trouble> {
    let called =
        |row: &Provider, name: &str| row.name == name || row.aliases.iter().any(|alias| alias == name);
    let mut own = Vec::new();
    let mut rows = bundled_providers().to_vec();
    for (name, wanted) in &settings.providers {
        let bundled = rows.iter_mut().find(|row| called(row, name));
        let row = match (bundled, &wanted.base_url) {
            (Some(row), base_url) => {
                if let Some(base_url) = base_url {
                    row.move_to(base_url);
                }
                row
            }
            (None, Some(base_url)) => {
                let format = wanted.format.unwrap_or_default();
                own.push(Provider::speaking(name.as_str(), base_url.as_str(), format));
                own.last_mut().ok_or_else(|| in_settings(settings, "no room"))?
            }
            (None, None) => {
                let what =
                    format!("[providers.{name}] needs a base_url, such as \"http://127.0.0.1:8000/v1\"");
                return Err(in_settings(settings, what));
            }
        };
        if let Some(format) = wanted.format {
            row.dialect = format;
        }
        if let Some(path) = &wanted.path {
            row.path = Some(path.clone());
        }
        if let Some(header) = &wanted.key_header {
            row.auth = Auth::Header(header.into());
        }
        if let Some(quirks) = &wanted.quirks {
            row.quirks = quirks.clone();
        }
        if let Some(variable) = &wanted.key_env {
            row.key_variables = vec![variable.into()];
            row.local = false;
        }
        if let Some(model) = &wanted.default_model {
            row.default_model = Some(model.into());
        }
        if let Some(window) = wanted.context_window {
            row.context_window = Tokens(window);
        }
        if let Some(longest) = wanted.max_output {
            row.max_output = Some(Tokens(longest));
        }
    }
    if let Some(address) = settings.environment.get("OPENAI_BASE_URL") {
        rows.iter_mut().filter(|row| row.name == "openai").for_each(|row| row.move_to(address));
    }
    own.append(&mut rows);
    Ok(own)
}

fn in_settings(settings: &Settings, what: impl Display) -> Trouble {
    Trouble::configuration(format!("{}: {what}", settings.places.user_config().display()))
}
