//! Which model answers, and why.

use std::collections::BTreeMap;

use thermidor_agent_runtime::Tries;
use thermidor_model_runtime::{ChatModel as _, Known, ModelRuntime, Rehearsal, bundled_providers};
use thermidor_types::{FailureKind, ModelId};

use crate::{
    exit::{Exit, Trouble, of_failure},
    providers::{self, Extras},
    settings::{From, Setting, Settings},
    tape::Take,
};

/// What a person types for the built-in model.
pub(crate) const REHEARSAL: &str = "rehearsal";

/// The models of a run.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) runtime: ModelRuntime,
    pub(crate) tries: Tries,
    pub(crate) take: Take,
    /// For agents for which neither a flag nor the team file names one.
    pub(crate) fallback: ModelId,
    /// Named by a flag for all agents.
    pub(crate) everybody: Option<ModelId>,
    /// Named by a flag for one agent.
    pub(crate) single: BTreeMap<String, ModelId>,
    /// Why the fallback, as a fragment after "because".
    pub(crate) why: String,
}

/// Which agents a run asks models for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Some for which the team file names none.
    Fallback,
    /// Only such for which the team file names one.
    None,
}

/// Chooses: flags, then (for whom the team file names none) the recording that is replayed, environment and files,
/// then the first key that is set, then a server on this machine, then the rehearsal model.
///
/// # Errors
/// `Provider` when a key is missing; `Usage` or `Configuration`, by origin, when there is no such model.
pub(crate) async fn choose(
    settings: &Settings,
    extras: Extras,
    flags: &[String],
    wanted: Wanted,
) -> Result<Chosen, Trouble> {
    let recording = matches!(extras.take, Take::Record(_));
    // Looking for servers on this machine is no part of what is recorded.
    let looking = if recording { Extras { take: Take::Live, ..extras.clone() } } else { extras.clone() };
    let runtime = providers::runtime(settings, looking)?;
    let (mut everybody, mut single) = (None, BTreeMap::new());
    for flag in flags {
        match flag.split_once('=') {
            Some((agent, name)) if !agent.is_empty() && !agent.contains('/') => {
                single.insert(agent.to_owned(), named(&runtime, name, &From::Flag).await?);
            }
            _ => everybody = Some((flag.clone(), named(&runtime, flag, &From::Flag).await?)),
        }
    }
    let done = |extras: Extras, runtime, fallback: ModelId, everybody, why: String| {
        let runtime = if recording { providers::runtime(settings, extras.clone())? } else { runtime };
        let Extras { tries, take, .. } = extras;
        Ok(Chosen { runtime, tries, take, fallback, everybody, single, why })
    };
    if let Some((flag, id)) = everybody {
        return done(extras, runtime, id.clone(), Some(id), format!("the command line says -m {flag}"));
    }
    if wanted == Wanted::None {
        let unused = rehearsal_id();
        return done(extras, runtime, unused, None, "the team file names the models".to_owned());
    }
    if let Some(id) = extras.take.first_model()? {
        ready(&runtime, &id)?;
        return done(extras, runtime, id, None, "the recording begins with it".to_owned());
    }
    if let Some(Setting { value, from }) = &settings.model {
        let id = named(&runtime, value, from).await?;
        return done(extras, runtime, id, None, format!("it is set by the {from}"));
    }
    let keyed = runtime
        .providers()
        .find(|provider| !provider.local && runtime.is_ready(provider) && provider.default_model.is_some());
    if let Some(provider) = keyed {
        let id = ModelId::new(provider.name.clone(), provider.default_model.clone().unwrap_or_default());
        let variable = provider.key_variables.iter().find(|name| settings.environment.get(name).is_some());
        let why = format!("{} is set", variable.map_or("a key", |name| name.as_str()));
        return done(extras, runtime, id, None, why);
    }
    for server in runtime.discover_local().await {
        if let Some(card) = server.models.first() {
            let (id, why) = (card.id.clone(), format!("a server answers at {}", server.base_url));
            // It told its window: that goes before what is assumed of its models.
            let extras = Extras { cards: server.models, ..extras };
            let runtime = providers::runtime(settings, extras.clone())?;
            return done(extras, runtime, id, None, why);
        }
    }
    let why = "no key is set and no server answers on this machine".to_owned();
    let id = rehearsal_id();
    done(extras, runtime, id, None, why)
}

