//! What is wrong with a file is said exactly, with its place and a remedy.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use thermidor_skills::{Library, Source};
use thermidor_teams::{ErrorKind, Team, TeamFile};

fn skills() -> Library {
    Library::read(&[Source::Embedded(&[
        ("writer/SKILL.md", "---\nname: writer\ndescription: Writes.\n---\nWrite."),
        ("broken/SKILL.md", "---\nname: broken\n---\nBreak."),
    ])])
}

const GOOD: &str = r#"version = 1
name = "x"

[limits]
turns = 5
tokens = 1000
cost_usd = 0.25
minutes = 5

[agents.ann]
skill = "writer"

[[stages]]
id = "draft"
agent = "ann"
words = 100
prompt = "Write about {{ request }}."

[[stages]]
id = "final"
agent = "ann"
needs = ["draft"]
prompt = { en = "Improve.", zh = "改进。" }
"#;

/// The good file with one piece replaced.
fn check(from: &str, to: &str, expected: Expect) {
    assert_eq!(GOOD.matches(from).count(), 1, "{from:?} is no single place");
    let error = Team::load(&GOOD.replace(from, to), "teams/x.toml", &skills()).expect_err(to);
    expected.assert_eq(&error.to_string());
}

#[test]
fn the_good_file_is_good() {
    let team = Team::load(GOOD, "teams/x.toml", &skills()).expect("good");
    assert_eq!(team.file().limits.cost_usd.expect("set").to_string(), "0.25 USD");
    assert_eq!(team.file().model, "default");
}

