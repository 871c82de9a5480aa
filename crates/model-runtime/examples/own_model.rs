//! A model of your own in one file: a card, and a stream with one end.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use thermidor_model_runtime::{
    ChatEvent, ChatModel, ChatModelExt, ChatRequest, ChatStream, Error, ModelRuntime, StreamEnd, StreamEnding,
};
use thermidor_types::{AssistantMessage, Message, ModelCard, ModelId, Part, Text, Tokens};

/// Says the last message in capitals.
struct Loud(ModelCard);

#[async_trait]
impl ChatModel for Loud {
    fn card(&self) -> &ModelCard {
        &self.0
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let words = Text::from(request.messages.last().map(Message::text).unwrap_or_default().to_uppercase());
        let message =
            AssistantMessage { parts: vec![Part::Text(words.clone())], ..AssistantMessage::default() };
        let end = StreamEnd::new(message, StreamEnding::Finished);
        Ok(stream::iter([ChatEvent::Text(words), ChatEvent::Ended(Box::new(end))]).boxed())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let card = ModelCard::unknown(ModelId::new("own", "loud"), Tokens(8_000));
    let runtime = ModelRuntime::builder().register(Loud(card)).build()?;
    println!("{}", runtime.model("own/loud")?.ask("tea is ready").await?);
    Ok(())
}
