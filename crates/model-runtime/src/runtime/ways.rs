use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicUsize},
};

use secrecy::{ExposeSecret, SecretString};
use smol_str::{SmolStr, ToSmolStr};
use thermidor_types::ModelId;

use crate::{
    Breaker, BreakerPolicy, CallObserver, Channel, ChatModel, Failover, Limited, Limiter, Limits, Metered,
    Observed, Order, Retry, RetryPolicy,
    layer::{Learnt, SharedCircuit, circuit},
};

/// One way to a provider: an address and a key. Their limits hold for each way.
#[derive(Debug)]
pub(super) struct Way {
    /// Another address than the provider's own.
    pub(super) base_url: Option<String>,
    pub(super) key: Option<SecretString>,
    limiter: Option<Arc<Limiter>>,
}

/// Another address than the provider's own, and a key.
pub(super) type Access = (Option<String>, Option<SecretString>);

/// All ways to one provider, used in turn.
#[derive(Debug)]
pub(super) struct Ways {
    pub(super) all: Vec<Way>,
    pub(super) turn: Arc<AtomicUsize>,
}

impl Ways {
    /// These addresses and keys, each within `limits`; one without either where there are none.
    pub(super) fn new(mut ways: Vec<Access>, limits: Option<Limits>) -> Self {
        if ways.is_empty() {
            ways.push((None, None));
        }
        let way = |(base_url, key)| {
            let limiter = limits.map(|limits| Arc::new(Limiter::new(limits)));
            Way { base_url, key, limiter }
        };
        Self { all: ways.into_iter().map(way).collect(), turn: Arc::default() }
    }
}

/// The keys in a comma-separated list. A key that is a JSON document is one.
pub(super) fn keys(list: &SecretString) -> Vec<SecretString> {
    let text = list.expose_secret().trim();
    if text.starts_with('{') {
        return vec![text.into()];
    }
    text.split(',').map(str::trim).filter(|key| !key.is_empty()).map(SecretString::from).collect()
}

/// Of so many models the state is shared.
const MOST_SHARED: usize = 512;

/// What everybody who calls a model shares: what was learnt of its tokens, and the breakers of its channels.
#[derive(Clone, Default)]
pub(super) struct Shared {
    learnt: Learnt,
    circuits: Vec<SharedCircuit>,
}

/// What stands around every model of a runtime, and the state that its models share.
pub(super) struct Layers {
    pub(super) retry: RetryPolicy,
    pub(super) breaker: Option<BreakerPolicy>,
    pub(super) observer: Option<Arc<dyn CallObserver>>,
    pub(super) shared: Mutex<HashMap<ModelId, Shared>>,
}

impl Layers {
    /// One model with its layers; `models` are the ways to it, in the order of `ways`.
    pub(super) fn around(&self, models: Vec<Arc<dyn ChatModel>>, ways: &Ways) -> Option<Arc<dyn ChatModel>> {
        let several = models.len() > 1;
        let channels = models.into_iter().zip(&ways.all).enumerate().map(|(place, (model, way))| {
            let name = if several { (place + 1).to_smolstr() } else { SmolStr::default() };
            Channel::new(name.clone(), self.channel(model, place, &name, way, several))
        });
        let mut channels = channels.collect::<Vec<_>>().into_iter();
        let first = channels.next()?;
        let model: Arc<dyn ChatModel> = if several {
            let failover = Failover::new(first, channels).order(Order::Turns(ways.turn.clone()));
            Arc::new(self.observed(failover, Failover::observer))
        } else {
            first.model
        };
        Some(Arc::new(self.observed(Retry::new(model, self.retry), Retry::observer)))
    }

    /// A model that gives way to others.
    pub(super) fn fallback(
        &self,
        first: Arc<dyn ChatModel>,
        others: Vec<Arc<dyn ChatModel>>,
    ) -> Arc<dyn ChatModel> {
        let channel = |model: Arc<dyn ChatModel>| Channel::new("", model);
        let failover = Failover::new(channel(first), others.into_iter().map(channel));
        Arc::new(self.observed(failover, Failover::observer))
    }

    fn channel(
        &self,
        model: Arc<dyn ChatModel>,
        place: usize,
        name: &SmolStr,
        way: &Way,
        several: bool,
    ) -> Arc<dyn ChatModel> {
        // A single channel has nobody to go on to: its breaker must be asked for.
        let policy = self.breaker.or_else(|| several.then(BreakerPolicy::default));
        let (learnt, circuit) = self.shared(&model.card().id, place, policy);
        let mut model: Arc<dyn ChatModel> = Arc::new(Metered::knowing(model, learnt));
        if let Some(observer) = &self.observer {
            model = Arc::new(Observed::new(model, name.clone(), observer.clone()));
        }
        if let Some(limiter) = &way.limiter {
            let limited = Limited::new(model, limiter.clone());
            model = Arc::new(
                self.observed(limited, |limited, observer| limited.observer(name.clone(), observer)),
            );
        }
        if let Some(circuit) = circuit {
            let breaker = Breaker::sharing(model, circuit);
            model = Arc::new(
                self.observed(breaker, |breaker, observer| breaker.observer(name.clone(), observer)),
            );
        }
        model
    }

    /// The state of one channel of a model. Beyond some hundred models nothing is shared.
    fn shared(
        &self,
        id: &ModelId,
        place: usize,
        policy: Option<BreakerPolicy>,
    ) -> (Learnt, Option<SharedCircuit>) {
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = Shared::default();
        let full = all.len() >= MOST_SHARED && !all.contains_key(id);
        let shared = if full { &mut own } else { all.entry(id.clone()).or_default() };
        if let Some(policy) = policy {
            while shared.circuits.len() <= place {
                shared.circuits.push(circuit(policy));
            }
        }
        (shared.learnt.clone(), shared.circuits.get(place).cloned())
    }

    fn observed<M>(&self, layer: M, observe: impl FnOnce(M, Arc<dyn CallObserver>) -> M) -> M {
        match &self.observer {
            Some(observer) => observe(layer, observer.clone()),
            None => layer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_keys_are_cut_at_commas() {
        let check = |list: &str, expected: &[&str]| {
            let found = keys(&list.into());
            let found: Vec<_> = found.iter().map(ExposeSecret::expose_secret).collect();
            assert_eq!(found, expected);
        };
        check("sk-1", &["sk-1"]);
        check(" sk-1, sk-2 ,,sk-3,", &["sk-1", "sk-2", "sk-3"]);
        check(" , ", &[]);
        check(r#"{"type":"service_account","id":1}"#, &[r#"{"type":"service_account","id":1}"#]);
    }
}
