//! A team and a run's choices become a group: every text in one language, every model decided.

use expect_test::expect;
use thermidor_group_orchestration::{GroupSpec, MemberSpec, StageSpec, SupervisorSpec};
use thermidor_skills::{Library as Skills, Source};
use thermidor_teams::{Choices, ErrorKind, Language, Library, Team, bundled_skills};
use thermidor_types::{Json, Tokens};

const TEAM: &str = r#"version = 1
name = "letters"
model = "acme/team"
limits = { turns = 3, tokens = 9000, cost_usd = 0.5, minutes = 2 }

[params.tone]
default = "warm"

[params.to]
description = { en = "say who gets the letter", zh = "写明收信人" }

[agents.writer]
name = { en = "Writer", zh = "写手" }
persona = { en = "You write letters.", zh = "你写信。" }

[agents.reader]
skill = "project-manager"
model = "acme/reader"
tools = ["search"]

[[stages]]
id = "letter"
agent = "writer"
words = 50
sections = { en = ["Letter"], zh = ["信"] }
prompt = { en = "Write to {{ params.to }}, {{ params.tone }}.", zh = "写给{{ params.to }}。" }

[[stages]]
id = "check"
agent = "reader"
needs = ["*"]
prompt = "Read {{ outputs.letter }}."
"#;

fn skills() -> Skills {
    Skills::read(&[Source::Embedded(bundled_skills())])
}

fn choices(language: Language) -> Choices {
    let mut choices = Choices::new(language, "acme/fallback".parse().expect("a model"));
    choices.params.insert("to".into(), Json::of("Ada").expect("a text"));
    choices
}

fn team() -> Team {
    Team::load(TEAM, "letters.toml", &skills()).expect("a good team")
}

fn models(group: &GroupSpec) -> String {
    let model = |(id, member): (_, &MemberSpec)| match member {
        MemberSpec::Agent(agent) => format!("{id}={} ", agent.model),
        MemberSpec::Group(_) => panic!("no group in this team"),
    };
    group.members.iter().map(model).collect()
}

#[test]
fn the_texts_are_in_the_runs_language() {
    let show = |language| {
        let group = team().to_group(&choices(language), &skills()).expect("a group");
        let SupervisorSpec::Graph(graph) = &group.supervisor else { panic!("a pipeline is a graph") };
        let mut shown = vec![format!("{} {:?}", group.title, group.params)];
        shown.extend(graph.stages.iter().map(|stage| {
            let StageSpec { id, member, needs, instruction, contract, .. } = stage;
            format!("{id} by {member} needs {needs:?}: {instruction} {contract:?}")
        }));
        shown.extend(group.members.values().filter_map(|member| {
            let MemberSpec::Agent(agent) = member else { return None };
            let skill = agent.skill.as_ref().and_then(|skill| skill.instructions.lines().next());
            Some(format!("{} ({}) {skill:?} {:?}", agent.name, agent.persona, agent.tools))
        }));
        shown.join("\n")
    };
    expect![[r##"
        letters {"to": "Ada", "tone": "warm"}
        letter by writer needs []: Write to {{ params.to }}, {{ params.tone }}. Contract { words: Some(50), sections: ["Letter"], files: false }
        check by reader needs ["letter"]: Read {{ outputs.letter }}. Contract { words: None, sections: [], files: false }
        Writer (You write letters.) None []
        reader () Some("# Project manager") ["search"]"##]].assert_eq(&show(Language::En));
    expect![[r##"
        letters {"to": "Ada", "tone": "warm"}
        letter by writer needs []: 写给{{ params.to }}。 Contract { words: Some(50), sections: ["信"], files: false }
        check by reader needs ["letter"]: Read {{ outputs.letter }}. Contract { words: None, sections: [], files: false }
        写手 (你写信。) None []
        reader () Some("# 项目经理") ["search"]"##]].assert_eq(&show(Language::Zh));
}

#[test]
fn models_by_precedence() {
    let check = |change: &dyn Fn(&mut Choices), text: &str, expected: &str| {
        let mut choices = choices(Language::En);
        change(&mut choices);
        let team = Team::load(text, "letters.toml", &skills()).expect("a good team");
        assert_eq!(models(&team.to_group(&choices, &skills()).expect("a group")), expected);
    };
    let id = |text: &str| text.parse().expect("a model");
    check(&|_| (), TEAM, "writer=acme/team reader=acme/reader ");
    check(&|_| (), &TEAM.replace("\"acme/team\"", "\"default\""), "writer=acme/fallback reader=acme/reader ");
    check(&|_| (), &TEAM.replace("\"acme/reader\"", "\"default\""), "writer=acme/team reader=acme/team ");
    check(&|choices| choices.model = Some(id("acme/user")), TEAM, "writer=acme/user reader=acme/user ");
    let single = |choices: &mut Choices| {
        choices.model = Some(id("acme/user"));
        choices.models.insert("reader".into(), id("acme/own"));
    };
    check(&single, TEAM, "writer=acme/user reader=acme/own ");
}

#[test]
fn choices_that_do_not_fit_are_all_named() {
    let mut wrong = Choices::new(Language::En, "acme/fallback".parse().expect("a model"));
    wrong.params.insert("tonne".into(), Json::of("cold").expect("a text"));
    wrong.models.insert("raeder".into(), "acme/own".parse().expect("a model"));
    let error = team().to_group(&wrong, &Skills::default()).expect_err("four problems");
    assert_eq!(error.kind(), ErrorKind::Unknown);
    expect![[r#"
        team "letters" has no param "tonne"; did you mean "tone"?
        team "letters" needs a value for its param "to"; say who gets the letter
        there is no agent "raeder" in team "letters"; did you mean "reader"?
        unknown skill "project-manager" of agent "reader""#]]
    .assert_eq(&error.to_string());
}

#[test]
fn limits_come_from_the_file() {
    let limits = team().limits();
    assert_eq!((limits.turns, limits.tokens, limits.millis), (Some(3), Some(Tokens(9000)), Some(120_000)));
    assert_eq!(limits.money.expect("set").to_string(), "0.50 USD");
    assert!(limits.steps.is_some() && limits.fan_out.is_some());
}

/// Would fail if a stage of the delivery were left unbounded, or the files lost their section.
#[test]
fn the_bundled_delivery_carries_its_contract() {
    let skills = skills();
    let library = Library::open(&[], &skills);
    for (language, last) in [(Language::En, "Project files"), (Language::Zh, "项目文件")] {
        let choices = Choices::new(language, "acme/fallback".parse().expect("a model"));
        let group =
            library.get("software-company").expect("bundled").to_group(&choices, &skills).expect("a group");
        let SupervisorSpec::Graph(graph) = &group.supervisor else { panic!("a pipeline is a graph") };
        let summary = &graph.stages.last().expect("five stages").contract;
        assert!(summary.files && summary.words.is_none());
        assert_eq!(summary.sections.last().expect("sections"), last);
        assert!(graph.stages[..4].iter().all(|stage| stage.contract.words.is_some()));
    }
}
