//! Agents over the engine, with scripted models and real tools.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use expect_test::{Expect, expect};
use serde_json::json;
use thermidor_agent_runtime::{
    AgentCommand, AgentFact, AgentOutput, AgentSetup, Assignment, CallFragment, Tries, UpstreamOutput,
    agent_kind, facts,
};
use thermidor_context_engine::{Contribution, Report, provider_fn};
use thermidor_model_runtime::{ChatModel, ModelRuntime, RetryPolicy};
use thermidor_step_engine::{
    Driven, End, EndStatus, Engine, Fact, Kinds, Limits, LiveEvent, MemoryJournal, NodeId, Request, Start,
    TreeState,
};
use thermidor_testing::{Reply, ScriptedModel, TokioClock};
use thermidor_tools::{Calculator, JsonSchema, Registry, tool_fn};
use thermidor_types::{
    Ending, Exchange, FailureKind, Json, Message, Text, Timestamp, Tokens, ToolOutcome, TreeId, Uuid,
};
use tokio_util::sync::CancellationToken;

const RUN: u128 = 7;

fn run() -> TreeId {
    Uuid::from_u128(RUN).into()
}

fn setup(model: &ScriptedModel) -> AgentSetup {
    let model: Arc<dyn ChatModel> = Arc::new(model.clone());
    AgentSetup::new(model, || Timestamp::from_millis(1_780_000_000_000))
}

fn engine(setup: AgentSetup) -> Engine {
    Engine::new(Arc::new(MemoryJournal::new()), Kinds::new().with(agent_kind(setup)), TokioClock::new())
}

fn ada(more: serde_json::Value) -> serde_json::Value {
    let mut spec = json!({"member": "ada", "name": "Ada", "model": "test/one", "persona": "You are Ada."});
    spec.as_object_mut()
        .zip(more.as_object())
        .map(|(spec, more)| spec.extend(more.clone()))
        .expect("two objects");
    spec
}

fn tea() -> Assignment {
    Assignment { request: "Plan a tea timer".into(), ..Assignment::default() }
}

async fn start(engine: &Engine, spec: serde_json::Value, assignment: Assignment) {
    start_within(engine, Limits::default(), spec, assignment).await;
}

async fn start_within(engine: &Engine, limits: Limits, spec: serde_json::Value, assignment: Assignment) {
    let start = Start {
        kind: "agent".into(),
        spec: Json::of(&spec).expect("valid"),
        command: Json::of(&AgentCommand::Start(Box::new(assignment))).expect("valid"),
        limits,
        title: Text::default(),
    };
    engine.start(run(), start).await.expect("it starts");
}

async fn ended(engine: &Engine) -> End {
    match engine.drive(run(), &CancellationToken::new()).await.expect("it drives") {
        Driven::Ended(end) => end,
        other => panic!("not ended: {other:?}"),
    }
}

fn output(end: &End) -> AgentOutput {
    end.output.read().expect("an output")
}

async fn all_facts(engine: &Engine) -> Vec<AgentFact> {
    let records = engine.records(run(), 0).await.expect("it reads");
    let of_events = records.iter().filter_map(|record| match &record.fact {
        Fact::Happened { version, event } => Some(facts(event, *version).expect("known")),
        _ => None,
    });
    of_events.flatten().collect()
}

