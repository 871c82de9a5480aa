//! An agent on its own, with scripted models.

use serde_json::json;
use thermidor::{
    ErrorKind,
    prelude::*,
    runs,
    types::{FailureKind, ToolResult},
};
use thermidor_testing::{Reply, ScriptedModel};

/// The whole test of an agent with a tool. Would fail if the tool were not run, or its result not shown.
#[tokio::test]
async fn it_calculates() -> Result<(), Error> {
    let model =
        ScriptedModel::new("test").calls("calculator", json!({"expression": "17 * 23"})).says("It is 391.");
    let agent = Agent::new("reckoner", "You calculate.").tool(Calculator::default()).own_model(model.clone());
    assert_eq!(agent.ask("What is 17 * 23?").await?, "It is 391.");
    let shown = model.requests()[1].messages.last().cloned();
    let Some(Message::Assistant(turn)) = shown else { panic!("{shown:?} is no turn of the agent") };
    let results: Vec<_> = turn.exchanges().map(|exchange| exchange.result.clone()).collect();
    assert_eq!(results, [Some(ToolResult::text("391"))]);
    Ok(())
}

/// Would fail if a missing key were found out only after a run had started.
#[tokio::test]
async fn what_cannot_work_is_said_first() {
    let agent = Agent::new("a", "You answer.");
    for (agent, kind, words) in [
        (agent.clone().model("deepseek"), ErrorKind::Model(FailureKind::Credentials), "set DEEPSEEK_API_KEY"),
        (agent.clone().model("depseek/x"), ErrorKind::Model(FailureKind::NotFound), "did you mean deepseek?"),
        (agent.clone().may_call("clock"), ErrorKind::Run(runs::ErrorKind::Configuration), "clock"),
        (
            agent.clone().tool(Calculator::default()).tool(Calculator::default()),
            ErrorKind::Run(runs::ErrorKind::Configuration),
            "already a tool named `calculator`",
        ),
    ] {
        let error = agent.ask("Hello").await.expect_err(words);
        assert_eq!((error.kind(), error.to_string().contains(words)), (kind, true), "{error}");
    }
}

/// Would fail if a failed run passed for an answer.
#[tokio::test]
async fn a_failed_run_is_no_answer() {
    let agent =
        Agent::new("a", "You answer.").own_model(ScriptedModel::new("test").fails(FailureKind::Quota));
    let error = agent.ask("Hello").await.expect_err("there is no answer");
    assert_eq!(error.kind(), ErrorKind::Run(runs::ErrorKind::NotDone));
    assert!(error.to_string().contains("the script fails here"), "{error}");
}

/// Would fail if the default were not the first of: named, own, with a key, rehearsal.
#[test]
fn the_default_model() -> Result<(), Error> {
    let keyed = || Models::builder().key("deepseek", "sk-1");
    let own = || ScriptedModel::answering("own/one", |_| Reply::says("yes"));
    for (models, expected) in [
        (Models::builder(), "rehearsal/extractive"),
        (Models::builder().key("deepseek", " "), "rehearsal/extractive"),
        (keyed(), "deepseek/deepseek-chat"),
        (keyed().register(own()), "own/one"),
        (keyed().register(own()).default_model("rehearsal/extractive"), "rehearsal/extractive"),
    ] {
        assert_eq!(models.build()?.default_model().to_string(), expected);
    }
    let error = Models::builder().default_model("openai").build().expect_err("there is no key");
    assert_eq!(error.kind(), ErrorKind::Model(FailureKind::Credentials));
    Ok(())
}
