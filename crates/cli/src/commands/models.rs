//! `thermidor models ls|test`

use std::fmt::Write as _;

use tokio::time::Instant;

use futures_util::future::join_all;
use thermidor_model_runtime::{
    ChatEvent, ChatRequest, ModelRuntime, Provider, StreamEnding, listing::ModelKind,
};
use thermidor_types::{Currency, FailureKind, Message, ModelId, Money, Price, Text, Tokens};

use crate::{
    args::Tape,
    choose::{Wanted, choose},
    exit::{Exit, Trouble, of_failure},
    lists::Lists,
    providers::{self, Extras},
    screen::Screen,
    settings::{Settings, now},
    table::Table,
    tape::{Begin, Take},
    words,
};

/// The longest answer to a test, in tokens: models that think first need some before a word comes.
const TEST_OUTPUT: Tokens = Tokens(512);

/// Asks providers for their models, all at once, keeps what they say, and lists everything. A provider that does not
/// answer keeps the list it had.
///
/// # Errors
/// `Usage` for a provider there is not, `Provider` when none of those asked answered.
pub(super) async fn refresh(named: &[String], settings: &Settings, screen: Screen) -> Result<(), Trouble> {
    let runtime = providers::runtime(settings, Extras::default())?;
    let called =
        |row: &Provider, name: &str| row.name == name || row.aliases.iter().any(|alias| alias == name);
    let mut asked: Vec<&Provider> = Vec::new();
    for name in named {
        let row = runtime.providers().find(|row| called(row, name)).ok_or_else(|| {
            Trouble::usage(format!("no provider is called {name:?}; thermidor models ls lists them"))
        })?;
        asked.push(row);
    }
    if named.is_empty() {
        asked.extend(runtime.providers().filter(|row| runtime.is_ready(row)));
    }
    let answers = join_all(asked.iter().map(|row| runtime.list(&row.name))).await;
    let (mut lists, mut heard) = (Lists::load(&settings.places)?, 0_usize);
    for (row, answer) in asked.iter().zip(answers) {
        match answer {
            Ok(models) => {
                heard += 1;
                let chat = models.iter().filter(|model| model.kind == ModelKind::Chat).count();
                let all = words::count(models.len() as u64, "model");
                screen.note(&format!("{}: {all}, {chat} of them for chat", row.name));
                lists.put(row, now(), models);
            }
            Err(error) => {
                let kept =
                    lists.of(row).map(|list| format!("; the list of {} stays", words::ago(list.at, now())));
                let what = words::one_line(error.message());
                screen.note(&format!("{}: {}: {what}{}", row.name, error.kind(), kept.unwrap_or_default()));
            }
        }
    }
    if heard == 0 {
        let message = "no provider told its models; nothing was changed";
        return Err(Trouble::new(Exit::Provider, message));
    }
    lists.save(&settings.places)?;
    ls(settings, screen)
}

/// Lists providers and models. Calls nobody.
pub(super) fn ls(settings: &Settings, screen: Screen) -> Result<(), Trouble> {
    let runtime = providers::runtime(settings, Extras::default())?;
    let mut providers = Table::new(&["provider", "ready", "usual model", "address"], &[]);
    for provider in runtime.providers() {
        providers.row([
            provider.name.to_string(),
            readiness(provider, settings),
            provider.default_model.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string),
            provider.base_url.clone(),
        ]);
    }
    let lists = Lists::load(&settings.places)?;
    let mut models = Table::new(&["model", "window", "in", "out", "per million", "known from"], &[1, 2, 3]);
    for card in runtime.cards() {
        let price = |pick: fn(&Price) -> i64| {
            let price = card.price.as_ref();
            price.map_or_else(|| "–".to_owned(), |price| amount(pick(price), price.currency))
        };
        let currency = card.price.as_ref().map(|price| price.currency.code().to_owned());
        models.row([
            card.id.to_string(),
            words::tokens(card.context_window),
            price(|price| price.input),
            price(|price| price.output),
            currency.unwrap_or_default(),
            source(&card.id, &runtime, &lists, settings),
        ]);
    }
    let note = "Other models of these providers can be named too; `thermidor models test PROVIDER/MODEL` tells whether they answer.";
    Ok(screen.print(&format!("{providers}\n{models}\n{note}\n"))?)
}

