//! Whether the parts of a team fit together.

use std::collections::{BTreeSet, HashMap};

use thermidor_context_engine::Language;
use thermidor_skills::Library as Skills;
use thermidor_types::ModelId;

use crate::{
    ErrorKind, Problem, StageFile, TeamFile, VERSION, near, needs, path::KeyPath, source::Places, template,
};

/// The resolved needs of every stage, as indices, and all problems.
pub(crate) fn check(file: &TeamFile, places: &Places, skills: &Skills) -> (Vec<Vec<usize>>, Vec<Problem>) {
    let mut check = Check { file, places, problems: Vec::new() };
    check.head();
    check.agents(skills);
    let inputs = check.needs();
    for (at, stage) in file.stages.iter().enumerate() {
        check.stage(at, stage, inputs.as_ref().and_then(|inputs| inputs.get(at)));
    }
    (inputs.unwrap_or_default(), check.problems)
}

struct Check<'a> {
    file: &'a TeamFile,
    places: &'a Places,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn report(&mut self, kind: ErrorKind, path: &KeyPath, message: String, remedy: Option<String>) {
        let problem = self.places.problem(kind, path, message);
        self.problems.push(Problem { remedy, ..problem });
    }

    fn bad(&mut self, path: &KeyPath, what: &str) {
        let message = format!("{} {what}", self.places.words(path));
        self.report(ErrorKind::BadValue, path, message, None);
    }

    /// An id has to be one that files, addresses and templates can all carry.
    fn id(&mut self, path: &KeyPath, id: &str) {
        if !well_formed(id) {
            let message = format!("{id:?} is not an id");
            let remedy = "use 1 to 64 lower-case letters, digits and single hyphens, none of them at an end";
            self.report(ErrorKind::BadValue, path, message, Some(remedy.into()));
        }
    }

    fn head(&mut self) {
        let top = KeyPath::default();
        if self.file.version == 0 {
            let remedy = Some(format!("write version = {VERSION}"));
            self.report(ErrorKind::BadValue, &top.key("version"), "there is no version 0".into(), remedy);
        }
        self.id(&top.key("name"), &self.file.name);
        let limits = &self.file.limits;
        let zero = [
            ("turns", limits.turns == 0),
            ("tokens", limits.tokens == 0),
            ("minutes", limits.minutes == 0),
            ("cost_usd", limits.cost_usd.is_some_and(|cost| cost.micros() <= 0)),
        ];
        for (key, _) in zero.iter().filter(|(_, zero)| *zero) {
            self.bad(&top.key("limits").key(key), "must be more than nothing");
        }
        self.model(&top.key("model"), &self.file.model);
        if self.file.agents.is_empty() {
            self.report(
                ErrorKind::BadValue,
                &top.key("agents"),
                "a team has at least one agent".into(),
                None,
            );
        }
        if self.file.stages.is_empty() {
            self.report(
                ErrorKind::BadValue,
                &top.key("stages"),
                "a pipeline has at least one stage".into(),
                None,
            );
        }
    }

    fn model(&mut self, path: &KeyPath, model: &str) {
        if model != "default" && model.parse::<ModelId>().is_err() {
            let message = format!("{model:?} names no model");
            let remedy = "write provider/model, or default for the one that the user chose";
            self.report(ErrorKind::BadValue, path, message, Some(remedy.into()));
        }
    }

    fn agents(&mut self, skills: &Skills) {
        for (id, agent) in &self.file.agents {
            let path = KeyPath::default().key("agents").key(id);
            self.id(&path, id);
            if let Some(model) = &agent.model {
                self.model(&path.key("model"), model);
            }
            match &agent.skill {
                Some(skill) => self.skill(&path.key("skill"), id, skill, skills),
                None if agent.persona.is_none() => {
                    let message = format!("agent {id:?} has neither a skill nor a persona");
                    let remedy = "say who it is by at least one of them";
                    self.report(ErrorKind::MissingKey, &path, message, Some(remedy.into()));
                }
                None => {}
            }
        }
    }

    fn skill(&mut self, path: &KeyPath, agent: &str, skill: &str, skills: &Skills) {
        if skills.get(skill).is_some() {
            return;
        }
        // A skill that could not be loaded is known by its folder alone.
        let faults: Vec<String> = skills
            .faults
            .iter()
            .filter(|fault| fault.path.iter().any(|part| part == skill))
            .map(ToString::to_string)
            .collect();
        if faults.is_empty() {
            let message = format!("unknown skill {skill:?} of agent {agent:?}");
            let remedy = near::suggest(skill, skills.iter().map(|skill| skill.name.as_str()));
            self.report(ErrorKind::Unknown, path, message, remedy);
        } else {
            let message = format!("skill {skill:?} of agent {agent:?} cannot be used: {}", faults.join(", "));
            self.report(ErrorKind::FaultySkill, path, message, None);
        }
    }

    /// The stages that each stage waits for; none when that cannot be said.
    fn needs(&mut self) -> Option<Vec<Vec<usize>>> {
        let stages = &self.file.stages;
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut clear = true;
        for (at, stage) in stages.iter().enumerate() {
            let path = stage_path(at).key("id");
            self.id(&path, &stage.id);
            if known.insert(&stage.id, at).is_some() {
                clear = false;
                let message = format!("there are two stages {:?}", stage.id);
                self.report(ErrorKind::Duplicate, &path, message, Some("give one another id".into()));
            }
        }
        let mut graph = Vec::with_capacity(stages.len());
        for (at, stage) in stages.iter().enumerate() {
            let mut inputs = Vec::with_capacity(stage.needs.len());
            for (index, need) in stage.needs.iter().enumerate() {
                match known.get(need.as_str()) {
                    Some(other) => inputs.push(Some(*other)),
                    None if need == "*" => inputs.push(None),
                    None => {
                        clear = false;
                        let message = format!("stage {:?} needs {need:?}, which is no stage", stage.id);
                        let others =
                            stages.iter().map(|stage| stage.id.as_str()).filter(|id| *id != stage.id);
                        let remedy = near::suggest(need, others);
                        self.report(
                            ErrorKind::Unknown,
                            &stage_path(at).key("needs").index(index),
                            message,
                            remedy,
                        );
                    }
                }
            }
            graph.push(inputs);
        }
        if !clear {
            return None;
        }
        needs::resolve(&graph).map_err(|round| self.cycle(&round)).ok()
    }

    fn cycle(&mut self, round: &[usize]) {
        let ids: Vec<&str> =
            round.iter().filter_map(|at| Some(self.file.stages.get(*at)?.id.as_str())).collect();
        let message = format!("stages need each other: {}", ids.join(" → "));
        let path = stage_path(round.first().copied().unwrap_or_default()).key("needs");
        self.report(ErrorKind::Cycle, &path, message, Some("take one of these needs away".into()));
    }

    fn stage(&mut self, at: usize, stage: &StageFile, inputs: Option<&Vec<usize>>) {
        let path = stage_path(at);
        if !self.file.agents.contains_key(&stage.agent) {
            let message =
                format!("stage {:?} is for agent {:?}, which is not in the team", stage.id, stage.agent);
            let remedy = near::suggest(&stage.agent, self.file.agents.keys().map(String::as_str));
            self.report(ErrorKind::Unknown, &path.key("agent"), message, remedy);
        }
        if stage.words == Some(0) {
            self.bad(&path.key("words"), "must be more than nothing");
        }
        self.sections(&path, stage);
        for (language, prompt) in stage.prompt.each() {
            let path = in_language(&path.key("prompt"), language);
            if prompt.trim().is_empty() {
                self.bad(&path, "is empty");
            }
            match template::placeholders(prompt) {
                Ok(asked) => self.placeholders(&path, stage, &asked, inputs),
                Err(fault) => {
                    let message = format!("{} is no template: {fault}", self.places.words(&path));
                    self.report(ErrorKind::Template, &path, message, None);
                }
            }
        }
    }

    fn sections(&mut self, path: &KeyPath, stage: &StageFile) {
        let path = path.key("sections");
        let Some(sections) = &stage.sections else {
            if stage.files {
                let message = format!("stage {:?} has files and no sections to hold them", stage.id);
                let remedy = Some("add sections; the last one holds the files".into());
                self.report(ErrorKind::MissingKey, &path, message, remedy);
            }
            return;
        };
        for (language, headings) in sections.each() {
            let path = in_language(&path, language);
            if headings.is_empty() {
                self.bad(&path, "is empty");
            }
            let mut seen = BTreeSet::new();
            for (index, heading) in headings.iter().enumerate() {
                let path = path.index(index);
                if heading.trim().is_empty() {
                    self.bad(&path, "is empty");
                } else if !seen.insert(heading.trim().to_lowercase()) {
                    let message = format!("section {heading:?} of stage {:?} is there twice", stage.id);
                    self.report(ErrorKind::Duplicate, &path, message, None);
                }
            }
        }
        let lengths: BTreeSet<usize> = sections.each().map(|(_, headings)| headings.len()).collect();
        if lengths.len() > 1 {
            self.bad(&path, "must be equally many in both languages");
        }
    }

    fn placeholders(
        &mut self,
        path: &KeyPath,
        stage: &StageFile,
        asked: &BTreeSet<String>,
        inputs: Option<&Vec<usize>>,
    ) {
        let stages = &self.file.stages;
        let seen: Option<Vec<&str>> =
            inputs.map(|inputs| inputs.iter().map(|at| stages[*at].id.as_str()).collect());
        for name in asked {
            let attribute = name.split('.').nth(1);
            let (what, remedy) = match (template::root(name), attribute) {
                ("outputs", Some(output)) => match &seen {
                    Some(seen) if !seen.contains(&output) => (
                        format!("the output of {output:?}, which stage {:?} does not need", stage.id),
                        near::suggest(output, seen.iter().copied()),
                    ),
                    _ => continue,
                },
                ("params", Some(param)) if !self.file.params.contains_key(param) => (
                    format!("the param {param:?}, which is not declared"),
                    near::suggest(param, self.file.params.keys().map(String::as_str)),
                ),
                (root, _) if !template::VALUES.contains(&root) => {
                    (format!("{root:?}, which it is not given"), near::suggest(root, template::VALUES))
                }
                _ => continue,
            };
            let message = format!("{} asks for {what}", self.places.words(path));
            self.report(ErrorKind::Template, path, message, remedy);
        }
    }
}

fn stage_path(at: usize) -> KeyPath {
    KeyPath::default().key("stages").index(at)
}

fn in_language(path: &KeyPath, language: Option<Language>) -> KeyPath {
    language.map_or_else(|| path.clone(), |language| path.key(language.pick("en", "zh")))
}

fn well_formed(id: &str) -> bool {
    let letters = id.chars().all(|c| c == '-' || (c.is_alphanumeric() && c.to_lowercase().eq([c])));
    letters && (1..=64).contains(&id.chars().count()) && id.split('-').all(|part| !part.is_empty())
}
