use serde_json::Value;
use thermidor_types::{Abilities, Currency, Price, PriceTier, Tokens};

use super::{
    ListedModel, ModelKind, Page,
    price::{per_million, per_request, per_token},
    told,
};

/// Where servers tell the window.
const WINDOW: [&str; 9] = [
    "/model_spec/availableContextTokens", // Venice
    "/context_window",                    // Groq
    "/context_length",                    // OpenRouter, Together, Fireworks, Moonshot
    "/max_model_len",                     // vLLM
    "/meta/n_ctx",                        // llama.cpp
    "/max_context_length",                // Mistral
    "/loaded_context_length",             // LM Studio
    "/limits/max_context_window_tokens",
    "/capabilities/limits/max_context_window_tokens", // GitHub Copilot
];

/// Where servers tell the longest answer.
const MAX_OUTPUT: [&str; 5] = [
    "/top_provider/max_completion_tokens", // OpenRouter
    "/max_completion_tokens",              // Groq
    "/model_spec/maxCompletionTokens",     // Venice
    "/capabilities/limits/max_output_tokens",
    "/max_output_length",
];

/// `{data: [{id, …}]}`, or the bare list.
pub(super) fn read(list: &Value) -> Option<Page> {
    let entries = list.get("data").unwrap_or(list).as_array()?;
    Some(Page { models: entries.iter().filter_map(entry).collect(), next: None })
}

fn entry(entry: &Value) -> Option<ListedModel> {
    let named = ListedModel::named(told::text(entry, "/id")?);
    let title =
        ["/name", "/display_name", "/model_spec/name"].iter().find_map(|path| told::title(entry, path));
    Some(ListedModel {
        // Some servers repeat the id as the name.
        title: title.filter(|title| title.as_str() != named.id.as_str()),
        window: told::tokens(entry, &WINDOW),
        max_output: told::tokens(entry, &MAX_OUTPUT),
        abilities: abilities(entry),
        price: price(entry),
        created: told::moment(entry, "/created"),
        kind: kind(entry, named.kind),
        id: named.id,
    })
}

fn kind(entry: &Value, guessed: ModelKind) -> ModelKind {
    if let Some(kind) = told::text(entry, "/type").and_then(ModelKind::told) {
        return kind;
    }
    let makes = |what: &str| told::has(entry, "/architecture/output_modalities", what);
    if entry.pointer("/architecture/output_modalities").is_some_and(Value::is_array) {
        return match (makes("text"), makes("image"), makes("audio"), makes("embeddings")) {
            (true, ..) => ModelKind::Chat,
            (_, true, ..) => ModelKind::Image,
            (_, _, true, _) => ModelKind::Speech,
            (.., true) => ModelKind::Embedding,
            _ => ModelKind::Other,
        };
    }
    match entry.pointer("/capabilities/completion_chat").and_then(Value::as_bool) {
        Some(false) if guessed == ModelKind::Chat => ModelKind::Other,
        _ => guessed,
    }
}

/// What an entry tells of abilities, in one of the forms that are known.
fn abilities(entry: &Value) -> Option<Abilities> {
    // OpenRouter: the parameters a model takes, and the modalities both ways.
    if entry.pointer("/supported_parameters").is_some_and(Value::is_array) {
        let takes = |name: &str| told::has(entry, "/supported_parameters", name);
        let reads = |what: &str| told::has(entry, "/architecture/input_modalities", what);
        return Some(Abilities {
            tools: takes("tools"),
            vision: reads("image"),
            audio: reads("audio"),
            video: reads("video"),
            files: reads("file"),
            reasoning: takes("reasoning") || takes("include_reasoning"),
            structured_output: takes("structured_outputs"),
            image_output: told::has(entry, "/architecture/output_modalities", "image"),
        });
    }
    // Venice.
    if let Some(can) = entry.pointer("/model_spec/capabilities") {
        return Some(Abilities {
            tools: told::is(can, "/supportsFunctionCalling"),
            vision: told::is(can, "/supportsVision"),
            audio: told::is(can, "/supportsAudioInput"),
            video: told::is(can, "/supportsVideoInput"),
            reasoning: told::is(can, "/supportsReasoning"),
            structured_output: told::is(can, "/supportsResponseSchema"),
            ..Abilities::default()
        });
    }
    // Mistral: every chat model there answers by a schema.
    let can = entry.get("capabilities").filter(|can| can.get("completion_chat").is_some())?;
    Some(Abilities {
        tools: told::is(can, "/function_calling"),
        vision: told::is(can, "/vision"),
        audio: told::is(can, "/audio"),
        reasoning: told::is(can, "/reasoning"),
        structured_output: told::is(can, "/completion_chat"),
        ..Abilities::default()
    })
}

/// What an entry tells of prices, in one of the forms that are known; all of them are in US dollars.
fn price(entry: &Value) -> Option<Price> {
    if let Some(pricing) = entry.pointer("/model_spec/pricing") {
        return venice(pricing);
    }
    let pricing = entry.get("pricing")?;
    // OpenRouter, per token.
    if let (Some(input), Some(output)) = (pricing.get("prompt"), pricing.get("completion")) {
        let rate = |name: &str| pricing.get(name).and_then(per_token);
        return Some(Price {
            cached_input: rate("input_cache_read"),
            cache_write: rate("input_cache_write"),
            request: pricing.get("request").and_then(per_request),
            ..Price::new(Currency::USD, per_token(input)?, per_token(output)?)
        });
    }
    // Together, per million tokens. A pair of zeros is how models are listed that have no price there.
    let (input, output) = (per_million(pricing.get("input")?)?, per_million(pricing.get("output")?)?);
    let cached = pricing.get("cached_input").and_then(per_million).filter(|rate| *rate > 0);
    ((input, output) != (0, 0))
        .then(|| Price { cached_input: cached, ..Price::new(Currency::USD, input, output) })
}

/// Per million tokens, with other rates above a size.
fn venice(pricing: &Value) -> Option<Price> {
    let rate = |at: &Value, name: &str| per_million(at.pointer(&format!("/{name}/usd"))?);
    let tier = pricing.get("extended").and_then(|extended| {
        Some(PriceTier {
            above: Tokens(extended.get("context_token_threshold")?.as_u64()?),
            input: rate(extended, "input")?,
            cached_input: rate(extended, "cache_input"),
            cache_write: rate(extended, "cache_write"),
            cache_write_hour: None,
            output: rate(extended, "output")?,
        })
    });
    if pricing.get("extended").is_some() && tier.is_none() {
        return None; // larger requests cost something else, and nobody knows what
    }
    Some(Price {
        cached_input: rate(pricing, "cache_input"),
        cache_write: rate(pricing, "cache_write"),
        tiers: tier.into_iter().collect(),
        ..Price::new(Currency::USD, rate(pricing, "input")?, rate(pricing, "output")?)
    })
}