/// `config`, `its list, 3 h ago`, `bundled`.
fn source(id: &ModelId, runtime: &ModelRuntime, lists: &Lists, settings: &Settings) -> String {
    if settings.models.iter().any(|card| card.id == *id) {
        return "config".to_owned();
    }
    let row = runtime.providers().find(|row| row.name == id.provider());
    let list = row.and_then(|row| lists.of(row));
    match list.filter(|list| list.models.iter().any(|model| model.id == id.model())) {
        Some(list) => format!("its list, {}", words::ago(list.at, now())),
        None => "bundled".to_owned(),
    }
}

/// `yes (OPENAI_API_KEY)`, `no: set OPENAI_API_KEY`, `if it runs`.
fn readiness(provider: &Provider, settings: &Settings) -> String {
    if provider.local {
        return "if it runs".to_owned();
    }
    let set = provider.key_variables.iter().find(|name| settings.environment.get(name).is_some());
    if let Some(name) = set {
        return format!("yes ({name})");
    }
    let names: Vec<&str> = provider.key_variables.iter().map(AsRef::as_ref).collect();
    format!("no: set {}", names.join(" or "))
}

fn amount(micros: i64, currency: Currency) -> String {
    let shown = Money::from_micros(micros, currency).to_string();
    shown.split(' ').next().unwrap_or_default().to_owned()
}

/// Makes one tiny call.
pub(super) async fn test(
    named: Option<&str>,
    tape: &Tape,
    settings: &Settings,
    screen: Screen,
) -> Result<(), Trouble> {
    let take = Take::of(tape, Begin::New)?;
    let flags: Vec<String> = named.map(str::to_owned).into_iter().collect();
    let chosen = choose(settings, Extras { take, ..Extras::default() }, &flags, Wanted::Fallback).await?;
    let id = chosen.fallback.clone();
    chosen.take.holds(&[&id])?;
    screen.note(&format!("Calling {id}, because {} …", chosen.why));
    let failed = |kind: FailureKind, message: &str| {
        let near = chosen.runtime.suggestion(&id).filter(|_| kind == FailureKind::NotFound);
        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        let exit = match of_failure(kind) {
            Exit::Configuration => Exit::Configuration,
            _ => Exit::Provider,
        };
        Trouble::new(exit, format!("{id} does not answer: {kind}: {}{near}", words::one_line(message)))
    };
    let model =
        chosen.runtime.model(&id.to_string()).map_err(|error| failed(error.kind(), error.message()))?;
    let request = ChatRequest {
        messages: vec![Message::user("Answer with one word: ready")],
        max_output: Some(TEST_OUTPUT),
        call_prefix: "test".into(),
        ..ChatRequest::default()
    };
    let began = Instant::now();
    let mut first = None;
    let mut events = model.stream(request).await.map_err(|error| failed(error.kind(), error.message()))?;
    let mut end = None;
    while let Some(event) = next(&mut events).await {
        first = first.or(Some(began.elapsed()));
        if let ChatEvent::Ended(ended) = event {
            end = Some(ended);
        }
    }
    let took = began.elapsed();
    let end = end.ok_or_else(|| failed(FailureKind::Malformed, "the stream had no end"))?;
    if let StreamEnding::CutOff(failure) | StreamEnding::Failed(failure) = &end.ending {
        return Err(failed(failure.kind, &failure.message));
    }
    let text: Text = end.message.text().into();
    let mut shown = String::new();
    let _ = writeln!(shown, "model   {id}");
    let _ = writeln!(shown, "answer  {}", console::truncate_str(&words::one_line(&text), 60, "…"));
    let _ = writeln!(shown, "first   {}", words::time(first.unwrap_or(took)));
    let _ = writeln!(shown, "whole   {}", words::time(took));
    let _ = writeln!(shown, "usage   {}", words::usage(&end.message.usage));
    Ok(screen.print(&shown)?)
}

/// The next event of a stream.
async fn next(events: &mut thermidor_model_runtime::ChatStream) -> Option<ChatEvent> {
    std::future::poll_fn(|context| events.as_mut().poll_next(context)).await
}
