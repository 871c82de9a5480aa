use smol_str::SmolStr;
use thermidor_types::MemberId;

/// Why a group's configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("group {group:?}: {problem}")]
pub struct Error {
    group: SmolStr,
    #[source]
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("nobody is a member")]
    NoMembers,
    #[error("it has no stages")]
    NoStages,
    #[error(transparent)]
    Graph(#[from] thermidor_task_graph::Error),
    #[error("stage {stage:?} is for \"{member}\", who is no member")]
    UnknownMember { stage: SmolStr, member: MemberId },
    #[error("stage {stage:?} shows the output of {seen:?}, which is no stage")]
    UnknownStage { stage: SmolStr, seen: SmolStr },
    #[error("stage {stage:?} is for the group \"{member}\", which has instructions and contracts of its own")]
    InstructedGroup { stage: SmolStr, member: MemberId },
    #[error("this program has no supervisor {name:?}; it has {}", listed(.known))]
    UnknownSupervisor { name: SmolStr, known: Vec<SmolStr> },
    #[error("its supervisor {name:?} cannot be made: {reason}")]
    Supervisor { name: SmolStr, reason: String },
    #[error(transparent)]
    Nested(Box<Error>),
}

fn listed(names: &[SmolStr]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// Why, as a closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// There are no members or no stages.
    Empty,
    /// The stages' needs make no graph.
    Graph,
    /// A stage is for somebody who is no member.
    UnknownMember,
    /// A stage shows the output of a stage that is not there.
    UnknownStage,
    /// A stage tells a nested group what to do, which has instructions of its own.
    InstructedGroup,
    /// The program has no supervisor of that name.
    UnknownSupervisor,
    /// The supervisor does not accept its configuration.
    Supervisor,
}

impl Error {
    pub(crate) fn new(group: &SmolStr, problem: impl Into<Problem>) -> Self {
        Self { group: group.clone(), problem: problem.into() }
    }

    /// The closed kind, to branch on; of a nested group's fault, the nested one's.
    pub fn kind(&self) -> ErrorKind {
        match &self.problem {
            Problem::NoMembers | Problem::NoStages => ErrorKind::Empty,
            Problem::Graph(_) => ErrorKind::Graph,
            Problem::UnknownMember { .. } => ErrorKind::UnknownMember,
            Problem::UnknownStage { .. } => ErrorKind::UnknownStage,
            Problem::InstructedGroup { .. } => ErrorKind::InstructedGroup,
            Problem::UnknownSupervisor { .. } => ErrorKind::UnknownSupervisor,
            Problem::Supervisor { .. } => ErrorKind::Supervisor,
            Problem::Nested(error) => error.kind(),
        }
    }
}
