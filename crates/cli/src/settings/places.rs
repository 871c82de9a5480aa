//! The files and folders this command uses.

use std::path::PathBuf;

use thermidor_skills::Source;
use thermidor_teams::{Origin, bundled_skills};

use super::Environment;
use crate::exit::Trouble;

/// Where things are. Nothing here is created before it is needed.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The user's folder: `config.toml`, `teams/`, `skills/`.
    pub(crate) user: PathBuf,
    /// The project's folder: the same three.
    pub(crate) project: PathBuf,
    /// The data folder: the database and the leases beside it.
    pub(crate) data: PathBuf,
}

impl Places {
    /// `$THERMIDOR_HOME` holds everything of the user's, else the XDG folders.
    ///
    /// # Errors
    /// When there is no home folder to start from.
    pub(crate) fn find(environment: &Environment) -> Result<Self, Trouble> {
        let project = environment.folder().join(".thermidor");
        if let Some(home) = environment.get("THERMIDOR_HOME") {
            let home = environment.folder().join(home);
            return Ok(Self { user: home.clone(), project, data: home });
        }
        let below = |variable: &str, usual: &str| {
            let folder = environment.folder_in(variable).or_else(|| Some(environment.home()?.join(usual)));
            folder.map(|folder| folder.join("thermidor"))
        };
        match (below("XDG_CONFIG_HOME", ".config"), below("XDG_DATA_HOME", ".local/share")) {
            (Some(user), Some(data)) => Ok(Self { user, project, data }),
            _ => Err(Trouble::configuration(
                "there is no home folder to keep things in; set THERMIDOR_HOME to a folder",
            )),
        }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data.join(thermidor_runs::DATABASE)
    }

    pub(crate) fn leases(&self) -> PathBuf {
        self.data.join("leases")
    }

    /// What providers told of their models.
    pub(crate) fn model_lists(&self) -> PathBuf {
        self.data.join("models.json")
    }

    pub(crate) fn user_config(&self) -> PathBuf {
        self.user.join("config.toml")
    }

    pub(crate) fn project_config(&self) -> PathBuf {
        self.project.join("config.toml")
    }

    /// The folders of team files, most important first.
    pub(crate) fn teams(&self) -> [(Origin, PathBuf); 2] {
        [(Origin::Project, self.project.join("teams")), (Origin::User, self.user.join("teams"))]
    }

    /// The folders of skills, most important first.
    pub(crate) fn skills(&self) -> [PathBuf; 2] {
        [self.project.join("skills"), self.user.join("skills")]
    }

    /// Where skills are looked for: the project's, the user's, the bundled ones.
    pub(crate) fn skill_sources(&self) -> Vec<Source> {
        let folders = self.skills().into_iter().map(Source::Folder);
        folders.chain([Source::Embedded(bundled_skills())]).collect()
    }

    /// Everything by name, as `config path` prints it.
    pub(crate) fn named(&self) -> Vec<(&'static str, PathBuf)> {
        let [(_, project_teams), (_, user_teams)] = self.teams();
        let [project_skills, user_skills] = self.skills();
        vec![
            ("user config", self.user_config()),
            ("user teams", user_teams),
            ("user skills", user_skills),
            ("project config", self.project_config()),
            ("project teams", project_teams),
            ("project skills", project_skills),
            ("database", self.database()),
            ("leases", self.leases()),
            ("model lists", self.model_lists()),
        ]
    }
}
