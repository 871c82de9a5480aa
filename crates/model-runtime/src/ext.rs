use std::future::Future;

use futures_util::StreamExt;
use thermidor_types::{FailureKind, Message, Text};

use crate::{ChatEvent, ChatModel, ChatRequest, Error, StreamEnd, StreamEnding};

/// Short ways to a whole answer, for every [`ChatModel`].
///
/// For programs that show nothing while an answer comes. Everything else reads [`ChatModel::stream`].
pub trait ChatModelExt: ChatModel {
    /// Asks one question and returns the words of the answer. Where the model declined these are its refusal;
    /// [`complete`](Self::complete) tells which it is.
    ///
    /// ```
    /// use thermidor_model_runtime::{ChatModelExt, Rehearsal};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), thermidor_model_runtime::Error> {
    /// let answer = Rehearsal::instant().ask("A tea timer for forgetful readers").await?;
    /// assert!(answer.contains("forgetful readers"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`complete`](Self::complete), and [`Unfit`](FailureKind::Unfit) when the answer reached the length
    /// allowed: [`complete`](Self::complete) keeps what came of it.
    fn ask(&self, question: impl Into<Text>) -> impl Future<Output = Result<String, Error>> + Send {
        let request = ChatRequest { messages: vec![Message::user(question)], ..ChatRequest::default() };
        async move {
            let end = self.complete(request).await?;
            if end.ending == StreamEnding::Length {
                let message = "the answer reached the length allowed";
                return Err(Error::new(FailureKind::Unfit, self.card().id.clone(), message)
                    .with_usage(end.message.usage));
            }
            Ok(end.message.text())
        }
    }

    /// Waits for the whole answer. Its ending is [`Finished`](StreamEnding::Finished) or
    /// [`Length`](StreamEnding::Length). Dropping the future stops the request.
    ///
    /// # Errors
    /// As [`ChatModel::stream`]. An answer that was cut off or failed on its way is an error too, of the failure's
    /// kind and with the usage that is known of it; who wants the words that came reads the stream.
    /// [`Malformed`](FailureKind::Malformed) when the stream stopped without an end.
    fn complete(&self, request: ChatRequest) -> impl Future<Output = Result<StreamEnd, Error>> + Send {
        async move {
            let model = || self.card().id.clone();
            let mut events = self.stream(request).await?;
            while let Some(event) = events.next().await {
                let end = match event {
                    ChatEvent::Ended(end) => *end,
                    ChatEvent::Text(_)
                    | ChatEvent::Reasoning(_)
                    | ChatEvent::Call { .. }
                    | ChatEvent::Media(_) => continue,
                };
                return match &end.ending {
                    StreamEnding::Finished | StreamEnding::Length => Ok(end),
                    StreamEnding::CutOff(failure) | StreamEnding::Failed(failure) => {
                        Err(Error::new(failure.kind, model(), failure.message.as_str())
                            .with_usage(end.message.usage))
                    }
                };
            }
            Err(Error::new(FailureKind::Malformed, model(), "the stream stopped without an end"))
        }
    }
}

impl<M: ChatModel + ?Sized> ChatModelExt for M {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use futures_util::stream;
    use thermidor_types::{AssistantMessage, Failure, ModelCard, ModelId, Part, Tokens, Usage};

    use super::*;
    use crate::ChatStream;

    struct Ends(ModelCard, Option<StreamEnding>);

    #[async_trait]
    impl ChatModel for Ends {
        fn card(&self) -> &ModelCard {
            &self.0
        }

        async fn stream(&self, _: ChatRequest) -> Result<ChatStream, Error> {
            let message = AssistantMessage {
                parts: vec![Part::text("words")],
                usage: Usage { output: Tokens(7), ..Usage::default() },
                ..AssistantMessage::default()
            };
            let end =
                self.1.clone().map(|ending| ChatEvent::Ended(Box::new(StreamEnd::new(message, ending))));
            Ok(stream::iter([ChatEvent::Text("words".into())].into_iter().chain(end)).boxed())
        }
    }

    /// Would fail if an answer that did not end properly were taken for one, or its usage were lost.
    #[tokio::test]
    async fn only_proper_endings_are_answers() {
        let failure = Failure::new(FailureKind::Network, "gone");
        let table = [
            (Some(StreamEnding::Finished), Ok("words"), true),
            (Some(StreamEnding::Length), Err((FailureKind::Unfit, 7)), true),
            (Some(StreamEnding::CutOff(failure.clone())), Err((FailureKind::Network, 7)), false),
            (Some(StreamEnding::Failed(failure)), Err((FailureKind::Network, 7)), false),
            (None, Err((FailureKind::Malformed, 0)), false),
        ];
        for (ending, expected, completes) in table {
            let card = ModelCard::unknown(ModelId::new("test", "ends"), Tokens(1_000));
            let model: Arc<dyn ChatModel> = Arc::new(Ends(card, ending.clone()));
            let asked = model.ask("?").await.map_err(|error| (error.kind(), error.usage().output.0));
            assert_eq!(asked.as_deref(), expected.as_ref().copied(), "{ending:?}");
            assert_eq!(model.complete(ChatRequest::default()).await.is_ok(), completes, "{ending:?}");
        }
    }
}
