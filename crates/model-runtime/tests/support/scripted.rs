//! A model that does what a script says.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use thermidor_model_runtime::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, Error, StreamEnd, StreamEnding,
};
use thermidor_types::{AssistantMessage, FailureKind, ModelCard, ModelId, Part, Tokens, Usage};

/// What one try does.
#[derive(Clone, Debug)]
pub(crate) enum Try {
    /// It is refused; the wait asked for, in seconds.
    Refuse(FailureKind, Option<u64>),
    /// Words, then an ending, and the tokens it took.
    Answer(Vec<&'static str>, StreamEnding, u64),
    /// Words, a second apart.
    Slow(Vec<&'static str>),
    /// A stream without anything, not even an end.
    Nothing,
}

impl Try {
    /// A finished answer.
    pub(crate) fn says(words: &[&'static str]) -> Self {
        Self::Answer(words.to_vec(), StreamEnding::Finished, 0)
    }
}

pub(crate) struct Scripted {
    card: ModelCard,
    tries: Mutex<VecDeque<Try>>,
}

impl Scripted {
    pub(crate) fn new(name: &str, tries: Vec<Try>) -> Arc<Self> {
        let card = ModelCard::unknown(ModelId::new("test", name), Tokens(1));
        Arc::new(Self { card, tries: Mutex::new(tries.into()) })
    }

    pub(crate) fn left(&self) -> usize {
        self.tries.lock().expect("no panic").len()
    }
}

#[async_trait]
impl ChatModel for Scripted {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    async fn stream(&self, _request: ChatRequest) -> Result<ChatStream, Error> {
        let next = self.tries.lock().expect("no panic").pop_front().expect("no more tries than scripted");
        match next {
            Try::Nothing => Ok(stream::empty().boxed()),
            Try::Refuse(kind, wait) => {
                let error = Error::new(kind, self.card.id.clone(), "");
                Err(match wait {
                    Some(wait) => error.with_retry_after(Duration::from_secs(wait)),
                    None => error,
                })
            }
            Try::Answer(words, ending, tokens) => {
                Ok(stream::iter(events(&self.card.id, &words, ending, tokens)).boxed())
            }
            Try::Slow(words) => {
                let events = events(&self.card.id, &words, StreamEnding::Finished, 0);
                Ok(stream::iter(events)
                    .then(|event| async {
                        tokio::time::sleep(Duration::from_secs(1)).await;
                        event
                    })
                    .boxed())
            }
        }
    }
}

fn events(id: &ModelId, words: &[&'static str], ending: StreamEnding, tokens: u64) -> Vec<ChatEvent> {
    let parts = words.iter().map(|word| Part::text(*word)).collect();
    let usage = Usage { input: Tokens(tokens), ..Usage::default() };
    let message = AssistantMessage { parts, usage, model: Some(id.clone()), ..AssistantMessage::default() };
    let end = ChatEvent::Ended(Box::new(StreamEnd::new(message, ending)));
    words.iter().map(|word| ChatEvent::Text((*word).into())).chain([end]).collect()
}

/// What was heard: the words, how it ended, and the tokens if there were any.
pub(crate) async fn outcome(model: &dyn ChatModel, request: ChatRequest) -> String {
    match model.stream(request).await {
        Err(error) => {
            let usage = error.usage().total().0;
            let spent = if usage == 0 { String::new() } else { format!(" ({usage} tokens)") };
            format!("error: {error}{spent}")
        }
        Ok(stream) => {
            let events = stream.map(|event| match event {
                ChatEvent::Text(text) => text.to_string(),
                ChatEvent::Ended(end) => match end.message.usage.total().0 {
                    0 => format!("{:?}", end.ending),
                    usage => format!("{:?} ({usage} tokens)", end.ending),
                },
                other => format!("{other:?}"),
            });
            events.collect::<Vec<_>>().await.join(" ")
        }
    }
}
