//! A provider of your own in one row, and the request it would be sent. Nothing is sent.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use thermidor_model_runtime::{ChatRequest, Dialect, Error, ModelRuntime, Provider};
use thermidor_types::Message;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let lab = Provider::new("lab", "http://10.0.0.7:8000/v1");
    let gate = Provider::speaking("gate", "http://10.0.0.8", Dialect::AnthropicMessages);
    let runtime = ModelRuntime::builder().provider(lab).provider(gate).build()?;
    let request = ChatRequest { messages: vec![Message::user("Hi")], ..ChatRequest::default() };
    println!("{}\n", runtime.preview("lab/qwen3-30b", &request)?);
    println!("{}", runtime.preview("gate/some-model", &request)?);
    Ok(())
}
