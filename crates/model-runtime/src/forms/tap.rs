use futures_util::{StreamExt, stream};

use crate::{ChatEvent, ChatStream};

/// Rewrites the events of one answer. Pure: it is fed and says what to hand out.
pub(super) trait Tap: Send + 'static {
    /// The events in place of `event`.
    fn feed(&mut self, event: ChatEvent) -> Vec<ChatEvent>;
}

/// The stream as `tap` tells it.
pub(super) fn tapped(events: ChatStream, mut tap: impl Tap) -> ChatStream {
    events.flat_map(move |event| stream::iter(tap.feed(event))).boxed()
}
