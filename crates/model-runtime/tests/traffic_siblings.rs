//! Recorded traffic that is no chat: embeddings, images, sounds and lists of models. The rest is named.

mod support;

use std::collections::BTreeMap;

use expect_test::{expect, expect_file};
use serde::Deserialize;
use serde_json::Value;
use support::meaning::{Reason, Report, Rules};
use thermidor_model_runtime::{
    Provider, bundled_providers,
    dialect::{Target, Unencodable, WireRequest, read_fault},
    embedding::{self, EmbeddingPurpose, EmbeddingRequest},
    image::{self, ImageRequest, ImageSize},
    listing,
    speech::{self, AudioFormat, TranscriptionRequest},
};
use thermidor_types::{Json, MediaSource};

#[derive(Deserialize)]
struct Exchange {
    case: String,
    provider: String,
    method: String,
    path: String,
    #[serde(default)]
    request: Option<String>,
    status: u16,
    response: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Chat,
    Listing,
    Embedding,
    Image,
    Sound,
    Other,
}

impl Exchange {
    fn kind(&self) -> Kind {
        let path = self.path.split('?').next().unwrap_or_default();
        let ends = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
        // Cohere's own format of chat and Google's interactions are none of ours.
        if ends(&["/chat/completions", "/responses", "/v1/messages", "/api/chat"])
            || ends(&[":generateContent", ":streamGenerateContent"])
        {
            Kind::Chat
        } else if self.method == "GET" && path.ends_with("/models") {
            Kind::Listing
        } else if ends(&["/embeddings", "/v1/embed", ":batchEmbedContents"]) {
            Kind::Embedding
        } else if ends(&["/images/generations", "/image/generate"]) {
            Kind::Image
        } else if ends(&["/audio/transcriptions"]) {
            Kind::Sound
        } else {
            Kind::Other
        }
    }

    fn row(&self) -> &'static Provider {
        let name = if self.provider == "gemini" { "google" } else { &self.provider };
        bundled_providers().iter().find(|row| row.name == name).expect("a row")
    }

    fn asked(&self) -> Value {
        serde_json::from_str(self.request.as_deref().unwrap_or_default()).expect("a JSON body")
    }

    fn answered(&self) -> Value {
        serde_json::from_str(&self.response).expect("a JSON answer")
    }

    fn model(&self) -> String {
        let asked = self.asked();
        let model = asked["model"].as_str().or_else(|| asked["requests"][0]["model"].as_str());
        model.expect("a model").trim_start_matches("models/").to_owned()
    }
}

fn all() -> Vec<Exchange> {
    let folder = format!("{}/testdata/recordings", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("the recordings are there");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).expect("text"));
    let lines = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    lines.map(|line| serde_json::from_str(&line).expect("an exchange")).collect()
}

fn of(kind: Kind) -> Vec<Exchange> {
    all().into_iter().filter(|exchange| exchange.kind() == kind).collect()
}

fn embedding_request(asked: &Value) -> EmbeddingRequest {
    let requests = asked["requests"].as_array();
    let texts: Vec<&Value> = match requests {
        Some(requests) => requests.iter().map(|request| &request["content"]["parts"][0]["text"]).collect(),
        None => {
            [&asked["input"], &asked["texts"]].iter().filter_map(|list| list.as_array()).flatten().collect()
        }
    };
    let length =
        asked["dimensions"].as_u64().or_else(|| asked["requests"][0]["output_dimensionality"].as_u64());
    EmbeddingRequest {
        inputs: texts.iter().map(|text| text.as_str().expect("text").into()).collect(),
        dimensions: length.map(|length| u32::try_from(length).expect("small")),
        purpose: asked["input_type"].as_str().map(|word| match word {
            "search_document" => EmbeddingPurpose::Document,
            other => panic!("{other} is new"),
        }),
        extra: None,
    }
}

