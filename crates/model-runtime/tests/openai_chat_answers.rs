//! What the format of `POST /chat/completions` says beside words and calls: pictures, sounds, sources,
//! refusals, signatures.

use serde_json::{Value, json};
use thermidor_model_runtime::{
    ChatEvent, ChatRequest, Dialect, Provider, Quirk, Quirks, StreamEnd, StreamEnding,
    dialect::{Close, Decoder, Target, encode},
};
use thermidor_types::{Citation, FailureKind, Media, MediaSource, Message, ModelCard, ModelId, Part, Tokens};

fn model() -> ModelId {
    ModelId::new("lab", "m")
}

/// The end of an answer, the same at any cut.
fn heard(body: &str, quirks: &[Quirk]) -> StreamEnd {
    let decode = |size: usize| {
        let quirks = Quirks::of(quirks.iter().copied());
        let mut decoder = Decoder::new(Dialect::OpenaiChat, model(), "p", &quirks);
        body.as_bytes().chunks(size).for_each(|piece| decoder.feed(piece));
        match decoder.finish(Close::EndOfStream).pop() {
            Some(ChatEvent::Ended(end)) => *end,
            other => panic!("{other:?}"),
        }
    };
    let whole = decode(body.len());
    assert_eq!(decode(1), whole, "cut at 1");
    whole
}

/// Events of one choice each, made of these deltas, and an ordinary end.
fn stream(deltas: &[Value]) -> String {
    let chunk = |delta: &Value| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}));
    let stop = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    deltas.iter().map(chunk).collect::<String>() + stop
}

fn media(end: &StreamEnd) -> Vec<&Media> {
    let media = end.message.parts.iter().filter_map(|part| match part {
        Part::Media(media) => Some(media),
        _ => None,
    });
    media.collect()
}

/// Would fail if a picture were lost in a form that is known to come.
#[test]
fn pictures_in_every_form() {
    let data = "data:image/webp;base64,QUJD";
    let forms = [
        json!({"images": [{"type": "image_url", "image_url": {"url": data}}]}),
        json!({"images": [{"image_url": {"image_url": {"url": data}}}]}),
        json!({"images": [{"url": data}]}),
        json!({"images": [data]}),
        json!({"content": [{"type": "image_url", "image_url": data}]}),
        json!({"content": [{"image": data}]}),
    ];
    let inside =
        Media { media_type: "image/webp".into(), source: MediaSource::Base64("QUJD".into()), name: None };
    for form in forms {
        let end = heard(&stream(std::slice::from_ref(&form)), &[]);
        assert_eq!((media(&end), end.unknown.len()), (vec![&inside], 0), "{form}");
    }
    let end =
        heard(&stream(&[json!({"images": ["https://e.org/a.JPG?x=1", {"b64_json": "QUJD"}, {}]})]), &[]);
    let kinds: Vec<_> = media(&end).iter().map(|media| media.media_type.as_str()).collect();
    assert_eq!(kinds, ["image/jpeg", "image/png"]);
    assert_eq!(end.unknown[0].what, "an image", "what cannot be read is counted");
}

#[test]
fn sounds_are_put_together_and_their_words_are_text() {
    let end = heard(
        &stream(&[
            json!({"audio": {"id": "a", "transcript": "Hel"}}),
            json!({"audio": {"data": "UklGRg"}}),
            json!({"audio": {"data": "AAAA==", "transcript": "lo"}}),
            json!({"audio": {"data": "QUJD", "expires_at": 1}}),
        ]),
        &[],
    );
    assert_eq!(end.message.text(), "Hello");
    let sounds: Vec<_> = media(&end).iter().map(|media| (media.media_type.as_str(), &media.source)).collect();
    let data = |text: &str| MediaSource::Base64(text.into());
    assert_eq!(sounds, [("audio/wav", &data("UklGRgAAAA==")), ("audio/pcm", &data("QUJD"))]);
    let whole = r#"{"choices":[{"message":{"content":null,"audio":{"data":"SUQzQQ==","transcript":"Hi"}},"finish_reason":"stop"}]}"#;
    let end = heard(whole, &[]);
    assert_eq!((end.message.text().as_str(), media(&end)[0].media_type.as_str()), ("Hi", "audio/mpeg"));
}

fn cited(body: &str) -> Vec<Citation> {
    let end = heard(body, &[]);
    assert_eq!(end.unknown, [], "{body}");
    end.message.citations
}

