use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use thermidor_types::{FailureKind, Measure, ModelCard, Usage};

use super::Unreadable;
use crate::{
    Error, Provider, RetryPolicy, cost,
    dialect::{Unencodable, WireRequest, read_fault},
    http::{Ask, Bounds, Caller, Whole},
    layer::{random, retried},
};

/// The longest answer that is read, in bytes: some thousand long vectors, or a hundred large images.
const LONGEST: usize = 512 << 20;

/// All ways to one model, used in turn, with retry around them.
pub(crate) struct Calls {
    card: ModelCard,
    callers: Vec<Caller>,
    turn: Arc<AtomicUsize>,
    retry: RetryPolicy,
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls")
            .field("model", &self.card.id)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Failed<'a> {
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Calls {
    pub(crate) fn new(
        card: ModelCard,
        callers: Vec<Caller>,
        turn: Arc<AtomicUsize>,
        retry: RetryPolicy,
    ) -> Self {
        Self { card, callers, turn, retry }
    }

    pub(crate) fn card(&self) -> &ModelCard {
        &self.card
    }

    /// The provider's row, which is the same for all ways but for its address.
    pub(crate) fn provider(&self) -> Result<&Provider, Error> {
        let nowhere =
            || Error::new(FailureKind::Internal, self.card.id.clone(), "there is no way to the model");
        self.callers.first().map(|caller| &*caller.provider).ok_or_else(nowhere)
    }

    /// A request that has no form, as an error.
    pub(crate) fn refused(&self, why: Unencodable) -> Error {
        Error::new(FailureKind::InvalidRequest, self.card.id.clone(), why.to_string())
    }

    /// Sends `wire` to the address that `root` makes of a provider's own, and reads the answer.
    ///
    /// A try goes through the ways, the next one first, until one answers or the failure would be the same at all;
    /// tries follow one another by the policy.
    pub(crate) async fn ask<T>(
        &self,
        wire: &WireRequest,
        root: impl Fn(&str) -> &str,
        read: impl Fn(&Whole) -> Result<T, Unreadable>,
    ) -> Result<T, Error> {
        let body = Bytes::from(wire.body.clone());
        let once = |_| async {
            let first = self.turn.fetch_add(1, Ordering::Relaxed) % self.callers.len().max(1);
            let (early, late) = self.callers.split_at(first);
            let mut last = None;
            for caller in late.iter().chain(early) {
                let base = root(caller.provider.base_url.trim_end_matches('/'));
                let mut ask = Ask::post(format!("{base}{}", wire.path), body.clone());
                ask.headers.clone_from(&wire.headers);
                match self.answer(caller, ask, &read).await {
                    Err(error) if error.failover() => last = Some(error),
                    done => return done,
                }
            }
            Err(last.unwrap_or_else(|| {
                Error::new(FailureKind::Internal, self.card.id.clone(), "there is no way to the model")
            }))
        };
        let (answer, _) = retried(&self.retry, &random, |_, _| (), once).await?;
        Ok(answer)
    }

    async fn answer<T>(
        &self,
        caller: &Caller,
        ask: Ask,
        read: impl Fn(&Whole) -> Result<T, Unreadable>,
    ) -> Result<T, Error> {
        let bounds = Bounds { times: caller.transport.timeouts(), longest: LONGEST };
        let whole = caller.send(ask, bounds).await?;
        let why = match read(&whole) {
            Ok(answer) => return Ok(answer),
            Err(why) => why,
        };
        // Some answer 200 and say inside that it failed.
        let failed = serde_json::from_slice::<Failed<'_>>(&whole.body).ok().and_then(|failed| failed.error);
        let error = match failed {
            Some(_) => caller.fault(&read_fault(None, &whole.body)),
            None => caller.error(FailureKind::Malformed, why.to_string()).with_source(why),
        };
        Err(match whole.request_id {
            Some(request_id) => error.with_request_id(request_id),
            None => error,
        })
    }

    /// `usage` with its cost: the provider's bill, else by the card's price where tokens are told.
    pub(crate) fn priced(&self, usage: Usage) -> Usage {
        let by_card = || {
            let price = self.card.price.as_ref().filter(|_| usage.measure == Measure::Reported)?;
            Some(cost(&usage, price))
        };
        Usage { cost: usage.cost.or_else(by_card), ..usage }
    }
}
