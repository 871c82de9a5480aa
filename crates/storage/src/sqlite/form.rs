//! The stored form of what a row holds.

use rusqlite::Row;
use smol_str::SmolStr;
use thermidor_step_engine::{
    Cut, EndStatus, JournalErrorKind as Kind, NodeId, Spent, StoredRecord, TreeRow, TreeState, TreeStatus,
};
use thermidor_types::{CommandId, ContentHash, Money, Text, Timestamp, Tokens, TreeId, Uuid};

use super::problem::Problem;

/// A number as the database holds it.
pub(crate) fn integer(number: u64) -> Result<i64, Problem> {
    i64::try_from(number).map_err(|_| Problem::Unfit(Kind::Full, format!("cannot count up to {number}")))
}

pub(crate) fn unsigned<T: TryFrom<i64>>(number: i64) -> Result<T, Problem> {
    T::try_from(number).map_err(|_| Problem::damaged(format!("the number {number} is out of range")))
}

/// The key of the record that made `version` of the tree with this number.
pub(crate) fn record_id(number: i64, version: u64) -> Result<i64, Problem> {
    let full = || {
        let words = "holds at most 2,147,483,647 runs of 4,294,967,295 records each; start another file";
        Problem::Unfit(Kind::Full, words.into())
    };
    let number = i32::try_from(number).map_err(|_| full())?;
    let version = u32::try_from(version).map_err(|_| full())?;
    Ok((i64::from(number) << 32) | i64::from(version))
}

/// The columns `version`, `opened_at`, `changed_at` and those of the status, from `first` on.
pub(crate) fn tree_row(tree: TreeId, row: &Row<'_>) -> Result<TreeRow, Problem> {
    let money = match (row.get::<_, Option<i64>>("micros")?, row.get_ref("currency")?.as_str_or_null()) {
        (Some(micros), Ok(Some(code))) => {
            let currency = code.parse().map_err(|error| Problem::damaged(format!("the currency {error}")))?;
            Some(Money::from_micros(micros, currency))
        }
        (None, Ok(None)) => None,
        _ => return Err(Problem::damaged("money without a currency")),
    };
    let wake_at = row.get::<_, Option<i64>>("wake_at")?.map(Timestamp::from_millis);
    Ok(TreeRow {
        tree,
        opened_at: Timestamp::from_millis(row.get("opened_at")?),
        changed_at: Timestamp::from_millis(row.get("changed_at")?),
        version: unsigned(row.get("version")?)?,
        status: TreeStatus {
            title: Text::from(text(row, "title")?),
            kind: SmolStr::from(text(row, "kind")?),
            state: state(text(row, "state")?, wake_at)?,
            spent: Spent {
                steps: unsigned(row.get("steps")?)?,
                turns: unsigned(row.get("turns")?)?,
                tokens: Tokens(unsigned(row.get("tokens")?)?),
                money,
            },
        },
    })
}

fn text<'row>(row: &'row Row<'_>, column: &str) -> Result<&'row str, Problem> {
    row.get_ref(column)?.as_str().map_err(|error| Problem::damaged(format!("the column {column}: {error}")))
}

/// The word for a state.
pub(crate) fn state_word(state: TreeState) -> &'static str {
    match state {
        TreeState::New => "new",
        TreeState::Running => "running",
        TreeState::Parked { .. } => "parked",
        TreeState::Suspended => "suspended",
        TreeState::Ended(EndStatus::Done) => "done",
        TreeState::Ended(EndStatus::Failed) => "failed",
        TreeState::Ended(EndStatus::Stopped) => "stopped",
        TreeState::Ended(EndStatus::Limit) => "limit",
    }
}

fn state(word: &str, wake_at: Option<Timestamp>) -> Result<TreeState, Problem> {
    Ok(match word {
        "new" => TreeState::New,
        "running" => TreeState::Running,
        "parked" => TreeState::Parked { wake_at },
        "suspended" => TreeState::Suspended,
        "done" => TreeState::Ended(EndStatus::Done),
        "failed" => TreeState::Ended(EndStatus::Failed),
        "stopped" => TreeState::Ended(EndStatus::Stopped),
        "limit" => TreeState::Ended(EndStatus::Limit),
        word => return Err(Problem::damaged(format!("the state {word:?} of a run is unknown"))),
    })
}

/// The moment a parked tree wants to go on at, in milliseconds.
pub(crate) fn wake_at(state: TreeState) -> Option<i64> {
    match state {
        TreeState::Parked { wake_at } => wake_at.map(Timestamp::as_millis),
        TreeState::New | TreeState::Running | TreeState::Suspended | TreeState::Ended(_) => None,
    }
}

