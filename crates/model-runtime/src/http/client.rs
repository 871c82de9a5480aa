use std::sync::OnceLock;

use reqwest::{
    Client, Url,
    redirect::{Attempt, Policy},
};
use thermidor_types::{FailureKind, ModelId};

use super::Timeouts;
use crate::Error;

/// The connections of one runtime, opened when first needed. One pool for everybody, and one for unencrypted
/// loopback addresses, which no proxy serves.
#[derive(Debug)]
pub(crate) struct Clients {
    timeouts: Timeouts,
    remote: OnceLock<Client>,
    loopback: OnceLock<Client>,
}

impl Clients {
    pub(crate) fn new(timeouts: Timeouts) -> Self {
        Self { timeouts: timeouts.bounded(), remote: OnceLock::new(), loopback: OnceLock::new() }
    }

    pub(super) fn allowed(&self) -> Timeouts {
        self.timeouts
    }

    /// The pool for `url`, on behalf of `model`.
    pub(super) fn of(&self, url: &Url, model: &ModelId) -> Result<Client, Error> {
        let direct = url.scheme() == "http" && is_loopback(url);
        let pool = if direct { &self.loopback } else { &self.remote };
        if let Some(client) = pool.get() {
            return Ok(client.clone());
        }
        let builder = Client::builder()
            .connect_timeout(self.timeouts.connect)
            .tcp_nodelay(true)
            .redirect(Policy::custom(
                |attempt| {
                    if stays(&attempt) { attempt.follow() } else { attempt.stop() }
                },
            ))
            .no_gzip()
            .user_agent(concat!("thermidor/", env!("CARGO_PKG_VERSION")));
        // Reading the machine's certificates takes longer than many a local run: unencrypted needs none.
        let builder = if direct { builder.no_proxy().tls_certs_only([]) } else { builder };
        let client = builder.build().map_err(|error| {
            Error::new(FailureKind::Configuration, model.clone(), "no HTTP client could be made")
                .with_source(error)
        })?;
        Ok(pool.get_or_init(|| client).clone())
    }
}

/// So many redirects are followed.
const MOST_REDIRECTS: usize = 5;

/// Whether a redirect stays where the key belongs. Keys travel in headers of many names, of which the client drops
/// only `authorization` on the way to another host: no other place is ever asked.
fn stays(attempt: &Attempt<'_>) -> bool {
    let (url, asked) = (attempt.url(), attempt.previous());
    asked.len() <= MOST_REDIRECTS
        && asked.first().is_some_and(|first| {
            let safer = first.scheme() == "http" && url.scheme() == "https" && first.host() == url.host();
            first.origin() == url.origin() || safer
        })
}

/// Whether `url` names this machine.
fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_are_told() {
        let check =
            |url: &str, expected: bool| assert_eq!(is_loopback(&url.parse().expect("valid")), expected);
        check("http://localhost:1/v1", true);
        check("http://127.8.0.1/v1", true);
        check("http://[::1]:11434", true);
        check("https://localhost.example.org", false);
        check("http://10.0.0.1", false);
    }
}