fn shown(facts: &[AgentFact]) -> String {
    let line = |fact: &AgentFact| match fact {
        AgentFact::TurnBegan { call } => format!("turn {call}"),
        AgentFact::Said { text, ending, usage, attempts, .. } => {
            format!("said {:?} {ending:?}, {} tokens, {attempts} tries", text.as_str(), usage.total())
        }
        AgentFact::ContextReport { report, .. } => {
            let report: Report = report.read().expect("a report");
            let sum: Tokens = report.lines.iter().map(|line| line.tokens_after).sum();
            assert_eq!(report.total, sum);
            "report".into()
        }
        AgentFact::ToolCalled { call } => format!("called {} {}", call.name, call.arguments),
        AgentFact::ToolFinished { outcome, text, .. } => format!("finished {outcome:?} {text}"),
        AgentFact::ToolLost { id } => format!("lost {id}"),
        AgentFact::Unfit { faults } => format!("unfit {}", faults.join(" ")),
        AgentFact::RepairAsked { .. } => "repair".into(),
        AgentFact::Repaired { better, faults } => format!("repaired {better} {}", faults.join(" ")),
        AgentFact::Failed { failure } => format!("failed {failure}"),
        AgentFact::Ended { status, .. } => format!("ended {status:?}"),
        _ => "?".into(),
    };
    facts.iter().map(|fact| line(fact).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

async fn check_facts(engine: &Engine, expected: Expect) {
    expected.assert_eq(&shown(&all_facts(engine).await));
}

fn told(message: &Message) -> String {
    match message {
        Message::System(_) | Message::User(_) => format!("{:?}: {}", message.role(), message.text()),
        Message::Assistant(answer) => {
            let exchanges = answer.exchanges().map(|Exchange { call, result }| {
                let result = result.as_ref().map(|result| result.outcome);
                format!("[{} {} {result:?}]", call.id, call.name)
            });
            format!("Assistant: {}{}", answer.text(), exchanges.collect::<String>())
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_goes_through_a_tool() {
    let model =
        ScriptedModel::new("test/one").calls("calculator", json!({"expression": "6*7"})).says("It is 42.");
    let mut tools = Registry::default();
    tools.register(Calculator::default()).expect("new");
    let engine = engine(
        setup(&model)
            .tools(tools)
            .provider(provider_fn("mood", |_| [Contribution::last_user("mood", "Be kind.")])),
    );
    let spec = ada(json!({
        "tools": ["calculator"], "temperature": 0.5,
        "skill": {"name": "planning", "instructions": "Plan well."},
        "contract": {"words": 100},
    }));
    let upstream = UpstreamOutput {
        id: "plan".into(),
        title: "The plan".into(),
        member: "Bob".into(),
        text: "Brew.".into(),
    };
    let assignment = Assignment {
        instruction: "Do it for {{ params.who }}".into(),
        upstream: vec![upstream],
        params: [("who".into(), Json::parse("\"me\"").expect("valid"))].into(),
        ..tea()
    };
    start(&engine, spec, assignment).await;
    let mut watcher = engine.subscribe(run(), 0).await.expect("it opens");
    let end = ended(&engine).await;
    assert_eq!((end.status, &*output(&end).text), (EndStatus::Done, "It is 42."));
    check_facts(
        &engine,
        expect![[r#"
        turn 1
        report
        said "" Finished, 51 tokens, 1 tries
        called calculator {"expression":"6*7"}
        finished Success 42
        turn 2
        report
        said "It is 42." Finished, 53 tokens, 1 tries
        ended Done"#]],
    )
    .await;

    let requests = model.requests();
    assert_eq!(requests.iter().map(|request| request.tools.len()).collect::<Vec<_>>(), [1, 1]);
    assert_eq!((requests[0].temperature, requests[0].max_output), (Some(0.5), Some(Tokens(16_384))));
    assert_ne!(requests[0].idempotency_key, requests[1].idempotency_key);
    let prompt: Vec<String> = requests[1].messages.iter().map(told).collect();
    expect![[r#"
        System: You are Ada.

        <skill name="planning">
        Plan well.
        </skill>

        Today is Thursday, 28 May 2026 (UTC).
        User: <request>
        Plan a tea timer
        </request>
        <output stage="plan" member="Bob" title="The plan">
        Brew.
        </output>
        <instruction>
        Do it for me
        </instruction>
        <mood>
        Be kind.
        </mood>
        Write at most 100 words.
        Answer in the language of the request.
        Assistant: [c1.0 calculator Some(Success)]"#]]
    .assert_eq(&prompt.join("\n"));
    // What is the same is the same byte for byte: provider caches live on it.
    assert_eq!(requests[0].messages[..2], requests[1].messages[..2]);

    let mut fragments = Vec::new();
    while let Ok(Ok(event)) = tokio::time::timeout(Duration::from_millis(1), watcher.next()).await {
        if let LiveEvent::Delta(delta) = event {
            fragments.push((delta.channel, delta.text));
        }
    }
    let text: String = fragments.iter().filter(|delta| delta.0 == "text").map(|delta| &*delta.1).collect();
    let calls: String = fragments.iter().filter(|delta| delta.0 == "call").map(|delta| &*delta.1).collect();
    let calls: Vec<CallFragment> =
        calls.lines().map(|line| serde_json::from_str(line).expect("a fragment")).collect();
    assert_eq!(text, "It is 42.");
    assert_eq!(calls.last().map(|call| &*call.fragment), Some(r#"{"expression":"6*7"}"#));
}

#[derive(serde::Deserialize, JsonSchema)]
#[schemars(crate = "thermidor_tools::schemars")]
struct City {
    city: String,
}

/// Would fail if wire names leaked into events, or registered ones into requests.
#[tokio::test(start_paused = true)]
async fn names_are_translated_both_ways() {
    let mut tools = Registry::default();
    tools
        .register(tool_fn("查天气 weather", "Weather", async |City { city }| format!("{city}: sunny")))
        .expect("new");
    let wire = tools.schemas()[0].name.clone();
    let model = ScriptedModel::new("test/one")
        .then(Reply::Calls(vec![
            (wire.clone(), r#"{"city":"Oslo"}"#.into()),
            ("no_such".into(), "{}".into()),
        ]))
        .says("Sunny.");
    let engine = engine(setup(&model).tools(tools));
    start(&engine, ada(json!({"tools": ["查天气 weather"]})), tea()).await;
    assert_eq!(ended(&engine).await.status, EndStatus::Done);
    check_facts(&engine, expect![[r#"
        turn 1
        report
        said "" Finished, 25 tokens, 1 tries
        called 查天气 weather {"city":"Oslo"}
        called no_such {}
        finished Success Oslo: sunny
        finished Error The tool does not exist: there is no tool `no_such`; there are `查天气 weather`. Call one of the tools you were given.
        turn 2
        report
        said "Sunny." Finished, 24 tokens, 1 tries
        ended Done"#]]).await;
    let Some(Message::Assistant(answer)) = model.requests()[1].messages.last().cloned() else {
        panic!("an answer")
    };
    let names: Vec<_> = answer.exchanges().map(|exchange| exchange.call.name.clone()).collect();
    assert_eq!(names, [wire, "no_such".into()]);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_cannot_fit_fails_clearly() {
    let model = ScriptedModel::new("test/one").with_window(Tokens(100)).says("never");
    let engine = engine(setup(&model));
    start(&engine, ada(json!({"persona": "word ".repeat(200)})), tea()).await;
    let end = ended(&engine).await;
    let failure = output(&end).failure.expect("a failure");
    assert_eq!((end.status, failure.kind), (EndStatus::Failed, FailureKind::ContextTooLong));
    assert_eq!(model.requests().len(), 0);
}

/// Would fail if a count of ours that is off for somebody's vocabulary ended the run, though there is enough to cut.
#[tokio::test(start_paused = true)]
async fn a_prompt_that_the_provider_counts_too_long_is_made_again_with_half_of_it() {
    let strict = |request: &thermidor_model_runtime::ChatRequest| {
        let length: usize = request.messages.iter().map(|message| message.text().len()).sum();
        if length > 14_000 {
            Reply::Fails(FailureKind::ContextTooLong)
        } else {
            Reply::Says("Short enough.".into())
        }
    };
    let model = ScriptedModel::answering("test/one", strict).with_window(Tokens(8_000));
    let engine = engine(setup(&model));
    let text = "word ".repeat(8_000);
    let output_of_others =
        UpstreamOutput { id: "plan".into(), title: "Plan".into(), member: "Bob".into(), text: text.into() };
    start(&engine, ada(json!({})), Assignment { upstream: vec![output_of_others], ..tea() }).await;
    assert_eq!(ended(&engine).await.status, EndStatus::Done);
    let lengths: Vec<usize> = model
        .requests()
        .iter()
        .map(|request| request.messages.iter().map(|it| it.text().len()).sum())
        .collect();
    assert!(matches!(lengths[..], [long, short] if long > 14_000 && short < long), "{lengths:?}");
    let limits: Vec<_> = model.requests().iter().map(|request| request.max_output).collect();
    assert_eq!(limits[0], limits[1], "the answer may be as long as before");
}

#[tokio::test(start_paused = true)]
async fn a_stop_keeps_what_was_said_and_what_it_cost() {
    let model = ScriptedModel::new("test/one").says("one two three four").paced(Duration::from_secs(1));
    let engine = engine(setup(&model));
    start(&engine, ada(json!({})), tea()).await;
    let (suspend, began) = (CancellationToken::new(), tokio::time::Instant::now());
    let stop = async {
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        engine.send(run(), NodeId::ROOT, Request::Stop).await.expect("posted");
    };
    let (driven, ()) = tokio::join!(engine.drive(run(), &suspend), stop);
    let Driven::Ended(end) = driven.expect("it drives") else { panic!("not ended") };
    assert!(began.elapsed() < Duration::from_millis(2_600), "{:?}", began.elapsed());
    let output = output(&end);
    assert_eq!((end.status, &*output.text), (EndStatus::Stopped, "one two "));
    assert!(output.usage.input > Tokens(0) && output.usage.output > Tokens(0));
    let status = engine.journal().list(None, 1).await.expect("it lists").remove(0).status;
    assert_eq!(
        (status.state, status.spent.tokens),
        (TreeState::Ended(EndStatus::Stopped), output.usage.total())
    );
    let said = all_facts(&engine).await;
    assert!(
        said.iter().any(|fact| matches!(fact, AgentFact::Said { ending: Ending::CutOff, .. })),
        "{said:?}"
    );
    assert_eq!(model.abandoned(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_call_is_made_again() {
    let model = ScriptedModel::new("test/one").says("one two").says("one two").paced(Duration::from_secs(1));
    let engine = engine(setup(&model));
    start(&engine, ada(json!({})), tea()).await;
    let suspend = CancellationToken::new();
    let pause = async {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        suspend.cancel();
    };
    let (driven, ()) = tokio::join!(engine.drive(run(), &suspend), pause);
    assert_eq!(driven.expect("it drives"), Driven::Suspended);
    assert_eq!(ended(&engine).await.status, EndStatus::Done);
    check_facts(
        &engine,
        expect![[r#"
        turn 1
        report
        said "one " CutOff, 47 tokens, 1 tries
        turn 2
        report
        said "one two" Finished, 25 tokens, 1 tries
        ended Done"#]],
    )
    .await;
    // The model does not see its own broken answer.
    let requests = model.requests();
    assert_eq!(requests[0].messages, requests[1].messages);
}

#[tokio::test(start_paused = true)]
async fn an_answer_out_of_form_is_repaired() {
    let model = ScriptedModel::new("test/one").says("no heading").says("## Goal\nTea.");
    let engine = engine(setup(&model));
    start(&engine, ada(json!({"contract": {"sections": ["Goal"]}})), tea()).await;
    let end = ended(&engine).await;
    assert_eq!(&*output(&end).text, "## Goal\nTea.");
    check_facts(
        &engine,
        expect![[r###"
        turn 1
        report
        said "no heading" Finished, 34 tokens, 1 tries
        unfit The heading "Goal" is missing.
        repair
        turn 2
        report
        said "## Goal\nTea." Finished, 70 tokens, 1 tries
        repaired true
        ended Done"###]],
    )
    .await;
    let requests = model.requests();
    let (first, second) = (&requests[0].messages, &requests[1].messages);
    assert_eq!(first[..], second[..first.len()], "the beginning of the prompt changed");
    let added: Vec<String> = second[first.len()..].iter().map(told).collect();
    expect![[r#"
        Assistant: no heading
        User: <repair>
        Your answer does not have the form that was asked for:
        - The heading "Goal" is missing.
        Give the whole answer once more with this put right, and nothing beside it.
        </repair>"#]]
    .assert_eq(&added.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn failures_are_tried_again_and_counted() {
    let model = ScriptedModel::new("test/one")
        .fails(FailureKind::Overloaded)
        .breaks_off("half an")
        .fails(FailureKind::RateLimited)
        .says("whole");
    let tries = Tries::default();
    let models = ModelRuntime::builder()
        .register(model.clone())
        .retry(RetryPolicy { attempts: 2, ..RetryPolicy::default() })
        .observer(Arc::new(tries.clone()))
        .build()
        .expect("a runtime");
    let clock = Arc::new(AtomicI64::new(0));
    let ticking = clock.clone();
    let setup =
        AgentSetup::new(models, move || Timestamp::from_millis(ticking.fetch_add(5, Ordering::Relaxed)));
    let engine = engine(setup.tries(tries));
    start(&engine, ada(json!({})), tea()).await;
    assert_eq!(&*output(&ended(&engine).await).text, "whole");
    check_facts(
        &engine,
        expect![[r#"
        turn 1
        report
        said "half an" CutOff, 25 tokens, 2 tries
        turn 2
        report
        said "whole" Finished, 24 tokens, 2 tries
        ended Done"#]],
    )
    .await;
    let latencies = all_facts(&engine).await.into_iter().filter_map(|fact| match fact {
        AgentFact::Said { latency, .. } => Some((latency.first_ms.is_some(), latency.total_ms > 0)),
        _ => None,
    });
    assert_eq!(latencies.collect::<Vec<_>>(), [(true, true), (true, true)]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_not_there_is_a_clear_failure() {
    let models = ModelRuntime::builder().build().expect("a runtime");
    let engine = engine(AgentSetup::new(models, || Timestamp::from_millis(0)));
    start(&engine, ada(json!({"model": "nowhere/x"})), tea()).await;
    let end = ended(&engine).await;
    assert_eq!(output(&end).failure.map(|failure| failure.kind), Some(FailureKind::NotFound));
    // A tool that does not exist is noticed before the run is stored.
    let model = ScriptedModel::new("test/one");
    let engine = self::engine(setup(&model));
    let spec = Json::of(&ada(json!({"tools": ["clock"]}))).expect("valid");
    let start = Start {
        kind: "agent".into(),
        spec,
        command: Json::default(),
        limits: Limits::default(),
        title: Text::default(),
    };
    let error = engine.start(run(), start).await.expect_err("no such tool").to_string();
    assert!(error.ends_with("the agent ada: there is no tool `clock`; there are no tools"), "{error}");
}

/// Would fail if a tool could outlive its own deadline, or a call without a result slipped into the answer.
#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_is_given_up() {
    let mut tools = Registry::default();
    let hangs = tool_fn("hangs", "Never ends", async |_: thermidor_tools::NoArguments| {
        std::future::pending::<()>().await;
        ""
    });
    tools.register(hangs).expect("new");
    let model = ScriptedModel::new("test/one").calls("hangs", json!({})).says("It hangs.");
    let engine = engine(setup(&model).tools(tools));
    start(&engine, ada(json!({"tools": ["hangs"]})), tea()).await;
    assert_eq!(ended(&engine).await.status, EndStatus::Done);
    let finished = all_facts(&engine).await.into_iter().find_map(|fact| match fact {
        AgentFact::ToolFinished { outcome, .. } => Some(outcome),
        _ => None,
    });
    assert_eq!(finished, Some(ToolOutcome::Unknown));
}

/// Would fail if a token limit bounded only whether a call starts, and not what it may say: a model that does
/// not come to its end would spend many times the limit.
#[tokio::test(start_paused = true)]
async fn a_token_limit_bounds_the_answer_that_is_asked_for() {
    let check = async |limit: Option<u64>, prompt: &str, expected: &dyn Fn(u64) -> u64| {
        let model = ScriptedModel::new("test/one").then(Reply::RunsLong("on and on".into()));
        let engine = engine(setup(&model));
        let limits = Limits { tokens: limit.map(Tokens), ..Limits::default() };
        let assignment = Assignment { request: prompt.into(), ..Assignment::default() };
        start_within(&engine, limits, ada(json!({})), assignment).await;
        assert_eq!(ended(&engine).await.status, EndStatus::Done);
        let input = all_facts(&engine).await.into_iter().find_map(|fact| match fact {
            AgentFact::ContextReport { report, .. } => report.read::<Report>().ok(),
            _ => None,
        });
        let input = input.expect("a report").total.0;
        let asked: Vec<_> = model.requests().iter().map(|request| request.max_output).collect();
        assert_eq!(asked, [Some(Tokens(expected(input)))], "limit {limit:?}, prompt of {input}");
    };
    check(Some(3_000), "Plan a tea timer", &|input| 3_000 - input).await;
    // As far as the room goes, however much is left.
    check(Some(1_000_000), "Plan a tea timer", &|_| 16_384).await;
    check(None, "Plan a tea timer", &|_| 16_384).await;
    // A prompt that takes all of it still gets a word out of the model.
    check(Some(3_000), &"tea ".repeat(4_000), &|_| 16).await;
}

/// What an earlier call spent is not there for the next one.
#[tokio::test(start_paused = true)]
async fn a_later_call_may_say_less() {
    let model = ScriptedModel::new("test/one").calls("calculator", json!({"expression": "6*7"})).says("42.");
    let mut tools = Registry::default();
    tools.register(Calculator::default()).expect("new");
    let engine = engine(setup(&model).tools(tools));
    let limits = Limits { tokens: Some(Tokens(3_000)), ..Limits::default() };
    start_within(&engine, limits, ada(json!({"tools": ["calculator"]})), tea()).await;
    assert_eq!(ended(&engine).await.status, EndStatus::Done);
    let (mut inputs, mut spent) = (Vec::new(), Vec::new());
    for fact in all_facts(&engine).await {
        match fact {
            AgentFact::ContextReport { report, .. } => {
                inputs.push(report.read::<Report>().expect("a report").total.0);
            }
            AgentFact::Said { usage, .. } => spent.push(usage.total().0),
            _ => {}
        }
    }
    let asked: Vec<_> = model.requests().iter().map(|request| request.max_output).collect();
    let expected = [3_000 - inputs[0], 3_000 - spent[0] - inputs[1]].map(|left| Some(Tokens(left)));
    assert_eq!(asked, expected);
}

/// A run whose every answer breaks off, and when its calls were made, in milliseconds from its beginning.
struct Breaking {
    journal: Arc<MemoryJournal>,
    model: ScriptedModel,
    clock: TokioClock,
    began: tokio::time::Instant,
    calls: Arc<Mutex<Vec<u128>>>,
}

impl Breaking {
    async fn begin() -> Self {
        let (began, calls) = (tokio::time::Instant::now(), Arc::default());
        let noted: Arc<Mutex<Vec<u128>>> = Arc::clone(&calls);
        let model = ScriptedModel::answering("test/one", move |_| {
            noted.lock().unwrap_or_else(PoisonError::into_inner).push(began.elapsed().as_millis());
            Reply::BreaksOff("half an".into())
        });
        let breaking = Self { journal: Arc::default(), model, clock: TokioClock::new(), began, calls };
        start(&breaking.engine(), ada(json!({})), tea()).await;
        breaking
    }

    /// As a new process has it: nothing but the journal is shared.
    fn engine(&self) -> Engine {
        let kinds = Kinds::new().with(agent_kind(setup(&self.model)));
        Engine::new(self.journal.clone(), kinds, self.clock.clone()).audited()
    }

    /// Drives the run until `millis` after its beginning, and has `act` done then.
    async fn drive(&self, millis: u64, act: impl AsyncFnOnce(&Engine, &CancellationToken)) -> Driven {
        let (engine, suspend) = (self.engine(), CancellationToken::new());
        let acting = async {
            tokio::time::sleep_until(self.began + Duration::from_millis(millis)).await;
            act(&engine, &suspend).await;
        };
        let (driven, ()) = tokio::join!(engine.drive(run(), &suspend), acting);
        driven.expect("it drives")
    }

    fn calls(&self) -> Vec<u128> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Would fail if an overloaded model were asked again at once, or a wait let go of the run: whoever follows it
/// would take that for its end.
#[tokio::test(start_paused = true)]
async fn a_call_that_broke_off_waits_before_it_is_made_again() {
    let breaking = Breaking::begin().await;
    let engine = breaking.engine();
    let end = ended(&engine).await;
    assert_eq!((end.status, breaking.calls()), (EndStatus::Failed, vec![0, 500, 2_500]));
    let records = engine.records(run(), 0).await.expect("it reads");
    let releases = records.iter().filter(|record| matches!(record.fact, Fact::Released { .. })).count();
    assert_eq!(releases, 1, "it was let go before its end");
}

/// Would fail if another process began a wait anew, cut it short, or forgot the call after it.
#[tokio::test(start_paused = true)]
async fn a_wait_goes_on_in_another_process() {
    let breaking = Breaking::begin().await;
    let suspend = async |_: &Engine, suspend: &CancellationToken| suspend.cancel();
    assert_eq!(breaking.drive(200, suspend).await, Driven::Suspended);
    assert_eq!(breaking.drive(300, suspend).await, Driven::Suspended);
    assert_eq!(breaking.calls(), [0]);
    assert_eq!(breaking.drive(600, suspend).await, Driven::Suspended);
    assert_eq!(breaking.calls(), [0, 500]);
    // Long after its moment: the next call is made at once.
    tokio::time::sleep_until(breaking.began + Duration::from_hours(1)).await;
    assert_eq!(ended(&breaking.engine()).await.status, EndStatus::Failed);
    assert_eq!(breaking.calls(), [0, 500, 3_600_000]);
}

/// Would fail if a stop, or the end of the run's time, had to sit the wait out.
#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_wait_at_once() {
    let breaking = Breaking::begin().await;
    let stop = async |engine: &Engine, _: &CancellationToken| {
        engine.send(run(), NodeId::ROOT, Request::Stop).await.expect("it is posted");
    };
    let driven = breaking.drive(1_000, stop).await;
    assert!(matches!(driven, Driven::Ended(end) if end.status == EndStatus::Stopped));
    assert_eq!((breaking.calls(), breaking.began.elapsed()), (vec![0, 500], Duration::from_secs(1)));

    let breaking = Breaking::begin().await;
    let limit = async |engine: &Engine, _: &CancellationToken| {
        let limits = Limits { millis: Some(1_200), ..Limits::default() };
        let request = Request::Limits(Box::new(limits));
        engine.send(run(), NodeId::ROOT, request).await.expect("it is posted");
    };
    let driven = breaking.drive(1_000, limit).await;
    assert!(matches!(driven, Driven::Ended(end) if end.status == EndStatus::Limit));
    assert_eq!((breaking.calls(), breaking.began.elapsed()), (vec![0, 500], Duration::from_millis(1_200)));
}
