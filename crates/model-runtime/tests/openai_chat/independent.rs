//! Another reading of the same bytes: over `serde_json::Value`, knowing nothing of the decoder.

use serde_json::Value;

/// What a recorded answer says.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    /// Name, arguments and id of each call.
    pub(crate) calls: Vec<(String, String, String)>,
    pub(crate) finish: String,
    pub(crate) refused: bool,
    pub(crate) usage: Value,
    pub(crate) sources: Vec<String>,
    /// Pieces of reasoning that are to be sent back.
    pub(crate) details: usize,
}

/// Reads a stream, or a whole answer.
pub(crate) fn read(content_type: &str, response: &str) -> Said {
    let mut said = Said::default();
    if content_type.starts_with("text/event-stream") {
        let data = response.lines().filter_map(|line| line.strip_prefix("data:"));
        for data in data.map(str::trim).filter(|data| *data != "[DONE]") {
            said.chunk(&serde_json::from_str(data).expect("a recorded event is JSON"));
        }
    } else {
        said.chunk(&serde_json::from_str(response).expect("a recorded answer is JSON"));
    }
    said
}

impl Said {
    fn chunk(&mut self, chunk: &Value) {
        if !chunk["usage"].is_null() {
            self.usage = chunk["usage"].clone();
        }
        for key in ["citations", "search_results"] {
            for source in chunk[key].as_array().into_iter().flatten() {
                self.source(source.as_str().or_else(|| source["url"].as_str()));
            }
        }
        for source in chunk["venice_parameters"]["web_search_citations"].as_array().into_iter().flatten() {
            self.source(source["url"].as_str());
        }
        for choice in chunk["choices"].as_array().into_iter().flatten() {
            if choice["index"] != 0 {
                continue;
            }
            let message = choice.get("message").or_else(|| choice.get("delta"));
            self.message(message.expect("a choice says something"));
            if let Some(finish) = choice["finish_reason"].as_str() {
                finish.clone_into(&mut self.finish);
            }
        }
    }

    fn source(&mut self, url: Option<&str>) {
        let url = url.expect("a recorded source has an address").to_owned();
        if !self.sources.contains(&url) {
            self.sources.push(url);
        }
    }

    fn message(&mut self, message: &Value) {
        match &message["content"] {
            Value::String(text) => self.text += text,
            Value::Array(blocks) => {
                for block in blocks {
                    self.text += block["text"].as_str().unwrap_or_default();
                    for thought in block["thinking"].as_array().into_iter().flatten() {
                        self.reasoning += thought["text"].as_str().unwrap_or_default();
                    }
                }
            }
            _ => {}
        }
        let refusal = message["refusal"].as_str().unwrap_or_default();
        self.refused |= !refusal.is_empty();
        self.text += refusal;
        let whole = ["reasoning_content", "reasoning"].map(|key| message[key].as_str().unwrap_or_default());
        let details = message["reasoning_details"].as_array();
        self.details += details.map_or(0, Vec::len);
        match whole.into_iter().find(|text| !text.is_empty()) {
            Some(text) => self.reasoning += text,
            None => details.into_iter().flatten().for_each(|detail| {
                let text = detail["text"].as_str().or_else(|| detail["summary"].as_str());
                self.reasoning += text.unwrap_or_default();
            }),
        }
        for (place, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let place = call["index"].as_u64().map_or(place, |index| usize::try_from(index).expect("small"));
            if self.calls.len() <= place {
                self.calls.resize(place + 1, Default::default());
            }
            let (name, arguments, id) = &mut self.calls[place];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            *arguments += &text(&call["function"]["arguments"]);
            for (known, news) in [(name, text(&call["function"]["name"])), (id, text(&call["id"]))] {
                if known.is_empty() {
                    *known = news;
                }
            }
        }
    }
}