/// The columns `at, node, kind, version, body, cuts`, in this order.
pub(crate) fn record(row: &Row<'_>) -> Result<StoredRecord, Problem> {
    let text = |index: usize| {
        row.get_ref(index)?.as_str().map_err(|error| Problem::damaged(format!("a record's text: {error}")))
    };
    let cuts =
        row.get_ref(5)?.as_blob_or_null().map_err(|error| Problem::damaged(format!("a record: {error}")))?;
    Ok(StoredRecord {
        at: Timestamp::from_millis(row.get(0)?),
        node: NodeId(unsigned(row.get(1)?)?),
        kind: SmolStr::from(text(2)?),
        version: unsigned(row.get(3)?)?,
        body: text(4)?.to_owned(),
        cuts: cuts.map_or(Ok(Vec::new()), read_cuts)?,
    })
}

const POSITION: usize = size_of::<u32>();
const CUT: usize = POSITION + 32;

/// Cuts as bytes; `None` when there are none.
pub(crate) fn write_cuts(cuts: &[Cut]) -> Result<Option<Vec<u8>>, Problem> {
    let mut bytes = Vec::with_capacity(cuts.len() * CUT);
    for cut in cuts {
        let at = u32::try_from(cut.at)
            .map_err(|_| Problem::Unfit(Kind::Full, "cannot hold a record of 4 GiB".into()))?;
        bytes.extend_from_slice(&at.to_le_bytes());
        bytes.extend_from_slice(cut.hash.as_bytes());
    }
    Ok((!bytes.is_empty()).then_some(bytes))
}

fn read_cuts(bytes: &[u8]) -> Result<Vec<Cut>, Problem> {
    let (cuts, rest) = bytes.as_chunks::<CUT>();
    if !rest.is_empty() {
        return Err(Problem::damaged("the cuts of a record are incomplete"));
    }
    let cut = |cut: &[u8; CUT]| {
        let (mut at, mut hash) = ([0; POSITION], [0; 32]);
        at.copy_from_slice(&cut[..POSITION]);
        hash.copy_from_slice(&cut[POSITION..]);
        Cut { at: u32::from_le_bytes(at) as usize, hash: ContentHash::from(hash) }
    };
    Ok(cuts.iter().map(cut).collect())
}

pub(crate) fn tree_bytes(tree: TreeId) -> [u8; 16] {
    tree.as_uuid().into_bytes()
}

pub(crate) fn tree_id(bytes: [u8; 16]) -> TreeId {
    TreeId::from(Uuid::from_bytes(bytes))
}

pub(crate) fn command_bytes(command: &CommandId) -> [u8; 16] {
    command.as_uuid().into_bytes()
}

pub(crate) fn command_id(bytes: [u8; 16]) -> CommandId {
    CommandId::from(Uuid::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Would fail if a cut came back at another place or with another hash.
        #[test]
        fn cuts_come_back(cuts in prop::collection::vec((any::<u32>(), any::<[u8; 32]>()), 0..5)) {
            let cuts: Vec<_> = cuts.into_iter()
                .map(|(at, hash)| Cut { at: at as usize, hash: ContentHash::from(hash) })
                .collect();
            let bytes = write_cuts(&cuts).expect("they are small").unwrap_or_default();
            prop_assert_eq!(read_cuts(&bytes).expect("they read back"), cuts);
        }
    }

    #[test]
    fn half_a_cut_is_damage() {
        assert!(matches!(read_cuts(&[0; CUT + 1]), Err(Problem::Damaged(_))));
    }

    #[test]
    fn every_state_comes_back() {
        let wake_at = Some(Timestamp::from_millis(7));
        let states =
            [TreeState::New, TreeState::Running, TreeState::Suspended, TreeState::Parked { wake_at }];
        let ends =
            [EndStatus::Done, EndStatus::Failed, EndStatus::Stopped, EndStatus::Limit].map(TreeState::Ended);
        for one in states.into_iter().chain(ends) {
            let back = state(state_word(one), self::wake_at(one).map(Timestamp::from_millis));
            assert_eq!(back.expect("it is known"), one);
        }
        assert!(matches!(state("asleep", None), Err(Problem::Damaged(_))));
    }

    #[test]
    fn records_of_two_trees_never_share_a_key() {
        let key = |number, version| record_id(number, version).ok();
        assert!(key(1, u64::from(u32::MAX)) < key(2, 0));
        assert_eq!(key(1, u64::from(u32::MAX) + 1), None);
        assert_eq!(key(i64::from(i32::MAX) + 1, 1), None);
    }
}
