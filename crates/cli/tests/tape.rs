//! Runs that are recorded, and repeated without a provider.

mod testbed;

use std::fs;

use testbed::Bed;
use thermidor_testing::mock::MockProvider;

const KEY: &str = "sk-of-the-mock-0123456789";

/// A mock behind a key, whose variable is not set: only a replay does without.
fn keyed(bed: &Bed) -> MockProvider {
    let mock = MockProvider::start().expect("the mock starts");
    let row = format!("[providers.mock]\nbase_url = \"{}\"\nkey_env = \"MOCK_KEY\"\n", mock.base_url());
    bed.write("config.toml", &row);
    mock
}

/// A run of five stages, recorded; the mock is gone afterwards.
fn recorded(bed: &Bed) -> String {
    let mock = keyed(bed);
    let mut command = bed.command(&["run", "-m", "mock/mock-echo", "--record", "tape.jsonl", "a tea timer"]);
    let output = command.env("MOCK_KEY", KEY).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(mock.stats().requests, 5);
    String::from_utf8(output.stdout).expect("text")
}

/// Would fail if a run could not be repeated without its provider, or its key came into the file.
#[test]
fn a_recorded_run_is_repeated_without_key_and_provider() {
    let bed = Bed::new();
    let answer = recorded(&bed);
    let path = bed.work().join("tape.jsonl");
    let text = fs::read_to_string(&path).expect("a recording");
    assert_eq!(text.lines().count(), 6, "a header and five exchanges");
    assert!(!text.contains(KEY), "the key is no part of it");
    let before = text.clone();

    let said = bed.run(&["run", "-m", "mock/mock-echo", "a tea timer"]).expect(4);
    assert!(said.error().contains("MOCK_KEY"), "{}", said.err);
    for _ in 0..2 {
        let said = bed.run(&["run", "--replay", "tape.jsonl", "a tea timer"]).expect(0);
        assert_eq!(said.out, answer);
        assert!(
            said.err.starts_with("Model: mock/mock-echo, because the recording begins with it."),
            "{}",
            said.err
        );
    }
    assert_eq!(fs::read_to_string(&path).expect("text"), before, "a replay writes nothing");

    // Prompts name the date: it is that of the recording.
    let header = text.lines().next().expect("a header");
    let day =
        header.split("\"recorded_at\":\"").nth(1).and_then(|rest| rest.split('T').next()).expect("a date");
    let dated = |to: &str| fs::write(&path, text.replacen(day, to, 1)).expect("written");
    dated("2020-02-03");
    let said = bed.run(&["run", "--replay", "tape.jsonl", "a tea timer"]).expect(3);
    assert!(said.err.contains("3 February 2020"), "{}", said.err);
    let runs = bed.run(&["runs", "ls"]).expect(0).out;
    assert!(!runs.contains("2020"), "the run itself is of today: {runs}");
}

/// Would fail if a miss were an empty answer, or left a person guessing.
#[test]
fn another_prompt_is_a_miss_that_is_explained() {
    let bed = Bed::new();
    recorded(&bed);
    let said = bed.run(&["run", "--replay", "tape.jsonl", "a coffee timer"]).expect(3);
    assert_eq!(said.out, "");
    for word in
        ["replay of tape.jsonl", "was not recorded", "differs at /messages/", "tea timer", "coffee timer"]
    {
        assert!(said.error().contains(word), "{word} is missing: {}", said.err);
    }
}

/// A run that failed goes on, and so does its recording: both halves together are one run.
#[test]
fn a_resumed_run_goes_on_with_its_recording() {
    let bed = Bed::new();
    let mock = MockProvider::start().expect("the mock starts");
    bed.with_mock(&mock);
    let model = "algorithm-engineer=mock/mock-echo-x401k1";
    let models = ["-m", "mock/mock-echo", "-m", model];
    let run = |more: &[&str]| bed.run(&[&["run"], &models[..], more, &["a tea timer"]].concat());
    run(&["--record", "tape.jsonl"]).expect(4);
    let said = bed.run(&["runs", "resume", "last", "--record", "tape.jsonl"]).expect(0);
    drop(mock);
    run(&["--replay", "tape.jsonl"]).expect(4);
    // What the first half used up is not asked again: the second half alone is left in the file.
    let text = fs::read_to_string(bed.work().join("tape.jsonl")).expect("a recording");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 7);
    let rest = [&lines[..1], &lines[5..]].concat().join("\n") + "\n";
    fs::write(bed.work().join("rest.jsonl"), rest).expect("written");
    let again = bed.run(&["runs", "resume", "last", "--replay", "rest.jsonl"]).expect(0);
    assert_eq!(again.out, said.out);
}

#[test]
fn one_call_is_recorded_and_repeated() {
    let bed = Bed::new();
    let mock = MockProvider::start().expect("the mock starts");
    bed.with_mock(&mock);
    let said = bed.run(&["models", "test", "mock/mock-txt-t3", "--record", "one.jsonl"]).expect(0);
    assert!(said.out.contains("answer  token token token"), "{}", said.out);
    drop(mock);
    let said = bed.run(&["models", "test", "--replay", "one.jsonl"]).expect(0);
    assert!(said.out.contains("answer  token token token"), "{}", said.out);
}

/// Would fail if a mistake with the flags cost a recording, or were found out only at the end of a run.
#[test]
fn what_cannot_work_is_said_before_anything_is_called() {
    let bed = Bed::new();
    recorded(&bed);
    let check = |args: &[&str], code: i32, words: &str| {
        let said = bed.run(args).expect(code);
        assert!(said.err.contains(words), "{words} is missing: {}", said.err);
    };
    check(&["run", "-m", "mock", "--record", "tape.jsonl", "hi"], 2, "tape.jsonl holds a recording already");
    check(
        &["run", "-m", "rehearsal", "--record", "new.jsonl", "hi"],
        2,
        "the rehearsal model asks no provider",
    );
    check(
        &["run", "-m", "rehearsal", "--replay", "tape.jsonl", "hi"],
        2,
        "the rehearsal model asks no provider",
    );
    check(&["run", "--replay", "gone.jsonl", "hi"], 2, "--replay: the cassette gone.jsonl cannot be read");
    check(&["run", "--replay", "a", "--record", "b", "hi"], 2, "cannot be used with");
    check(&["run", "--dry-run", "--record", "b", "hi"], 2, "cannot be used with");
    testbed::write(&bed.home().with_file_name("work").join("letter.txt"), "Dear Ann\n");
    check(&["run", "--replay", "letter.txt", "hi"], 2, "letter.txt is no cassette");
    check(&["run", "--record", "letter.txt", "hi"], 2, "letter.txt is no cassette");
    let listed = bed.run(&["runs", "ls"]).expect(0).out;
    assert_eq!(listed.matches("a tea timer").count(), 1, "{listed}");
}
