//! Our client against every answer of the table that `cargo xtask clients` compares clients with.

use thermidor_model_runtime::{ChatRequest, ModelRuntime, Provider, RetryPolicy};
use thermidor_testing::{
    ClientCase, Heard,
    mock::{BadWireAnswers, MockOptions, MockProvider, WireAnswers},
};
use thermidor_types::Message;

fn table() -> WireAnswers {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/openai_chat.toml");
    WireAnswers::parse(&std::fs::read_to_string(path).expect("the table is there")).expect("a table")
}

/// Would fail if a word, a call, a count, an ending or an error were heard otherwise than the table says.
#[test]
fn our_client_hears_what_is_written() {
    let answers = table();
    assert!(answers.iter().count() >= 90, "answers were lost from the table");
    let mock = MockProvider::start_with(MockOptions { answers: answers.clone(), ..MockOptions::default() })
        .expect("a free port");
    let runtime = ModelRuntime::builder()
        .provider(Provider::new("mock", mock.base_url()))
        .retry(RetryPolicy { attempts: 1, ..RetryPolicy::default() })
        .build()
        .expect("a runtime");
    let driver = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a driver");
    for answer in answers.iter() {
        let case = ClientCase::of(answer).expect(&answer.name);
        assert_ne!(case.expected, Heard::default(), "{} expects nothing", answer.name);
        let model = runtime.model(&format!("mock/mock-wire-{}", answer.name)).expect("any name is a model");
        let request = ChatRequest { messages: vec![Message::user("Go")], ..ChatRequest::default() };
        let heard = driver.block_on(Heard::from(model.as_ref(), request));
        assert_eq!(heard, case.expected, "{}: {}", answer.name, answer.about);
    }
}

/// Would fail if a table with a slip were served as if it had none.
#[test]
fn tables_with_slips_are_refused() {
    let refused = |text: &str| WireAnswers::parse(text).expect_err("it has a slip");
    assert!(matches!(refused("[[answer]]\nname = \"a b\""), BadWireAnswers::Name(_)));
    assert!(matches!(refused("[[answer]]\nname = \"a\"\n[[answer]]\nname = \"a\""), BadWireAnswers::Name(_)));
    assert!(matches!(refused("[[answer]]\nname = \"a\"\nstatus = 99"), BadWireAnswers::Status(_)));
    for hex in ["f", "fg", "é", "+1"] {
        let text = format!("[[answer]]\nname = \"a\"\nbody = [{{ hex = \"{hex}\" }}]");
        assert!(matches!(refused(&text), BadWireAnswers::Hex(_)), "{hex}");
    }
    assert!(matches!(refused("[[answer]]\nname = \"a\"\nstream = true"), BadWireAnswers::Form(_)));
}
