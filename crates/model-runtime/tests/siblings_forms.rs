//! The documented wire forms of models that do not chat, each by a request and an answer.

use thermidor_model_runtime::{
    Provider, bundled_providers,
    dialect::{Target, Unencodable, WireRequest},
    embedding::{self, EmbeddingForm, EmbeddingPurpose, EmbeddingRequest},
    image::{self, ImageRequest, ImageSize},
    speech::{self, AudioFormat, SpeechRequest, TranscriptDetail, TranscriptionRequest},
};
use thermidor_types::{MediaSource, Tokens};

fn row(name: &str) -> Provider {
    bundled_providers().iter().find(|row| row.name == name).expect("a row").clone()
}

/// Path and body.
fn told(wire: Result<WireRequest, Unencodable>) -> String {
    match wire {
        Ok(wire) => format!("{} {}", wire.path, String::from_utf8_lossy(&wire.body)),
        Err(why) => why.to_string(),
    }
}

fn embed(row: &Provider, request: &EmbeddingRequest) -> String {
    let card = row.unknown_card("m");
    told(embedding::encode(request, Target { card: &card, provider: row }))
}

/// Would fail if a wish were sent in another provider's word, or silently left out where it matters.
#[test]
fn wishes_for_vectors_have_each_providers_word() {
    let wishes = EmbeddingRequest {
        dimensions: Some(64),
        purpose: Some(EmbeddingPurpose::Query),
        ..EmbeddingRequest::of(["a"])
    };
    let check = |name: &str, expected: &str| assert_eq!(embed(&row(name), &wishes), expected, "{name}");
    check("openai", r#"/embeddings {"model":"m","input":["a"],"dimensions":64}"#);
    check("mistral", r#"/embeddings {"model":"m","input":["a"],"output_dimension":64}"#);
    check("ollama-native", r#"/api/embed {"model":"m","input":["a"],"dimensions":64}"#);
    check(
        "google",
        r#"/v1beta/models/m:batchEmbedContents {"requests":[{"model":"models/m","content":{"parts":[{"text":"a"}]},"task_type":"RETRIEVAL_QUERY","output_dimensionality":64}]}"#,
    );
    check("cohere", "this provider's wire format has no length of vectors to choose");
    check("anthropic", "this provider's wire format has no embeddings");
    let plain = EmbeddingRequest { purpose: wishes.purpose, ..EmbeddingRequest::of(["a"]) };
    let cohere = r#"/v1/embed {"model":"m","texts":["a"],"input_type":"search_query"}"#;
    assert_eq!(embed(&row("cohere"), &plain), cohere);
    let azure = Provider::azure("https://acme.openai.azure.com?api-version=2024-10-21");
    assert!(
        embed(&azure, &plain).starts_with("/openai/deployments/m/embeddings?api-version=2024-10-21 {"),
        "the path goes with that of chat"
    );
}

/// Would fail if a server's own way of listing vectors were not understood, or a wrong length passed.
#[test]
fn vectors_come_in_each_servers_way() {
    let read = |form: EmbeddingForm, request: &EmbeddingRequest, answer: &str| {
        let mut row = Provider::new("lab", "http://127.0.0.1/v1");
        row.services.embedding = Some(form);
        embedding::read(request, &row, answer.as_bytes()).map_err(|why| why.to_string())
    };
    let two = EmbeddingRequest::of(["a", "b"]);
    let bare = r#"[{"index":1,"embedding":[[3,4]]},{"index":0,"embedding":[[1,2]]}]"#;
    let letters =
        r#"{"data":[{"index":0,"embedding":"AACAPwAAAEA="},{"index":1,"embedding":"AABAQAAAgEA="}]}"#;
    let ollama = r#"{"model":"m","embeddings":[[1,2],[3,4]],"total_duration":1,"prompt_eval_count":8}"#;
    for (form, answer) in
        [(EmbeddingForm::Openai, bare), (EmbeddingForm::Openai, letters), (EmbeddingForm::Ollama, ollama)]
    {
        assert_eq!(read(form, &two, answer).expect(answer).vectors, [[1.0, 2.0], [3.0, 4.0]], "{answer}");
    }
    assert_eq!(read(EmbeddingForm::Ollama, &two, ollama).expect("vectors").usage.input, Tokens(8));
    let wrong = |request: &EmbeddingRequest, answer: &str| {
        read(EmbeddingForm::Ollama, request, answer).expect_err(answer)
    };
    assert_eq!(wrong(&two, r#"{"embeddings":[[1]]}"#), "1 vectors came for 2 texts");
    assert_eq!(wrong(&two, r#"{"embeddings":[[1],[1,2]]}"#), "a vector has 2 dimensions, not 1");
    assert_eq!(wrong(&two, r#"{"embeddings":[[],[]]}"#), "a vector has 0 dimensions, not 0");
    let long = EmbeddingRequest { dimensions: Some(3), ..two.clone() };
    assert_eq!(wrong(&long, ollama), "a vector has 2 dimensions, not 3");
    for form in [
        EmbeddingForm::Openai,
        EmbeddingForm::Mistral,
        EmbeddingForm::Google,
        EmbeddingForm::Ollama,
        EmbeddingForm::Cohere,
    ] {
        for odd in ["", "{}", "[", "<html>", "5", "[5]", r#"{"data":5}"#, r#"{"embeddings":[{}]}"#] {
            assert!(read(form, &two, odd).is_err(), "{form:?} {odd}");
        }
    }
}

#[test]
fn images_are_asked_for_and_read() {
    let request = ImageRequest {
        size: Some(ImageSize { width: 1_024, height: 768 }),
        count: Some(2),
        seed: Some(7),
        ..ImageRequest::of("A disc")
    };
    let check = |name: &str, expected: &str| {
        let (row, card) = (row(name), row(name).unknown_card("m"));
        assert_eq!(told(image::encode(&request, Target { card: &card, provider: &row })), expected, "{name}");
    };
    check("openai", r#"/images/generations {"model":"m","prompt":"A disc","size":"1024x768","n":2}"#);
    check(
        "xai",
        r#"/images/generations {"model":"m","prompt":"A disc","aspect_ratio":"4:3","resolution":"1k","n":2,"response_format":"b64_json"}"#,
    );
    check(
        "venice",
        r#"/image/generate {"model":"m","prompt":"A disc","width":1024,"height":768,"variants":2,"seed":7}"#,
    );
    check("mistral", "this provider's wire format has no images");

    let read = |name: &str, answer: &str| image::read(&row(name), answer.as_bytes());
    let linked = read("openai", r#"{"data":[{"url":"https://x/a"},{"b64_json":"/9j/"}]}"#).expect("images");
    assert_eq!(linked.images[0].media.source, MediaSource::Url("https://x/a".into()));
    assert_eq!(linked.images[1].media.media_type, "image/jpeg");
    for odd in ["", "[]", "{}", r#"{"data":[]}"#, r#"{"data":[{}]}"#, r#"{"images":[]}"#, r#"{"images":5}"#] {
        assert!(read("openai", odd).is_err() && read("venice", odd).is_err(), "{odd}");
    }
}

#[test]
fn sounds_are_asked_for() {
    let (row, card) = (row("openrouter"), row("openrouter").unknown_card("m"));
    let target = Target { card: &card, provider: &row };
    let request = TranscriptionRequest::of("foob", AudioFormat::Wav);
    assert_eq!(
        told(speech::encode_transcription(&request, target)),
        r#"/audio/transcriptions {"model":"m","input_audio":{"data":"Zm9vYg==","format":"wav"}}"#
    );
    let segments = TranscriptionRequest { detail: TranscriptDetail::Segments, ..request };
    let refused = speech::encode_transcription(&segments, target).expect_err("no form");
    assert_eq!(refused, Unencodable::NoForm("segments of a transcript"));
    let silence = speech::encode_transcription(&TranscriptionRequest::default(), target).expect_err("empty");
    assert!(matches!(silence, Unencodable::OutOfRange(_)));

    let openai = self::row("openai");
    let card = openai.unknown_card("m");
    let target = Target { card: &card, provider: &openai };
    let request = SpeechRequest {
        format: AudioFormat::Opus,
        instructions: Some("Softly.".into()),
        speed: Some(1.5),
        ..SpeechRequest::of("Hi", "alloy")
    };
    assert_eq!(
        told(speech::encode_speech(&request, target)),
        r#"/audio/speech {"model":"m","input":"Hi","voice":"alloy","response_format":"opus","instructions":"Softly.","speed":1.5}"#
    );
    let wrong = |request: SpeechRequest| told(speech::encode_speech(&request, target));
    assert_eq!(wrong(SpeechRequest::of(" ", "alloy")), "there are no words to speak");
    let never = SpeechRequest { speed: Some(f32::NAN), ..request };
    assert_eq!(wrong(never), "the speed of speech is a number above 0");
}
