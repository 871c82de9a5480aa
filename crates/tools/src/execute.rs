use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    task::Poll,
    time::Duration,
};

use thermidor_types::{ToolOutcome, ToolResult};
use tokio::time::timeout;

use crate::{Arguments, Error, ErrorKind, Repeatable, Tool, ToolContext, ToolOutput, ToolSpec, cut::shorten};

/// How long a tool may tidy up after it was asked to stop.
const GRACE: Duration = Duration::from_millis(200);

/// Runs one call of `tool` under its deadline, and answers in words for the model whatever happens.
///
/// | what happened | outcome |
/// | --- | --- |
/// | the tool answered | `Success`, shortened to the tool's output limit |
/// | the tool gave an error | `Error`; `Interrupted` for [`ErrorKind::Cancelled`] |
/// | stopped before it began | `Interrupted` |
/// | stopped, past its deadline, or panicked, and [`Repeatable::Idempotent`] | `Interrupted`, `Error`, `Error` |
/// | the same, and [`Repeatable::SideEffects`] | `Unknown`: it may have happened |
///
/// A tool that watches [`ToolContext::cancelled`] has 200 ms to answer by itself after a stop. Needs a
/// Tokio runtime with time enabled.
pub async fn run(tool: &dyn Tool, arguments: Arguments, context: ToolContext) -> ToolResult {
    let spec = tool.spec();
    if context.is_cancelled() {
        return failed(&Error::new(ErrorKind::Cancelled, "it had not begun"));
    }
    // Whatever the tool left running with a clone of its context is told to stop when the call is over.
    let inner = context.child();
    let _over = inner.cancellation().clone().drop_guard();
    let stopped = async {
        context.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    let end = tokio::select! {
        biased;
        end = timeout(spec.deadline, guarded(tool, arguments, inner)) => end.unwrap_or(End::Late),
        () = stopped => End::Stopped,
    };
    match end {
        End::Answered(Ok(ToolOutput { mut content })) => {
            shorten(&mut content, spec.output_limit);
            ToolResult { content, outcome: ToolOutcome::Success }
        }
        End::Answered(Err(error)) => failed(&error),
        End::Panicked => {
            cut_off(spec, &Error::new(ErrorKind::Failed, "it crashed, which is a defect of the tool"))
        }
        End::Late => {
            let limit = format!("it was given {:?}", spec.deadline);
            cut_off(spec, &Error::new(ErrorKind::Timeout, limit))
        }
        End::Stopped => cut_off(spec, &Error::new(ErrorKind::Cancelled, "")),
    }
}

enum End {
    Answered(Result<ToolOutput, Error>),
    Panicked,
    Late,
    Stopped,
}

/// Calls the tool; a panic ends the call, not the caller.
async fn guarded(tool: &dyn Tool, arguments: Arguments, context: ToolContext) -> End {
    let mut call = tool.call(arguments, context);
    poll_fn(|task| match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(task))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(answer)) => Poll::Ready(End::Answered(answer)),
        Err(_) => {
            tracing::error!(tool = %tool.spec().name, "a tool panicked");
            Poll::Ready(End::Panicked)
        }
    })
    .await
}

/// The result of a call that ended with an error of its own.
pub(crate) fn failed(error: &Error) -> ToolResult {
    let outcome = match error.kind() {
        ErrorKind::Cancelled => ToolOutcome::Interrupted,
        ErrorKind::Arguments
        | ErrorKind::UnknownTool
        | ErrorKind::Failed
        | ErrorKind::Retry
        | ErrorKind::Fatal
        | ErrorKind::Timeout
        | ErrorKind::Registration => ToolOutcome::Error,
    };
    ToolResult::failed(outcome, error.words())
}

