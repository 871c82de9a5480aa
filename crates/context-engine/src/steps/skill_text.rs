use async_trait::async_trait;
use smol_str::{SmolStr, format_smolstr};
use thermidor_types::Text;

use crate::{ContextProvider, Contribution, Error, Stability, View};

/// A skill in the system message: `<skill name="…">` with its instructions, byte for byte. The step's name is
/// `skill:NAME`, so an engine can have several.
#[derive(Clone, Debug)]
pub struct SkillText {
    step: SmolStr,
    skill: SmolStr,
    instructions: Text,
}

impl SkillText {
    /// The skill `name` with its instructions.
    pub fn new(name: impl Into<SmolStr>, instructions: impl Into<Text>) -> Self {
        let name = name.into();
        Self { step: format_smolstr!("skill:{name}"), skill: name, instructions: instructions.into() }
    }
}

#[async_trait]
impl ContextProvider for SkillText {
    fn name(&self) -> &str {
        &self.step
    }

    async fn contribute(&self, _: &View) -> Result<Vec<Contribution>, Error> {
        let skill =
            Contribution::system("skill", self.instructions.clone()).attribute("name", self.skill.as_str());
        Ok(vec![skill.stability(Stability::Frozen).priority(100)])
    }
}
