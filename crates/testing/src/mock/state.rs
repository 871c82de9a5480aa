use std::{
    collections::{BTreeMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::wire::WireAnswers;

/// Names and bodies beyond this many are not told apart any more.
const MOST_REMEMBERED: usize = 1 << 20;

/// What the mock has seen so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MockStats {
    /// Chat requests, malformed ones included.
    pub requests: u64,
    /// Bytes of all requests: heads without the empty line, and bodies.
    pub bytes_in: u64,
    /// Bytes of the chat answers, without heads and framing.
    pub bytes_out: u64,
    /// Connections accepted.
    pub conns: u64,
    /// Requests refused for what they were: malformed, unknown route, bad history.
    pub errors: u64,
    /// Chat requests by model name.
    pub models: BTreeMap<String, u64>,
    /// Chat requests whose body was byte for byte that of an earlier one.
    pub repeated: u64,
}

/// What all connections share.
#[derive(Debug)]
pub(super) struct State {
    pub(super) strict: bool,
    pub(super) answers: WireAnswers,
    pub(super) stop: CancellationToken,
    started: Instant,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The number of answers, from which ids are made.
    answers: u64,
    stats: MockStats,
    bodies: HashSet<u64>,
}

impl State {
    pub(super) fn new(strict: bool, answers: WireAnswers, stop: CancellationToken) -> Self {
        Self { strict, answers, stop, started: Instant::now(), seen: Mutex::default() }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // Counters stay usable whoever panicked.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut MockStats)) {
        change(&mut self.seen().stats);
    }

    /// Counts a request to `model`. Gives its number among the requests of that model, from 1.
    pub(super) fn asked(&self, model: &str, body: &[u8]) -> u64 {
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let hash = hasher.finish();
        let mut seen = self.seen();
        let known = if seen.bodies.len() < MOST_REMEMBERED {
            !seen.bodies.insert(hash)
        } else {
            seen.bodies.contains(&hash)
        };
        seen.stats.repeated += u64::from(known);
        if let Some(count) = seen.stats.models.get_mut(model) {
            *count += 1;
            return *count;
        }
        if seen.stats.models.len() < MOST_REMEMBERED {
            seen.stats.models.insert(model.to_owned(), 1);
        }
        1
    }

    /// The number of the next answer.
    pub(super) fn next_answer(&self) -> u64 {
        let mut seen = self.seen();
        seen.answers += 1;
        seen.answers
    }

    pub(super) fn stats(&self) -> MockStats {
        self.seen().stats.clone()
    }

    /// The answer to `GET /stats`.
    pub(super) fn report(&self) -> String {
        let stats = self.stats();
        let figures = json!({
            "requests": stats.requests, "bytes_in": stats.bytes_in, "bytes_out": stats.bytes_out,
            "conns": stats.conns, "errors": stats.errors,
            "cpu_s": cpu_seconds(), "wall_s": self.started.elapsed().as_secs_f64(), "pid": std::process::id(),
            // What these say of the Python server, its event loop and its JSON being compiled code, is true here.
            "fast": {"uvloop": true, "orjson": true},
            "models": stats.models, "repeated": stats.repeated,
        });
        figures.to_string()
    }
}

/// Seconds of CPU that this process used, null where that cannot be told.
fn cpu_seconds() -> Value {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        json!(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
    }
    #[cfg(not(unix))]
    Value::Null
}
