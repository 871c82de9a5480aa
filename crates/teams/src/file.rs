use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thermidor_types::Money;

use crate::{Error, Localised, dollars, source};

/// The newest version of the format that this program reads.
pub const VERSION: u32 = 1;

/// A team as its file says it: members, limits and the stages they work through.
///
/// Reading proves the shape only: every key known, every needed key there, every value of its type. Whether
/// agents, skills and needs fit together is [`Team::load`](crate::Team::load)'s question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Thermidor team file")]
pub struct TeamFile {
    /// Version of this format: 1.
    pub version: u32,
    /// The team's id: lower-case letters, digits and single hyphens, as the file's name.
    pub name: String,
    /// What people see; the name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Localised<String>>,
    /// What it is good for, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Localised<String>>,
    /// `provider/model` for every agent that names none, or `default`: whatever the user chose.
    #[serde(default = "default_model")]
    pub model: String,
    /// Where a run of this team ends at the latest.
    pub limits: Limits,
    /// Who decides who acts next.
    #[serde(default)]
    pub pattern: Pattern,
    /// What the user may set for a run, by name; prompts read `params.NAME`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub params: IndexMap<String, ParamFile>,
    /// The members, by id.
    pub agents: IndexMap<String, AgentFile>,
    /// The work, in the order in which people see it.
    pub stages: Vec<StageFile>,
}

/// Where a run ends at the latest, however far it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Turns of members, repairs included.
    pub turns: u32,
    /// Tokens in and out, over all members.
    pub tokens: u64,
    /// Money in United States dollars, at most six decimals: `1.5` or `"1.5"`, read exactly.
    #[serde(default, with = "dollars", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<dollars::Amount>")]
    pub cost_usd: Option<Money>,
    /// Minutes from the start to the end.
    pub minutes: u32,
}

/// Who decides who acts next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// The kind.
    pub kind: PatternKind,
}

/// The patterns that are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PatternKind {
    /// Stages that start the moment everything they need is there.
    #[default]
    Pipeline,
}

/// Something the user may set for a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParamFile {
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Localised<String>>,
    /// Its value when the user sets none; without one, the user has to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// A member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentFile {
    /// What people see; the id when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Localised<String>>,
    /// Id of the skill that says how this member works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// An emoji, or the path of a picture beside the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// Who the member is, in a line, said to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<Localised<String>>,
    /// `provider/model`; the team's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Names of the tools it may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// One piece of work by one member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageFile {
    /// Id, unique in the team.
    pub id: String,
    /// What people see; the id when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Localised<String>>,
    /// Id of the member that does it.
    pub agent: String,
    /// The stages whose outputs it sees; `*`: all stages listed before it that do not wait for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The most words asked for, or Chinese characters. No limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<u32>,
    /// The headings that the output must have, in this order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sections: Option<Localised<Vec<String>>>,
    /// Whether the last section holds files, each a path and a fenced block.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub files: bool,
    /// What the member is told to do, a template over `request`, `outputs.STAGE`, `params.NAME` and `date`.
    pub prompt: Localised<String>,
}

fn default_model() -> String {
    "default".into()
}

impl TeamFile {
    /// Reads the text of a `team.toml`. `name` is what errors call the file.
    ///
    /// # Errors
    /// With every problem of the file's shape at once, each with its line and column.
    ///
    /// ```
    /// use thermidor_teams::TeamFile;
    /// let error = TeamFile::parse("version = 1\nnmae = \"x\"", "teams/x.toml").expect_err("a slip");
    /// assert!(error.to_string().starts_with(r#"teams/x.toml:2:1: unknown key "nmae"; did you mean "name"?"#));
    /// ```
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        source::read(text, name).map(|(file, _)| file)
    }
}

/// The JSON Schema of a team file, for editors and for `docs/schemas/`. Ends in a newline.
pub fn team_schema() -> String {
    format!("{:#}\n", schema().as_value())
}

pub(crate) fn schema() -> schemars::Schema {
    schemars::schema_for!(TeamFile)
}