/// The model that somebody named, ready to be called.
async fn named(runtime: &ModelRuntime, name: &str, from: &From) -> Result<ModelId, Trouble> {
    if name == REHEARSAL {
        return Ok(rehearsal_id());
    }
    if name.split_once('/').is_some_and(|(provider, _)| provider == REHEARSAL)
        && name != rehearsal_id().to_string()
    {
        let message = format!("model {name:?} ({from}): the rehearsal is one model; write {REHEARSAL}");
        return Err(Trouble::new(asked_wrong(from), message));
    }
    let id = match runtime.id(name) {
        Ok(id) => id,
        Err(error) => {
            let local = runtime.providers().find(|row| row.local && row.name == name);
            let Some(local) = local else {
                return Err(Trouble::new(
                    asked_wrong(from),
                    format!("model {name:?} ({from}): {}; see thermidor models ls", error.message()),
                ));
            };
            let base_url = local.base_url.clone();
            let servers = runtime.discover_local().await;
            let model = servers.into_iter().find(|server| server.provider == name);
            let Some(card) = model.and_then(|server| server.models.into_iter().next()) else {
                let message = format!(
                    "{name} does not list a model at {base_url}; start it, or name one as {name}/MODEL"
                );
                return Err(Trouble::new(Exit::Provider, message));
            };
            card.id
        }
    };
    ready(runtime, &id)?;
    Ok(id)
}

/// The exit code of a name that means nothing.
fn asked_wrong(from: &From) -> Exit {
    if *from == From::Flag { Exit::Usage } else { Exit::Configuration }
}

/// Makes sure that a model can be called as far as that can be told without calling it.
///
/// # Errors
/// `Provider` when its key is missing.
pub(crate) fn ready(runtime: &ModelRuntime, id: &ModelId) -> Result<(), Trouble> {
    match runtime.model(&id.to_string()) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == FailureKind::Credentials => {
            let message = format!(
                "model {id}: {}; or choose another with -m (see thermidor models ls)",
                error.message()
            );
            Err(Trouble::new(Exit::Provider, message))
        }
        Err(error) => {
            let exit = match of_failure(error.kind()) {
                Exit::Provider => Exit::Configuration,
                exit => exit,
            };
            Err(Trouble::new(exit, format!("model {id}: {}; see thermidor models ls", error.message())))
        }
    }
}

/// What to say of a model that is not known here: it may exist all the same.
pub(crate) fn doubt(runtime: &ModelRuntime, id: &ModelId) -> Option<String> {
    let (card, known) = runtime.card(&id.to_string()).ok()?;
    if known == Known::Card || !bundled_providers().iter().any(|row| !row.local && row.name == id.provider())
    {
        return None;
    }
    let hint = runtime.suggestion(id).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    let window = crate::words::tokens(card.context_window);
    Some(format!("Note: nothing is known here of {id}, a window of {window} tokens is assumed{hint}"))
}

/// The first line of a run: which model, why, and how to choose another.
pub(crate) fn sentence(chosen: &Chosen, used: &[&ModelId]) -> String {
    let names: Vec<String> = used.iter().map(ToString::to_string).collect();
    let names = names.join(", ");
    let rehearsal = used.iter().any(|id| id.provider() == REHEARSAL);
    let plural = if used.len() == 1 { "Model" } else { "Models" };
    let (why, what) = (&chosen.why, if rehearsal { " (a rehearsal without a language model)" } else { "" });
    let how = if rehearsal {
        "For a real model set a key such as OPENAI_API_KEY, start a local server such as Ollama, or use -m PROVIDER/MODEL."
    } else {
        "Choose another with -m PROVIDER/MODEL; thermidor models ls lists them."
    };
    format!("{plural}: {names}{what}, because {why}. {how}")
}

/// The id on the rehearsal model's card.
fn rehearsal_id() -> ModelId {
    Rehearsal::instant().card().id.clone()
}
