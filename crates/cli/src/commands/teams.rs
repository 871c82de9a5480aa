//! `thermidor teams ls|show|check`

use std::fmt::Write as _;

use thermidor_teams::{Choices, Entry, Language, Team};
use thermidor_types::{Json, ModelId};

use crate::{
    draw,
    exit::{Exit, Trouble},
    providers::{self, Extras},
    screen::Screen,
    settings::{From, Settings},
    shelf::Shelf,
    table::Table,
    words,
};

/// Lists the teams; a broken one with its first problem.
pub(super) fn ls(settings: &Settings, screen: Screen) -> Result<(), Trouble> {
    let shelf = Shelf::open(&settings.places);
    let mut table = Table::new(&["team", "from", "stages", "description"], &[2]);
    for entry in shelf.teams.entries() {
        let (stages, description) = match &entry.team {
            Ok(team) => {
                let said = team.file().description.as_ref().map(|text| text.get(Language::En).as_str());
                (team.stages().len().to_string(), words::one_line(said.unwrap_or_default()))
            }
            Err(error) => {
                let first = error.problems().next().map(ToString::to_string).unwrap_or_default();
                ("–".to_owned(), format!("broken: {}", words::one_line(&first)))
            }
        };
        table.row([entry.id.clone(), from(entry), stages, description]);
    }
    for fault in shelf.teams.faults() {
        screen.note(&format!("warning: {fault}"));
    }
    Ok(screen.print(&table.to_string())?)
}

/// `user (hides bundled)`
fn from(entry: &Entry) -> String {
    let hidden: Vec<_> = entry.hides.iter().map(|origin| origin.words()).collect();
    let hides = if hidden.is_empty() { String::new() } else { format!(" (hides {})", hidden.join(", ")) };
    format!("{}{hides}", entry.origin.words())
}

/// Draws a team as a run without flags would find it.
pub(super) fn show(named: &str, settings: &Settings, screen: Screen) -> Result<(), Trouble> {
    let shelf = Shelf::open(&settings.places);
    let team = shelf.team(named, &From::Flag)?;
    let models = providers::runtime(settings, Extras::default())?;
    // Where neither file nor setting names a model, the run decides.
    let set = settings.model.as_ref().and_then(|model| models.id(&model.value).ok());
    let fallback = set.unwrap_or_else(|| ModelId::new(draw::UNDECIDED, draw::UNDECIDED));
    let mut choices = Choices::new(Language::En, fallback);
    for (name, param) in team.file().params.iter().filter(|(_, param)| param.default.is_none()) {
        let said = param.description.as_ref().map(|text| text.get(Language::En).as_str());
        let value = Json::of(&said.unwrap_or(name));
        choices.params.insert(name.clone(), value.map_err(Trouble::configuration)?);
    }
    let group = team.to_group(&choices, &shelf.skills)?;
    let mut text = draw::team(&team, &group, &models);
    text.push_str(&params(&team));
    let _ = write!(text, "\nlimits  {}\n", draw::limits(&team.limits()));
    Ok(screen.print(&text)?)
}

fn params(team: &Team) -> String {
    if team.file().params.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["param", "default", "description"], &[]);
    for (name, param) in &team.file().params {
        let said = param.description.as_ref().map(|text| words::one_line(text.get(Language::En)));
        let default = param.default.clone().unwrap_or_else(|| "(has to be given)".to_owned());
        table.row([name.clone(), default, said.unwrap_or_default()]);
    }
    format!("\n{table}")
}

/// Names every problem of the teams, one line each.
pub(super) fn check(named: &[String], settings: &Settings, screen: Screen) -> Result<(), Trouble> {
    let shelf = Shelf::open(&settings.places);
    let all: Vec<String> = shelf.teams.entries().iter().map(|entry| entry.id.clone()).collect();
    let named = if named.is_empty() { &all } else { named };
    let mut worst = None;
    for name in named {
        match shelf.team(name, &From::Flag) {
            Ok(team) => {
                let stages = words::count(team.stages().len() as u64, "stage");
                screen.print(&format!("ok       {name}: {stages}, {}\n", draw::limits(&team.limits())))?;
            }
            Err(trouble) => {
                for line in trouble.message.lines() {
                    screen.print(&format!("problem  {line}\n"))?;
                }
                let exit =
                    if worst == Some(Exit::Configuration) { Exit::Configuration } else { trouble.exit };
                worst = Some(exit);
            }
        }
    }
    for fault in shelf.teams.faults() {
        screen.print(&format!("problem  {fault}\n"))?;
        worst = Some(Exit::Configuration);
    }
    match worst {
        None => Ok(()),
        Some(exit) => Err(Trouble::quiet(exit)),
    }
}
