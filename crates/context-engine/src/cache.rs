use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use thermidor_types::{ContentHash, Measure, Tokens};

use crate::TokenCounter;

/// Half of the entries are kept at the least; a generation takes about 1 MB.
const GENERATION: usize = 32 * 1024;
/// Shorter texts are counted again rather than looked up.
const WORTH_KEEPING: usize = 16;

/// A counter that remembers what it has counted, by content hash.
///
/// Bounded: between 32,768 and 65,536 texts, the ones not asked for longest are forgotten first. A lookup costs
/// the hash, about 1 µs per KB. It is shared by cloning.
#[derive(Clone)]
pub(crate) struct CachedCounter {
    counter: Arc<dyn TokenCounter>,
    counts: Arc<Mutex<Generations>>,
}

#[derive(Default)]
struct Generations {
    young: HashMap<[u8; 16], u64>,
    old: HashMap<[u8; 16], u64>,
}

impl Generations {
    fn get(&mut self, key: &[u8; 16]) -> Option<u64> {
        if let Some(&tokens) = self.young.get(key) {
            return Some(tokens);
        }
        let tokens = self.old.remove(key)?;
        self.insert(*key, tokens);
        Some(tokens)
    }

    fn insert(&mut self, key: [u8; 16], tokens: u64) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, tokens);
    }
}

impl CachedCounter {
    pub(crate) fn new(counter: impl TokenCounter) -> Self {
        Self { counter: Arc::new(counter), counts: Arc::default() }
    }

    /// The same memory with another counter of the same vocabulary.
    pub(crate) fn sharing(&self, counter: impl TokenCounter) -> Self {
        Self { counter: Arc::new(counter), counts: Arc::clone(&self.counts) }
    }

    fn counts<R>(&self, f: impl FnOnce(&mut Generations) -> R) -> R {
        f(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl TokenCounter for CachedCounter {
    fn count(&self, text: &str) -> Tokens {
        if text.len() < WORTH_KEEPING {
            return self.counter.count(text);
        }
        let mut key = [0; 16];
        key.copy_from_slice(&ContentHash::of(text.as_bytes()).as_bytes()[..16]);
        if let Some(tokens) = self.counts(|counts| counts.get(&key)) {
            return Tokens(tokens);
        }
        let tokens = self.counter.count(text);
        self.counts(|counts| counts.insert(key, tokens.0));
        tokens
    }

    fn measure(&self) -> Measure {
        self.counter.measure()
    }
}

impl fmt::Debug for CachedCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedCounter").field("measure", &self.measure()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct Asked(Arc<AtomicUsize>);

    impl TokenCounter for Asked {
        fn count(&self, text: &str) -> Tokens {
            self.0.fetch_add(1, Ordering::Relaxed);
            Tokens(text.len() as u64)
        }
        fn measure(&self) -> Measure {
            Measure::Counted
        }
    }

    /// Would fail if a text was counted twice, or the memory grew without bound.
    #[test]
    fn a_text_is_counted_once_and_the_memory_is_bounded() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = CachedCounter::new(Asked(Arc::clone(&asked)));
        let text = |n: usize| format!("a text of some length, number {n}");
        for _ in 0..3 {
            for n in 0..100 {
                assert_eq!(counter.count(&text(n)).0, text(n).len() as u64);
            }
        }
        assert_eq!(asked.load(Ordering::Relaxed), 100);
        for n in 0..3 * GENERATION {
            counter.count(&text(n));
        }
        assert!(counter.counts(|counts| counts.young.len() + counts.old.len()) <= 2 * GENERATION);
    }
}
