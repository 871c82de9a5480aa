//! Teams as files: `team.toml` read with every fault named at its place, the bundled teams and employees, and a
//! library of both with the user's and the project's own.
//!
//! The one invariant: a [`Team`] fits together. Its agents and skills exist, its stages wait for no one in a
//! circle, its limits are set and its prompts are templates over values that they are given.
//!
//! ```
//! use thermidor_skills::Source;
//! use thermidor_teams::{Language, Library, bundled_skills};
//!
//! let skills = thermidor_skills::Library::read(&[Source::Embedded(bundled_skills())]);
//! let library = Library::open(&[], &skills);
//! let team = library.get("software-company")?;
//! let (summary, sees) = team.stages().last().expect("five stages");
//! assert_eq!(summary.prompt.get(Language::Zh).chars().next(), Some('把'));
//! assert_eq!(sees, ["analysis", "plan", "frontend", "algorithm"]);
//! # Ok::<(), thermidor_teams::Error>(())
//! ```

mod bundled;
mod check;
mod dollars;
mod error;
mod file;
mod group;
mod library;
mod localised;
mod near;
mod needs;
mod path;
mod shape;
mod source;
mod team;
mod template;

pub use bundled::{bundled_avatars, bundled_skills, bundled_teams};
pub use error::{Error, ErrorKind, Place, Problem};
pub use file::{
    AgentFile, Limits, ParamFile, Pattern, PatternKind, StageFile, TeamFile, VERSION, team_schema,
};
pub use group::Choices;
pub use library::{Entry, Library, Origin};
pub use localised::Localised;
pub use team::Team;
pub use thermidor_context_engine::Language;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
