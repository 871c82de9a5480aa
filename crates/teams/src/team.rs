use std::path::Path;

use thermidor_skills::Library as Skills;

use crate::{Error, StageFile, TeamFile, check, library, source};

/// A team whose parts were found and fit together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    file: TeamFile,
    inputs: Vec<Vec<usize>>,
}

impl Team {
    /// Reads and checks a team file, blocking.
    ///
    /// # Errors
    /// [`ErrorKind::Unreadable`](crate::ErrorKind::Unreadable) when it cannot be read or is larger than 1 MiB, and
    /// as [`Team::load`].
    pub fn open(file: &Path, skills: &Skills) -> Result<Self, Error> {
        let text = library::text_of(file).map_err(|error| library::unreadable(file, &error))?;
        Self::load(&text, &file.display().to_string(), skills)
    }

    /// Reads and checks the text of a `team.toml`. `name` is what errors call the file.
    ///
    /// # Errors
    /// With every problem of the file's shape at once, or else with every problem between its parts: unknown
    /// agents, skills, stages and placeholders, cycles, doubles, empty values.
    pub fn load(text: &str, name: &str, skills: &Skills) -> Result<Self, Error> {
        let (file, places) = source::read(text, name)?;
        let (inputs, problems) = check::check(&file, &places, skills);
        Error::unless_empty(problems)?;
        Ok(Self { file, inputs })
    }

    /// What the file says.
    pub fn file(&self) -> &TeamFile {
        &self.file
    }

    /// The team's id.
    pub fn id(&self) -> &str {
        &self.file.name
    }

    /// The stages in the order of the file, each with the stages whose outputs it sees, `*` resolved.
    pub fn stages(&self) -> impl ExactSizeIterator<Item = (&StageFile, Vec<&str>)> {
        self.file.stages.iter().zip(&self.inputs).map(|(stage, inputs)| {
            (stage, inputs.iter().map(|at| self.file.stages[*at].id.as_str()).collect())
        })
    }
}
