//! What llama.cpp's server says under the paths of Anthropic and of `/responses`: both formats, not to the letter.

#[path = "support/heard.rs"]
mod heard;
#[path = "support/lines.rs"]
mod lines;

use expect_test::{Expect, expect};
use heard::hear;
use lines::lines;
use thermidor_model_runtime::{Dialect, Quirks};
use thermidor_types::ModelId;

fn check(dialect: Dialect, events: &[&str], expected: Expect) {
    let stream: String = events.iter().flat_map(|event| ["data: ", event, "\n\n"]).collect();
    let model = ModelId::new("llamacpp", "small");
    let hear = |size: usize| hear(dialect, &model, &Quirks::default(), stream.as_bytes().chunks(size));
    let whole = hear(stream.len());
    for size in [1, 2, 3, 7, 64] {
        assert_eq!(hear(size), whole, "cut at {size}");
    }
    expected.assert_eq(&lines(&whole.end));
}

/// Would fail if the prompt, told at the start alone, were lost at the end, which tells of the answer alone.
#[test]
fn a_message_has_its_usage_in_two_halves() {
    check(
        Dialect::AnthropicMessages,
        &[
            r#"{"type":"message_start","message":{"id":"chatcmpl-XHH","type":"message","role":"assistant","content":[],"model":"small.gguf","stop_reason":null,"stop_sequence":null,"usage":{"cache_read_input_tokens":30,"input_tokens":1,"output_tokens":0}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"!"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"output_tokens":5}}"#,
            r#"{"type":"message_stop"}"#,
        ],
        expect![[r#"
            text "Hello!"
            length; max_tokens; 31(30) in 5(0) out
        "#]],
    );
}

/// Would fail if an item were found by its place alone, which no event has here, or if an answer's text were said
/// twice: the words come as fragments and again whole, four times. An answer that was cut is `completed` too.
#[test]
fn a_response_has_neither_places_nor_numbers() {
    check(
        Dialect::OpenaiResponses,
        &[
            r#"{"type":"response.created","response":{"id":"resp_J","object":"response","status":"in_progress"}}"#,
            r#"{"type":"response.in_progress","response":{"id":"resp_J","object":"response","status":"in_progress"}}"#,
            r#"{"type":"response.output_item.added","item":{"content":[],"id":"msg_A","role":"assistant","status":"in_progress","type":"message"}}"#,
            r#"{"type":"response.content_part.added","item_id":"msg_A","part":{"type":"output_text","text":""}}"#,
            r#"{"type":"response.output_text.delta","item_id":"msg_A","delta":"Hello"}"#,
            r#"{"type":"response.output_text.delta","item_id":"msg_A","delta":"!"}"#,
            r#"{"type":"response.output_text.done","item_id":"msg_A","text":"Hello!"}"#,
            r#"{"type":"response.content_part.done","item_id":"msg_A","part":{"type":"output_text","annotations":[],"logprobs":[],"text":"Hello!"}}"#,
            r#"{"type":"response.output_item.done","item":{"type":"message","status":"completed","id":"msg_A","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Hello!"}],"role":"assistant"}}"#,
            r#"{"type":"response.completed","response":{"id":"resp_J","object":"response","created_at":1796096775,"status":"completed","model":"small.gguf","output":[{"type":"message","status":"completed","id":"msg_A","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"Hello!"}],"role":"assistant"}],"usage":{"input_tokens":31,"output_tokens":5,"total_tokens":36,"input_tokens_details":{"cached_tokens":30}}},"timings":{"cache_n":30,"prompt_n":1,"prompt_ms":45.32,"predicted_n":5,"predicted_ms":64.119}}"#,
        ],
        expect![[r#"
            text "Hello!"
            finished; completed; 31(30) in 5(0) out
        "#]],
    );
}
