use async_trait::async_trait;

use crate::{ContextProvider, Contribution, Error, Keep, View, fill, placeholders};

/// The operator's instruction for this turn with its placeholders filled (see [`fill`]):
/// `<instruction>…</instruction>` behind the request and the outputs. The step's name is `instruction`.
///
/// Kept whole, unless the template itself asks for upstream outputs: then it is shortened as the last of all. A
/// placeholder without a value is a warning that names it. A template that cannot be read is the prompt's error.
#[derive(Clone, Copy, Debug, Default)]
pub struct StageInstruction;

#[async_trait]
impl ContextProvider for StageInstruction {
    fn name(&self) -> &'static str {
        "instruction"
    }

    fn required(&self) -> bool {
        true
    }

    async fn contribute(&self, view: &View) -> Result<Vec<Contribution>, Error> {
        let filled = fill(&view.instruction, view)?;
        let holds_outputs = placeholders(&view.instruction)?.iter().any(|name| name.starts_with("outputs"));
        let keep = if holds_outputs { Keep::Shorten } else { Keep::Whole };
        let instruction = Contribution::last_user("instruction", filled.text).priority(250).keep(keep);
        let missing = filled.missing.iter().map(|name| format!("the placeholder {name} has no value"));
        Ok(vec![missing.fold(instruction, Contribution::warning)])
    }
}
