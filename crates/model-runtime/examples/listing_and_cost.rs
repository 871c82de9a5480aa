//! What models cost and which there are: bundled cards, a price, and the list of a server on this machine.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use thermidor_model_runtime::{Error, Known, ModelRuntime, cost};
use thermidor_types::{Tokens, Usage};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let runtime = ModelRuntime::builder().build()?;
    let usage = Usage { input: Tokens(10_000), output: Tokens(1_000), ..Usage::default() };
    for name in ["openai/gpt-5-mini", "deepseek/deepseek-chat", "openai/no-such-model"] {
        let (card, known) = runtime.card(name)?;
        let price = card.price.as_ref().map(|price| cost(&usage, price).to_string());
        let source = match known {
            Known::Card => "card",
            Known::Assumed => "assumed",
        };
        println!(
            "{name}: window {} ({source}), {}",
            card.context_window,
            price.unwrap_or("cost unknown".into())
        );
    }
    match runtime.list("ollama").await {
        Ok(models) => models.iter().for_each(|model| println!("ollama/{}", model.id)),
        Err(error) => println!("no list from Ollama: {}", error.kind()),
    }
    Ok(())
}