fn image_request(asked: &Value) -> ImageRequest {
    let mut extra = asked.as_object().expect("an object").clone();
    let mut take = |name: &str| extra.remove(name).unwrap_or_default();
    for known in ["model", "response_format"] {
        drop(take(known));
    }
    let number = |value: &Value| value.as_u64().map(|number| u32::try_from(number).expect("small"));
    let sides = take("size").as_str().map(|size| {
        let (width, height) = size.split_once('x').expect("two sides");
        (width.parse().expect("pixels"), height.parse().expect("pixels"))
    });
    let sides = sides.or(number(&take("width")).zip(number(&take("height"))));
    let sides = sides.or(match (take("aspect_ratio").as_str(), take("resolution").as_str()) {
        (Some("4:3"), Some("2k")) => Some((2_048, 1_536)),
        (None, None) => None,
        other => panic!("{other:?} is new"),
    });
    let (prompt, seed) = (take("prompt"), take("seed").as_u64());
    // What one provider alone knows.
    if let Some(format) = asked.get("response_format").filter(|_| asked.get("aspect_ratio").is_none()) {
        extra.insert("response_format".to_owned(), format.clone());
    }
    ImageRequest {
        prompt: prompt.as_str().expect("words").into(),
        size: sides.map(|(width, height)| ImageSize { width, height }),
        count: None,
        seed,
        extra: Some(Json::of(&extra).expect("JSON")),
    }
}

/// Every recorded image is one, inline, of the type that was told, with the bill of those who send one.
#[test]
fn recorded_images_are_read() {
    let rows = of(Kind::Image);
    let read = |exchange: &Exchange| {
        let made = image::read(exchange.row(), exchange.response.as_bytes()).expect(&exchange.case);
        let [picture] = made.images.as_slice() else { panic!("{}", exchange.case) };
        assert_eq!(picture.media.source, MediaSource::Base64("aGVsbG8=".into()), "{}", exchange.case);
        let (usage, media) = (&made.usage, &picture.media.media_type);
        let cost = usage.cost.map(|cost| cost.to_string()).unwrap_or_default();
        format!("{} {media} {} in {} out {cost:?}\n", exchange.case, usage.input, usage.output)
    };
    let images = rows.iter().filter(|exchange| exchange.status == 200).map(read).collect::<String>();
    expect![[r#"
        openai/image_params_matrix/additional_params_output_format_reaches_the_api#0 image/jpeg 14 in 272 out ""
        openai/image_params_matrix/allowlisted_model_still_generates#0 image/png 14 in 272 out ""
        venice/image_generation/image_generation_smoke#0 image/webp 0 in 0 out ""
        xai/image_generation/image_generation_smoke#0 image/png 0 in 0 out "0.07 USD"
    "#]].assert_eq(&images);
}

fn sound_request(asked: &Value) -> TranscriptionRequest {
    let sound = asked["input_audio"]["data"].as_str().expect("base64");
    assert_eq!(asked["input_audio"]["format"], "mp3");
    TranscriptionRequest::of(bytes(sound), AudioFormat::Mp3)
}

/// Base64, read with no help of the crate.
fn bytes(encoded: &str) -> Vec<u8> {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut bytes) = (0_u32, 0, Vec::new());
    for letter in encoded.trim_end_matches('=').chars() {
        bits = bits << 6 | u32::try_from(letters.find(letter).expect("a letter")).expect("small");
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xFF).expect("a byte"));
        }
    }
    bytes
}

