use async_trait::async_trait;
use thermidor_types::Role;

use crate::{ContextProvider, Contribution, Error, Keep, Stability, View};

/// The sentence the run was started with: `<request>…</request>` beside the last user message. The step's
/// name is `request`.
///
/// Silent when there is no request, or when the last user message of the history is that sentence.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestBlock;

#[async_trait]
impl ContextProvider for RequestBlock {
    fn name(&self) -> &'static str {
        "request"
    }

    async fn contribute(&self, view: &View) -> Result<Vec<Contribution>, Error> {
        let last = view.history.iter().rev().find(|message| message.role() == Role::User);
        let said = last.is_some_and(|message| message.text().trim() == view.request.trim());
        let request = Contribution::last_user("request", view.request.clone());
        let request = request.stability(Stability::Run).priority(90).keep(Keep::Whole);
        Ok(if said { Vec::new() } else { vec![request] })
    }
}
