use serde_json::Value;

use super::{ListedModel, ModelKind, Page, told};

/// `{data: [{id, display_name, created_at, max_input_tokens?, max_tokens?}], has_more, last_id}`
pub(super) fn read(list: &Value) -> Option<Page> {
    let entries = list.get("data")?.as_array()?;
    let models = entries.iter().filter_map(|entry| {
        Some(ListedModel {
            title: told::title(entry, "/display_name"),
            window: told::tokens(entry, &["/max_input_tokens"]),
            max_output: told::tokens(entry, &["/max_tokens"]),
            created: told::moment(entry, "/created_at"),
            kind: ModelKind::Chat,
            ..ListedModel::named(told::text(entry, "/id")?)
        })
    });
    let more = told::is(list, "/has_more");
    let next = told::text(list, "/last_id").filter(|_| more).map(str::to_owned);
    Some(Page { models: models.collect(), next })
}