/// What was heard, and what it took, in tokens, in time or in money.
#[test]
fn recorded_transcripts_are_read() {
    let rows = of(Kind::Sound);
    let read = |exchange: &Exchange| {
        let heard = speech::read_transcript(exchange.row(), exchange.response.as_bytes());
        let heard = heard.expect(&exchange.case);
        assert_eq!(exchange.answered()["text"], heard.text.as_str(), "{}", exchange.case);
        let (usage, time) = (&heard.usage, heard.duration);
        let cost = usage.cost.map(|cost| cost.to_string()).unwrap_or_default();
        format!("{} {} in {} out {time:?} {cost:?}\n", exchange.case, usage.input, usage.output)
    };
    let heard = rows.iter().filter(|exchange| exchange.status == 200).map(read).collect::<String>();
    expect![[r#"
        openai/transcription_usage_matrix/completions_client_reports_token_usage#0 54 in 16 out None ""
        openai/transcription_usage_matrix/gpt_4o_mini_transcribe_reports_token_usage#0 54 in 16 out None ""
        openai/transcription_usage_matrix/gpt_4o_transcribe_reports_token_usage#0 54 in 16 out None ""
        openai/transcription_usage_matrix/whisper_reports_duration_usage#0 0 in 0 out Some(6s) ""
        openrouter/transcription/transcription_smoke#0 0 in 0 out Some(6s) "0.0006 USD"
    "#]]
    .assert_eq(&heard);
}

/// The vectors of an answer, read with no help of the crate, in the order of the texts.
fn vectors(answered: &Value) -> Vec<Vec<f64>> {
    let entries = answered.get("data").or_else(|| answered.get("embeddings")).and_then(Value::as_array);
    let mut entries: Vec<&Value> = entries.expect("a list").iter().collect();
    entries.sort_by_key(|entry| entry["index"].as_u64());
    let numbers = |entry: &&Value| {
        let inner = entry.get("embedding").or_else(|| entry.get("values")).unwrap_or(entry);
        inner.as_array().expect("numbers").iter().map(|number| number.as_f64().expect("a number")).collect()
    };
    entries.iter().map(numbers).collect()
}

/// Every answer against a reading that knows nothing of the crate.
#[test]
fn recorded_embeddings_are_read() {
    let mut table: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for exchange in of(Kind::Embedding).iter().filter(|exchange| exchange.status == 200) {
        let (case, answered) = (&exchange.case, exchange.answered());
        let request = embedding_request(&exchange.asked());
        let found = embedding::read(&request, exchange.row(), exchange.response.as_bytes()).expect(case);
        let expected = vectors(&answered);
        assert_eq!(found.vectors.len(), request.inputs.len(), "{case}");
        assert_eq!(found.vectors.len(), expected.len(), "{case}");
        for (ours, theirs) in found.vectors.iter().zip(&expected) {
            assert_eq!(ours.len(), theirs.len(), "{case}");
            for (ours, theirs) in ours.iter().zip(theirs) {
                assert!((f64::from(*ours) - theirs).abs() <= theirs.abs() * 1e-7, "{case}: {ours} {theirs}");
            }
        }
        let tokens = [&answered["usage"]["prompt_tokens"], &answered["meta"]["billed_units"]["input_tokens"]];
        let tokens = tokens.iter().find_map(|tokens| tokens.as_u64()).unwrap_or_default();
        assert_eq!((found.usage.input.0, found.usage.output.0), (tokens, 0), "{case}");
        assert_eq!(found.model.as_deref(), answered["model"].as_str(), "{case}");
        let row = table.entry(exchange.provider.clone()).or_default();
        *row = (row.0 + 1, row.1 + expected.len());
    }
    let line = |(name, (answers, vectors)): (&String, &(usize, usize))| {
        format!("{name:<12}{answers:>3}{vectors:>4}\n")
    };
    let table = table.iter().map(line).collect::<String>();
    expect![[r"
        cohere        1   3
        copilot       1   3
        doubleword    4   6
        gemini        3   9
        llamacpp      2   4
        mistral       6  12
    "]]
    .assert_eq(&table);
}

/// Refusals keep the provider's words and have the right kind.
#[test]
fn recorded_refusals_are_classified() {
    let refused = |exchange: &Exchange| {
        let fault = read_fault(Some(exchange.status), exchange.response.as_bytes());
        let code = fault.code.unwrap_or_default();
        format!("{} {} {:?} {code:?}\n", exchange.case, exchange.status, fault.kind)
    };
    let kinds = [Kind::Listing, Kind::Embedding, Kind::Image, Kind::Sound];
    let mut rows = all();
    rows.retain(|exchange| exchange.status != 200 && kinds.contains(&exchange.kind()));
    expect![[r#"
        anthropic/models/list_models_rejected_key_reports_api_error_with_context#0 401 Credentials "authentication_error"
        doubleword/embedding_dimensions/empty_input_at_a_requested_width#0 400 InvalidRequest "invalid_request_error"
        llamacpp/error_matrix/embeddings_input_past_the_batch#0 500 ContextTooLong "server_error"
        mistral/embedding_matrix/error_preserves_provider_body#0 400 NotFound "invalid_model"
        openai/embedding_matrix/error_preserves_provider_body#0 404 NotFound "model_not_found"
        openai/error_identity_edge/embeddings_error_preserves_status_and_body#0 404 NotFound "model_not_found"
        openai/error_identity_edge/model_listing_auth_failure_keeps_api_error_context#0 401 Credentials "invalid_api_key"
        openai/image_params_matrix/additional_params_override_model#0 400 NotFound "invalid_value"
        openai/image_params_matrix/additional_params_override_size#0 400 InvalidRequest "invalid_value"
        openai/image_params_matrix/response_format_is_rejected_before_the_model_is_looked_at#0 400 InvalidRequest "unknown_parameter"
        openai/image_params_matrix/unlisted_dated_snapshot_reaches_its_own_validation#0 400 InvalidRequest "invalid_value"
        openai/transcription_usage_matrix/rejected_request_surfaces_the_provider_body#0 400 InvalidRequest "invalid_request_error"
    "#]].assert_eq(&rows.iter().map(refused).collect::<String>());
}

#[test]
fn recorded_lists_are_read() {
    let rows = of(Kind::Listing);
    let read = |exchange: &Exchange| {
        let form = listing::ListingForm::of(exchange.row());
        let page = listing::read(form, exchange.response.as_bytes()).expect("a list");
        format!("{} {}\n", exchange.case, page.models.len())
    };
    let lists: String = rows.iter().filter(|exchange| exchange.status == 200).map(read).collect();
    expect![[r"
        deepseek/models/list_models_smoke#0 2
        llamacpp/models/list_models_smoke#0 1
        llamacpp/unmapped_surface/models_envelope#0 1
        venice/model_listing/list_models_smoke#0 108
    "]]
    .assert_eq(&lists);
}

type Written = Result<WireRequest, Unencodable>;

fn written(exchange: &Exchange) -> Written {
    let row = exchange.row();
    let card = row.unknown_card(&exchange.model());
    let target = Target { card: &card, provider: row };
    match exchange.kind() {
        Kind::Embedding => embedding::encode(&embedding_request(&exchange.asked()), target),
        Kind::Image => image::encode(&image_request(&exchange.asked()), target),
        Kind::Sound => speech::encode_transcription(&sound_request(&exchange.asked()), target),
        Kind::Chat | Kind::Listing | Kind::Other => panic!("{} has another test", exchange.case),
    }
}

const REASONS: &[Reason] = &[Reason {
    case: "doubleword/embedding_dimensions/empty_input_*",
    pointer: "",
    why: "an empty text is refused here, with its place: the provider says no more than that the request is invalid",
}];

/// The same wishes make a body of the same meaning, at the same path.
#[test]
fn recorded_requests_are_written_alike() {
    let mut report = Report::new(Rules { defaults: &[], reasons: REASONS });
    for exchange in all() {
        let body = exchange.request.as_deref().unwrap_or_default();
        // The recordings hold no forms with files in them.
        if !matches!(exchange.kind(), Kind::Embedding | Kind::Image | Kind::Sound) || body.is_empty() {
            continue;
        }
        let wire = written(&exchange);
        if let Ok(wire) = &wire {
            assert!(exchange.path.ends_with(&wire.path), "{}: {}", exchange.case, wire.path);
        }
        let ours = wire.as_ref().map(|wire| wire.body.as_slice()).map_err(ToString::to_string);
        report.compare(&exchange.provider, &exchange.case, body, ours);
    }
    report.finish();
}

/// What is recorded and belongs to no form there is a codec for. A new one shows here.
#[test]
fn the_rest_is_known_by_name() {
    let rows = of(Kind::Other);
    let line = |exchange: &Exchange| format!("{} {} {}\n", exchange.case, exchange.method, exchange.path);
    let rest = rows.iter().map(line).collect::<String>();
    expect_file!["snapshots/other_traffic.txt"].assert_eq(&rest);
}
