use async_trait::async_trait;
use thermidor_types::Text;

use crate::{ContextProvider, Contribution, Error, Stability, View, fill};

/// Who the model is: the first words of the system message, without tags. The step's name is `system-role`.
#[derive(Clone, Debug)]
pub struct SystemRole {
    text: Text,
    filled: bool,
}

impl SystemRole {
    /// The operator's words as they stand.
    pub fn new(text: impl Into<Text>) -> Self {
        Self { text: text.into(), filled: false }
    }

    /// The operator's words with placeholders (see [`fill`]). What the values hold stands in the system message.
    pub fn template(text: impl Into<Text>) -> Self {
        Self { text: text.into(), filled: true }
    }
}

#[async_trait]
impl ContextProvider for SystemRole {
    fn name(&self) -> &'static str {
        "system-role"
    }

    fn required(&self) -> bool {
        true
    }

    async fn contribute(&self, view: &View) -> Result<Vec<Contribution>, Error> {
        let role = |text: Text| Contribution::system("role", text).bare().priority(200);
        if !self.filled {
            return Ok(vec![role(self.text.clone()).stability(Stability::Frozen)]);
        }
        let filled = fill(&self.text, view)?;
        let missing = filled.missing.iter().map(|name| format!("the placeholder {name} has no value"));
        Ok(vec![missing.fold(role(filled.text.into()), Contribution::warning)])
    }
}
