use async_trait::async_trait;
use std::{future::Future, marker::PhantomData, time::Duration};

use crate::{Contribution, Error, View};

/// Offers blocks to the prompt: the way to put something into it.
///
/// Providers run concurrently, each with a deadline. One that fails or is late is named in the report and
/// the prompt goes on without it, unless it is [`required`](Self::required).
///
/// ```
/// use thermidor_context_engine::{ContextProvider, Contribution, Error, View, async_trait};
///
/// struct Weather;
///
/// #[async_trait]
/// impl ContextProvider for Weather {
///     fn name(&self) -> &str { "weather" }
///     async fn contribute(&self, view: &View) -> Result<Vec<Contribution>, Error> {
///         Ok(vec![Contribution::last_user("weather", format!("Rain in {}.", view.zone))])
///     }
/// }
/// ```
#[async_trait]
pub trait ContextProvider: Send + Sync + 'static {
    /// The step's name: unique in an engine, used in the report and to place, replace or disable it.
    fn name(&self) -> &str;

    /// Gives the blocks for this view; none is an answer too.
    ///
    /// # Errors
    /// Of any kind; the report shows the message.
    async fn contribute(&self, view: &View) -> Result<Vec<Contribution>, Error>;

    /// Whether there is no prompt without this provider: its error becomes the prompt's.
    fn required(&self) -> bool {
        false
    }

    /// How long it may take; five seconds unless it says otherwise.
    fn deadline(&self) -> Duration {
        Duration::from_secs(5)
    }
}

/// A provider from a function that gives one block or none, without waiting for anything.
///
/// ```
/// use thermidor_context_engine::{Contribution, provider_fn};
/// let mood = provider_fn("mood", |view| {
///     Some(Contribution::system("mood", format!("Be kind to {}.", view.facts.get("user")?)))
/// });
/// ```
pub fn provider_fn<F, C>(name: &'static str, contribute: F) -> impl ContextProvider
where
    F: Fn(&View) -> C + Send + Sync + 'static,
    C: IntoIterator<Item = Contribution> + 'static,
{
    Plain { name, contribute, gives: PhantomData }
}

/// A provider from an asynchronous function; it gets the view as a value, since it may outlive the call.
///
/// ```
/// use thermidor_context_engine::{Contribution, provider_async};
/// let news = provider_async("news", |view| async move {
///     Ok(vec![Contribution::before_first_user("news", format!("None since {}.", view.now))])
/// });
/// ```
pub fn provider_async<F, W>(name: &'static str, contribute: F) -> impl ContextProvider
where
    F: Fn(View) -> W + Send + Sync + 'static,
    W: Future<Output = Result<Vec<Contribution>, Error>> + Send + 'static,
{
    Waiting { name, contribute }
}

struct Plain<F, C> {
    name: &'static str,
    contribute: F,
    gives: PhantomData<fn() -> C>,
}

#[async_trait]
impl<F, C> ContextProvider for Plain<F, C>
where
    F: Fn(&View) -> C + Send + Sync + 'static,
    C: IntoIterator<Item = Contribution> + 'static,
{
    fn name(&self) -> &str {
        self.name
    }

    async fn contribute(&self, view: &View) -> Result<Vec<Contribution>, Error> {
        Ok((self.contribute)(view).into_iter().collect())
    }
}

struct Waiting<F> {
    name: &'static str,
    contribute: F,
}

#[async_trait]
impl<F, W> ContextProvider for Waiting<F>
where
    F: Fn(View) -> W + Send + Sync + 'static,
    W: Future<Output = Result<Vec<Contribution>, Error>> + Send + 'static,
{
    fn name(&self) -> &str {
        self.name
    }

    async fn contribute(&self, view: &View) -> Result<Vec<Contribution>, Error> {
        (self.contribute)(view.clone()).await
    }
}
