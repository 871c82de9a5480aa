//! What comes out for typical views: a table for every rule.

mod support;

use std::time::Duration;

use expect_test::expect;
use support::{Words, call, outline, prompt, view, with_history};
use thermidor_context_engine::{
    ContextEngine, Contribution, Keep, Room, Stability, Step, Upstream, View, processor_fn, provider_async,
    provider_fn,
    steps::{HistoryTruncation, OutputContract, SkillText, SystemRole},
};
use thermidor_types::{
    Content, FailureKind, Json, Media, MediaSource, Message, Tokens, ToolSchema, UserMessage,
};

fn stage_view() -> View {
    let upstream = |id: &str, member: &str, text: &str| Upstream {
        id: id.into(),
        member: Some(member.into()),
        text: text.into(),
        ..Upstream::default()
    };
    View {
        instruction: "Plan {{ request }} on {{ date }}, {{ nope }}.".into(),
        upstream: vec![upstream("analysis", "General manager", "It must be simple.")],
        zone: "Asia/Shanghai".into(),
        ..view(100_000, "a tea timer")
    }
}

fn stage_engine() -> ContextEngine {
    ContextEngine::standard()
        .provider(SystemRole::new("You plan projects."))
        .provider(SkillText::new("project-manager", "Break work down.\n{{ not a placeholder }}"))
        .provider(OutputContract { words: Some(400), sections: vec!["Goal".into()], files: false })
        .counter(Words)
        .build()
        .expect("builds")
}

