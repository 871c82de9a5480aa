//! A round trip with a tool: the model calls, the program answers, the model goes on.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use smol_str::format_smolstr;
use thermidor_model_runtime::{ChatModelExt, ChatRequest, Rehearsal};
use thermidor_types::{Json, Message, ToolResult, ToolSchema};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Rehearsal::instant();
    let schema = r#"{"type":"object","properties":{"tea":{"type":"string"}},"required":["tea"]}"#;
    let tool = ToolSchema {
        name: "steeping_time".into(),
        description: "Says how long a tea steeps".into(),
        parameters: Json::parse(schema)?,
    };
    let question = Message::user("Look up the steeping_time of green tea.");
    let mut request = ChatRequest { messages: vec![question], tools: vec![tool], ..ChatRequest::default() };
    // Whoever lets a model call tools decides how often.
    for turn in 1..=4 {
        request.call_prefix = format_smolstr!("turn{turn}");
        let mut message = model.complete(request.clone()).await?.message;
        for exchange in message.exchanges_mut() {
            println!("→ {} {}", exchange.call.name, exchange.call.arguments);
            exchange.result = Some(ToolResult::text("2 minutes"));
        }
        if message.exchanges().next().is_none() {
            println!("{}", message.text());
            return Ok(());
        }
        request.messages.push(Message::Assistant(message));
    }
    Err("the model called tools four times and did not answer".into())
}
