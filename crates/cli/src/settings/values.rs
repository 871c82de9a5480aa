//! The settings in force, each with its origin.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use thermidor_types::ModelCard;

use super::{
    Environment, Places,
    file::{ConfigFile, ProviderFile},
};
use crate::exit::Trouble;

/// The team when nobody names one.
const TEAM: &str = "software-company";

/// Where a value comes from, most important first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The command line.
    Flag,
    /// An environment variable.
    Environment(&'static str),
    /// The project's file.
    Project(PathBuf),
    /// The user's file.
    User(PathBuf),
    /// Nobody said anything else.
    Default,
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("command line"),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::Project(path) => write!(f, "project config {}", path.display()),
            Self::User(path) => write!(f, "user config {}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) value: String,
    pub(crate) from: From,
}

/// Everything that is not on the command line.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) environment: Environment,
    pub(crate) places: Places,
    /// The model for agents for which neither a flag nor a team file names one.
    pub(crate) model: Option<Setting>,
    /// The team when no flag names one.
    pub(crate) team: Setting,
    /// Own providers and other addresses.
    pub(crate) providers: BTreeMap<String, ProviderFile>,
    /// The user's own cards of models.
    pub(crate) models: Vec<ModelCard>,
}

impl Settings {
    /// Reads the environment and both configuration files.
    ///
    /// # Errors
    /// `Configuration` with the place of the first fault.
    pub(crate) fn load(environment: Environment) -> Result<Self, Trouble> {
        let places = Places::find(&environment)?;
        let user = ConfigFile::read(&places.user_config())?;
        let project = ConfigFile::read(&places.project_config())?;
        if let Some(name) = project.providers.keys().next() {
            // Otherwise any folder one happens to work in could send the user's keys to an address of its own.
            return Err(Trouble::configuration(format!(
                "{}: [providers.{name}] is not allowed in a project's file, as its address would be sent your keys; \
                 put it into {}",
                places.project_config().display(),
                places.user_config().display(),
            )));
        }
        if let Some(card) = project.models.first() {
            // A price that a folder makes up would turn the user's limit of money off.
            return Err(Trouble::configuration(format!(
                "{}: [[models]] ({}) is not allowed in a project's file, as limits of money go by its prices; \
                 put it into {}",
                places.project_config().display(),
                card.id,
                places.user_config().display(),
            )));
        }
        let pick = |variable: &'static str, project: Option<String>, user: Option<String>| {
            let sources = [
                (environment.get(variable).map(str::to_owned), From::Environment(variable)),
                (project, From::Project(places.project_config())),
                (user, From::User(places.user_config())),
            ];
            sources.into_iter().find_map(|(value, from)| Some(Setting { value: value?, from }))
        };
        let model = pick("THERMIDOR_MODEL", project.model, user.model);
        let team = pick("THERMIDOR_TEAM", project.team, user.team)
            .unwrap_or_else(|| Setting { value: TEAM.to_owned(), from: From::Default });
        Ok(Self { model, team, providers: user.providers, models: user.models, places, environment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    /// Would fail if a weaker source won, or a project could say where keys are sent.
    #[test]
    fn the_nearest_source_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let project = folder.path().join("work/.thermidor");
        for made in [&home, &project] {
            std::fs::create_dir_all(made).expect("made");
        }
        let write = |path: PathBuf, text: &str| std::fs::write(path, text).expect("written");
        let load = |more: &[(&str, &str)]| {
            let home = home.display().to_string();
            let variables: Vec<_> = [("THERMIDOR_HOME", home.as_str())].iter().chain(more).copied().collect();
            Settings::load(Environment::of(&variables, folder.path().join("work")))
        };
        let model = |more: &[(&str, &str)]| load(more).expect("settings").model.map(|it| (it.value, it.from));
        assert_eq!(model(&[]), None);
        let (user_file, project_file) = (home.join("config.toml"), project.join("config.toml"));
        write(user_file.clone(), "model = \"u/m\"");
        assert_eq!(model(&[]), Some(("u/m".into(), From::User(user_file))));
        write(project_file.clone(), "model = \"p/m\"");
        assert_eq!(model(&[]), Some(("p/m".into(), From::Project(project_file.clone()))));
        let variable = ("THERMIDOR_MODEL", "e/m");
        assert_eq!(model(&[variable]), Some(("e/m".into(), From::Environment("THERMIDOR_MODEL"))));
        assert_eq!(load(&[]).expect("settings").team.from, From::Default);

        write(project_file, "[providers.openai]\nbase_url = \"https://elsewhere\"");
        let trouble = load(&[]).expect_err("refused");
        assert_eq!(trouble.exit, Exit::Configuration);
        assert!(trouble.message.contains("[providers.openai] is not allowed"), "{}", trouble.message);
    }
}
