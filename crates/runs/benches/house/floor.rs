//! What any client pays: the same requests by bare reqwest, the answers read to their end and not looked at.

use std::time::Duration;

use reqwest::{Client, header::CONTENT_TYPE};
use serde_json::{Value, json};

use crate::{
    Bench, Error,
    agents::{HANDED, PERSONA, REQUEST, TOOLS},
};

#[derive(Clone, Debug)]
pub(crate) struct Floor {
    client: Client,
    url: String,
    stats: String,
}

impl Floor {
    pub(crate) fn new(bench: &Bench) -> Result<Self, Error> {
        let client = Client::builder().no_proxy().tcp_nodelay(true).no_gzip().build()?;
        let url = format!("{}/chat/completions", bench.base_url());
        Ok(Self { client, url, stats: format!("{}/stats", bench.mock) })
    }

    /// Sends one request and reads its answer. Returns the bytes of the answer.
    pub(crate) async fn call(&self, body: String) -> Result<usize, Error> {
        let request = self.client.post(&self.url).header(CONTENT_TYPE, "application/json").body(body);
        let mut answer = request.send().await?.error_for_status()?;
        let mut bytes = 0;
        while let Some(chunk) = answer.chunk().await? {
            bytes += chunk.len();
        }
        Ok(bytes)
    }

    /// The requests that the mock has seen.
    pub(crate) async fn requests(&self) -> Result<u64, Error> {
        let stats = self.client.get(&self.stats).timeout(Duration::from_secs(30)).send().await?;
        let stats: Value = serde_json::from_slice(&stats.bytes().await?)?;
        Ok(stats["requests"].as_u64().ok_or("the mock does not tell its requests")?)
    }
}

/// The requests of a relay of five calls, as the agent sends them.
pub(crate) fn relay(suffix: &str) -> Vec<String> {
    (0..crate::agents::CALLS).map(|call| body(&format!("mock-sup-n4{suffix}"), call)).collect()
}

/// A request to `model` behind `handed` hand-offs.
pub(crate) fn body(model: &str, handed: usize) -> String {
    let mut messages = vec![
        json!({"role": "system", "content": PERSONA}),
        json!({"role": "user", "content": format!("<request>\n{REQUEST}\n</request>")}),
    ];
    for index in 0..handed {
        let id = format!("c{}.0", index + 1);
        let function = json!({"name": TOOLS[index % 2], "arguments": "{}"});
        messages.push(json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": id, "type": "function", "function": function}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": HANDED}));
    }
    let tools = TOOLS.map(|name| {
        json!({"type": "function", "function": {"name": name,
            "description": "Hands the next part of the job to this worker",
            "parameters": {"type": "object", "properties": {}}}})
    });
    let mut body = json!({"model": model, "stream": true, "stream_options": {"include_usage": true},
        "messages": messages, "max_completion_tokens": 8192});
    if model.starts_with("mock-sup") {
        body["tools"] = json!(tools);
    }
    body.to_string()
}
