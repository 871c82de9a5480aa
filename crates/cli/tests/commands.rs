//! Every command once, as a person types it.

mod testbed;

use expect_test::{Expect, expect};
use testbed::{Bed, count, end};
use thermidor_testing::mock::MockProvider;

/// Would fail if anything but the answer came on standard output, or a stage were left out.
#[test]
fn run_prints_the_answer_and_tells_the_rest_on_stderr() {
    let bed = Bed::new();
    let said = bed.run(&["run", "-m", "rehearsal", "an AI trainer for job interviews"]).expect(0);
    assert!(said.out.starts_with("*Rehearsal"), "{}", said.out);
    assert!(said.out.contains("## Project files") && said.out.contains("job interviews"));
    assert!(!said.out.contains('▸') && !said.out.contains('\u{1b}'));
    let lines: Vec<&str> = said.err.lines().collect();
    assert!(
        lines[0].starts_with("Model: rehearsal/extractive") && lines[0].contains("-m rehearsal"),
        "{}",
        said.err
    );
    assert!(lines[1].starts_with("Run ") && lines[1].ends_with(": Software company"), "{}", said.err);
    assert_eq!(lines[2], "▸ 1/5 Business analysis · General manager …");
    assert!(lines[3].starts_with("✓ 1/5 Business analysis · General manager: "), "{}", said.err);
    assert!(lines.last().expect("lines").starts_with("Done: "), "{}", said.err);
    assert!(!said.err.contains('\u{1b}'), "no colour where no terminal is");
}

#[test]
fn the_answer_s_language_follows_the_request() {
    let said = Bed::new().run(&["run", "-m", "rehearsal", "-q", "做一个面试训练器"]).expect(0);
    assert!(said.out.contains("项目文件") || said.out.contains("文件"), "{}", said.out);
    assert_eq!(said.err, "");
}

/// Would fail if a line were no JSON, or something else came between.
#[test]
fn json_is_one_event_a_line_and_nothing_else() {
    let bed = Bed::new();
    let said = bed.run(&["run", "-m", "rehearsal", "--json", "a tea timer"]).expect(0);
    let events: Vec<serde_json::Value> =
        said.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(events[0]["type"], "run_started");
    assert_eq!(events[0]["request"], "a tea timer");
    assert_eq!((count(&events, "turn_started"), count(&events, "turn_ended")), (5, 5));
    let last = events.last().expect("events");
    assert_eq!((last["type"].as_str(), last["status"].as_str()), (Some("run_ended"), Some("Done")));
    assert!(last["text"].as_str().is_some_and(|text| text.contains("tea timer")));
    assert!(events.iter().all(|event| event["v"] == 1 && event["run"] == events[0]["run"]));
}

#[test]
fn output_writes_the_delivery_and_never_over_something() {
    let bed = Bed::new();
    let said = bed.run(&["run", "-m", "rehearsal", "-o", "out", "a tea timer"]).expect(0);
    let written = |path: &str| std::fs::read_to_string(bed.work().join("out").join(path)).expect(path);
    assert_eq!(written("delivery.md").trim(), said.out.trim());
    assert!(written("stages/01-analysis.md").starts_with("# Business analysis"));
    assert!(written("project/README.md").contains("tea timer"));
    let again = bed.run(&["run", "-m", "rehearsal", "-o", "out", "a tea timer"]).expect(2);
    assert!(again.error().contains("is not empty"), "{}", again.err);
    assert_eq!(
        bed.run(&["runs", "ls", "--json"]).expect(0).out.lines().count(),
        1,
        "the second one never began"
    );
}

/// Would fail if a dry run called a model, or left anything behind.
#[test]
fn a_dry_run_shows_everything_and_writes_nothing() {
    let bed = Bed::new();
    let said =
        bed.run(&["run", "--dry-run", "-m", "rehearsal", "--max-turns", "7", "--timeout", "90s", "hello"]);
    let said = said.expect(0);
    for part in ["analysis", "general-manager", "rehearsal/extractive", "7 turns", "1 m 30 s", "hello"] {
        assert!(said.out.contains(part), "{part} is missing: {}", said.out);
    }
    assert!(!bed.home().exists(), "a dry run made the data folder");
}

