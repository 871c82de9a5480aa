//! A stream: words as they come, then exactly one end that says how it went.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use futures_util::StreamExt;
use thermidor_model_runtime::{ChatEvent, ChatModel, ChatRequest, Error, Rehearsal, StreamEnding};
use thermidor_types::Message;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let messages = vec![Message::user("A tea timer for forgetful readers. Write at most 60 words.")];
    let request = ChatRequest { messages, ..ChatRequest::default() };
    let mut answer = Rehearsal::new().stream(request).await?;
    while let Some(event) = answer.next().await {
        match event {
            ChatEvent::Text(text) => print!("{text}"),
            ChatEvent::Reasoning(_) | ChatEvent::Call { .. } | ChatEvent::Media(_) => {}
            ChatEvent::Ended(end) => match end.ending {
                StreamEnding::Finished => println!("\n\n{} tokens", end.message.usage.output),
                StreamEnding::Length => println!("\n\nthe length allowed was reached"),
                StreamEnding::CutOff(failure) | StreamEnding::Failed(failure) => println!("\n\n{failure}"),
            },
        }
    }
    Ok(())
}
