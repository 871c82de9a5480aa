//! What holds for every prompt.

mod support;

use proptest::prelude::*;
use support::{Words, call, prompt, view, with_history};
use thermidor_context_engine::{
    ContextEngine, Contribution, EstimateCounter, Keep, Prompt, Room, Slot, Source, Stability, TokenCounter,
    Upstream, Verdict, View, provider_fn, request_tokens,
    steps::{HistoryTruncation, OutputContract, SystemRole},
};
use thermidor_types::{FailureKind, Message, Role, Text, Tokens, ToolSchema};

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => r"([a-z]{1,8} ){0,60}",
        2 => r"(中文|段落，|。|🔥|👩‍👩‍👧|é){0,120}",
        1 => r"(</request>|\{\{ request \}\}|<output stage=.x.>|\{% if %\}| ){0,12}",
        1 => Just(String::new()),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        4 => text().prop_map(Message::user),
        3 => text().prop_map(Message::assistant),
        2 => (0..20_u8, proptest::option::of(text())).prop_map(|(id, result)| call(&id.to_string(), result.as_deref())),
        1 => text().prop_map(Message::system),
    ]
}

fn contribution() -> impl Strategy<Value = Contribution> {
    let slot =
        prop_oneof![Just(Slot::System), Just(Slot::BeforeFirstUser), Just(Slot::LastUser), Just(Slot::Tail)];
    let keep = prop_oneof![1 => Just(Keep::Whole), 4 => Just(Keep::Shorten), 2 => Just(Keep::Optional)];
    let stability = prop_oneof![Just(Stability::Frozen), Just(Stability::Run), Just(Stability::Turn)];
    (slot, keep, stability, text(), any::<u8>(), proptest::option::of(0..200_u64)).prop_map(
        |(slot, keep, stability, text, priority, most)| Contribution {
            slot,
            max_tokens: most.map(Tokens),
            ..Contribution::tail("block", text).keep(keep).stability(stability).priority(priority)
        },
    )
}

fn views() -> impl Strategy<Value = View> {
    let upstream =
        text().prop_map(|text| Upstream { id: "plan".into(), text: text.into(), ..Upstream::default() });
    (
        100..3_000_u64,
        text(),
        prop::collection::vec(message(), 0..24),
        prop::collection::vec(upstream, 0..4),
        text(),
    )
        .prop_map(|(window, request, history, upstream, value)| View {
            upstream,
            instruction: "Do {{ request }} {{ params.value }}".into(),
            params: [("value".into(), thermidor_types::Json::of(&value).expect("a string"))].into(),
            ..with_history(view(window, &request), history)
        })
}

fn engine(given: Vec<Contribution>, exact: bool) -> ContextEngine {
    let engine = ContextEngine::standard()
        .provider(SystemRole::new("You help."))
        .provider(provider_fn("given", move |_| given.clone()))
        .provider(OutputContract::default());
    if exact { engine } else { engine.counter(EstimateCounter) }.build().expect("builds")
}

fn counter(prompt: &Prompt) -> Box<dyn TokenCounter> {
    match prompt.report.measure {
        thermidor_types::Measure::Counted => Box::new(thermidor_context_engine::TiktokenCounter::for_model(
            &"openai/gpt-5".parse().expect("valid"),
        )),
        _ => Box::new(EstimateCounter),
    }
}

