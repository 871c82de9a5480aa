//! An answer of a form: the schema goes with the request, and JSON comes back.
//!
//! Models that take no schema get it as a forced tool, or in words: see `StructuredOutput`.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use thermidor_model_runtime::{ChatModelExt, ChatRequest, Rehearsal, ResponseSchema};
use thermidor_types::{Json, Message};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = r#"{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}"#;
    let request = ChatRequest {
        messages: vec![Message::user("A tea timer for forgetful readers")],
        response_schema: Some(ResponseSchema { name: "idea".into(), schema: Json::parse(schema)? }),
        ..ChatRequest::default()
    };
    let end = Rehearsal::instant().complete(request).await?;
    let idea: serde_json::Value = serde_json::from_str(&end.message.text())?;
    println!("title: {}", idea["title"]);
    Ok(())
}
