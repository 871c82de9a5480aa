//! Costs computed from cards against what providers billed in recorded traffic.

use std::{collections::BTreeMap, fmt::Write as _};

use expect_test::expect;
use serde::Deserialize;
use serde_json::Value;
use thermidor_model_runtime::{
    ModelRuntime, bundled_cards, cost,
    listing::{ListingForm, read},
};
use thermidor_types::{Price, Tokens, Usage};

#[derive(Deserialize)]
struct Exchange {
    case: String,
    method: String,
    path: String,
    request: Option<String>,
    response: String,
}

fn exchanges(provider: &str) -> Vec<Exchange> {
    let path = format!("{}/testdata/recordings/{provider}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(path).expect("the recordings are there");
    lines.lines().map(|line| serde_json::from_str(line).expect("an exchange")).collect()
}

/// Every JSON document of an answer: the whole of it, or each event's, and the `response` inside one.
fn documents(response: &str) -> Vec<Value> {
    if let Ok(document) = serde_json::from_str(response) {
        return vec![document];
    }
    let data = response.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    events.map(|event| event.get("response").cloned().unwrap_or(event)).collect()
}

/// What was billed in dollars, as this provider writes it.
fn billed(provider: &str, document: &Value) -> Option<f64> {
    let at = |path: &str| document.pointer(path).and_then(Value::as_f64);
    match provider {
        "openrouter" => at("/usage/cost"),
        "perplexity" => at("/usage/cost/total_cost"),
        "venice" => at("/cost/usd"),
        "xai" => at("/usage/cost_in_usd_ticks").map(|ticks| ticks / 1e10),
        _ => None,
    }
}

fn usage(document: &Value) -> Usage {
    let count = |paths: &[&str]| {
        let found = paths.iter().find_map(|path| document.pointer(&format!("/usage{path}"))?.as_u64());
        Tokens(found.unwrap_or(0))
    };
    Usage {
        input: count(&["/prompt_tokens", "/input_tokens"]),
        cached_input: count(&["/prompt_tokens_details/cached_tokens", "/input_tokens_details/cached_tokens"]),
        cache_write: count(&["/prompt_tokens_details/cache_write_tokens"]),
        output: count(&["/completion_tokens", "/output_tokens"]),
        ..Usage::default()
    }
}

/// The price that is known beforehand: of the owner's card for a gateway that passes prices on, of the provider's
/// own list where it has one.
fn price(provider: &str, model: &str, lists: &BTreeMap<String, Price>) -> Option<Price> {
    if provider == "venice" {
        return lists.get(model).cloned();
    }
    let name = if provider == "openrouter" { model.to_owned() } else { format!("{provider}/{model}") };
    let runtime = ModelRuntime::builder().build().expect("sound");
    let known = runtime.card(&name).map(|(card, _)| card.price).unwrap_or_default();
    known.or_else(|| owner(&name))
}

/// The card of an owner that is reached through gateways alone, its versions written with dots there.
fn owner(name: &str) -> Option<Price> {
    let plain = name.replace('.', "-");
    let card = bundled_cards().iter().find(|card| {
        let id = card.id.to_string();
        let id = id.replace('.', "-");
        id == plain || id.strip_prefix(&plain).is_some_and(|date| date.len() == 9 && date.starts_with('-'))
    });
    card.and_then(|card| card.price.clone())
}

/// Would fail if a rate, a unit, a tier or the part of the cache were off by more than one percent anywhere.
#[test]
fn computed_costs_are_what_was_billed() {
    let venice = exchanges("venice").into_iter().find(|row| row.method == "GET").expect("its list");
    let listed = read(ListingForm::Openai, venice.response.as_bytes()).expect("a list").models;
    let lists: BTreeMap<String, Price> =
        listed.into_iter().filter_map(|model| Some((model.id.to_string(), model.price?))).collect();

    let mut table: BTreeMap<(String, String), (usize, f64)> = BTreeMap::new();
    let mut left_out = String::new();
    for provider in ["openrouter", "perplexity", "venice", "xai"] {
        for row in exchanges(provider) {
            let documents = documents(&row.response);
            let Some((document, dollars)) =
                documents.iter().rev().find_map(|document| Some((document, billed(provider, document)?)))
            else {
                continue;
            };
            // The model that answered; some providers answer a retired name with another model.
            let asked = row.request.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
            let name = |value: &Value| value.get("model").and_then(Value::as_str).map(str::to_owned);
            let answered = documents.iter().rev().find_map(name);
            let asked = asked.as_ref().and_then(name);
            let model = answered.or(asked.clone()).unwrap_or_default();
            let (usage, known) = (usage(document), price(provider, &model, &lists));
            let known = known.or_else(|| price(provider, &asked?, &lists));
            let mut leave = |why: &str| {
                let _ = writeln!(left_out, "{} {}: {why}", row.case, row.path);
            };
            if usage.total() == Tokens(0) {
                leave("billed by another unit than tokens");
                continue;
            }
            let Some(known) = known else {
                leave(&format!("no price is known of {model}"));
                continue;
            };
            let ours = cost(&usage, &known).micros();
            #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small amounts")]
            let (theirs, off) = {
                // Both in whole millionths, rounded up: the grain of an amount.
                let theirs = (dollars * 1e6 - 1e-6).ceil() as i64;
                (theirs, (ours - theirs).abs() as f64 / (theirs.max(1)) as f64)
            };
            if document.pointer("/usage/prompt_tokens_details/audio_tokens").and_then(Value::as_u64) > Some(0)
            {
                assert!(theirs > ours, "{}", row.case);
                leave("sound has a rate of its own, which no card knows");
                continue;
            }
            if row.case.ends_with("web_search_on#0") {
                assert!(theirs > ours, "{}", row.case);
                leave("the bill holds a fee for a search, which no card knows");
                continue;
            }
            assert!(off <= 0.01, "{} {model}: computed {ours}, billed {theirs}: {usage:?}", row.case);
            let entry = table.entry((provider.to_owned(), model)).or_default();
            *entry = (entry.0 + 1, entry.1.max(off));
        }
    }
    let mut text = String::new();
    for ((provider, model), (rows, off)) in &table {
        let _ = writeln!(text, "{provider:<10} {model:<36} {rows:>3} rows  {:.2} %", off * 100.0);
    }
    expect![[r"
        openrouter anthropic/claude-haiku-4.5             1 rows  0.00 %
        openrouter google/gemini-2.5-flash                1 rows  0.00 %
        openrouter google/gemini-3-flash-preview-20251217   1 rows  0.00 %
        openrouter openai/gpt-4.1-mini                   16 rows  0.00 %
        openrouter openai/gpt-4o                         26 rows  0.00 %
        openrouter openai/gpt-4o-mini                    42 rows  0.00 %
        openrouter openai/gpt-5.2                         4 rows  0.00 %
        openrouter openai/o4-mini                         4 rows  0.00 %
        perplexity sonar                                  3 rows  0.10 %
        venice     mistral-small-3-2-24b-instruct        13 rows  0.00 %
        venice     qwen3-5-9b                            12 rows  0.00 %
        xai        grok-4.3                              23 rows  0.00 %
    "]]
    .assert_eq(&text);
    expect![[r"
        openrouter/multimodal/audio_analysis_prompt#0 /api/v1/chat/completions: sound has a rate of its own, which no card knows
        openrouter/transcription/transcription_smoke#0 /api/v1/audio/transcriptions: billed by another unit than tokens
        venice/venice_parameters/web_search_on#0 /api/v1/chat/completions: the bill holds a fee for a search, which no card knows
        xai/image_generation/image_generation_smoke#0 /v1/images/generations: billed by another unit than tokens
    "]].assert_eq(&left_out);
}
