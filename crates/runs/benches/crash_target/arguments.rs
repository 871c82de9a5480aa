use std::path::PathBuf;

/// At which append to die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crash {
    pub(crate) at: u64,
    pub(crate) when: When,
}

/// At which moment of that append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// It never reaches the store.
    Before,
    /// The store has it in hand; whether it is kept is chance.
    During,
    /// It is stored, and the driver never learns so.
    After,
}

/// What this program was started with.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) folder: PathBuf,
    pub(crate) mock: String,
    pub(crate) team: String,
    pub(crate) crash: Option<Crash>,
}

pub(crate) const USAGE: &str =
    "crash-target --folder DIR --mock URL --team NAME [--crash before|during|after --at N]";

impl Arguments {
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let (mut folder, mut mock, mut team, mut when, mut at) = (None, None, None, None, None);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--folder" => folder = words.next(),
                "--mock" => mock = words.next(),
                "--team" => team = words.next(),
                "--crash" => when = Some(words.next()?),
                "--at" => at = Some(words.next()?.parse().ok()?),
                _ => return None,
            }
        }
        let when = match when.as_deref() {
            None => None,
            Some("before") => Some(When::Before),
            Some("during") => Some(When::During),
            Some("after") => Some(When::After),
            Some(_) => return None,
        };
        let crash = when.zip(at).map(|(when, at)| Crash { at, when });
        Some(Self { folder: folder?.into(), mock: mock?, team: team?, crash })
    }
}
