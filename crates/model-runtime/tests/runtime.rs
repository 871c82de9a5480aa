//! From names to models: what is found, and what people are told when it is not.

use async_trait::async_trait;
use expect_test::{Expect, expect};
use futures_util::{StreamExt, stream};
use thermidor_model_runtime::{
    ChatEvent, ChatModel, ChatRequest, ChatStream, Error, Known, ModelRuntime, Provider, StreamEnd,
    StreamEnding,
};
use thermidor_types::{AssistantMessage, FailureKind, Message, ModelCard, ModelId, Part, Tokens};

fn runtime() -> ModelRuntime {
    ModelRuntime::builder().key("openai", "sk-1").key("dashscope", "sk-2").build().expect("sound")
}

fn check(name: &str, expected: Expect) {
    expected.assert_eq(&match runtime().model(name) {
        Ok(model) => format!("{} {}", model.card().id, model.card().context_window),
        Err(error) => format!("{:?}: {error}", error.kind()),
    });
}

#[test]
fn names_and_what_they_find() {
    check("openai/gpt-5-mini", expect!["openai/gpt-5-mini 400000"]);
    check("openai", expect!["openai/gpt-5-mini 400000"]);
    check("openai/gpt-99", expect!["openai/gpt-99 128000"]);
    check("qwen/qwen-plus", expect!["qwen/qwen-plus 1000000"]);
    check("dashscope/qwen-plus", expect!["qwen/qwen-plus 1000000"]);
    check("ollama/qwen3:8b", expect!["ollama/qwen3:8b 8192"]);
    check(
        "opnai/gpt-5",
        expect!["NotFound: not found while calling opnai: no provider is called opnai; did you mean openai?"],
    );
    check("nobody/m", expect!["NotFound: not found while calling nobody: no provider is called nobody"]);
    check(
        "deepseek/deepseek-chat",
        expect![
            "Credentials: credentials refused while calling deepseek/deepseek-chat: no key for DeepSeek: set DEEPSEEK_API_KEY"
        ],
    );
    check(
        "gpt-5-mini",
        expect![
            "Configuration: configuration error while calling gpt-5-mini: a model is named provider/model; did you mean openai/gpt-5-mini?"
        ],
    );
    check(
        "gpt-5-mni",
        expect![
            "Configuration: configuration error while calling gpt-5-mni: a model is named provider/model; did you mean openai/gpt-5-mini?"
        ],
    );
    check(
        "ollama",
        expect![
            "Configuration: configuration error while calling ollama: Ollama has no default model: name one as ollama/model"
        ],
    );
    check(
        "",
        expect!["Configuration: configuration error while calling a model: a model is named provider/model"],
    );
}

#[test]
fn unknown_models_are_flagged_and_the_nearest_is_named() {
    let (card, known) = runtime().card("openai/gpt-5-mni").expect("allowed");
    assert_eq!((known, card.price), (Known::Assumed, None));
    let near = runtime().suggestion(&card.id).map(|id| id.to_string());
    assert_eq!(near.as_deref(), Some("openai/gpt-5-mini"));
    let (card, known) = runtime().card("openai/gpt-5").expect("known");
    assert_eq!((known, card.price.map(|price| price.input)), (Known::Card, Some(1_250_000)));
}

#[test]
fn own_rows_and_cards_win() {
    let card = ModelCard::unknown(ModelId::new("openai", "gpt-5"), Tokens(5_000));
    let runtime = ModelRuntime::builder()
        .provider(Provider { local: true, ..Provider::new("openai", "http://127.0.0.1:1/v1") })
        .card(card)
        .build()
        .expect("sound");
    assert_eq!(runtime.model("openai/gpt-5").expect("no key needed").card().context_window, Tokens(5_000));
    assert_eq!(runtime.providers().filter(|provider| provider.name == "openai").count(), 1);
    assert_eq!(runtime.cards().iter().filter(|card| card.id.to_string() == "openai/gpt-5").count(), 1);
}

#[test]
fn what_cannot_work_is_said_when_the_runtime_is_built() {
    let refused = ModelRuntime::builder().key("opnai", "x").build().expect_err("unknown");
    assert_eq!(refused.message(), "no provider is called opnai; did you mean openai?");
    let refused = ModelRuntime::builder().base_url("openai", "localhost").build().expect_err("no address");
    assert_eq!(refused.kind(), FailureKind::Configuration);
    let thousands = ModelCard::unknown(ModelId::new("lab", "m"), Tokens(128));
    let refused = ModelRuntime::builder().card(thousands).build().expect_err("a window in thousands");
    assert_eq!(refused.message(), "context_window: 128 is no window: write tokens, such as 128000");
    let blank = ModelRuntime::builder().key("openai", " ").build().expect("sound");
    let refused = blank.model("openai").err().expect("no key");
    assert_eq!(refused.kind(), FailureKind::Credentials);
    assert!(blank.providers().filter(|provider| blank.is_ready(provider)).all(|provider| provider.local));
}

struct Echo(ModelCard);

#[async_trait]
impl ChatModel for Echo {
    fn card(&self) -> &ModelCard {
        &self.0
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Error> {
        let text = request.messages.last().map(Message::text).unwrap_or_default();
        let message = AssistantMessage { parts: vec![Part::text(text)], ..AssistantMessage::default() };
        let end = StreamEnd::new(message, StreamEnding::Finished);
        Ok(stream::iter([ChatEvent::Ended(Box::new(end))]).boxed())
    }
}

/// What an own provider says of its models holds for those without a card.
#[test]
fn models_without_a_card_take_their_providers_figures() {
    let small = Provider {
        context_window: Tokens(8_192),
        max_output: Some(Tokens(600)),
        ..Provider::new("lab", "http://127.0.0.1:1/v1")
    };
    let runtime = ModelRuntime::builder().provider(small).build().expect("sound");
    let (card, known) = runtime.card("lab/any").expect("a card");
    assert_eq!((card.context_window, card.max_output), (Tokens(8_192), Some(Tokens(600))));
    assert_eq!(known, Known::Assumed);
}

/// A registered model is found by its id and metered like any other.
#[tokio::test]
async fn own_models_can_be_registered() {
    let echo = Echo(ModelCard::unknown(ModelId::new("house", "echo"), Tokens(100)));
    let runtime = ModelRuntime::builder().register(echo).build().expect("sound");
    let request = ChatRequest { messages: vec![Message::user("12345678")], ..ChatRequest::default() };
    let mut stream =
        runtime.model("house/echo").expect("registered").stream(request).await.expect("an answer");
    let Some(ChatEvent::Ended(end)) = stream.next().await else { panic!("no end") };
    assert_eq!((end.message.text().as_str(), end.message.usage.total()), ("12345678", Tokens(8)));
    let wrong = runtime.model("hose/echo").err().expect("unknown");
    assert_eq!(wrong.message(), "no provider is called hose; did you mean house?");
}
