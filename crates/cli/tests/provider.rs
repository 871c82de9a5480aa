//! Runs over HTTP: the mock provider answers, or misbehaves.

mod testbed;

use testbed::{Bed, count};
use thermidor_testing::mock::{MockOptions, MockProvider, WireAnswers};

fn mocked() -> (Bed, MockProvider) {
    let (bed, mock) = (Bed::new(), MockProvider::start().expect("the mock starts"));
    bed.with_mock(&mock);
    (bed, mock)
}

/// Would fail if an own provider from the settings were not reachable, or a stage were asked twice.
#[test]
fn a_run_over_http_asks_once_a_stage() {
    let (bed, mock) = mocked();
    let said = bed.run(&["run", "-m", "mock/mock-echo", "a tea timer"]).expect(0);
    assert!(
        said.err.starts_with("Model: mock/mock-echo, because the command line says -m mock/mock-echo."),
        "{}",
        said.err
    );
    assert!(said.out.starts_with("*echo-") && said.out.contains("## Project files"), "{}", said.out);
    assert_eq!(mock.stats().models["mock-echo"], 5);
    let tested = bed.run(&["models", "test", "mock/mock-txt-t3"]).expect(0);
    assert!(tested.out.contains("answer  token token token"), "{}", tested.out);
}

/// Changing the model touches no team file: by flag for all, by flag for one, by the environment.
#[test]
fn the_nearest_word_on_the_model_counts() {
    let (bed, mock) = mocked();
    bed.run(&["run", "-q", "-m", "mock/mock-echo", "-m", "general-manager=mock/mock-echo-l1", "hi"])
        .expect(0);
    let asked = |model: &str| mock.stats().models.get(model).copied().unwrap_or(0);
    assert_eq!((asked("mock-echo"), asked("mock-echo-l1")), (4, 1));
    let mut command = bed.command(&["run", "hi"]);
    let output = command.env("THERMIDOR_MODEL", "mock/mock-echo-l2").output().expect("it starts");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{err}");
    assert!(
        err.starts_with(
            "Model: mock/mock-echo-l2, because it is set by the environment variable THERMIDOR_MODEL."
        ),
        "{err}"
    );
    assert_eq!(asked("mock-echo-l2"), 5);
}

/// A key in the environment chooses its provider, and `OPENAI_BASE_URL` where it is.
#[test]
fn the_first_key_that_is_set_chooses_the_provider() {
    let (bed, mock) = mocked();
    let mut command = bed.command(&["run", "hi", "--max-turns", "1"]);
    command.env("OPENAI_API_KEY", "sk-secret").env("OPENAI_BASE_URL", mock.base_url());
    let output = command.output().expect("it starts");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(err.starts_with("Model: openai/gpt-5-mini, because OPENAI_API_KEY is set."), "{err}");
    assert!(!err.contains("sk-secret"), "{err}");
    assert!(mock.stats().models["gpt-5-mini"] >= 1);
}

