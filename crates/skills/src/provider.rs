use thermidor_context_engine::{ContextProvider, steps::SkillText};

use crate::Skill;

/// The second step of loading: the skill's instructions in `language` as a block of the system message.
///
/// ```
/// use thermidor_context_engine::{ContextProvider, View};
/// use thermidor_skills::{Skill, provider};
/// use thermidor_types::{ModelCard, Timestamp, Tokens};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let skill = Skill::parse("---\nname: haiku\ndescription: Writes haiku.\n---\n5, 7, 5.", "haiku/SKILL.md")?;
/// let model = ModelCard::unknown("openai/gpt-5".parse()?, Tokens(128_000));
/// let view = View::new(Timestamp::default(), model, "Autumn");
/// let blocks = provider(&skill, "en").contribute(&view).await?;
/// assert_eq!(blocks[0].render(), "<skill name=\"haiku\">\n5, 7, 5.\n</skill>");
/// # Ok(()) }
/// ```
pub fn provider(skill: &Skill, language: &str) -> impl ContextProvider + use<> {
    SkillText::new(skill.name.clone(), skill.in_language(language).body)
}
