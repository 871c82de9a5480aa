use async_trait::async_trait;

use crate::{ContextProvider, Contribution, Error, View, date::LocalTime};

/// The date in the user's zone, at the end of the system message, so that it changes once a day. The step's
/// name is `today`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Today;

#[async_trait]
impl ContextProvider for Today {
    fn name(&self) -> &'static str {
        "today"
    }

    async fn contribute(&self, view: &View) -> Result<Vec<Contribution>, Error> {
        let local = LocalTime::of(view);
        let (date, zone) = (local.date_in_words(view.language), local.zone());
        let text =
            view.language.pick(format!("Today is {date} ({zone})."), format!("今天是{date}（{zone}）。"));
        let today = Contribution::system("today", text).bare().priority(10);
        Ok(vec![if local.fallback {
            today.warning(format!("the time zone {:?} is unknown, UTC is used", view.zone))
        } else {
            today
        }])
    }
}