/// Would fail if scripts could not tell by the exit code what went wrong, or the remedy were missing.
#[test]
fn a_provider_that_fails_ends_with_4_and_a_remedy() {
    let (bed, _mock) = mocked();
    let check = |model: &str, words: &[&str]| {
        let said = bed.run(&["run", "-q", "-m", model, "hi"]).expect(4);
        assert_eq!(said.out, "");
        for word in words {
            assert!(said.err.contains(word), "{word} is missing: {}", said.err);
        }
    };
    check("mock/mock-txt-x401", &["credentials refused", "thermidor models test", "thermidor runs resume"]);
    check("mock/mock-txt-x404", &["not found", "thermidor models ls"]);
    let said = bed.run(&["models", "test", "mock/mock-txt-x401"]).expect(4);
    assert!(
        said.error().starts_with("error: mock/mock-txt-x401 does not answer: credentials refused"),
        "{}",
        said.err
    );
    bed.write("config.toml", "[providers.gone]\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    let said = bed.run(&["models", "test", "gone/x"]).expect(4);
    assert!(said.error().contains("network error"), "{}", said.err);
}

/// What failed for a passing reason is gone on with: finished turns are not asked again.
#[test]
fn a_failed_run_goes_on_where_it_failed() {
    let (bed, mock) = mocked();
    let model = "algorithm-engineer=mock/mock-echo-x401k1";
    let said = bed.run(&["run", "-m", "mock/mock-echo", "-m", model, "a tea timer"]).expect(4);
    assert!(said.err.contains("✗ 4/5 Algorithm design"), "{}", said.err);
    assert_eq!(mock.stats().requests, 4);
    let listed = bed.run(&["runs", "ls"]).expect(0).out;
    assert!(listed.contains("failed"), "{listed}");
    let said = bed.run(&["runs", "resume", "last"]).expect(0);
    assert!(said.out.contains("## Project files"), "{}", said.out);
    assert_eq!(mock.stats().requests, 6, "one request again, one for the last stage");
    let followed = bed.run(&["runs", "tail", "last"]).expect(0);
    assert_eq!(followed.out, said.out, "the first end is not the run's end");
}

/// Would fail if a limit were no exit code of its own, or the way on were not said or did not work.
#[test]
fn a_limit_ends_with_5_and_is_raised_on_resume() {
    let (bed, mock) = mocked();
    let said = bed.run(&["run", "-m", "mock/mock-echo", "--max-turns", "2", "a tea timer"]).expect(5);
    assert_eq!(said.out, "");
    assert!(said.error().contains("limit of turns. Go on with: thermidor runs resume"), "{}", said.err);
    assert!(said.error().ends_with("--max-turns N (counted from the run's beginning)"), "{}", said.err);
    let shown = bed.run(&["runs", "show", "last"]).expect(0).out;
    assert!(shown.contains("it reached its limit of turns\n"), "{shown}");
    let same = bed.run(&["runs", "resume", "last"]).expect(2);
    assert!(same.error().contains("raise it: thermidor runs resume"), "{}", same.err);
    let said = bed.run(&["runs", "resume", "last", "--max-turns", "20"]).expect(0);
    assert!(said.out.contains("## Project files"), "{}", said.out);
    assert_eq!(mock.stats().models["mock-echo"], 5);
    let shown = bed.run(&["runs", "show", "last"]).expect(0).out;
    assert!(shown.starts_with("Software company · done"), "{shown}");
}

/// Would fail if frontend and algorithm waited for each other.
#[test]
fn stages_of_one_wave_run_at_the_same_time() {
    let (bed, _mock) = mocked();
    bed.run(&["run", "-q", "-t", "software-company-parallel", "-m", "mock/mock-echo-l150", "hi"]).expect(0);
    let events = bed.events("last");
    let place = |kind: &str, stage: &str| {
        let at = |event: &serde_json::Value| event["type"] == kind && event["stage"] == stage;
        events.iter().position(at).expect("the event")
    };
    assert_eq!(count(&events, "turn_ended"), 5);
    let begun = place("turn_started", "frontend").max(place("turn_started", "algorithm"));
    let ended = place("turn_ended", "frontend").min(place("turn_ended", "algorithm"));
    assert!(begun < ended, "one began after the other had ended");
}

/// Would fail if a server on this machine were overlooked, or preferred to what somebody set.
#[test]
fn a_server_on_this_machine_is_found_when_nothing_else_is_set() {
    let (bed, mock) = (Bed::new(), MockProvider::start().expect("the mock starts"));
    bed.write("config.toml", &format!("[providers.ollama]\nbase_url = \"{}\"\n", mock.base_url()));
    let said = bed.run(&["run", "hi", "--max-turns", "1"]);
    let first = said.err.lines().next().expect("a line");
    assert!(first.starts_with("Model: ollama/"), "{}", said.err);
    assert!(first.contains(&format!("because a server answers at {}", mock.base_url())), "{}", said.err);
    let named = bed.run(&["run", "hi", "--max-turns", "1", "-m", "ollama"]);
    assert!(named.err.starts_with("Model: ollama/"), "{}", named.err);
    let asked = mock.stats().requests;
    let mut command = bed.command(&["run", "-q", "hi"]);
    assert!(command.env("THERMIDOR_MODEL", "rehearsal").status().expect("it starts").success());
    assert_eq!(mock.stats().requests, asked);
    assert!(bed.run(&["doctor"]).expect(0).out.contains("a server answers at"));
}

/// Would fail if a stage that is begun again counted as a further one.
#[test]
fn stages_keep_their_numbers_when_a_run_goes_on() {
    let (bed, _mock) = mocked();
    bed.run(&["run", "-q", "-m", "mock/mock-echo", "--max-turns", "2", "a tea timer"]).expect(5);
    let said = bed.run(&["runs", "resume", "last", "--max-turns", "20"]).expect(0);
    for part in ["✓ 3/5 Frontend", "✓ 4/5 Algorithm", "✓ 5/5 Delivery"] {
        assert!(said.err.contains(part), "{part} is missing: {}", said.err);
    }
}

/// Would fail if an address that leads to a website looked like a provider that needs a rest.
#[test]
fn a_web_page_points_to_the_address() {
    let (bed, _mock) = mocked();
    let said = bed.run(&["run", "-q", "-m", "mock/mock-echo-html", "hi"]).expect(4);
    assert!(said.err.contains("a web page came") && said.err.contains("provider's address"), "{}", said.err);
}

/// Would fail if a model in a loop were listened to until the run's time is over.
#[test]
fn an_endless_answer_ends_at_a_limit() {
    let (bed, _mock) = mocked();
    let said = bed.run(&["run", "-m", "mock/mock-txt-endless", "--max-tokens", "3000", "hi"]).expect(5);
    assert!(said.error().contains("limit of tokens"), "{}", said.err);
}

/// Would fail if the settings could not reach a server of another format than chat completions.
#[test]
fn the_settings_name_the_format_of_a_server() {
    let answers = WireAnswers::parse(
        r#"
        [[answer]]
        name = "claude"
        body = ['event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}\n\n',
            'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
            'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"bonjour"}}\n\n',
            'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\n',
            'event: message_stop\ndata: {"type":"message_stop"}\n\n']
        "#
        .replace("\\n", "\n")
        .replace("'event", "'''event")
        .replace("\n\n'", "\n\n'''")
        .as_str(),
    )
    .expect("answers");
    let mock =
        MockProvider::start_with(MockOptions { answers, ..MockOptions::default() }).expect("it starts");
    let bed = Bed::new();
    let address = format!("http://{}/wire/claude", mock.address());
    bed.write(
        "config.toml",
        &format!(
            "[providers.home]\nbase_url = \"{address}\"\nformat = \"anthropic_messages\"\nkey_header = \"x-api-key\"\n\
             quirks = [\"inline_media\"]\n"
        ),
    );
    let tested = bed.run(&["models", "test", "home/claude-x"]).expect(0);
    assert!(tested.out.contains("bonjour"), "{}", tested.out);
    let shown = bed.run(&["config", "show"]).expect(0).out;
    for line in
        ["format = \"anthropic_messages\"", "key_header = \"x-api-key\"", "quirks = [\"inline_media\"]"]
    {
        assert!(shown.contains(line), "{line} is missing: {shown}");
    }
    bed.write("config.toml", "[providers.home]\nbase_url = \"http://h/v1\"\nformat = \"openai\"\n");
    let said = bed.run(&["models", "ls"]).expect(3);
    assert!(
        said.error().contains("config.toml:3:10") && said.error().contains("openai_chat"),
        "{}",
        said.err
    );
}
