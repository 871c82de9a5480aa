//! The only place in this crate that reads the environment, because its caller asked for it by name.

use thermidor_model_runtime::bundled_providers;

use crate::{Error, Models};

impl Models {
    /// The models of every provider whose key stands in its usual variable: `OPENAI_API_KEY`,
    /// `DEEPSEEK_API_KEY`, `DASHSCOPE_API_KEY`, `OPENROUTER_API_KEY` and so on. The first of them, in the order
    /// of [`bundled_providers`], answers where no model is named; without any key the rehearsal model does.
    ///
    /// Reads the environment, and nothing else does: to hand keys in, see [`Models::builder`].
    ///
    /// # Errors
    /// As [`ModelsBuilder::build`](crate::ModelsBuilder::build); the bundled providers give none.
    ///
    /// ```
    /// use thermidor::Models;
    ///
    /// let models = Models::from_env()?;
    /// println!("{} answers where no model is named", models.default_model());
    /// # Ok::<(), thermidor::Error>(())
    /// ```
    pub fn from_env() -> Result<Self, Error> {
        let mut models = Self::builder();
        for provider in bundled_providers() {
            let key = provider.key_variables.iter().find_map(|name| variable(name));
            if let Some(key) = key {
                models = models.key(provider.name.as_str(), key);
            }
        }
        models.build()
    }
}

/// The variable's value, if it is more than blanks.
fn variable(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "reading the environment is what the function is named after"
    )]
    let value = std::env::var(name).ok()?;
    (!value.trim().is_empty()).then_some(value)
}