#[test]
fn what_is_piped_in_and_files_are_part_of_the_request() {
    let bed = Bed::new();
    let request = |said: testbed::Said| {
        said.expect(0);
        bed.events("last")[0]["request"].as_str().expect("a text").to_owned()
    };
    let base = ["run", "-q", "-m", "rehearsal"];
    let with = |more: &[&'static str]| base.iter().chain(more).copied().collect::<Vec<_>>();
    assert_eq!(request(bed.piped(&with(&["-"]), b"from a pipe\n")), "from a pipe");
    assert_eq!(request(bed.piped(&base, b"from a pipe\n")), "from a pipe");
    let both = request(bed.piped(&with(&["sum", "up"]), b"from a pipe\n"));
    assert_eq!(both, "sum up\n\n--- standard input ---\nfrom a pipe\n--- end of standard input ---");
    testbed::write(&bed.work().join("notes.md"), "# Notes\n");
    let file = request(bed.run(&with(&["sum up", "-f", "notes.md"])));
    assert_eq!(file, "sum up\n\n--- file notes.md ---\n# Notes\n--- end of file notes.md ---");
}

#[test]
fn runs_are_listed_drawn_and_followed() {
    let bed = Bed::new();
    let none = bed.run(&["runs", "ls"]).expect(0);
    assert!(none.out.is_empty() && none.err.contains("no runs yet"));
    let answer = bed.run(&["run", "-q", "-m", "rehearsal", "a tea timer"]).expect(0).out;

    let nothing = bed.run(&["runs", "ls", "-n", "0"]).expect(0);
    assert!(nothing.out.is_empty() && nothing.err.is_empty(), "there is a run: {}", nothing.err);
    let listed = bed.run(&["runs", "ls"]).expect(0).out;
    let row: Vec<&str> = listed.lines().nth(1).expect("a row").split_whitespace().collect();
    assert!(
        row.contains(&"done") && row.contains(&"Software") && row.ends_with(&["a", "tea", "timer"]),
        "{listed}"
    );

    let drawn = bed.run(&["runs", "show", row[0]]).expect(0).out;
    assert!(drawn.starts_with("Software company · done · "), "{drawn}");
    assert_eq!(drawn.lines().filter(|line| line.contains('█')).count(), 5, "{drawn}");
    assert!(drawn.contains("5 turns, ") && drawn.contains("Its answer: thermidor runs tail "), "{drawn}");

    let context = bed.run(&["runs", "show", "last", "--context", "5"]).expect(0).out;
    for part in ["request", "output stage=\"analysis\"", "output stage=\"algorithm\"", "tokens (window"] {
        assert!(context.contains(part), "{part} is missing: {context}");
    }
    let wrong = bed.run(&["runs", "show", "last", "--context", "9"]).expect(2);
    assert!(wrong.error().ends_with("it has turns 1, 2, 3, 4, 5"), "{}", wrong.err);

    let followed = bed.run(&["runs", "tail", "last"]).expect(0);
    assert_eq!(followed.out, answer);
    assert!(followed.err.contains("✓ 5 Delivery"), "{}", followed.err);

    // What a process that died in its last moment did not print or write can be had again.
    let again = bed.run(&["runs", "resume", "last", "-o", "again"]).expect(0);
    assert_eq!(again.out, answer);
    assert!(again.err.contains("is done already") && again.err.contains("files to again"), "{}", again.err);
    let last = bed.run(&["runs", "resume", "last", "--json"]).expect(0).out;
    assert!(last.lines().count() == 1 && last.contains(r#""type":"run_ended""#), "{last}");
}

/// Would fail if a file in the user's folder needed more than lying there.
#[test]
fn a_skill_and_a_team_in_the_user_s_folder_are_listed_and_run() {
    let bed = Bed::new();
    bed.write(
        "skills/poet/SKILL.md",
        "---\nname: poet\ndescription: Writes verse.\n---\n# Form\nShort lines.\n",
    );
    let team = "version = 1\nname = \"verse\"\ndescription = \"One poem\"\n[limits]\nturns = 3\ntokens = 50000\n\
                minutes = 5\n[params.tone]\ndefault = \"calm\"\n[agents.poet]\nskill = \"poet\"\n[[stages]]\nid = \"poem\"\n\
                agent = \"poet\"\nwords = 60\nprompt = \"A {{ params.tone }} poem on {{ request }}\"\n";
    bed.write("teams/verse.toml", team);
    let listed = bed.run(&["teams", "ls"]).expect(0).out;
    let row = listed.lines().find(|line| line.starts_with("verse")).expect("the team");
    assert!(row.contains("user") && row.ends_with("One poem"), "{listed}");
    let said = bed.run(&["run", "-m", "rehearsal", "-t", "verse", "-p", "tone=stormy", "the sea"]).expect(0);
    assert!(said.err.contains("✓ 1/1 poem · poet"), "{}", said.err);
    let context = bed.run(&["runs", "show", "last", "--context", "1"]).expect(0).out;
    assert!(context.contains("skill name=\"poet\""), "{context}");
    // The same file by its path, and a param it does not have.
    let path = bed.home().join("teams/verse.toml");
    bed.run(&["run", "-q", "-m", "rehearsal", "-t", path.to_str().expect("text"), "the sea"]).expect(0);
    let wrong = bed.run(&["run", "-m", "rehearsal", "-t", "verse", "-p", "tune=x", "the sea"]).expect(2);
    assert!(wrong.error().contains("\"tune\"; did you mean \"tone\"?"), "{}", wrong.err);
}

#[test]
fn teams_are_drawn_with_what_runs_side_by_side() {
    let said = Bed::new().run(&["teams", "show", "software-company-parallel"]).expect(0).out;
    let check = |expected: Expect| {
        let drawn: Vec<&str> = said.lines().skip(2).take(5).filter_map(|line| line.get(1..)).collect();
        expected.assert_eq(&drawn.join("\n"));
    };
    check(expect![[r"
         1 ─ analysis: Business analysis · General manager, 300 words
         2 ─ plan: Project plan · Project manager, 400 words  ← analysis
         3 ┬ frontend: Frontend design · Frontend engineer, 500 words  ← plan
           └ algorithm: Algorithm design · Algorithm engineer, 500 words  ← plan
         4 ─ summary: Delivery · Project manager  ← analysis, plan, frontend, algorithm"]]);
}

#[test]
fn teams_check_names_every_problem_with_its_place() {
    let bed = Bed::new();
    bed.run(&["teams", "check"]).expect(0);
    let broken = "version = 1\nname = \"bad\"\n[limits]\nturns = 3\ntokens = 5\nminutes = 5\n[agents.a]\n\
                  [[stages]]\nid = \"x\"\nagent = \"b\"\nneeds = [\"y\"]\nprompt = \"p\"\n[[stages]]\nid = \"y\"\n\
                  agent = \"a\"\nneeds = [\"x\"]\nprompt = \"p\"\n";
    bed.write("teams/bad.toml", broken);
    let said = bed.run(&["teams", "check", "bad", "software-company"]).expect(3);
    let path = bed.home().join("teams/bad.toml").display().to_string();
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(
        lines.iter().filter(|line| line.starts_with(&format!("problem  {path}:"))).count() >= 2,
        "{}",
        said.out
    );
    assert!(said.out.contains(":10:") && said.out.contains("software-company: 5 stages"), "{}", said.out);
    let listed = bed.run(&["teams", "ls"]).expect(0).out;
    assert!(listed.contains("broken: "), "{listed}");
}

#[test]
fn models_are_listed_with_what_they_need() {
    let bed = Bed::new();
    let listed = bed.run(&["models", "ls"]).expect(0).out;
    assert!(listed.contains("no: set OPENAI_API_KEY") && listed.contains("openai/gpt-5-mini"), "{listed}");
    let output =
        bed.command(&["models", "ls"]).env("DEEPSEEK_API_KEY", "secret-key").output().expect("it starts");
    let listed = String::from_utf8(output.stdout).expect("text");
    assert!(listed.contains("yes (DEEPSEEK_API_KEY)") && !listed.contains("secret-key"), "{listed}");
    let tested = bed.run(&["models", "test", "rehearsal"]).expect(0).out;
    assert!(tested.contains("model   rehearsal/extractive") && tested.contains("usage   "), "{tested}");
}

#[test]
fn doctor_says_what_is_in_order_and_what_is_not() {
    let bed = Bed::new();
    let said = bed.run(&["doctor"]).expect(0).out;
    assert!(
        said.contains("will be made by the first run") && said.contains("2 teams and 4 skills"),
        "{said}"
    );
    bed.write("teams/bad.toml", "version = 1\nnmae = \"bad\"\n");
    let said = bed.run(&["doctor"]).expect(3);
    assert!(said.out.contains("bad.toml:2:1: unknown key \"nmae\""), "{}", said.out);
    bed.write("config.toml", "modle = \"x/y\"\n");
    let said = bed.run(&["doctor"]).expect(3);
    assert!(
        said.out.contains("config.toml:1:1: unknown key \"modle\"; did you mean \"model\"?"),
        "{}",
        said.out
    );
}

#[test]
fn config_says_where_every_value_comes_from() {
    let bed = Bed::new();
    bed.write(
        "config.toml",
        "model = \"lab/small\"\n[providers.lab]\nbase_url = \"http://127.0.0.1:9/v1\"\n",
    );
    let paths = bed.run(&["config", "path"]).expect(0).out;
    assert_eq!(paths.lines().count(), 9);
    assert!(paths.contains(&bed.home().join("thermidor.db").display().to_string()), "{paths}");
    let shown = bed.run(&["config", "show", "--origin"]).expect(0).out;
    assert!(
        shown.lines().next().expect("lines").contains("model = \"lab/small\"")
            && shown.contains("# user config ")
    );
    let mut command = bed.command(&["config", "show", "--origin"]);
    let output = command.env("THERMIDOR_MODEL", "a/b").output().expect("it starts");
    let shown = String::from_utf8(output.stdout).expect("text");
    assert!(
        shown.contains("model = \"a/b\"") && shown.contains("# environment variable THERMIDOR_MODEL"),
        "{shown}"
    );
    // Without --origin it is a configuration file.
    let plain = bed.run(&["config", "show"]).expect(0).out;
    assert!(plain.parse::<toml::Table>().is_ok(), "{plain}");
}

#[test]
fn completions_are_scripts_that_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = Bed::new().run(&["completions", shell]).expect(0).out;
        assert!(script.contains("resume") && script.contains("max-tokens"), "{shell}");
    }
}

/// Would fail if a reader that goes away (`| head -1`) made noise or a failure.
#[test]
fn a_closed_pipe_ends_quietly() {
    let bed = Bed::new();
    for args in [&["models", "ls"][..], &["run", "-q", "-m", "rehearsal", "--json", "a tea timer"]] {
        let mut child = bed.start(args);
        drop(child.stdout.take());
        let said = end(child);
        assert!(!said.err.contains("error") && !said.err.contains("panic"), "{args:?}: {}", said.err);
        assert!(said.code == 0 || said.code == 130, "{args:?}: {}", said.code);
    }
}

/// Would fail if a full disk under standard output looked like a wish to stop.
#[test]
#[cfg(target_os = "linux")]
fn events_that_cannot_be_written_are_a_failure_and_the_run_can_go_on() {
    let bed = Bed::new();
    let mut command = bed.command(&["run", "--json", "-m", "rehearsal", "hi"]);
    command.stdout(std::fs::File::options().write(true).open("/dev/full").expect("it is there"));
    let output = command.output().expect("it starts");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("cannot write to standard output") && err.contains("runs resume"), "{err}");
    bed.run(&["runs", "resume", "last"]).expect(0);
}

/// Would fail if a skill of one's own that cannot be read gave way to the bundled one in silence.
#[test]
fn a_skill_that_cannot_be_read_is_named_by_the_run_that_wants_it() {
    let bed = Bed::new();
    bed.write("skills/general-manager/SKILL.md", "no front matter");
    bed.write("skills/poet/SKILL.md", "no front matter");
    let said = bed.run(&["run", "-m", "rehearsal", "hi"]).expect(0);
    assert!(said.err.contains("! left out") && said.err.contains("general-manager/SKILL.md"), "{}", said.err);
    assert!(!said.err.contains("poet"), "nobody asked for it: {}", said.err);
}

/// Would fail if other people of this machine could read what was asked and answered.
#[test]
#[cfg(unix)]
fn a_new_data_folder_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let bed = Bed::new();
    bed.run(&["run", "-q", "-m", "rehearsal", "hi"]).expect(0);
    let mode = std::fs::metadata(bed.home()).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}

/// Would fail if a result that cannot be written left somebody without a way to it.
#[test]
fn an_output_that_cannot_be_written_says_where_the_answer_is() {
    let (bed, mock) = (Bed::new(), MockProvider::start().expect("the mock starts"));
    bed.with_mock(&mock);
    let child = bed.start(&["run", "-q", "-m", "mock/mock-echo-l100", "-o", "out", "hi"]);
    let out = bed.work().join("out");
    // It was found empty when the run began; meanwhile somebody put a file in its place.
    testbed::wait_until("the folder", || mock.stats().requests == 2);
    std::fs::remove_dir(&out).expect("empty");
    std::fs::write(&out, "").expect("written");
    let said = end(child).expect(3);
    assert!(
        said.err.contains("cannot be written") && said.err.contains("thermidor runs tail "),
        "{}",
        said.err
    );
}
