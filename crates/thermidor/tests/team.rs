//! Teams put together in code and read from files, with scripted models.

use thermidor::{ErrorKind, prelude::*, teams};
use thermidor_testing::{Reply, ScriptedModel};

/// Answers with its persona's last word and the number of outputs it was shown.
fn counting() -> ScriptedModel {
    ScriptedModel::answering("test/counting", |request| {
        let system = request.messages[0].text();
        let name = system.split('.').next().unwrap_or_default().to_owned();
        let shown: usize =
            request.messages.iter().map(|message| message.text().matches("<output ").count()).sum();
        Reply::says(format!("{name} saw {shown}"))
    })
}

fn three() -> Team {
    ["Ada", "Ben", "Cleo"].into_iter().fold(Team::new("three").own_model(counting()), |team, name| {
        team.member(Agent::new(name.to_lowercase(), format!("{name}. You answer.")))
    })
}

async fn said(team: &Team) -> Result<Vec<String>, Error> {
    let run = team.start("Tea or coffee?").await?;
    let mut events = run.events().await?;
    let mut said = Vec::new();
    while let Some(event) = events.next().await {
        if let RunEventKind::TurnEnded { text, .. } = event?.kind {
            said.push(text.to_string());
        }
    }
    assert_eq!(run.answer().await?.as_str(), said.last().map_or("", String::as_str));
    Ok(said)
}

/// Would fail if somebody in a relay spoke out of order or did not see what all before had said.
#[tokio::test]
async fn members_alone_are_a_relay() -> Result<(), Error> {
    assert_eq!(said(&three()).await?, ["Ada saw 0", "Ben saw 1", "Cleo saw 2"]);
    Ok(())
}

/// Would fail if stages or a supervisor did not take the relay's place.
#[tokio::test]
async fn stages_and_supervisors_decide_who_speaks() -> Result<(), Error> {
    let staged = three()
        .stage(StageSpec::new("first", "cleo", "Begin."))
        .stage(StageSpec::new("second", "ada", "Go on.").after(["first"]));
    assert_eq!(said(&staged).await?, ["Cleo saw 0", "Ada saw 1"]);
    let led = staged.supervisor(|group: &GroupView<'_>| match group.turns().len() {
        turns @ 0..2 => Decide::from(Call::new(["ben", "cleo"][turns])).into(),
        _ => Decide::finish("two are enough").into(),
    });
    assert_eq!(said(&led).await?, ["Ben saw 0", "Cleo saw 1"]);
    Ok(())
}

/// Would fail if one member's context reached another's prompt.
#[tokio::test]
async fn a_members_context_is_its_own() -> Result<(), Error> {
    let secret = || provider_fn("secret", |_| [Contribution::tail("secret", "The key is under the mat.")]);
    let model = counting();
    let team = Team::new("two")
        .own_model(model.clone())
        .member(Agent::new("ada", "Ada.").context(secret()))
        .member(Agent::new("ben", "Ben."))
        .context(provider_fn("news", |_| [Contribution::tail("news", "It rains.")]));
    team.ask("Where is the key?").await?;
    let told = |word: &str| -> Vec<bool> {
        let requests = model.requests();
        requests.iter().map(|request| request.messages.iter().any(|it| it.text().contains(word))).collect()
    };
    assert_eq!((told("under the mat"), told("It rains")), (vec![true, false], vec![true, true]));
    Ok(())
}

/// Would fail if parts that do not go together were taken and passed over.
#[tokio::test]
async fn what_does_not_go_together_is_refused() -> Result<(), Error> {
    let reckoner = |name: &str| Agent::new(name, "You calculate.").tool(Calculator::default());
    let ada = || Agent::new("ada", "Ada.");
    let again = ScriptedModel::new("test/counting");
    for (team, words) in [
        (three().member(ada()), "two members are called ada"),
        (Team::new("t").member(ada().models(Models::builder().build()?)), "Team::models"),
        (Team::new("t").member(ada().limits(Limits::default())), "Team::limits"),
        (Team::new("t").member(reckoner("ada")).member(reckoner("ben")), "a second tool called `calculator`"),
        (Team::new("t").member(ada().may_call("clock")), "`clock`, which the team does not have"),
        (three().member(Agent::new("dan", "Dan.").own_model(again)), "two models are called test/counting"),
    ] {
        let error = team.ask("Hello").await.expect_err(words);
        assert_eq!(
            (error.kind(), error.to_string().contains(words)),
            (ErrorKind::Configuration, true),
            "{error}"
        );
    }
    let one = reckoner("ada");
    let shared = Team::new("t").own_model(counting()).tool(Calculator::default());
    shared.member(Agent::new("ben", "Ben.").may_call("calculator")).ask("Hello").await?;
    Team::new("t").own_model(counting()).member(one.clone()).ask("Hello").await?;
    Ok(())
}

/// Would fail if a file's team did not run, or its faults had no place.
#[tokio::test]
async fn files() -> Result<(), Error> {
    let team = Team::bundled("software-company")?.own_model(counting());
    let shown: Vec<_> = said(&team).await?.iter().filter_map(|text| text.chars().next_back()).collect();
    assert_eq!(shown, ['0', '1', '1', '1', '4'], "a strict relay, and the summary sees all");
    let error = Team::bundled("software-compny").expect_err("a slip");
    assert!(error.to_string().ends_with(r#"did you mean "software-company"?"#), "{error}");
    let error = Team::from_file("nowhere/team.toml").expect_err("no such file");
    assert_eq!(error.kind(), ErrorKind::Team(teams::ErrorKind::Unreadable));
    let error = team.param("style", "short").ask("Hello").await.expect_err("no such param");
    assert_eq!(error.kind(), ErrorKind::Team(teams::ErrorKind::Unknown));
    Ok(())
}
