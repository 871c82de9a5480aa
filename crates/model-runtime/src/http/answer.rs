use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_core::{Stream, stream::BoxStream};
use futures_util::StreamExt;
use secrecy::SecretString;
use thermidor_types::{Ending, Failure, FailureKind, Tokens};
use tokio::time::{Instant, Sleep, sleep_until};

use super::{Timeouts, WireError, model::redacted};
use crate::{
    ChatEvent, StreamEnding,
    dialect::{Close, Decoder, Fault},
};

/// The most bytes decoded before the reader gets a turn.
const LONGEST_DRAIN: usize = 256 << 10;

/// How long the usage figures are waited for after the model said that it is done.
const TRAILER: Duration = Duration::from_secs(5);

/// How long the last bytes of the body are waited for after `[DONE]`. Read to its end, a connection serves the
/// next call; some servers leave it open instead.
const LINGER: Duration = Duration::from_millis(50);

/// Bytes of an answer for each token that was allowed, beyond which it is not read on. No honest vocabulary
/// comes near; a server that overlooks the limit, or a model caught in a loop there, would write for ever.
const MOST_BYTES_PER_TOKEN: u64 = 16;

/// A response on its way through the decoder.
///
/// It reads what is there before it yields, so that a burst of small chunks is one event. Dropping it
/// closes the connection.
pub(super) struct Answer {
    body: BoxStream<'static, Result<Bytes, WireError>>,
    decoder: Decoder,
    ready: VecDeque<ChatEvent>,
    ended: bool,
    /// Bytes that may still come; `None` where the request set no limit.
    left: Option<u64>,
    key: Option<SecretString>,
    times: Times,
}

struct Times {
    allowed: Timeouts,
    start: Instant,
    /// When the last event was read, and how many had been by then.
    last: Option<(Instant, u64)>,
    alarm: Pin<Box<Sleep>>,
}

impl Answer {
    pub(super) fn new(
        body: BoxStream<'static, Result<Bytes, WireError>>,
        decoder: Decoder,
        allowed: Timeouts,
        start: Instant,
        most: Option<Tokens>,
        key: Option<SecretString>,
    ) -> Self {
        let alarm = Box::pin(sleep_until(start + allowed.first_event.min(allowed.total)));
        let times = Times { allowed, start, last: None, alarm };
        let left = most.map(|most| most.0.saturating_mul(MOST_BYTES_PER_TOKEN));
        Self { body, decoder, ready: VecDeque::new(), ended: false, left, key, times }
    }

    /// What the provider said when it failed inside the answer.
    pub(super) fn fault(&self) -> Option<&Fault> {
        self.decoder.fault()
    }

    /// Reads whatever is there. `Some` when the body has come to an end.
    fn drain(&mut self, cx: &mut Context<'_>) -> Option<Close> {
        let mut read = 0;
        while read < LONGEST_DRAIN {
            match self.body.poll_next_unpin(cx) {
                Poll::Pending => return None,
                Poll::Ready(Some(Ok(bytes))) => {
                    read += bytes.len();
                    self.decoder.feed(&bytes);
                    if self.decoder.fault().is_some() {
                        return Some(Close::EndOfStream);
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    tracing::debug!(%error, "the connection broke inside an answer");
                    return Some(Close::Broken(error.inside()));
                }
                Poll::Ready(None) => return Some(Close::EndOfStream),
            }
        }
        cx.waker().wake_by_ref();
        None
    }

    /// Hands out what was read. Ends the answer where it is far longer than was asked for, as its length does.
    fn hand_out(&mut self) {
        let news = self.decoder.events();
        let length: usize = news.iter().map(length).sum();
        self.ready.extend(news);
        self.left = self.left.map(|left| left.saturating_sub(length as u64));
        if self.left != Some(0) {
            return;
        }
        self.end(Close::EndOfStream);
        if let Some(ChatEvent::Ended(end)) = self.ready.back_mut() {
            (end.ending, end.message.ending) = (StreamEnding::Length, Ending::Length);
        }
    }

    fn end(&mut self, close: Close) {
        let mut events = self.decoder.finish(close);
        if let Some(ChatEvent::Ended(end)) = events.last_mut()
            && let StreamEnding::CutOff(failure) | StreamEnding::Failed(failure) = &mut end.ending
        {
            failure.message = redacted(failure.message.to_string(), self.key.as_ref()).into();
        }
        self.ready.extend(events);
        self.ended = true;
        self.body = futures_util::stream::empty().boxed(); // the connection is free again, or closed
    }
}

impl Stream for Answer {
    type Item = ChatEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ChatEvent>> {
        let this = self.get_mut();
        if let Some(event) = this.ready.pop_front() {
            return Poll::Ready(Some(event));
        }
        if this.ended {
            return Poll::Ready(None);
        }
        if let Some(close) = this.drain(cx) {
            this.end(close);
        } else {
            let late = this.times.late(&this.decoder, cx);
            if let Some(failure) = late {
                this.end(Close::Broken(failure));
            } else if this.decoder.has_news() {
                this.hand_out();
            }
        }
        this.ready.pop_front().map_or(Poll::Pending, |event| Poll::Ready(Some(event)))
    }
}

/// What of an event a model wrote, in bytes.
fn length(event: &ChatEvent) -> usize {
    match event {
        ChatEvent::Text(text) | ChatEvent::Reasoning(text) => text.len(),
        ChatEvent::Call { fragment, .. } => fragment.len(),
        ChatEvent::Media(_) | ChatEvent::Ended(_) => 0,
    }
}

impl Times {
    /// Whether the time is up. The alarm is set anew only when it rings, not with every event.
    fn late(&mut self, decoder: &Decoder, cx: &mut Context<'_>) -> Option<Failure> {
        let read = decoder.events_read();
        if self.last.map_or(0, |(_, seen)| seen) != read {
            self.last = Some((Instant::now(), read));
        }
        let due = self.due(decoder);
        if due < self.alarm.deadline() {
            self.alarm.as_mut().reset(due);
        }
        while self.alarm.as_mut().poll(cx).is_ready() {
            let due = self.due(decoder);
            if due <= Instant::now() {
                return Some(Failure::new(FailureKind::Timeout, self.words()));
            }
            self.alarm.as_mut().reset(due);
        }
        None
    }

    fn due(&self, decoder: &Decoder) -> Instant {
        let due = match self.last {
            None => self.start + self.allowed.first_event,
            Some((last, _)) => last + self.silence(decoder),
        };
        due.min(self.start + self.allowed.total)
    }

    fn silence(&self, decoder: &Decoder) -> Duration {
        let allowed = self.allowed.between_events;
        if decoder.is_complete() {
            LINGER.min(allowed)
        } else if decoder.finish_reason().is_some() {
            TRAILER.min(allowed)
        } else {
            allowed
        }
    }

    fn words(&self) -> String {
        if self.last.is_none() {
            format!("no first event within {:?}", self.allowed.first_event)
        } else {
            let Timeouts { between_events, total, .. } = self.allowed;
            format!("no event for {between_events:?}, or no end within {total:?}")
        }
    }
}