fn source(url: &str, title: Option<&str>) -> Citation {
    Citation { url: Some(url.into()), title: title.map(Into::into), ..Citation::default() }
}

/// Each provider has its own place for sources; a missed one is an answer without proof.
#[test]
fn sources_wherever_they_are_each_once() {
    let end = r#""choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]"#;
    let one = [source("https://e.org", Some("E"))];
    let rows = [
        r#""search_results":[{"url":"https://e.org","title":"E"}]"#,
        r#""citations":["https://e.org"],"search_results":[{"url":"https://e.org","title":"E"}]"#,
        r#""search_info":{"search_results":[{"index":1,"url":"https://e.org","title":"E"}]}"#,
        r#""web_search":[{"link":"https://e.org","title":"E","icon":"i"}]"#,
        r#""venice_parameters":{"web_search_citations":[{"url":"https://e.org","title":"E"}]}"#,
    ];
    for row in rows {
        let event = format!("data: {{{row},{end}}}\n\n");
        assert_eq!(cited(&event), one, "{row}");
        assert_eq!(cited(&format!("data: {{{row}}}\n\n{event}")), one, "{row}, twice");
    }
    assert_eq!(cited(&format!("data: {{\"citations\":{{}},{end}}}\n\n")), [], "an empty one");
    let later = format!("data: {{\"citations\":[\"https://e.org\"],{end}}}\n\ndata: {{{}}}\n\n", rows[0]);
    assert_eq!(cited(&later), one, "the title came last");
    let messages = r#"data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop","messages":[{"role":"user"},{"annotations":[{"url":"https://e.org","title":"E"}]}]}]}"#;
    assert_eq!(cited(&format!("{messages}\n\n")), one);
}

/// Would fail if characters were taken for bytes.
#[test]
fn spans_of_annotations_are_in_bytes() {
    let annotation = |url: &str, start: usize, end: usize| json!({"type": "url_citation", "url_citation": {"url": url, "title": "T", "start_index": start, "end_index": end}});
    let annotations = [
        annotation("https://e.org", 1, 3),
        annotation("https://e.org", 1, 3),
        annotation("https://e.org", 0, 5),
        annotation("https://e.org/far", 4, 90),
    ];
    let body = stream(&[
        json!({"content": "é答"}),
        json!({"content": "案 🦀"}),
        json!({"annotations": annotations}),
    ]);
    let spans: Vec<_> = cited(&body).into_iter().map(|citation| citation.span).collect();
    assert_eq!(spans, [Some(2..8), Some(0..13), None]);
    let also =
        format!("data: {{\"citations\":[\"https://e.org\",\"https://else.org\"],\"choices\":[]}}\n\n{body}");
    let urls = cited(&also);
    assert_eq!(urls.iter().filter(|citation| citation.url.as_deref() == Some("https://e.org")).count(), 2);
    assert_eq!(urls.len(), 4);
}

#[test]
fn refusals_are_words_and_a_reason() {
    let refused = heard(&stream(&[json!({"refusal": "I can"}), json!({"refusal": "not."})]), &[]);
    assert_eq!((refused.message.text().as_str(), refused.refused), ("I cannot.", true));
    assert_eq!(refused.ending, StreamEnding::Finished);
    let stopped =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"refusal\":\"no\"},\"finish_reason\":\"length\"}]}\n\n";
    assert_eq!(heard(stopped, &[]).ending, StreamEnding::Length);
}

#[test]
fn a_failure_in_a_choice_is_one() {
    let event = r#"{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":429,"message":"slow down"}}]}"#;
    for body in [format!("data: {event}\n\n"), event.to_owned()] {
        match heard(&body, &[]).ending {
            StreamEnding::Failed(failure) => {
                assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::RateLimited, "slow down"));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A first event of Azure, an empty one, and one with sources alone are nothing strange; new blocks are.
#[test]
fn what_is_known_is_not_counted_and_what_is_unknown_is() {
    let known = "data: {\"choices\":[],\"prompt_filter_results\":[{\"prompt_index\":0}]}\n\ndata: {\"choices\":[]}\n\n";
    assert_eq!(heard(&format!("{known}{}", stream(&[json!({"content": "x"})])), &[]).unknown, []);
    let strange = stream(&[json!({"content": [{"type": "hologram", "beam": 1}]}), json!({"content": 5})]);
    let unknown = heard(&strange, &[]).unknown;
    let sample = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    let told: Vec<_> = unknown.iter().map(|shape| (shape.what.as_str(), sample(&shape.sample))).collect();
    assert_eq!(told, [("a content block", json!({"type": "hologram", "beam": 1})), ("a content", json!(5))]);
}

/// Perplexity says an empty delta beside the whole message.
#[test]
fn an_empty_delta_hides_no_message() {
    let whole = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}"#;
    assert_eq!(heard(whole, &[]).message.text(), "Hi");
    let growing = [("H", "H"), ("i", "Hi"), ("", "Hi")].map(|(delta, message)| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"delta": {"content": delta}, "message": {"content": message}}]})
        )
    });
    assert_eq!(heard(&(growing.concat() + &stream(&[])), &[]).message.text(), "Hi");
}

