use std::sync::Arc;

use tempfile::TempDir;
use thermidor_agent_runtime::{AgentSpec, Contract};
use thermidor_group_orchestration::{GraphSpec, GroupSpec, StageSpec, SupervisorSpec};
use thermidor_model_runtime::{ChatRequest, ModelRuntime, ModelRuntimeBuilder, Provider};
use thermidor_runs::{Outcome, Run, RunRequest, Runs, RunsBuilder};
use thermidor_step_engine::{EndStatus, Journal, MemoryJournal};
use thermidor_storage::{Durability, Options, SqliteJournal};
use thermidor_tools::{NoArguments, ToolSpec, tool_fn};
use thermidor_types::{
    AssistantMessage, Exchange, Json, Message, ModelId, Part, ToolCall, ToolResult, ToolSchema,
};

use crate::{Bench, Error};

/// Model calls in one run of [`relay`] and of [`pipeline`].
pub(crate) const CALLS: usize = 5;

/// What the hand-off tools of [`relay`] are called, and what they answer.
pub(crate) const TOOLS: [&str; 2] = ["transfer_to_worker_a", "transfer_to_worker_b"];
pub(crate) const HANDED: &str = "here is the result: the part is finished.";

/// The sentence every run begins with.
pub(crate) const REQUEST: &str = "Do both parts of the job.";
pub(crate) const PERSONA: &str = "You are a supervisor. Hand each part to a worker.";

/// A folder on the disk that the build is on, not in memory.
pub(crate) fn folder() -> Result<TempDir, Error> {
    Ok(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?)
}

pub(crate) fn sqlite(folder: &TempDir, durability: Durability) -> Result<SqliteJournal, Error> {
    let options = Options { durability, ..Options::default() };
    Ok(SqliteJournal::open(folder.path().join("journal.sqlite"), options)?)
}

/// Models of the mock provider, `mock/…`.
pub(crate) fn models(bench: &Bench) -> ModelRuntimeBuilder {
    ModelRuntime::builder().provider(Provider::new("mock", bench.base_url()))
}

pub(crate) fn in_memory(bench: &Bench) -> Result<Runs, Error> {
    over(bench, MemoryJournal::new())
}

pub(crate) fn over(bench: &Bench, journal: impl Journal) -> Result<Runs, Error> {
    with_tools(Runs::builder(models(bench).build()?).journal(journal))
}

pub(crate) fn with_tools(builder: RunsBuilder) -> Result<Runs, Error> {
    let hand_off = |name: &'static str| {
        tool_fn(name, "Hands the next part of the job to this worker", async |_: NoArguments| HANDED)
            .with(ToolSpec::pure)
    };
    let [first, second] = TOOLS;
    Ok(builder.tool(hand_off(first)).tool(hand_off(second)).build()?)
}

pub(crate) fn agent(model: &str) -> AgentSpec {
    AgentSpec {
        member: "supervisor".into(),
        name: "Supervisor".into(),
        model: ModelId::new("mock", model),
        persona: PERSONA.into(),
        skill: None,
        tools: Vec::new(),
        contract: Contract::default(),
        temperature: None,
        max_calls: 2_000,
        zone: "UTC".into(),
    }
}

/// An agent that hands parts of its work to others by tool calls: [`CALLS`] model calls, four of them with a
/// tool call. `suffix` is added to the model's script.
pub(crate) fn relay(suffix: &str) -> RunRequest {
    let tools = TOOLS.map(Into::into).to_vec();
    RunRequest::agent(AgentSpec { tools, ..agent(&format!("mock-sup-n4{suffix}")) }, REQUEST)
}

/// What a relay's agent asks its model behind `handed` hand-offs.
pub(crate) fn request(handed: usize) -> ChatRequest {
    let mut messages =
        vec![Message::system(PERSONA), Message::user(format!("<request>\n{REQUEST}\n</request>"))];
    for index in 0..handed {
        let call = ToolCall::new(format!("c{}.0", index + 1), TOOLS[index % 2], "{}");
        let exchange = Exchange::open(call).answered(ToolResult::text(HANDED));
        let answer =
            AssistantMessage { parts: vec![Part::Exchange(exchange)], ..AssistantMessage::default() };
        messages.push(Message::Assistant(answer));
    }
    let tools = TOOLS.map(|name| ToolSchema {
        name: name.into(),
        description: "Hands the next part of the job to this worker".into(),
        parameters: Json::parse(r#"{"type":"object","properties":{}}"#).unwrap_or_default(),
    });
    ChatRequest { messages, tools: tools.into(), call_prefix: "call".into(), ..ChatRequest::default() }
}

/// Five members in a strict relay, each a run of its own below the group's: [`CALLS`] model calls.
pub(crate) fn pipeline() -> RunRequest {
    let names = ["a", "b", "c", "d", "e"];
    let mut before: Option<&str> = None;
    let stages = names.map(|name| {
        let stage = StageSpec::new(name, name, "Do your part of: {{ request }}").after(before);
        before = Some(name);
        stage
    });
    let members =
        names.map(|name| (name.into(), AgentSpec { member: name.into(), ..agent("mock-txt") }.into()));
    let group = GroupSpec {
        name: "five".into(),
        title: "Five".into(),
        members: members.into(),
        supervisor: SupervisorSpec::Graph(GraphSpec { stages: stages.into() }),
        params: std::collections::BTreeMap::new(),
    };
    RunRequest::group(group, REQUEST)
}

/// Runs it to its end, which must be a good one.
pub(crate) async fn finish(runs: &Runs, request: RunRequest) -> Result<(), Error> {
    done(runs.start(request).await?).await
}

pub(crate) async fn done(run: Run) -> Result<(), Error> {
    match run.wait().await? {
        Outcome::Ended(ended) if ended.end.status == EndStatus::Done => Ok(()),
        other => Err(format!("a run did not end well: {other:?}").into()),
    }
}

/// `count` runs, `in_flight` of them at any time.
pub(crate) async fn many(
    runs: Arc<Runs>,
    count: usize,
    in_flight: usize,
    request: fn() -> RunRequest,
) -> Result<(), Error> {
    let mut tasks = tokio::task::JoinSet::new();
    for begun in 0..count {
        if begun >= in_flight {
            tasks.join_next().await.ok_or("no task")???;
        }
        let runs = runs.clone();
        tasks.spawn(async move { finish(&runs, request()).await });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}
