//! A team as text: waves of stages, members, limits.

use std::fmt::Write as _;

use thermidor_group_orchestration::{GroupSpec, MemberSpec, SupervisorSpec};
use thermidor_model_runtime::ModelRuntime;
use thermidor_step_engine::Limits;
use thermidor_teams::Team;

use crate::{table::Table, words};

/// Stands for the model of agents that a run decides about.
pub(crate) const UNDECIDED: &str = "undecided";

/// The stages in the order they can start (what stands in one wave runs side by side), and the members.
pub(crate) fn team(team: &Team, group: &GroupSpec, models: &ModelRuntime) -> String {
    let mut text = format!("{} ({})\n\n", group.title, team.id());
    let SupervisorSpec::Graph(graph) = &group.supervisor else { return text };
    let needs: Vec<Vec<usize>> = {
        let place = |id: &str| graph.stages.iter().position(|stage| stage.id == id);
        graph.stages.iter().map(|stage| stage.needs.iter().filter_map(|id| place(id)).collect()).collect()
    };
    for (number, wave) in (1..).zip(waves(&needs)) {
        for (place, at) in wave.iter().enumerate() {
            let stage = &graph.stages[*at];
            let name = group.members.get(&stage.member).map_or(stage.member.as_str(), |member| member.name());
            let branch = match (wave.len(), place) {
                (1, _) => "─",
                (_, 0) => "┬",
                (length, place) if place + 1 == length => "└",
                _ => "├",
            };
            let lead = if place == 0 { format!("{number:>2} ") } else { "   ".to_owned() };
            let after = if stage.needs.is_empty() {
                String::new()
            } else {
                let ids: Vec<_> = stage.needs.iter().map(AsRef::as_ref).collect::<Vec<&str>>();
                format!("  ← {}", ids.join(", "))
            };
            let size = stage.contract.words.map(|most| format!(", {most} words")).unwrap_or_default();
            let _ = writeln!(text, "{lead}{branch} {}: {} · {name}{size}{after}", stage.id, stage.title);
        }
    }
    let mut table = Table::new(&["member", "name", "skill", "model", "window"], &[4]);
    for (id, member) in &group.members {
        if let MemberSpec::Agent(agent) = member {
            let card = models.card(&agent.model.to_string());
            let window = card.map_or_else(|_| "–".to_owned(), |(card, _)| words::tokens(card.context_window));
            let undecided = agent.model.provider() == UNDECIDED;
            let model = if undecided { "(the run's)".to_owned() } else { agent.model.to_string() };
            table.row([
                id.to_string(),
                agent.name.to_string(),
                agent.skill.as_ref().map_or_else(|| "–".to_owned(), |skill| skill.name.to_string()),
                model,
                window,
            ]);
        }
    }
    format!("{text}\n{table}")
}

/// The stages by wave: each stands after the last one it needs.
fn waves(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut depth: Vec<Option<usize>> = vec![None; needs.len()];
    // A team has no circles: every round settles one stage at least.
    for _ in 0..needs.len() {
        for at in 0..needs.len() {
            let inner: Option<Vec<usize>> = needs[at].iter().map(|need| depth[*need]).collect();
            depth[at] =
                depth[at].or(inner.map(|inner| inner.into_iter().max().map_or(0, |deepest| deepest + 1)));
        }
    }
    let mut waves: Vec<Vec<usize>> = Vec::new();
    for (at, depth) in depth.into_iter().enumerate() {
        let depth = depth.unwrap_or(0);
        if waves.len() <= depth {
            waves.resize(depth + 1, Vec::new());
        }
        waves[depth].push(at);
    }
    waves.retain(|wave| !wave.is_empty());
    waves
}

/// `20 turns, 200,000 tokens, 1.00 USD, 20 m 00 s`
pub(crate) fn limits(limits: &Limits) -> String {
    let parts = [
        limits.turns.map(|turns| words::count(turns, "turn")),
        limits.tokens.map(|tokens| format!("{} tokens", words::tokens(tokens))),
        limits.money.map(|money| money.to_string()),
        limits.time().map(words::time),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_that_can_run_together_stand_in_one_wave() {
        assert_eq!(
            waves(&[vec![], vec![0], vec![1], vec![1], vec![2, 3]]),
            [vec![0], vec![1], vec![2, 3], vec![4]]
        );
        assert_eq!(waves(&[vec![1], vec![]]), [vec![1], vec![0]]);
        assert!(waves(&[]).is_empty());
    }
}
