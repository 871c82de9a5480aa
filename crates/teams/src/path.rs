use std::fmt;

/// The keys that lead to a value in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct KeyPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Step {
    Key(String),
    Index(usize),
}

impl KeyPath {
    /// The path of `key` in the table at this path.
    pub(crate) fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.into()))
    }

    /// The path of item `index` in the list at this path.
    pub(crate) fn index(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    fn with(&self, step: Step) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    /// One step up; none at the top.
    pub(crate) fn parent(&self) -> Option<Self> {
        self.0.split_last().map(|(_, up)| Self(up.to_vec()))
    }

    /// In a reader's words: `words of stage "plan"`, `limits`; empty at the top. `stage` names a stage.
    pub(crate) fn words(&self, stage: impl Fn(usize) -> Option<String>) -> String {
        let (owner, rest) = match self.0.as_slice() {
            [Step::Key(list), Step::Index(at), rest @ ..] if list == "stages" => {
                let named =
                    stage(*at).map_or_else(|| format!("stage {}", at + 1), |id| format!("stage {id:?}"));
                (Some(named), rest)
            }
            [Step::Key(map), Step::Key(id), rest @ ..] if map == "agents" || map == "params" => {
                (Some(format!("{} {id:?}", map.trim_end_matches('s'))), rest)
            }
            all => (None, all),
        };
        let steps = rest.iter().rev().map(|step| match step {
            Step::Key(key) => key.clone(),
            Step::Index(at) => format!("item {}", at + 1),
        });
        let words = steps.collect::<Vec<_>>().join(" of ");
        match owner {
            Some(owner) if words.is_empty() => owner,
            Some(owner) => format!("{words} of {owner}"),
            None => words,
        }
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if at == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
