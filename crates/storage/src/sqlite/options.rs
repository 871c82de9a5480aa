use std::time::Duration;

/// How a [`SqliteJournal`](crate::SqliteJournal) is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What an append survives.
    pub durability: Durability,
    /// Whether it may be written.
    pub access: Access,
    /// How long to wait for another process that writes to the same file.
    pub busy_timeout: Duration,
    /// The size that the file may not grow above, in bytes: an append beyond it fails with `Full`.
    pub max_bytes: Option<u64>,
}

impl Default for Options {
    /// Survives `kill -9`, may be written, waits five seconds, grows as far as the disk allows.
    fn default() -> Self {
        Self {
            durability: Durability::Normal,
            access: Access::ReadWrite,
            busy_timeout: Duration::from_secs(5),
            max_bytes: None,
        }
    }
}

/// What an append survives once it was acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The death of the process, `kill -9` included. A power cut may lose the last appends, never the order
    /// or the consistency of what is left. Costs no wait for the disk.
    #[default]
    Normal,
    /// A power cut too. Costs a wait for the disk per group of appends.
    Full,
}

/// Whether a journal may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Creates the file if need be, and brings an older one up to date.
    #[default]
    ReadWrite,
    /// Changes nothing. Works on a read-only medium too, as long as nobody writes to the file there.
    ReadOnly,
}
