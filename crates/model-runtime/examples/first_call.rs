//! The first call: a runtime, a model, a question.
//!
//! Runs offline with the rehearsal model. For a real one, `.key("openai", key)` and `openai/gpt-5-mini`.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use thermidor_model_runtime::{ChatModelExt, Error, ModelRuntime, Rehearsal};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let runtime = ModelRuntime::builder().register(Rehearsal::new()).build()?;
    let model = runtime.model("rehearsal/extractive")?;
    println!("{}", model.ask("A tea timer for forgetful readers").await?);
    Ok(())
}