#[tokio::test]
async fn a_stage_of_a_pipeline() {
    let tool =
        ToolSchema { name: "search".into(), description: "Finds pages.".into(), parameters: Json::default() };
    let room = Room { answer: Tokens(4_000) };
    let prompt = stage_engine().prompt(stage_view(), vec![tool], room).await.expect("a prompt");
    expect![[r#"
        System: You plan projects.⏎⏎<skill name="project-manager">⏎Break work down.⏎{{ not a placeholder }}⏎</skill>⏎⏎Today is Wednesday, 1 April 2026 (Asia/Shanghai).
        User: <request>⏎a tea timer⏎</request>⏎<output stage="analysis" member="General manager">⏎It must be simple.⏎</output>⏎<instruction>⏎Plan a tea timer on 2026-04-01, {{ nope }}.⏎</instruction>⏎Write at most 400 words.⏎Use exactly these headings, in this order:⏎## Goal⏎⏎Answer in the language of the request.
    "#]].assert_eq(&outline(&prompt));
    expect![[r#"
        role                          system      7
        skill name="project-manager"  system     11
        today                         system      7
        request                       last user   9
        output stage="analysis"       last user   9
        instruction                   last user  11
        contract                      last user  21
        tool search                   tools      12
        87 of 96,000 tokens (window 100,000, 4,000 kept for the answer)
        warning: instruction: the placeholder nope has no value"#]]
    .assert_eq(&prompt.report.to_string());
    expect![[r#"{"source":{"Contribution":{"tag":"skill","label":"name=\"project-manager\"","provider":"skill:project-manager","slot":"System"}},"tokens_before":11,"tokens_after":11}"#]].assert_eq(&serde_json::to_string(&prompt.report.lines[1]).expect("serialises"));
}

#[tokio::test]
async fn a_stage_in_chinese_with_its_tool_loop() {
    let view = View {
        request: "做一个面试训练器".into(),
        language: thermidor_context_engine::Language::Zh,
        ..stage_view()
    };
    let prompt =
        prompt(&stage_engine(), with_history(view, [call("1", Some("found")), call("2", None)])).await;
    expect![[r#"
        System: You plan projects.⏎⏎<skill name="project-manager">⏎Break work down.⏎{{ not a placeholder }}⏎</skill>⏎⏎今天是2026年4月1日，星期三（Asia/Shanghai）。
        User: <request>⏎做一个面试训练器⏎</request>⏎<output stage="analysis" member="General manager">⏎It must be simple.⏎</output>⏎<instruction>⏎Plan 做一个面试训练器 on 2026-04-01, {{ nope }}.⏎</instruction>⏎不超过 400 字。⏎按顺序使用以下标题：⏎## Goal⏎⏎请用请求所用的语言（中文）回答。
        Assistant: 1→Success [Text("found")]
        Assistant: 2→Interrupted [Text("该调用未执行完毕，没有结果。")]
    "#]].assert_eq(&outline(&prompt));
}

/// Every slot has its place, and inside a slot steadiness, priority and registration decide.
#[tokio::test]
async fn slots_and_order() {
    let blocks = provider_fn("blocks", |_| {
        let system = |tag: &'static str| Contribution::system(tag, "x").bare();
        [
            Contribution::tail("tail", "x"),
            Contribution::last_user("beside", "x"),
            Contribution::before_first_user("background", "x"),
            Contribution { text: "s4".into(), ..system("a").stability(Stability::Turn).priority(255) },
            Contribution { text: "s2".into(), ..system("b").priority(90) },
            Contribution { text: "s3".into(), ..system("c") },
            Contribution { text: "s1".into(), ..system("d").stability(Stability::Frozen).priority(0) },
            Contribution::system("empty", " \n"),
        ]
    });
    let engine = ContextEngine::builder().provider(blocks).counter(Words).build().expect("builds");
    let history = [
        Message::system("rules"),
        Message::user("u1"),
        Message::assistant("a1"),
        Message::user("u2"),
        call("1", Some("r")),
    ];
    expect![[r#"
        System: s1⏎⏎s2⏎⏎s3⏎⏎s4
        System: rules
        User: <background>⏎x⏎</background>
        User: u1
        Assistant: a1
        User: u2⏎<beside>⏎x⏎</beside>
        Assistant: 1→Success [Text("r")]
        User: <tail>⏎x⏎</tail>
    "#]]
    .assert_eq(&outline(&prompt(&engine, with_history(view(1_000, ""), history)).await));
    let history = [Message::assistant("hello"), Message::assistant("again")];
    expect![[r"
        System: s1⏎⏎s2⏎⏎s3⏎⏎s4
        User: <background>⏎x⏎</background>⏎<beside>⏎x⏎</beside>
        Assistant: hello
        Assistant: again
        User: <tail>⏎x⏎</tail>
    "]]
    .assert_eq(&outline(&prompt(&engine, with_history(view(1_000, ""), history)).await));
    expect![[r"
        System: s1⏎⏎s2⏎⏎s3⏎⏎s4
        User: <background>⏎x⏎</background>⏎<beside>⏎x⏎</beside>
        User: <tail>⏎x⏎</tail>
    "]]
    .assert_eq(&outline(&prompt(&engine, view(1_000, "")).await));
}

/// A limit of N sends exactly N earlier messages; the new one is always sent, once.
#[tokio::test]
async fn history_limits_are_exact() {
    let history = || {
        let text = |text| Message::user(text);
        [text("u1"), Message::assistant("a1"), text("u2"), Message::assistant("a2"), text("u3")]
    };
    let mut table = String::new();
    for (messages, turns) in [
        (Some(0), None),
        (Some(1), None),
        (Some(2), None),
        (Some(4), None),
        (Some(9), None),
        (None, Some(0)),
        (None, Some(1)),
        (None, Some(2)),
        (Some(3), Some(1)),
    ] {
        let engine = ContextEngine::builder()
            .provider(SystemRole::new("s"))
            .processor(HistoryTruncation { messages, turns })
            .counter(Words)
            .build()
            .expect("builds");
        let prompt = prompt(&engine, with_history(view(1_000, ""), history())).await;
        let sent: Vec<String> = prompt.messages.iter().map(Message::text).collect();
        table.extend([format!("{messages:?} {turns:?}: {}\n", sent.join(" "))]);
    }
    expect![[r"
        Some(0) None: s u3
        Some(1) None: s a2 u3
        Some(2) None: s u2 a2 u3
        Some(4) None: s u1 a1 u2 a2 u3
        Some(9) None: s u1 a1 u2 a2 u3
        None Some(0): s u3
        None Some(1): s u2 a2 u3
        None Some(2): s u1 a1 u2 a2 u3
        Some(3) Some(1): s u2 a2 u3
    "]]
    .assert_eq(&table);
}

/// Old turns go first and whole; then outputs shrink, the largest first; then it is an error with figures.
#[tokio::test]
async fn the_budget_cuts_in_order_and_says_so() {
    let long = |word: &str, count: usize| format!("{word} ").repeat(count);
    let upstream = |id: &str, count: usize| Upstream {
        id: id.into(),
        text: long(id, count).into(),
        ..Upstream::default()
    };
    let engine = ContextEngine::standard().counter(Words).build().expect("builds");
    let base = View {
        upstream: vec![upstream("plan", 100), upstream("frontend", 900), upstream("algorithm", 600)],
        ..view(900, "the request")
    };
    let history =
        (0..6).flat_map(|turn| [Message::user(long("u", 20 + turn)), Message::assistant(long("a", 20))]);
    let view = with_history(base, history.chain([Message::user("now")]));
    let prompt = engine.prompt(view.clone(), vec![], Room { answer: Tokens(100) }).await.expect("fits");
    expect![[r#"
        today                     system            11
        messages 1–12             history      139 → 0  dropped: oldest turns first: no room
        message 13                history            5
        request                   last user          4
        output stage="plan"       last user        103
        output stage="frontend"   last user  903 → 325  shortened: no room: the lowest priority first, then the largest
        output stage="algorithm"  last user  603 → 325  shortened: no room: the lowest priority first, then the largest
        773 of 800 tokens (window 900, 100 kept for the answer)"#]].assert_eq(&prompt.report.to_string());
    assert!(prompt.report.total <= prompt.report.budget);

    let mut small = view.clone();
    small.upstream.clear();
    small.model.context_window = Tokens(250);
    let prompt = engine.prompt(small, vec![], Room::default()).await.expect("fits");
    expect![[r"
        today         system         11
        messages 1–4  history    61 → 0  dropped: oldest turns first: no room
        message 5     history        26
        message 6     history        24
        message 7     history        27
        message 8     history        24
        message 9     history        28
        message 10    history        24
        message 11    history        29
        message 12    history        24
        message 13    history         5
        request       last user       4
        226 of 250 tokens (window 250, 0 kept for the answer)"]]
    .assert_eq(&prompt.report.to_string());

    let mut tiny = view;
    tiny.model.context_window = Tokens(120);
    let error = engine.prompt(tiny, vec![], Room { answer: Tokens(100) }).await.expect_err("does not fit");
    assert_eq!(error.kind(), FailureKind::ContextTooLong);
    expect![[r#"fit: what may not be cut further takes 161 tokens, 20 are allowed of openai/gpt-5's window of 120 (tools 0; largest: output stage="plan" 47, output stage="frontend" 47, output stage="algorithm" 47)"#]].assert_eq(&error.to_string());
}

/// A huge result in the turn that runs is shortened; the steps before it go only when they must.
#[tokio::test]
async fn results_of_the_current_turn_are_shortened() {
    let engine = ContextEngine::standard().counter(Words).build().expect("builds");
    let huge = "word ".repeat(5_000);
    let steps = (0..8).map(|n| call(&format!("c{n}"), Some(if n == 6 { &huge } else { "short result" })));
    let view = with_history(view(400, "go"), [Message::user("go")].into_iter().chain(steps));
    let prompt = prompt(&engine, view).await;
    expect![[r"
        today         system            11
        message 1     history            5
        messages 2–5  history       64 → 0  dropped: oldest steps of the turn first: no room
        message 6     history           20
        message 7     history           20
        message 8     history  5,018 → 312  shortened: results of the turn: too long
        message 9     history           20
        388 of 400 tokens (window 400, 0 kept for the answer)"]]
    .assert_eq(&prompt.report.to_string());
    assert!(prompt.report.total <= Tokens(400));
}

#[tokio::test]
async fn optional_blocks_go_and_bounds_hold() {
    let blocks = provider_fn("blocks", |_| {
        let words = "w ".repeat(300);
        [
            Contribution::before_first_user("optional", words.clone()).priority(5).keep(Keep::Optional),
            Contribution::before_first_user("bounded", words.clone()).max_tokens(Tokens(60)),
            Contribution::last_user("pinned", words).keep(Keep::Whole),
        ]
    });
    let engine = ContextEngine::standard().provider(blocks).counter(Words).build().expect("builds");
    let prompt = prompt(&engine, view(400, "go")).await;
    expect![[r"
        today     system                   11
        bounded   before first user  306 → 61  shortened: longer than its own bound
        optional  before first user   302 → 0  dropped: no room, and optional
        request   last user                 3
        pinned    last user               302
        377 of 400 tokens (window 400, 0 kept for the answer)"]]
    .assert_eq(&prompt.report.to_string());
}

#[tokio::test]
async fn messages_are_made_fit_for_providers() {
    let image = Content::Media(Media {
        media_type: "image/png".into(),
        source: MediaSource::Base64("AAAA".repeat(250_000).into()),
        name: Some("cat.png".into()),
    });
    let picture = || {
        Message::User(UserMessage {
            content: vec![Content::text("what is it?"), image.clone()],
            ..UserMessage::default()
        })
    };
    let history = || {
        [
            Message::user("a"),
            Message::user("b"),
            Message::assistant(" \n"),
            call("1", None),
            call("1", Some("twice")),
            Message::assistant("x"),
            Message::assistant("y"),
            picture(),
        ]
    };
    let engine = ContextEngine::standard().counter(Words).build().expect("builds");
    expect![[r#"
        System: Today is Tuesday, 31 March 2026 (UTC).
        User: a⏎b
        Assistant: 1→Interrupted [Text("This call did not run to its end; there is no result.")]
        Assistant: x⏎y
        User: what is it?⏎[a file "cat.png" of type image/png is not shown: this model cannot read it]
    "#]]
    .assert_eq(&outline(&prompt(&engine, with_history(view(32_000, ""), history())).await));

    let mut seeing = view(32_000, "");
    seeing.model.abilities.vision = true;
    let prompt = prompt(&engine, with_history(seeing, history())).await;
    let Some(Message::User(user)) = prompt.messages.last() else { panic!("a user message comes last") };
    assert_eq!(user.content[1], image);
    assert!(prompt.report.total < Tokens(5_000), "{}", prompt.report);
}

/// Ten providers of 100 ms take 100 ms; a late and a failing one are warnings, a required one is an error.
#[tokio::test(start_paused = true)]
async fn providers_run_together_and_do_not_bring_each_other_down() {
    let names: [&'static str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let wait = |name, millis| {
        provider_async(name, move |_| async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            Ok(vec![Contribution::tail("t", name)])
        })
    };
    let fails = provider_async("fails", |_| async {
        Err(thermidor_context_engine::Error::new(FailureKind::Network, "no route"))
    });
    let engine =
        names.iter().fold(ContextEngine::builder(), |builder, name| builder.provider(wait(name, 100)));
    let start = tokio::time::Instant::now();
    prompt(&engine.build().expect("builds"), view(1_000, "")).await;
    assert_eq!(start.elapsed().as_millis(), 100);

    let engine = ContextEngine::builder()
        .provider(wait("late", 60_000))
        .provider(fails)
        .provider(wait("quick", 1))
        .build();
    let prompt = prompt(&engine.expect("builds"), view(1_000, "")).await;
    expect![[r"
        t  tail  12
        about 12 of 1,000 tokens (window 1,000, 0 kept for the answer)
        warning: late: no answer within 5s
        warning: fails: no route"]]
    .assert_eq(&prompt.report.to_string());

    let mut broken = stage_view();
    broken.instruction = "{{ request".into();
    let error = stage_engine().prompt(broken, vec![], Room::default()).await.expect_err("no prompt");
    assert_eq!(error.kind(), FailureKind::Configuration);
    assert!(error.to_string().starts_with("instruction: "), "{error}");
}

/// Would fail to compile if a prompt could not be built on another thread.
#[test]
fn a_prompt_can_be_built_anywhere() {
    fn movable<T: Send>(_: &T) {}
    let engine = stage_engine();
    movable(&engine.prompt(stage_view(), vec![], Room::default()));
}

/// What people and models said in braces reaches the model byte for byte.
#[tokio::test]
async fn history_is_never_a_template() {
    let said = [
        "{\n \"root\": {\"a\": [1, 2]}\n}",
        "use {{name}} in my Vue file, and {context} too",
        "what is {{ date }}?",
    ];
    let history = [
        Message::assistant(said[0]),
        Message::user(said[1]),
        Message::assistant("ok"),
        Message::user(said[2]),
    ];
    let prompt = prompt(&stage_engine(), with_history(stage_view(), history)).await;
    let sent: Vec<String> = prompt.messages.iter().map(Message::text).collect();
    assert!(sent[1] == said[0] && sent[2] == said[1] && sent[4].starts_with(said[2]), "{sent:?}");
}

#[tokio::test]
async fn steps_are_placed_replaced_and_disabled_by_name() {
    let nothing = || Step::processor(processor_fn("mine", |_, _| Ok(())));
    let build = |builder: thermidor_context_engine::ContextEngineBuilder| match builder.build() {
        Ok(engine) => engine.steps().collect::<Vec<_>>().join(" "),
        Err(error) => format!("{:?}: {error}", error.kind()),
    };
    let standard = ContextEngine::standard;
    let table = [
        build(standard()),
        build(standard().before("fit", nothing())),
        build(standard().after("fit", nothing())),
        build(standard().replace("fit", nothing()).disable("today")),
        build(standard().disable("fitt")),
        build(standard().before("today", nothing())),
        build(standard().provider(provider_fn("today", |_| None))),
    ];
    expect![[r#"
        today request upstream-outputs instruction history-truncation pair-calls media-notes drop-empty fit merge-adjacent
        today request upstream-outputs instruction history-truncation pair-calls media-notes drop-empty mine fit merge-adjacent
        today request upstream-outputs instruction history-truncation pair-calls media-notes drop-empty fit mine merge-adjacent
        request upstream-outputs instruction history-truncation pair-calls media-notes drop-empty mine merge-adjacent
        Configuration: no step is named "fitt"; there are today, request, upstream-outputs, instruction, history-truncation, pair-calls, media-notes, drop-empty, fit, merge-adjacent
        Configuration: "mine" is a processor and "today" a provider
        Configuration: two steps are named "today""#]].assert_eq(&table.join("\n"));
}

/// Without a counter of one's own, a prompt that fits by its bytes is estimated, a larger one counted.
#[tokio::test]
async fn counting_is_exact_where_it_matters() {
    use thermidor_types::Measure::{Counted, Estimated};
    let engine = ContextEngine::standard().build().expect("builds");
    for (window, expected) in [(100_000, Estimated), (700, Counted)] {
        let history = [Message::user("word ".repeat(300)), Message::assistant("ok"), Message::user("go")];
        let prompt = prompt(&engine, with_history(view(window, "go"), history)).await;
        assert_eq!(prompt.report.measure, expected, "{window}");
        assert_eq!(prompt.messages.len(), 4);
    }
}
