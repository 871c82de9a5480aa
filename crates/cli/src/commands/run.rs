//! `thermidor run`

use std::{collections::BTreeMap, fmt::Write as _};

use thermidor_group_orchestration::{GroupSpec, MemberSpec};
use thermidor_model_runtime::ModelRuntime;
use thermidor_runs::{RunRequest, delivery};
use thermidor_step_engine::Limits;
use thermidor_teams::{Choices, Language, Team};
use thermidor_types::{Json, ModelId, Money, Tokens};

use crate::{
    args::{self, Run},
    choose::{self, Chosen, Wanted, choose},
    cost_limit, draw,
    exit::Trouble,
    find_run::short,
    follow,
    interrupt::Interrupts,
    providers::{Extras, Pace},
    request,
    screen::Screen,
    settings::{From, Settings},
    shelf::Shelf,
    store,
    tape::{Begin, Take},
    words,
};

/// Resolves everything, then starts the run and follows it. Nothing is started when something is wrong.
pub(super) async fn run(args: &Run, settings: &Settings, screen: Screen) -> Result<(), Trouble> {
    let take = Take::of(&args.tape, Begin::New)?;
    let request = request::assemble(&args.prompt, &args.files)?;
    let shelf = Shelf::open(&settings.places);
    let (named, from) = match &args.team {
        Some(team) => (team.as_str(), &From::Flag),
        None => (settings.team.value.as_str(), &settings.team.from),
    };
    let team = shelf.team(named, from)?;
    let chosen = choose(settings, Extras { take, ..extras(screen) }, &args.models, wanted(&team)).await?;
    let choices = Choices {
        model: chosen.everybody.clone(),
        models: chosen.single.clone(),
        params: params(&args.params)?,
        ..Choices::new(Language::of(&request), chosen.fallback.clone())
    };
    let group = team.to_group(&choices, &shelf.skills).map_err(Trouble::usage)?;
    let limits = within(team.limits(), args.limits);
    for id in models(&group) {
        choose::ready(&chosen.runtime, id)?;
    }
    chosen.take.holds(&models(&group))?;
    if let Some(limit) = args.limits.max_cost {
        holds(limit, &models(&group), &chosen.runtime)?;
    }
    if args.dry_run {
        return dry_run(&request, &team, &group, &limits, &chosen, screen);
    }
    if let Some(folder) = &args.show.output {
        delivery::check(folder).map_err(|error| Trouble::usage(format!("--output: {error}")))?;
    }
    let display = follow::display(screen, &args.show, Some(team.stages().len()));
    if !args.show.quiet {
        introduce(&chosen, &group, screen);
        let of_the_team = limits.money.filter(|_| args.limits.max_cost.is_none());
        let used = models(&group);
        for doubt in of_the_team.iter().flat_map(|limit| doubts(*limit, &used, &chosen.runtime)) {
            screen.note(&screen.paint.yellow(&format!("Note: {doubt}")));
        }
        for left_out in shelf.left_out(&team) {
            screen
                .note(&screen.paint.yellow(&format!("! left out, another of its name is used: {left_out}")));
        }
    }
    let runs = store::open(&settings.places, chosen.runtime, chosen.tries, &chosen.take)?;
    let interrupts = Interrupts::catch()?;
    let title = group.title.clone();
    let run = runs.start(RunRequest::group(group, request).limits(limits)).await?;
    if !args.show.quiet {
        screen.note(&format!("Run {}: {title}", short(run.id())));
    }
    follow::follow(run, screen, &args.show, display, interrupts).await
}

/// The built-in model at a pace to read along where somebody watches, at once where nobody does.
pub(super) fn extras(screen: Screen) -> Extras {
    let pace = if screen.live { Pace::Watched } else { Pace::Instant };
    Extras { pace, ..Extras::default() }
}

/// Whether there is an agent for which the file names no model.
pub(super) fn wanted(team: &Team) -> Wanted {
    let file = team.file();
    let unnamed = |model: Option<&str>| model.unwrap_or(&file.model) == "default";
    if file.agents.values().any(|agent| unnamed(agent.model.as_deref())) {
        Wanted::Fallback
    } else {
        Wanted::None
    }
}

/// The models that a group thinks with, each once.
pub(super) fn models(group: &GroupSpec) -> Vec<&ModelId> {
    let mut models = Vec::new();
    for member in group.members.values() {
        let more = match member {
            MemberSpec::Agent(agent) => vec![&agent.model],
            MemberSpec::Group(group) => self::models(group),
        };
        for model in more {
            if !models.contains(&model) {
                models.push(model);
            }
        }
    }
    models
}

/// Limits with those of the command line in their place.
pub(super) fn within(limits: Limits, flags: args::Limits) -> Limits {
    let millis = flags.timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    Limits {
        turns: flags.max_turns.or(limits.turns),
        tokens: flags.max_tokens.map(Tokens).or(limits.tokens),
        money: flags.max_cost.or(limits.money),
        millis: millis.or(limits.millis),
        ..limits
    }
}

/// Refuses a limit of money that a person named and that cannot hold.
///
/// # Errors
/// `Usage` with the first reason and the remedy.
pub(super) fn holds(limit: Money, models: &[&ModelId], runtime: &ModelRuntime) -> Result<(), Trouble> {
    match doubts(limit, models, runtime).next() {
        Some(doubt) => Err(Trouble::usage(format!("--max-cost: {doubt}"))),
        None => Ok(()),
    }
}

fn doubts(limit: Money, models: &[&ModelId], runtime: &ModelRuntime) -> impl Iterator<Item = String> {
    models.iter().filter_map(move |id| cost_limit::doubt(runtime, id, limit))
}

fn params(flags: &[String]) -> Result<BTreeMap<String, Json>, Trouble> {
    let mut params = BTreeMap::new();
    for flag in flags {
        let Some((name, value)) = flag.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(Trouble::usage(format!("--param {flag:?}: write NAME=VALUE")));
        };
        let value = Json::of(&value).map_err(|error| Trouble::usage(format!("--param {name}: {error}")))?;
        if params.insert(name.to_owned(), value).is_some() {
            return Err(Trouble::usage(format!("--param {name} is there twice")));
        }
    }
    Ok(params)
}

fn introduce(chosen: &Chosen, group: &GroupSpec, screen: Screen) {
    let used = models(group);
    screen.note(&screen.paint.dim(&choose::sentence(chosen, &used)));
    for doubt in used.iter().filter_map(|id| choose::doubt(&chosen.runtime, id)) {
        screen.note(&screen.paint.yellow(&doubt));
    }
}

fn dry_run(
    request: &str,
    team: &Team,
    group: &GroupSpec,
    limits: &Limits,
    chosen: &Chosen,
    screen: Screen,
) -> Result<(), Trouble> {
    introduce(chosen, group, screen);
    let length = words::count(request.chars().count() as u64, "character");
    let mut text = draw::team(team, group, &chosen.runtime);
    let _ = write!(text, "\nlimits   {}\n", draw::limits(limits));
    let _ =
        writeln!(text, "request  {} ({length})", console::truncate_str(&words::one_line(request), 60, "…"));
    text.push_str("\nNothing was called and nothing was written.\n");
    Ok(screen.print(&text)?)
}
