//! A provider of your own in one row, and the request it would be sent. Nothing is sent.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use thermidor_model_runtime::{ChatRequest, Dialect, Error, ModelRuntime, Provider};
use thermidor_types::Message;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let lab = Provider::new("lab", "http://10.0.0.7:8000/v1");
    // A row of another format. Its address is set apart: `new` would give it the path of OpenAI's, `/v1`.
    let mut gate =
        Provider { dialect: Dialect::AnthropicMessages, ..Provider::new("gate", "http://10.0.0.8") };
    gate.base_url = "http://10.0.0.8".into();
    let runtime = ModelRuntime::builder().provider(lab).provider(gate).build()?;
    let request = ChatRequest { messages: vec![Message::user("Hi")], ..ChatRequest::default() };
    println!("{}\n", runtime.preview("lab/qwen3-30b", &request)?);
    println!("{}", runtime.preview("gate/some-model", &request)?);
    Ok(())
}
