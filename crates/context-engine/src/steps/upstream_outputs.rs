use async_trait::async_trait;

use crate::{ContextProvider, Contribution, Error, Stability, View};

/// What earlier stages produced: `<output stage="plan" member="…">…</output>` for each, in the view's order. The
/// step's name is `upstream-outputs`.
///
/// All have one priority, so when they are too long together the largest are shortened first, to one level.
#[derive(Clone, Copy, Debug, Default)]
pub struct UpstreamOutputs;

#[async_trait]
impl ContextProvider for UpstreamOutputs {
    fn name(&self) -> &'static str {
        "upstream-outputs"
    }

    async fn contribute(&self, view: &View) -> Result<Vec<Contribution>, Error> {
        let block = |output: &crate::Upstream| {
            let mut block = Contribution::last_user("output", output.text.clone());
            block = block.stability(Stability::Run).attribute("stage", output.id.as_str());
            if let Some(member) = &output.member {
                block = block.attribute("member", member);
            }
            if !output.title.is_empty() && *output.title != *output.id {
                block = block.attribute("title", &output.title);
            }
            block
        };
        Ok(view.upstream.iter().map(block).collect())
    }
}
