//! A log of what is told of calls.

use std::sync::Mutex;

use thermidor_model_runtime::{CallObserver, CallReport, CallStep, StreamEnding};

/// A line for each step.
#[derive(Default)]
pub(crate) struct Log(Mutex<Vec<String>>);

impl Log {
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().expect("no panic")).concat()
    }
}

impl CallObserver for Log {
    fn observe(&self, report: CallReport<'_>) {
        let step = match report.step {
            CallStep::Started => "started".to_owned(),
            CallStep::FirstToken(after) => format!("first event after {after:?}"),
            CallStep::Failed(failure) => format!("failed: {}", failure.kind),
            CallStep::Ended(StreamEnding::Finished, usage) => format!("finished, {} tokens", usage.total().0),
            CallStep::Ended(ending, usage) => format!("{ending:?}, {} tokens", usage.total().0),
            CallStep::Dropped => "dropped".to_owned(),
            CallStep::Refused(failure) => format!("refused: {failure}"),
            CallStep::Limited(waited) => format!("had to wait {waited:?}"),
            CallStep::Breaker(state) => format!("breaker {state:?}"),
            CallStep::Discarded(failure, usage) => {
                format!("discarded: {failure}, {} tokens", usage.total().0)
            }
            CallStep::Waiting(wait) => format!("waits {wait:?}"),
        };
        let channel = if report.channel.is_empty() { String::new() } else { format!(" {}", report.channel) };
        let line = format!("{}#{}{channel} {step}\n", report.call_prefix, report.attempt);
        self.0.lock().expect("no panic").push(line);
    }
}
