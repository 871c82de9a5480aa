//! The teams and skills there are.

use std::{fs, path::Path};

use thermidor_skills::{Fault, Library as Skills};
use thermidor_teams::{ErrorKind, Library, Team};

use crate::{
    exit::{Exit, Trouble},
    settings::{From, Places},
    store,
};

/// All teams and skills of the project, the user and the program.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) skills: Skills,
    pub(crate) teams: Library,
}

impl Shelf {
    /// Reads the folders. What is wrong in them is kept as faults: one bad file hides no good one.
    pub(crate) fn open(places: &Places) -> Self {
        let skills = Skills::read(&places.skill_sources());
        let folders = places.teams();
        let folders: Vec<_> = folders.iter().map(|(origin, path)| (*origin, path.as_path())).collect();
        let teams = Library::open(&folders, &skills);
        Self { skills, teams }
    }

    /// The faults of skills that this team would use if they could be read.
    pub(crate) fn left_out<'a>(&'a self, team: &'a Team) -> impl Iterator<Item = &'a Fault> {
        let skills: Vec<&str> =
            team.file().agents.values().filter_map(|agent| agent.skill.as_deref()).collect();
        self.skills.faults.iter().filter(move |fault| {
            // A skill's folder has its name; the fault is the folder's or its file's.
            let folders = [Some(fault.path.as_path()), fault.path.parent()].into_iter().flatten();
            let mut names = folders.filter_map(|folder| folder.file_name()?.to_str());
            names.any(|name| skills.contains(&name))
        })
    }

    /// The team of this name, or of this path of a file or of a folder with a `team.toml`.
    ///
    /// # Errors
    /// `Usage` (`Configuration` when a setting named it) when there is no such team; `Configuration` with
    /// everything that is wrong with it.
    pub(crate) fn team(&self, named: &str, from: &From) -> Result<Team, Trouble> {
        let team = self.find(named, from)?;
        let tools = store::tools()?;
        for (id, agent) in &team.file().agents {
            if let Err(error) = tools.subset(&agent.tools) {
                return Err(Trouble::configuration(format!("{named}: the agent {id:?}: {error}")));
            }
        }
        Ok(team)
    }

    fn find(&self, named: &str, from: &From) -> Result<Team, Trouble> {
        let exit = if *from == From::Flag { Exit::Usage } else { Exit::Configuration };
        if !is_path(named) {
            return self.teams.get(named).cloned().map_err(|error| {
                if error.kind() == ErrorKind::Unknown && self.teams.entry(named).is_none() {
                    Trouble::new(exit, error)
                } else {
                    error.into()
                }
            });
        }
        let path = Path::new(named);
        let path = if path.is_dir() { path.join("team.toml") } else { path.to_owned() };
        let text = fs::read_to_string(&path);
        let text =
            text.map_err(|error| Trouble::new(exit, format!("{}: cannot be read: {error}", path.display())))?;
        Ok(Team::load(&text, &path.display().to_string(), &self.skills)?)
    }
}

/// Whether a person means a file. Names of teams have neither slashes nor dots.
fn is_path(named: &str) -> bool {
    named.contains(['/', '\\', '.'])
}