fn tools() -> Vec<ToolSchema> {
    let parameters = thermidor_types::Json::parse(r#"{"type":"object","properties":{}}"#).expect("valid");
    vec![ToolSchema { name: "search".into(), description: "Finds pages.".into(), parameters }]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// The report sums to the recount of what is sent, it fits or says that it cannot, every call has one result, nobody
    /// who speaks last is lost, neighbours differ in role, and the same view gives the same bytes.
    #[test]
    fn every_prompt_fits_is_whole_and_accounted_for(
        view in views(), given in prop::collection::vec(contribution(), 0..5), answer in 0..200_u64, exact: bool,
    ) {
        let engine = engine(given, exact);
        let room = Room { answer: Tokens(answer) };
        let first = run(engine.prompt(view.clone(), tools(), room));
        let prompt = match first {
            Ok(prompt) => prompt,
            Err(error) => {
                prop_assert_eq!(error.kind(), FailureKind::ContextTooLong, "{}", error);
                prop_assert!(error.to_string().contains("are allowed"));
                return Ok(());
            }
        };
        let sum: Tokens = prompt.report.lines.iter().map(|line| line.tokens_after).sum();
        prop_assert_eq!(sum, prompt.report.total);
        prop_assert_eq!(request_tokens(&prompt.messages, &prompt.tools, &*counter(&prompt)), prompt.report.total);
        prop_assert!(prompt.report.total + Tokens(answer) <= view.model.context_window);

        let mut ids = std::collections::HashSet::new();
        for message in &prompt.messages {
            if let Message::Assistant(answer) = message {
                for exchange in answer.exchanges() {
                    prop_assert!(exchange.result.is_some(), "a call without a result");
                    prop_assert!(ids.insert(exchange.call.id.clone()), "a call twice");
                }
            }
        }
        for pair in prompt.messages.windows(2) {
            prop_assert!(pair[0].role() != pair[1].role() || pair[0].role() == Role::Assistant, "neighbours of one role");
        }
        if let Some(last) = view.history.iter().rev().find(|message| message.role() == Role::User) {
            let said = last.text();
            prop_assert!(prompt.messages.iter().any(|message| message.text().contains(&said)), "the last user message");
        }
        let lines = prompt.report.lines.iter();
        let covered: usize = lines.map(|line| if let Source::History { count, .. } = line.source { count } else { 0 }).sum();
        prop_assert_eq!(covered, view.history.len());

        let again = run(engine.prompt(view, tools(), room)).expect("the same");
        prop_assert_eq!(serde_json::to_string(&again.messages).ok(), serde_json::to_string(&prompt.messages).ok());
        prop_assert_eq!(again.report, prompt.report);
    }

    /// Would fail if a limit was off by one for some mixture of roles.
    #[test]
    fn a_limit_of_n_sends_n(history in prop::collection::vec(message(), 0..20), limit in 0..12_usize) {
        let engine = ContextEngine::builder().processor(HistoryTruncation { messages: Some(limit), turns: None }).counter(Words);
        let view = with_history(view(1_000_000, ""), history.clone());
        let prompt = run(prompt(&engine.build().expect("builds"), view));
        let last_user = history.iter().rposition(|message| message.role() == Role::User).unwrap_or(0);
        let counted = |messages: &[Message]| messages.iter().filter(|message| message.role() != Role::System).count();
        let earlier = counted(&history[..last_user]);
        let rest = counted(&history[last_user..]);
        prop_assert_eq!(counted(&prompt.messages), earlier.min(limit) + rest);
    }

    /// Invariant 9: whatever users and other members say, the text stands in its block as data.
    #[test]
    fn no_data_is_a_template_or_leaves_its_block(request in text(), output in text()) {
        let upstream = vec![Upstream { id: "plan".into(), text: output.clone().into(), ..Upstream::default() }];
        let view = View { upstream, ..view(1_000_000, &request) };
        let sent = run(prompt(&engine(vec![], false), view));
        let Some(Message::User(user)) = sent.messages.iter().find(|message| message.role() == Role::User) else { return Ok(()) };
        let texts: Vec<&Text> = user.content.iter().filter_map(|content| match content {
            thermidor_types::Content::Text(text) => Some(text),
            thermidor_types::Content::Media(_) => None,
        }).collect();
        for (tag, open, data) in [("request", "<request>\n", &request), ("output", "<output stage=\"plan\">\n", &output)] {
            if data.trim().is_empty() { continue }
            let block = texts.iter().find(|text| text.starts_with(open)).expect("the block is there");
            let close = format!("</{tag}>");
            prop_assert_eq!(block.matches(&close).count(), 1);
            let inner = block.strip_prefix(open).and_then(|rest| rest.strip_suffix(&format!("\n{close}"))).expect("framed");
            prop_assert_eq!(&thermidor_context_engine::Block::new(tag).undo(inner), data);
        }
    }

    /// Would fail if a turn changed the bytes of what was sent before it (prompt caches would miss).
    #[test]
    fn growing_by_a_turn_keeps_the_bytes_before(history in prop::collection::vec(message(), 0..16), new in text()) {
        let history: Vec<Message> = history.into_iter().chain([Message::user("question")]).collect();
        let engine = engine(vec![Contribution::before_first_user("background", "steady"), Contribution::tail("tail", "steady")], false);
        let before = run(prompt(&engine, with_history(view(1_000_000, ""), history.clone())));
        let after = run(prompt(&engine, with_history(view(1_000_000, ""), history.into_iter().chain([Message::assistant("answer"), Message::user(format!("next {new}"))]))));
        let bytes = |prompt: &Prompt, count: usize| serde_json::to_string(&prompt.messages[..count]).expect("serialises");
        // The last message of the first prompt is the user's, with the turn's own blocks behind it.
        let steady = before.messages.len() - 1;
        prop_assert_eq!(bytes(&before, steady), bytes(&after, steady));
        let last = &before.messages[steady];
        prop_assert!(last.text().starts_with("question") || last.text().contains("\nquestion") , "{}", last.text());
    }
}

/// The summary of five outputs, each larger than the window, still runs, and the report says what was shortened.
#[test]
fn outputs_larger_than_the_window_are_shortened_fairly() {
    let upstream = (0..5_usize).map(|n| Upstream {
        id: format!("stage-{n}").into(),
        text: "输出的内容，and some words. ".repeat(2_000 + n * 500).into(),
        ..Upstream::default()
    });
    let view =
        View {
            upstream: upstream.collect(), instruction: "Sum up.".into(), ..view(8_192, "面试训练器")
        };
    let prompt =
        run(engine(vec![], true).prompt(view, vec![], Room { answer: Tokens(2_048) })).expect("fits");
    let cut: Vec<_> = prompt.report.cuts().collect();
    assert_eq!(cut.len(), 5);
    for line in &cut {
        assert!(line.verdict == Verdict::Shortened && line.tokens_before > Tokens(10_000), "{line:?}");
        assert!(line.tokens_after > Tokens(900) && line.tokens_after < Tokens(1_300), "{line:?}");
    }
    assert!(prompt.report.total > Tokens(5_500), "room was wasted: {}", prompt.report.total);
}

/// Old messages that will not be sent are not counted one by one into the report: it does not grow with the history.
#[test]
fn the_report_stays_small() {
    let history = (0..2_000).map(|n| {
        if n % 2 == 0 {
            Message::user(format!("question {n} of many"))
        } else {
            Message::assistant("an answer")
        }
    });
    let history: Vec<Message> = history.chain([Message::user("now")]).collect();
    for window in [4_000, 1_000_000] {
        let engine = ContextEngine::standard().counter(Words).build().expect("builds");
        let prompt = run(prompt(&engine, with_history(view(window, ""), history.clone())));
        assert!(prompt.report.lines.len() < 80, "{}", prompt.report.lines.len());
        assert_eq!(request_tokens(&prompt.messages, &[], &Words), prompt.report.total);
    }
}
