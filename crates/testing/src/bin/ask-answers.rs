//! Our client as a command: asks a mock provider for every answer of a file, and prints what it heard.
//!
//! `ask-answers --answers FILE --base-url URL` prints a line of JSON for each answer: its name, what its notes
//! expect ([`ClientCase`]), and what was heard ([`Heard`]). `cargo xtask clients` compares them with what another
//! client hears.

use std::{io::Write as _, process::ExitCode};

use serde_json::json;
use thermidor_model_runtime::{ChatRequest, ModelRuntime, Provider, RetryPolicy};
use thermidor_testing::{ClientCase, Heard, mock::WireAnswers};
use thermidor_types::Message;

const USAGE: &str = "usage: ask-answers --answers FILE --base-url URL";

type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody may be reading.
            let _ = writeln!(std::io::stderr(), "ask-answers: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Error> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let place = words.iter().position(|word| word == flag);
        place.and_then(|place| words.get(place + 1)).ok_or(USAGE)
    };
    let answers = WireAnswers::parse(&std::fs::read_to_string(value("--answers")?)?)?;
    let runtime = ModelRuntime::builder()
        .provider(Provider::new("mock", value("--base-url")?))
        .retry(RetryPolicy { attempts: 1, ..RetryPolicy::default() })
        .build()?;
    let driver = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut out = std::io::stdout().lock();
    for answer in answers.iter() {
        let model = runtime.model(&format!("mock/mock-wire-{}", answer.name))?;
        let request = ChatRequest { messages: vec![Message::user("Go")], ..ChatRequest::default() };
        let heard = driver.block_on(Heard::from(model.as_ref(), request));
        let case =
            ClientCase::of(answer).map_err(|error| format!("the notes of {}: {error}", answer.name))?;
        let line = json!({"name": answer.name, "case": case, "heard": heard});
        writeln!(out, "{line}")?;
    }
    Ok(())
}
