//! Agent Skills: folders with a `SKILL.md` that teach a model one thing.
//!
//! A skill is loaded in three steps: its [catalogue line](Skill::catalogue_line) is always there, its
//! instructions come when it is chosen, its [references](Skill::read_reference) when they are asked for. A
//! [`Library`] looks through folders by precedence. What cannot be used is a [`Fault`] with a place and a
//! remedy, never silently left out. Folder format: <https://agentskills.io/specification>.
//!
//! Invariant: nothing outside a skill's own folder is ever read.
//!
//! ```
//! use thermidor_skills::{Library, Source};
//!
//! const BUNDLED: &[(&str, &str)] = &[
//!     ("haiku/SKILL.md", "---\nname: haiku\ndescription: Writes haiku.\nmetadata:\n  title-zh: 俳句\n---\n# Form\n5, 7, 5."),
//!     ("haiku/SKILL.zh.md", "---\nname: haiku\ndescription: 写俳句。\n---\n# 格式\n五、七、五。"),
//! ];
//! let library = Library::read(&[Source::Folder("./skills".into()), Source::Embedded(BUNDLED)]);
//! assert!(library.faults.is_empty());
//!
//! let haiku = library.get("haiku").expect("bundled");
//! assert_eq!(haiku.catalogue_line("en"), "haiku: Writes haiku.");
//! assert_eq!(haiku.title("zh-CN"), "俳句");
//! assert_eq!(haiku.in_language("zh").body, "# 格式\n五、七、五。");
//! ```

mod fault;
mod folder;
mod front_matter;
mod library;
mod links;
mod outline;
mod provider;
mod rules;
mod skill;

pub use fault::{Fault, Rule};
pub use folder::{REFERENCE_LIMIT, SKILL_LIMIT};
pub use library::{Library, Shadowed, Source};
pub use outline::{Heading, outline, same_outline};
pub use provider::provider;
pub use skill::{Edition, Reference, Skill, Translation};
