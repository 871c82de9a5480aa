//! Ctrl-C, and the system's wish that the process ends.

use crate::exit::Trouble;

/// Waits for signals that ask the command to end.
#[derive(Debug)]
pub(crate) struct Interrupts {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Interrupts {
    /// From here on the signals no longer kill the process: somebody has to wait for them.
    ///
    /// # Errors
    /// When the system does not let signals be caught.
    pub(crate) fn catch() -> Result<Self, Trouble> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let of = |kind| {
                let caught = signal(kind);
                caught.map_err(|error| Trouble::configuration(format!("signals cannot be caught: {error}")))
            };
            Ok(Self { interrupt: of(SignalKind::interrupt())?, terminate: of(SignalKind::terminate())? })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