#[test]
fn figures_of_the_cache_under_every_name() {
    let usage = |usage: &str| {
        let end = heard(&format!("data: {{\"choices\":[],\"usage\":{usage}}}\n\ndata: [DONE]\n\n"), &[]);
        let usage = end.message.usage;
        [usage.cached_input, usage.cache_write, usage.cache_write_hour, usage.reasoning]
            .map(|tokens| tokens.0)
    };
    let head = r#""prompt_tokens":100,"completion_tokens":9"#;
    assert_eq!(usage(&format!(r#"{{{head},"prompt_cache_hit_tokens":7}}"#)), [7, 0, 0, 0]);
    assert_eq!(
        usage(&format!(
            r#"{{{head},"prompt_tokens_details":{{"cached_tokens":0}},"cache_read_input_tokens":8}}"#
        )),
        [8, 0, 0, 0]
    );
    assert_eq!(
        usage(&format!(
            r#"{{{head},"cache_creation_input_tokens":30,"cache_creation":{{"ephemeral_1h_input_tokens":10}},"reasoning_tokens":4}}"#
        )),
        [0, 30, 10, 4]
    );
}

/// What an answer holds for its model alone comes back as it was.
#[test]
fn details_and_signatures_make_the_round() {
    let quirks = [Quirk::ReasoningDetails, Quirk::ThoughtSignatures];
    let detail = |text: &str| json!({"type": "reasoning.text", "index": 0, "text": text, "signature": null});
    let end = heard(
        &stream(&[
            json!({"reasoning": "Hm", "reasoning_details": [detail("Hm")]}),
            json!({"reasoning": ".", "reasoning_details": [detail(".")]}),
            json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "sig"}]}),
            json!({"reasoning_details": [{"type": "reasoning.encrypted", "index": 0, "id": "r", "data": "x"}]}),
            json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "look", "arguments": "{}"},
                "extra_content": {"google": {"thought_signature": "thought"}}}]}),
        ]),
        &quirks,
    );
    let request = ChatRequest { messages: vec![Message::Assistant(end.message)], ..ChatRequest::default() };
    let provider = Provider { quirks: Quirks::of(quirks), ..Provider::new("lab", "http://127.0.0.1") };
    let card = ModelCard::unknown(model(), Tokens(1000));
    let wire = encode(&request, Target { card: &card, provider: &provider }).expect("encodable");
    let body: Value = serde_json::from_slice(&wire.body).expect("JSON");
    assert_eq!(
        body["messages"][0]["reasoning_details"],
        json!([
            {"type": "reasoning.text", "index": 0, "text": "Hm.", "signature": "sig"},
            {"type": "reasoning.encrypted", "index": 0, "id": "r", "data": "x"},
        ])
    );
    let signature = body.pointer("/messages/0/tool_calls/0/extra_content/google/thought_signature");
    assert_eq!(signature, Some(&json!("thought")));
}

/// An unsigned half of a thought is of no use to anybody.
#[test]
fn details_of_a_broken_answer_are_not_kept() {
    let broken = "data: {\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"Hm\"}]}}]}\n\n";
    let end = heard(broken, &[Quirk::ReasoningDetails]);
    assert!(matches!(end.ending, StreamEnding::CutOff(_)));
    assert!(end.message.parts.iter().all(|part| !matches!(part, Part::Native(_))));
}

/// Arguments that were cut before their first letter are not an empty object.
#[test]
fn cut_arguments_do_not_become_an_object() {
    let arguments = |finish: &str| {
        let call = json!({"choices": [{"index": 0, "finish_reason": finish,
            "delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}]}}]});
        let end = heard(&format!("data: {call}\n\n"), &[]);
        end.message.exchanges().map(|exchange| exchange.call.arguments.to_string()).collect::<String>()
    };
    assert_eq!((arguments("tool_calls").as_str(), arguments("length").as_str()), ("{}", ""));
}