/// The result of a call that could not say how far it came.
fn cut_off(spec: &ToolSpec, error: &Error) -> ToolResult {
    match spec.repeatable {
        Repeatable::Idempotent => failed(error),
        Repeatable::SideEffects => {
            let words = error.words();
            ToolResult::failed(
                ToolOutcome::Unknown,
                format!("{words} It may or may not have taken effect: check before calling it again."),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock};

    use async_trait::async_trait;
    use expect_test::{Expect, expect};
    use thermidor_types::Content;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::NoArguments;

    /// What the tool of these tests does.
    #[derive(Clone, Copy)]
    enum Deed {
        Answers(&'static str),
        Fails(ErrorKind),
        Panics,
        Hangs,
        TidiesUp,
    }

    struct Scripted(ToolSpec, Deed);

    #[async_trait]
    impl Tool for Scripted {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }
        async fn call(&self, _: Arguments, context: ToolContext) -> Result<ToolOutput, Error> {
            match self.1 {
                Deed::Answers(text) => Ok(text.into()),
                Deed::Fails(kind) => Err(Error::new(kind, "no such page.")),
                Deed::Panics => panic!("a tool's own defect"),
                Deed::Hangs => std::future::pending().await,
                Deed::TidiesUp => {
                    context.cancelled().await;
                    Ok("half of it".into())
                }
            }
        }
    }

    fn shown(result: &ToolResult) -> String {
        let text = |content: &Content| match content {
            Content::Text(text) => text.to_string(),
            Content::Media(media) => media.media_type.to_string(),
        };
        let content: Vec<String> = result.content.iter().map(text).collect();
        format!("{:?} {}", result.outcome, content.join(" + "))
    }

    async fn check(deed: Deed, repeatable: Repeatable, stop: Option<Duration>, expected: Expect) {
        let spec = ToolSpec::of::<NoArguments>("scripted", "").repeatable(repeatable).output_limit(40);
        let token = CancellationToken::new();
        let stop = stop.map(|after| {
            let token = token.clone();
            async move {
                tokio::time::sleep(after).await;
                token.cancel();
                std::future::pending::<()>().await;
            }
        });
        let tool = Scripted(spec, deed);
        let call = run(&tool, Arguments::default(), ToolContext::new("c", "tree/run/c", token));
        let result = match stop {
            None => call.await,
            Some(stop) => {
                tokio::select! { biased; () = stop => unreachable!("it never ends"), result = call => result }
            }
        };
        expected.assert_eq(&shown(&result));
    }

    #[tokio::test(start_paused = true)]
    async fn every_path_gives_one_result() {
        use Repeatable::{Idempotent, SideEffects};
        let later = Some(Duration::from_secs(1));
        check(Deed::Answers("sunny"), SideEffects, None, expect!["Success sunny"]).await;
        check(
            Deed::Fails(ErrorKind::Failed),
            SideEffects,
            None,
            expect!["Error The tool failed: no such page."],
        )
        .await;
        check(
            Deed::Fails(ErrorKind::Fatal),
            SideEffects,
            None,
            expect!["Error The tool cannot work here: no such page. Do not call it again; go on without it."],
        )
        .await;
        check(
            Deed::Fails(ErrorKind::Cancelled),
            SideEffects,
            None,
            expect!["Interrupted The call was stopped: no such page."],
        )
        .await;
        check(
            Deed::Panics,
            Idempotent,
            None,
            expect!["Error The tool failed: it crashed, which is a defect of the tool."],
        )
        .await;
        check(Deed::Panics, SideEffects, None, expect!["Unknown The tool failed: it crashed, which is a defect of the tool. It may or may not have taken effect: check before calling it again."]).await;
        check(
            Deed::Hangs,
            Idempotent,
            None,
            expect!["Error The tool did not finish in time: it was given 60s. A smaller request may."],
        )
        .await;
        check(Deed::Hangs, SideEffects, None, expect!["Unknown The tool did not finish in time: it was given 60s. A smaller request may. It may or may not have taken effect: check before calling it again."]).await;
        check(Deed::Hangs, Idempotent, later, expect!["Interrupted The call was stopped."]).await;
        check(Deed::Hangs, SideEffects, later, expect!["Unknown The call was stopped. It may or may not have taken effect: check before calling it again."]).await;
        check(
            Deed::Hangs,
            SideEffects,
            Some(Duration::ZERO),
            expect!["Interrupted The call was stopped: it had not begun."],
        )
        .await;
        check(Deed::TidiesUp, SideEffects, later, expect!["Success half of it"]).await;
        let long = "0123456789012345678901234567890123456789X123";
        check(
            Deed::Answers(long),
            SideEffects,
            None,
            expect![[r"
            Success 012345678901234567890123456789
            [… 4 of 44 characters left out: ask for less at a time …]
            456789X123"]],
        )
        .await;
    }

    struct Leaves(ToolSpec, Arc<OnceLock<ToolContext>>);

    #[async_trait]
    impl Tool for Leaves {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }
        async fn call(&self, _: Arguments, context: ToolContext) -> Result<ToolOutput, Error> {
            self.1.set(context).map_err(|_| "called twice")?;
            Ok("done".into())
        }
    }

    /// Would fail if work a tool left behind was not told that its call is over, or the run was stopped too.
    #[tokio::test(start_paused = true)]
    async fn what_a_tool_leaves_running_is_told_to_stop() {
        let left = Arc::default();
        let tool = Leaves(ToolSpec::of::<NoArguments>("leaves", ""), Arc::clone(&left));
        let context = ToolContext::detached();
        assert_eq!(shown(&run(&tool, Arguments::default(), context.clone()).await), "Success done");
        assert!(left.get().is_some_and(ToolContext::is_cancelled));
        assert!(!context.is_cancelled());
    }
}
