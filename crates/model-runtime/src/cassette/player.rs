use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use thermidor_types::FailureKind;

use super::{
    Cassette,
    asked::{Asked, Content},
    differ::{Difference, differences},
    file::wrong,
    line::{Ending, Exchange},
};
use crate::{
    Error, Timeouts,
    http::{Broken, Transport, WireAnswer, WireCall, WireError},
};

/// Answers requests with what was recorded. Nothing leaves the machine.
#[derive(Debug)]
pub(crate) struct Player {
    name: String,
    timeouts: Timeouts,
    recorded: Mutex<Vec<Recorded>>,
}

#[derive(Debug)]
struct Recorded {
    asked: Asked,
    answer: Played,
    served: bool,
}

/// An answer to be played, or that none came.
#[derive(Clone, Debug)]
struct Played {
    status: Option<u16>,
    headers: HeaderMap,
    body: Bytes,
    broken: Option<Broken>,
}

impl Player {
    pub(crate) fn new(cassette: Cassette, timeouts: Timeouts) -> Result<Self, Error> {
        let path = cassette.path;
        let recorded = cassette.exchanges.iter().enumerate().map(|(place, exchange)| {
            let read = || Some((Asked::of_exchange(exchange)?, Played::of(exchange)?));
            let unreadable = || wrong(&path, Some(place + 2), "holds a body or a header that cannot be read");
            let (asked, answer) = read().ok_or_else(unreadable)?;
            Ok(Recorded { asked, answer, served: false })
        });
        let recorded = Mutex::new(recorded.collect::<Result<_, Error>>()?);
        Ok(Self { name: path.display().to_string(), timeouts, recorded })
    }

    /// The answer to the first equal request that was not served yet; why there is none otherwise.
    fn find(&self, asked: &Asked) -> Result<Played, String> {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        let mut times = 0_usize;
        for entry in recorded.iter_mut().filter(|entry| entry.asked == *asked) {
            times += 1;
            if !std::mem::replace(&mut entry.served, true) {
                return Ok(entry.answer.clone());
            }
        }
        let Asked { method, path, .. } = asked;
        if times > 0 {
            let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
            return Err(format!("{method} {path} is asked again; it was recorded {times}"));
        }
        Err(format!("{method} {path} was not recorded{}", nearest(&recorded, asked)))
    }
}

#[async_trait]
impl Transport for Player {
    fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    fn is_replay(&self) -> bool {
        true
    }

    async fn send(&self, call: WireCall) -> Result<WireAnswer, WireError> {
        let asked = Asked::of_call(&call);
        let played = self.find(&asked).map_err(|why| {
            let message = format!("replay of {}: {why}", self.name);
            Error::new(FailureKind::Configuration, call.model, message).unsent().everywhere()
        })?;
        let Some(status) = played.status else {
            return Err(WireError::Recorded(played.broken.unwrap_or(Broken::Broke)));
        };
        // What came is handed out before it breaks, as it was.
        let rest = stream::iter(played.broken).then(|broken| async move {
            tokio::task::yield_now().await;
            Err(WireError::Recorded(broken))
        });
        let body = stream::iter([Ok(played.body)]).chain(rest).boxed();
        Ok(WireAnswer { status, headers: played.headers, body })
    }
}

impl Played {
    /// `None` when the line holds what cannot be sent.
    fn of(exchange: &Exchange) -> Option<Self> {
        let mut headers = HeaderMap::new();
        if let Some(content_type) = &exchange.content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_str(content_type).ok()?);
        }
        for (name, value) in &exchange.headers {
            headers.insert(name.parse::<HeaderName>().ok()?, HeaderValue::from_str(value).ok()?);
        }
        let body = exchange.response.bytes()?.into();
        let broken = match exchange.ending {
            // Nobody heard an answer: it is not heard now.
            Ending::Left if exchange.status.is_none() => Some(Broken::Late),
            ending => ending.broken(),
        };
        Some(Self { status: exchange.status, headers, body, broken })
    }
}

/// The recorded request that is most like the one asked, and where they differ first.
fn nearest(recorded: &[Recorded], asked: &Asked) -> String {
    let alike = |entry: &&Recorded| entry.asked.method == asked.method && entry.asked.path == asked.path;
    let compared = recorded.iter().filter(alike).enumerate().filter_map(|(place, entry)| {
        match (&entry.asked.body, &asked.body) {
            (Content::Json(recorded), Content::Json(asked)) => Some((place, differences(recorded, asked))),
            _ => None,
        }
    });
    // The first of those that differ least.
    let nearest = compared.min_by_key(|(_, found)| found.len());
    if let Some((place, found)) = nearest
        && let Some(Difference { pointer, recorded, asked }) = found.first()
    {
        let place = place + 1;
        let at = if pointer.is_empty() { "the whole body" } else { pointer };
        return format!(
            "; the nearest of its kind, number {place}, differs at {at}: recorded {recorded}, asked {asked}"
        );
    }
    if recorded.iter().any(|entry| alike(&entry)) {
        return "; those of its kind have other bodies".to_owned();
    }
    let mut paths: Vec<String> = Vec::new();
    for Asked { method, path, .. } in recorded.iter().map(|entry| &entry.asked) {
        let named = format!("{method} {path}");
        if !paths.contains(&named) && paths.len() < 3 {
            paths.push(named);
        }
    }
    if paths.is_empty() { "; nothing was".to_owned() } else { format!("; recorded are {}", paths.join(", ")) }
}