#[test]
fn unknown_keys() {
    check(
        "needs = [",
        "need = [",
        expect![[r#"teams/x.toml:22:1: unknown key "need" in stage "final"; did you mean "needs"?"#]],
    );
    check(
        "[agents.ann]",
        "[agent.ann]",
        expect![[r#"teams/x.toml:10:2: unknown key "agent"; did you mean "agents"?"#]],
    );
    check(
        "turns = 5",
        "turns = 5\nhours = 2",
        expect![[
            r#"teams/x.toml:6:1: unknown key "hours" in limits; there is "turns", "tokens", "cost_usd" and "minutes""#
        ]],
    );
    check(
        "zh = \"改进。\"",
        "zh = \"改进。\", de = \"Besser.\"",
        expect![[
            r#"teams/x.toml:23:41: unknown key "de" in prompt of stage "final"; there is "en" and "zh""#
        ]],
    );
    check(
        "name = \"x\"",
        "nmae = \"x\"\ntitel = \"y\"",
        expect![[r#"
            teams/x.toml:2:1: unknown key "nmae"; did you mean "name"?
            teams/x.toml:3:1: unknown key "titel"; did you mean "title"?"#]],
    );
}

#[test]
fn missing_keys() {
    check(
        "agent = \"ann\"\nwords",
        "words",
        expect![[r#"teams/x.toml:13:1: missing key "agent" in stage "draft""#]],
    );
    check("minutes = 5\n", "", expect![[r#"teams/x.toml:4:1: missing key "minutes" in limits"#]]);
    check(
        ", zh = \"改进。\"",
        "",
        expect![[r#"teams/x.toml:23:10: missing key "zh" in prompt of stage "final""#]],
    );
    check(
        "skill = \"writer\"",
        "",
        expect![[
            r#"teams/x.toml:10:1: agent "ann" has neither a skill nor a persona; say who it is by at least one of them"#
        ]],
    );
}

#[test]
fn wrong_types_and_values() {
    check(
        "words = 100",
        "words = \"100\"",
        expect![[r#"teams/x.toml:16:9: words of stage "draft" must be a whole number, not a text"#]],
    );
    check(
        "words = 100",
        "words = -5",
        expect![[r#"teams/x.toml:16:9: words of stage "draft" must be from 0 to 4294967295, not -5"#]],
    );
    check(
        "words = 100",
        "words = 5_000_000_000",
        expect![[
            r#"teams/x.toml:16:9: words of stage "draft" must be from 0 to 4294967295, not 5000000000"#
        ]],
    );
    check(
        "words = 100",
        "words = 1.5",
        expect![[r#"teams/x.toml:16:9: words of stage "draft" must be a whole number, not a number"#]],
    );
    check(
        "words = 100",
        "words = 0",
        expect![[r#"teams/x.toml:16:9: words of stage "draft" must be more than nothing"#]],
    );
    check(
        "needs = [\"draft\"]",
        "needs = \"draft\"",
        expect![[r#"teams/x.toml:22:9: needs of stage "final" must be a list, not a text"#]],
    );
    check(
        "needs = [\"draft\"]",
        "needs = [\"draft\", 7]",
        expect![[
            r#"teams/x.toml:22:19: item 2 of needs of stage "final" must be a text, not a whole number"#
        ]],
    );
    check(
        "cost_usd = 0.25",
        "cost_usd = 0.1234567",
        expect![[
            r#"teams/x.toml:7:12: cost_usd of limits: "0.1234567" is not an amount with at most six decimals"#
        ]],
    );
    check(
        "cost_usd = 0.25",
        "cost_usd = \"much\"",
        expect![[
            r#"teams/x.toml:7:12: cost_usd of limits: "much" is not an amount with at most six decimals"#
        ]],
    );
    check(
        "cost_usd = 0.25",
        "cost_usd = nan",
        expect![[
            r#"teams/x.toml:7:12: cost_usd of limits: "nan" is not an amount with at most six decimals"#
        ]],
    );
    check(
        "tokens = 1000",
        "tokens = 0",
        expect!["teams/x.toml:6:10: tokens of limits must be more than nothing"],
    );
    check(
        "skill = \"writer\"",
        "skill = \"writer\"\nmodel = \"gpt\"",
        expect![[
            r#"teams/x.toml:12:9: "gpt" names no model; write provider/model, or default for the one that the user chose"#
        ]],
    );
    check(
        "words = 100",
        "sections = []",
        expect![[r#"teams/x.toml:16:12: sections of stage "draft" is empty"#]],
    );
    check(
        "words = 100",
        "sections = [\"A\", \"B\", \"a\"]",
        expect![[r#"teams/x.toml:16:23: section "a" of stage "draft" is there twice"#]],
    );
    check(
        "words = 100",
        "sections = { en = [\"A\", \"B\"], zh = [\"甲\"] }",
        expect![[r#"teams/x.toml:16:12: sections of stage "draft" must be equally many in both languages"#]],
    );
    check(
        "words = 100",
        "files = true",
        expect![[
            r#"teams/x.toml:13:1: stage "draft" has files and no sections to hold them; add sections; the last one holds the files"#
        ]],
    );
}

#[test]
fn versions_and_patterns() {
    check(
        "version = 1",
        "version = 2\nbrand_new = true",
        expect![
            "teams/x.toml:1:11: version 2 of the team format is newer than this program, which reads 1; use a newer program"
        ],
    );
    check(
        "version = 1",
        "version = 0",
        expect!["teams/x.toml:1:11: there is no version 0; write version = 1"],
    );
    check(
        "[limits]",
        "[pattern]\nkind = \"debate\"\n[limits]",
        expect![[r#"teams/x.toml:5:8: unknown kind of pattern "debate"; there is "pipeline""#]],
    );
    check(
        "[limits]",
        "[pattern]\nkind = \"pipline\"\n[limits]",
        expect![[r#"teams/x.toml:5:8: unknown kind of pattern "pipline"; did you mean "pipeline"?"#]],
    );
}

#[test]
fn parts_that_do_not_fit() {
    check(
        "agent = \"ann\"\nwords",
        "agent = \"anna\"\nwords",
        expect![[
            r#"teams/x.toml:15:9: stage "draft" is for agent "anna", which is not in the team; did you mean "ann"?"#
        ]],
    );
    check(
        "agent = \"ann\"\nneeds",
        "agent = \"bob\"\nneeds",
        expect![[
            r#"teams/x.toml:21:9: stage "final" is for agent "bob", which is not in the team; there is "ann""#
        ]],
    );
    check(
        "skill = \"writer\"",
        "skill = \"writr\"",
        expect![[r#"teams/x.toml:11:9: unknown skill "writr" of agent "ann"; did you mean "writer"?"#]],
    );
    check(
        "skill = \"writer\"",
        "skill = \"broken\"",
        expect![[
            r#"teams/x.toml:11:9: skill "broken" of agent "ann" cannot be used: broken/SKILL.md: there is no description; say in `description:` what the skill does and when to use it"#
        ]],
    );
    check(
        "needs = [\"draft\"]",
        "needs = [\"draf\"]",
        expect![[
            r#"teams/x.toml:22:10: stage "final" needs "draf", which is no stage; did you mean "draft"?"#
        ]],
    );
    check(
        "id = \"final\"",
        "id = \"draft\"",
        expect![[r#"teams/x.toml:20:6: there are two stages "draft"; give one another id"#]],
    );
    check(
        "id = \"final\"",
        "id = \"Final \"",
        expect![[
            r#"teams/x.toml:20:6: "Final " is not an id; use 1 to 64 lower-case letters, digits and single hyphens, none of them at an end"#
        ]],
    );
    check(
        "words = 100",
        "needs = [\"final\"]",
        expect![
            "teams/x.toml:16:9: stages need each other: draft → final → draft; take one of these needs away"
        ],
    );
    check(
        "needs = [\"draft\"]",
        "needs = [\"final\"]",
        expect!["teams/x.toml:22:9: stages need each other: final → final; take one of these needs away"],
    );
}

#[test]
fn prompts_that_are_no_templates() {
    check(
        "{{ request }}",
        "{{ request",
        expect![[
            r#"teams/x.toml:17:10: prompt of stage "draft" is no template: unexpected end of input, expected identifier or integer"#
        ]],
    );
    check(
        "{{ request }}",
        "{{ reqest }}",
        expect![[
            r#"teams/x.toml:17:10: prompt of stage "draft" asks for "reqest", which it is not given; did you mean "request"?"#
        ]],
    );
    check(
        "{{ request }}",
        "{{ outputs.final }}",
        expect![[
            r#"teams/x.toml:17:10: prompt of stage "draft" asks for the output of "final", which stage "draft" does not need"#
        ]],
    );
    check(
        "{{ request }}",
        "{{ params.topic }}",
        expect![[
            r#"teams/x.toml:17:10: prompt of stage "draft" asks for the param "topic", which is not declared"#
        ]],
    );
    check(
        "\"Improve.\"",
        "\" \"",
        expect![[r#"teams/x.toml:23:17: en of prompt of stage "final" is empty"#]],
    );
}

#[test]
fn everything_at_once_and_in_order() {
    let text = GOOD.replace("words = 100", "wrods = 100\nneeds = 3").replace("turns = 5", "turns = true");
    let error = TeamFile::parse(&text, "x.toml").expect_err("three faults");
    expect![[r#"
        x.toml:5:9: turns of limits must be a whole number, not true or false
        x.toml:16:1: unknown key "wrods" in stage "draft"; did you mean "words"?
        x.toml:17:9: needs of stage "draft" must be a list, not a whole number"#]]
    .assert_eq(&error.to_string());
    let text =
        GOOD.replace("skill = \"writer\"", "skill = \"rider\"").replace("[\"draft\"]", "[\"daft\", \"*\"]");
    let error = Team::load(&text, "x.toml", &skills()).expect_err("two faults");
    expect![[r#"
        x.toml:11:9: unknown skill "rider" of agent "ann"; did you mean "writer"?
        x.toml:22:10: stage "final" needs "daft", which is no stage; did you mean "draft"?"#]]
    .assert_eq(&error.to_string());
    let error = TeamFile::parse("version = \n[limits\nturns = 1", "x.toml").expect_err("no TOML");
    expect![[r"
        x.toml:1:11: string values must be quoted, expected literal string
        x.toml:2:8: unclosed table, expected `]`"]]
    .assert_eq(&error.to_string());
    assert_eq!(error.kind(), ErrorKind::Syntax);
}

#[test]
fn a_cycle_of_three_is_shown_as_a_way_round() {
    let third = "\n[[stages]]\nid = \"proof\"\nagent = \"ann\"\nneeds = [\"final\"]\nprompt = \"Check.\"\n";
    let text = GOOD.replace("words = 100", "needs = [\"proof\"]") + third;
    let error = Team::load(&text, "x.toml", &skills()).expect_err("a cycle");
    expect![
        "x.toml:16:9: stages need each other: draft → proof → final → draft; take one of these needs away"
    ]
    .assert_eq(&error.to_string());
    assert_eq!(error.kind(), ErrorKind::Cycle);
}

#[test]
fn amounts_are_exact() {
    for (written, shown) in
        [("1", "1.00 USD"), ("0.1", "0.10 USD"), ("\"0.000001\"", "0.000001 USD"), ("8_000.5", "8000.50 USD")]
    {
        let text = GOOD.replace("cost_usd = 0.25", &format!("cost_usd = {written}"));
        let file = TeamFile::parse(&text, "x.toml").expect(written);
        assert_eq!(file.limits.cost_usd.expect("set").to_string(), shown);
    }
}

/// Would fail if nesting, which a person never writes this deep, could exhaust the stack.
#[test]
fn deep_nesting_is_answered() {
    let deep = |piece: &str| piece.repeat(50_000);
    for text in [
        format!("{}a = 1", deep("a.")),
        format!("[{}a]", deep("a.")),
        format!("[[{}a]]", deep("a.")),
        format!("a = {}", deep("[")),
        format!("a = {}", deep("{a=")),
        format!("a = {{{}a = 1}}", deep("a.")),
        GOOD.replace("request", &format!("{}1{}", deep("("), deep(")"))),
        GOOD.replace("{{ request }}", &deep("{% if a %}")),
        GOOD.replace("{{ request }}", &deep("{{ a.")),
        GOOD.replace("request", &format!("request{}", deep(".a"))),
        GOOD.replace("{{ request }}", &format!("{{{{ '}}}}' {} }}}}", deep("~ a"))),
        GOOD.replace("{{ request }}", &format!("{{{{ {{'a': {{'b': 1}}}} {} }}}}", deep("~ a"))),
        GOOD.replace("{{ request }}", &format!("{{% if a %}}{}{{% endif %}}", deep("{% elif a %}"))),
    ] {
        let error = Team::load(&text, "x.toml", &skills()).expect_err("no team");
        assert!(error.to_string().starts_with("x.toml:"));
    }
}

proptest! {
    /// Would fail if any text made the reader panic instead of answering.
    #[test]
    fn arbitrary_text_is_answered(text in "\\PC{0,200}") {
        let _ = Team::load(&text, "x.toml", &skills()).map_err(|error| error.to_string());
    }

    /// The same for texts that are nearly a team: pieces of the good file cut, doubled and moved.
    #[test]
    fn a_broken_team_is_answered(cuts in prop::collection::vec((0usize..40, 0usize..40), 1..6), noise in "\\PC{0,8}") {
        let mut lines: Vec<String> = GOOD.lines().map(str::to_owned).collect();
        for (from, to) in cuts {
            let (from, to) = (from % lines.len(), to % lines.len());
            lines.swap(from, to);
            lines.insert(to, lines[from].replacen('=', &noise, 1));
        }
        if let Err(error) = Team::load(&lines.join("\n"), "x.toml", &skills()) {
            prop_assert!(error.problems().all(|problem| problem.to_string().starts_with("x.toml:")));
        }
    }
}
