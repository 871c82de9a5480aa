//! What models are told in words. All of it stands here, so that it can be read and weighed in one place.

use std::fmt::Write as _;

use thermidor_types::{Json, Message, ToolSchema};

/// The form of the answer, for models that are not held to it.
pub(crate) fn schema_in_words(schema: &Json) -> String {
    format!("Answer with one JSON object that fits this JSON Schema:\n{schema}")
}

/// The tools, and how to call one, for models that know no calls.
pub(super) fn tools_in_words(tools: &[ToolSchema], form: Form, answer: Option<&Json>) -> String {
    let mut text = String::from("You can use tools. Your whole answer is JSON and nothing else.\n");
    text += if form.several {
        "To use tools, one or more: [{\"tool\": \"its name\", \"arguments\": {…}}, …]"
    } else {
        "To use a tool: {\"tool\": \"its name\", \"arguments\": {…}}"
    };
    text += if form.answer { "\nTo answer: {\"answer\": …}" } else { "\nUse a tool now." };
    if let Some(schema) = answer.filter(|_| form.answer) {
        let _ = write!(text, ", where the answer fits this JSON Schema: {schema}");
    }
    text += "\nThe tools:";
    for tool in tools {
        let description = tool.description.trim();
        let _ = write!(text, "\n- {}: {description}\n  arguments: {}", tool.name, tool.parameters);
    }
    text
}

/// Which forms an answer may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// Several calls at once.
    pub(super) several: bool,
    /// No call at all.
    pub(super) answer: bool,
}

/// Puts an operator's message after those at the head, so that the cached prefix stays.
pub(super) fn tell(messages: &mut Vec<Message>, words: String) {
    let place = messages.iter().take_while(|message| matches!(message, Message::System(_))).count();
    messages.insert(place, Message::system(words));
}
