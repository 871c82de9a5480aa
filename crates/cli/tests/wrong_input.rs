//! What is wrong gets a named place and a remedy, an exit code, and nothing else happens.

mod testbed;

use std::fs;

use testbed::{Bed, write};

/// Would fail if a mistake were accepted, named badly, or left half a run behind.
#[test]
fn mistakes_are_named_and_nothing_happens() {
    let bed = Bed::new();
    write(&bed.work().join("image.bin"), "placeholder");
    fs::write(bed.work().join("image.bin"), [0xff, 0xfe, 0x00]).expect("written");
    let tool = "version = 1\nname = \"tool\"\nlimits = { turns = 1, tokens = 9, minutes = 1 }\n\
                agents.ada = { persona = \"You count.\", tools = [\"calculater\"] }\n\
                stages = [{ id = \"a\", agent = \"ada\", prompt = \"x\" }]\n";
    write(&bed.work().join("tool.toml"), tool);
    let check = |args: &[&str], code: i32, first: &str| {
        let said = bed.run(args);
        let shown = said.error().replace(&bed.home().display().to_string(), "HOME");
        assert_eq!((said.code, shown.as_str()), (code, first), "{args:?}: {}", said.err);
        assert_eq!(said.out, "", "{args:?} printed an answer");
        assert!(!bed.home().join("thermidor.db").exists(), "{args:?} began a run");
    };
    let run = |more: &[&'static str]| [&["run", "-m", "rehearsal"], more].concat();
    check(
        &["run"],
        2,
        "error: the request is empty; say what is to be done: thermidor run \"an AI trainer for job interviews\"",
    );
    check(&["walk"], 2, "error: unrecognized subcommand 'walk'");
    check(&["run", "--approve", "x"], 2, "error: unexpected argument '--approve' found");
    check(
        &run(&["hi", "--timeout", "5"]),
        2,
        "error: invalid value '5' for '--timeout <TIME>': \"5\" is no time: write for instance 90s, 10m or 1h30m",
    );
    check(
        &run(&["hi", "--max-turns", "0"]),
        2,
        "error: invalid value '0' for '--max-turns <N>': 0 is not in 1..18446744073709551615",
    );
    check(
        &run(&["a", "-"]),
        2,
        "error: `-` takes the request from standard input alone; leave out the other words",
    );
    check(
        &run(&["hi", "-t", "softwar-company"]),
        2,
        "error: unknown team \"softwar-company\"; did you mean \"software-company\"?",
    );
    check(
        &run(&["hi", "-t", "no/such.toml"]),
        2,
        "error: no/such.toml: cannot be read: No such file or directory (os error 2)",
    );
    check(
        &run(&["hi", "--dry-run", "-t", "tool.toml"]),
        3,
        "error: tool.toml: the agent \"ada\": there is no tool `calculater`; did you mean `calculator`?",
    );
    check(&run(&["hi", "-p", "tone"]), 2, "error: --param \"tone\": write NAME=VALUE");
    check(&run(&["hi", "-p", "tone=x"]), 2, "error: team \"software-company\" has no param \"tone\"");
    check(
        &run(&["hi", "-f", "gone.txt"]),
        2,
        "error: gone.txt: cannot be read: No such file or directory (os error 2)",
    );
    check(&run(&["hi", "-f", "image.bin"]), 2, "error: image.bin: is no UTF-8 text");
    check(
        &["run", "hi", "-m", "opnai/gpt-5"],
        2,
        "error: model \"opnai/gpt-5\" (command line): no provider is called opnai; did you mean openai?; see thermidor models ls",
    );
    check(
        &["run", "hi", "-m", "rehearsal/small"],
        2,
        "error: model \"rehearsal/small\" (command line): the rehearsal is one model; write rehearsal",
    );
    check(
        &["run", "hi", "-m", "gpt-5-mini"],
        2,
        "error: model \"gpt-5-mini\" (command line): a model is named provider/model; did you mean openai/gpt-5-mini?; see thermidor models ls",
    );
    check(
        &["run", "hi", "-m", "openai/gpt-5"],
        4,
        "error: model openai/gpt-5: no key for OpenAI: set OPENAI_API_KEY; or choose another with -m (see thermidor models ls)",
    );
    check(
        &run(&["hi", "-m", "projet-manager=rehearsal"]),
        2,
        "error: there is no agent \"projet-manager\" in team \"software-company\"; did you mean \"project-manager\"?",
    );
    check(&["runs", "show", "last"], 2, "error: there are no runs yet");
    check(&["runs", "resume", "abcdef"], 2, "error: there are no runs yet");
    check(
        &["teams", "show", "x"],
        2,
        "error: unknown team \"x\"; there is \"software-company\" and \"software-company-parallel\"",
    );
    check(&["completions", "tcsh"], 2, "error: invalid value 'tcsh' for '<SHELL>'");
}

#[test]
fn wrong_files_are_named_line_by_line() {
    let bed = Bed::new();
    let head = "version = 1\nname = \"bad\"\n[limits]\nturns = 3\ntokens = 5\nminutes = 5\n[agents.a]\npersona = \"You are a.\"\n";
    let stage = |id: &str, needs: &str| {
        format!("[[stages]]\nid = \"{id}\"\nagent = \"a\"\nneeds = [{needs}]\nprompt = \"p\"\n")
    };
    let check = |text: &str, part: &str| {
        bed.write("teams/bad.toml", text);
        let said = bed.run(&["run", "-m", "rehearsal", "-t", "bad", "hi"]).expect(3);
        assert!(said.error().contains("bad.toml:") && said.error().contains(part), "{part}: {}", said.err);
        assert!(!bed.home().join("thermidor.db").exists());
    };
    check(&format!("{head}{}", stage("x", "").replace("needs", "need")), "unknown key \"need\"");
    check(
        &format!("{head}{}{}", stage("x", "\"y\""), stage("y", "\"x\"")),
        "stages need each other: x → y → x",
    );
    check(&format!("{}skill = \"gone\"\n{}", head, stage("x", "")), "unknown skill \"gone\"");
    check("version = 99\n", "99");
    bed.write("config.toml", "[providers.lab]\nkey_env = \"LAB\"\n");
    let said = bed.run(&["run", "-m", "rehearsal", "hi"]).expect(3);
    assert!(said.error().contains("[providers.lab] needs a base_url"), "{}", said.err);
    write(
        &bed.work().join(".thermidor/config.toml"),
        "[providers.openai]\nbase_url = \"http://127.0.0.1:1/v1\"\n",
    );
    let said = bed.run(&["run", "-m", "rehearsal", "hi"]).expect(3);
    assert!(said.error().contains("is not allowed in a project's file"), "{}", said.err);
}

/// Would fail if a data folder that cannot be used were found out after the work, or looking needed writing.
#[test]
fn a_data_folder_that_cannot_be_used_is_said_first() {
    let bed = Bed::new();
    // A file in the folder's place refuses everybody, the superuser too.
    write(&bed.home(), "a file");
    let said = bed.run(&["run", "-m", "rehearsal", "hi"]).expect(3);
    assert!(said.error().contains("data folder") || said.error().contains("config.toml"), "{}", said.err);

    let bed = Bed::new();
    bed.run(&["run", "-q", "-m", "rehearsal", "hi"]).expect(0);
    fs::write(
        bed.home().join("thermidor.db"),
        "this is no database, whatever its name says; it is long enough",
    )
    .expect("written");
    let said = bed.run(&["run", "-m", "rehearsal", "hi"]).expect(3);
    assert!(said.error().contains("thermidor.db"), "{}", said.err);
    bed.run(&["run", "--dry-run", "-m", "rehearsal", "hi"]).expect(0);
    bed.run(&["teams", "ls"]).expect(0);
    bed.run(&["models", "ls"]).expect(0);
    bed.run(&["runs", "ls"]).expect(3);
    bed.run(&["doctor"]).expect(3);
}

/// Would fail if an older program touched what a newer one wrote. The header of an `SQLite` file keeps the number
/// of its format, big-endian, in the bytes from 60 on.
#[test]
fn a_newer_database_is_left_alone() {
    let bed = Bed::new();
    bed.run(&["run", "-q", "-m", "rehearsal", "hi"]).expect(0);
    let path = bed.home().join("thermidor.db");
    let mut bytes = fs::read(&path).expect("the database");
    bytes[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    fs::write(&path, &bytes).expect("written");
    for args in [&["run", "-m", "rehearsal", "hi"][..], &["runs", "ls"], &["runs", "resume", "last"]] {
        let said = bed.run(args).expect(3);
        assert!(said.error().contains("newer version") && said.error().contains("9999"), "{}", said.err);
    }
    assert!(bed.run(&["doctor"]).expect(3).out.contains("newer version"));
    bed.run(&["run", "--dry-run", "-m", "rehearsal", "hi"]).expect(0);
    assert_eq!(fs::read(&path).expect("the database"), bytes);
}
