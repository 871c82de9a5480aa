//! Lists of models: recorded ones, and the forms that providers document.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde::Deserialize;
use thermidor_model_runtime::{
    Known, ModelRuntime, Provider, bundled_cards, check_card,
    listing::{ListedModel, ListingForm, ModelKind, read, read_details},
};
use thermidor_types::{Abilities, FailureKind, ModelCard, ModelId, Tokens};

#[derive(Deserialize)]
struct Exchange {
    method: String,
    path: String,
    status: u16,
    response: String,
}

fn recorded(provider: &str) -> Vec<Exchange> {
    let path = format!("{}/testdata/recordings/{provider}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(path).expect("the recordings are there");
    let all = lines.lines().map(|line| serde_json::from_str::<Exchange>(line).expect("an exchange"));
    all.filter(|row| row.method == "GET" && row.path.ends_with("/models")).collect()
}

fn shown(model: &ListedModel) -> String {
    let tokens = |tokens: Option<Tokens>| tokens.map_or("?".to_owned(), |tokens| tokens.to_string());
    let can = model.abilities.map_or("?".to_owned(), |can| {
        let Abilities { tools, vision, audio, reasoning, structured_output, video, files, image_output } =
            can;
        let letters = [
            (tools, 'T'),
            (vision, 'V'),
            (audio, 'A'),
            (reasoning, 'R'),
            (structured_output, 'S'),
            (video, 'M'),
            (files, 'F'),
            (image_output, 'I'),
        ];
        letters.iter().filter(|(can, _)| *can).map(|(_, letter)| *letter).collect()
    });
    let price = model.price.as_ref().map_or("?".to_owned(), |price| {
        let mut text =
            format!("{}/{:?}/{:?}/{}", price.input, price.cached_input, price.cache_write, price.output);
        for tier in &price.tiers {
            let _ = write!(text, " >{}: {}/{:?}/{}", tier.above, tier.input, tier.cached_input, tier.output);
        }
        text.replace("Some(", "").replace(')', "").replace("None", "?")
    });
    let created = model.created.map(|at| format!(" @{at}")).unwrap_or_default();
    let title = model.title.as_ref().map(|title| format!(" {title:?}")).unwrap_or_default();
    let (window, most) = (tokens(model.window), tokens(model.max_output));
    format!("{}{title} {:?} {window}/{most} {can} {price}{created}\n", model.id, model.kind)
}

fn check(form: ListingForm, list: &str, expected: Expect) {
    let page = read(form, list.as_bytes()).expect("a list");
    let next = page.next.map(|next| format!("next {next}\n")).unwrap_or_default();
    expected.assert_eq(&(page.models.iter().map(shown).collect::<String>() + &next));
}

/// Would fail if a recorded list were not read to its last entry.
#[test]
fn recorded_lists_are_read() {
    let list = |provider: &str| recorded(provider).remove(0).response;
    check(
        ListingForm::Openai,
        &list("deepseek"),
        expect![[r"
        deepseek-v4-flash Chat ?/? ? ?
        deepseek-v4-pro Chat ?/? ? ?
    "]],
    );
    check(
        ListingForm::Openai,
        &list("llamacpp"),
        expect![[r"
        /REDACTED_PATH/Qwen3-1.7B-Q4_K_M.gguf Chat 4096/? ? ?
    "]],
    );
    let venice = read(ListingForm::Openai, list("venice").as_bytes()).expect("a list").models;
    assert_eq!(venice.len(), 108);
    let some = |id: &str| shown(venice.iter().find(|model| model.id == id).expect(id));
    expect![[r#"
        grok-4-3 "Grok 4.3" Chat 1000000/32000 TVRS 1420000/230000/?/2830000 >200000: 2830000/450000/5670000
        qwen3-5-9b "Qwen 3.5 9B" Chat 256000/32768 TVRS 100000/?/?/150000
        qwen-3-7-plus "Qwen 3.7 Plus" Chat 1000000/65536 TVRSM 500000/50000/625000/2000000 >256000: 1500000/150000/6000000
    "#]].assert_eq(&[some("grok-4-3"), some("qwen3-5-9b"), some("qwen-3-7-plus")].concat());
    for model in &venice {
        assert!(model.price.is_some() && model.window.is_some() && model.abilities.is_some(), "{}", model.id);
        let unknown = ModelCard::unknown(ModelId::new("venice", model.id.clone()), Tokens(32_768));
        let card = model.card("venice", &unknown);
        check_card(&card).expect("sound");
        assert_eq!(card.price, model.price, "the price of {} was refused", model.id);
    }
}

/// Would fail if a refusal were taken for an empty list.
#[test]
fn recorded_refusals_are_no_lists() {
    for provider in ["openai", "anthropic"] {
        let rows = recorded(provider);
        assert!(rows.iter().any(|row| row.status == 401), "{provider}");
        for row in rows.iter().filter(|row| row.status == 401) {
            for form in [ListingForm::Openai, ListingForm::Anthropic] {
                assert_eq!(read(form, row.response.as_bytes()), None, "{provider}");
            }
        }
    }
}

#[test]
fn documented_additions_to_the_openai_form() {
    // OpenRouter: prices of one token as text, -1 for unknown.
    check(
        ListingForm::Openai,
        r#"{"data":[
          {"id":"openai/gpt-4o","name":"OpenAI: GPT-4o","created":1715558400,"context_length":128000,
           "architecture":{"input_modalities":["text","image","file"],"output_modalities":["text"]},
           "pricing":{"prompt":"0.0000025","completion":"0.00001","request":"0","input_cache_read":"0.00000125"},
           "top_provider":{"context_length":128000,"max_completion_tokens":16384},
           "supported_parameters":["tools","structured_outputs"]},
          {"id":"openrouter/auto","context_length":2000000,"pricing":{"prompt":"-1","completion":"-1"},
           "architecture":{"input_modalities":["text"],"output_modalities":["text"]},"supported_parameters":["reasoning"]}]}"#,
        expect![[r#"
            openai/gpt-4o "OpenAI: GPT-4o" Chat 128000/16384 TVSF 2500000/1250000/?/10000000 @1715558400
            openrouter/auto Chat 2000000/? R ?
        "#]],
    );
    // Groq, vLLM, Together (a bare list), and a server that names nothing but ids.
    check(
        ListingForm::Openai,
        r#"{"data":[{"id":"llama-3.3-70b-versatile","created":1733447754,"context_window":131072,"max_completion_tokens":32768},
          {"id":"whisper-large-v3","created":1693721698,"context_window":448},
          {"id":"Qwen/Qwen3-30B","max_model_len":40960},{"object":"model"},{"id":"text-embedding-3-small","created":0}]}"#,
        expect![[r"
            llama-3.3-70b-versatile Chat 131072/32768 ? ? @1733447754
            whisper-large-v3 Speech 448/? ? ? @1693721698
            Qwen/Qwen3-30B Chat 40960/? ? ?
            text-embedding-3-small Embedding ?/? ? ?
        "]],
    );
    check(
        ListingForm::Openai,
        r#"[{"id":"meta-llama/Llama-3.3-70B","type":"chat","display_name":"Llama 3.3","context_length":131072,"pricing":{"input":0.88,"output":0.88,"hourly":0}},
          {"id":"black-forest-labs/FLUX.1","type":"image","pricing":{"input":0,"output":0}}]"#,
        expect![[r#"
            meta-llama/Llama-3.3-70B "Llama 3.3" Chat 131072/? ? 880000/?/?/880000
            black-forest-labs/FLUX.1 Image ?/? ? ?
        "#]],
    );
    // Mistral.
    check(
        ListingForm::Openai,
        r#"{"data":[{"id":"mistral-medium-2508","created":1754900000,"name":"mistral-medium-2508","max_context_length":131072,
          "capabilities":{"completion_chat":true,"function_calling":true,"vision":true,"fine_tuning":false}},
          {"id":"codestral-embed","max_context_length":8192,"capabilities":{"completion_chat":false,"function_calling":false}}]}"#,
        expect![[r"
            mistral-medium-2508 Chat 131072/? TVS ? @1754900000
            codestral-embed Embedding 8192/?  ?
        "]],
    );
}

#[test]
fn documented_lists_in_pages() {
    check(
        ListingForm::Anthropic,
        r#"{"data":[{"type":"model","id":"claude-sonnet-4-5-20250929","display_name":"Claude Sonnet 4.5","created_at":"2025-09-29T00:00:00Z"}],
          "has_more":true,"first_id":"claude-sonnet-4-5-20250929","last_id":"claude-sonnet-4-5-20250929"}"#,
        expect![[r#"
            claude-sonnet-4-5-20250929 "Claude Sonnet 4.5" Chat ?/? ? ? @1759104000
            next claude-sonnet-4-5-20250929
        "#]],
    );
    check(ListingForm::Anthropic, r#"{"data":[],"has_more":false,"last_id":null}"#, expect![[""]]);
    check(
        ListingForm::Google,
        r#"{"models":[
          {"name":"models/gemini-2.5-flash","displayName":"Gemini 2.5 Flash","inputTokenLimit":1048576,"outputTokenLimit":65536,
           "supportedGenerationMethods":["generateContent","countTokens"],"thinking":true},
          {"name":"models/gemini-embedding-001","inputTokenLimit":2048,"outputTokenLimit":1,"supportedGenerationMethods":["embedContent"]},
          {"name":"models/imagen-4.0-generate-001","inputTokenLimit":480,"outputTokenLimit":8192,"supportedGenerationMethods":["predict"]}],
          "nextPageToken":"abc"}"#,
        expect![[r#"
            gemini-2.5-flash "Gemini 2.5 Flash" Chat 1114112/65536 TVARSMF ?
            gemini-embedding-001 Embedding 2049/1 ? ?
            imagen-4.0-generate-001 Image 8672/8192 ? ?
            next abc
        "#]],
    );
}

#[test]
fn ollama_tells_the_rest_of_each_model() {
    let page = read(
        ListingForm::Ollama,
        br#"{"models":[{"name":"qwen3:4b","modified_at":"2026-05-01T10:00:00.5+02:00"}]}"#,
    );
    let model = page.expect("a list").models.remove(0);
    let details =
        |text: &str| read_details(ListingForm::Ollama, model.clone(), text.as_bytes()).expect("details");
    expect![[r"
        qwen3:4b Chat 40960/? TRS ? @1777622400
    "]].assert_eq(&shown(&details(
        r#"{"capabilities":["completion","tools","thinking"],"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}"#,
    )));
    let set = details(
        r#"{"parameters":"stop \"x\"\nnum_ctx                        8192","capabilities":["embedding"],
           "model_info":{"general.architecture":"bert","bert.context_length":512}}"#,
    );
    assert_eq!((set.window, set.kind), (Some(Tokens(8_192)), ModelKind::Embedding));
    assert_eq!(read_details(ListingForm::Openai, model, b"{}"), None);
}

/// Would fail if something odd in a list made it unreadable, or made something up.
#[test]
fn odd_lists_are_read_as_far_as_they_go() {
    let odd = r#"{"data":[{"id":7},{"id":"a","context_length":"x","pricing":{"prompt":[],"completion":{}},"created":"soon","type":3},null,5]}"#;
    check(
        ListingForm::Openai,
        odd,
        expect![[r"
        a Chat ?/? ? ?
    "]],
    );
    for none in ["", "{}", "[", "<html>", "5", r#"{"data":{}}"#, r#"{"models":3}"#] {
        for form in [ListingForm::Openai, ListingForm::Anthropic, ListingForm::Google, ListingForm::Ollama] {
            assert_eq!(read(form, none.as_bytes()), None, "{none}");
        }
    }
}

/// Would fail if a list with a figure in a wrong unit changed what is known, or a sound one did not.
#[test]
fn a_list_changes_a_card_only_by_figures_that_can_be_meant() {
    let known = bundled_cards().iter().find(|card| card.id.to_string() == "openai/gpt-4o").expect("bundled");
    let list = |fields: &str| {
        let list = format!(r#"[{{"id":"gpt-4o",{fields}}}]"#);
        read(ListingForm::Openai, list.as_bytes()).expect("a list").models.remove(0).card("openai", known)
    };
    assert_eq!(list(r#""context_window":128"#), *known);
    assert_eq!(list(r#""pricing":{"prompt":"2.5","completion":"10"}"#), *known);
    assert_eq!(list(r#""context_window":8192"#).context_window, Tokens(8_192));
    assert_eq!(list(r#""context_window":8192"#).max_output, None, "longer than the window");
    assert_eq!(
        list(r#""pricing":{"prompt":"0.000003","completion":"0.00001"}"#).price.expect("told").input,
        3_000_000
    );
}

#[tokio::test]
async fn listing_needs_a_provider_and_its_key() {
    let gone = Provider::new("gone", "http://127.0.0.1:9/v1");
    let runtime = ModelRuntime::builder().provider(gone).build().expect("sound");
    let kind = async |name: &str| runtime.list(name).await.expect_err(name).kind();
    assert_eq!(kind("openai").await, FailureKind::Credentials);
    assert_eq!(kind("nobody").await, FailureKind::NotFound);
    assert_eq!(kind("gone").await, FailureKind::Network);
}

/// Would fail if a list replaced a card of the caller's own, or lost what is known besides.
#[test]
fn lists_complete_the_cards_of_a_runtime() {
    let list = r#"[{"id":"gpt-4o","context_window":64000},{"id":"gpt-5","context_window":64000},{"id":"gpt-9"},{"id":"whisper-1"}]"#;
    let models = read(ListingForm::Openai, list.as_bytes()).expect("a list").models;
    let own = ModelCard::unknown(ModelId::new("openai", "gpt-5"), Tokens(9_000));
    let runtime = ModelRuntime::builder().card(own).listed("openai", models).build().expect("sound");
    let window = |name: &str| runtime.card(name).expect(name).0.context_window.0;
    assert_eq!(
        (window("openai/gpt-4o"), window("openai/gpt-5"), window("openai/gpt-9")),
        (64_000, 9_000, 128_000)
    );
    let (card, known) = runtime.card("openai/gpt-4o").expect("known");
    assert!(card.price.is_some() && known == Known::Card, "the bundled price holds");
    assert_eq!(runtime.card("openai/gpt-9").expect("listed").1, Known::Card);
    assert_eq!(runtime.card("openai/whisper-1").expect("assumed").1, Known::Assumed);
}
