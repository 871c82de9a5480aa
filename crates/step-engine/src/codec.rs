use bytes::Bytes;
use thermidor_types::{ContentHash, TreeId};

use crate::{
    Error, Fact, Loaded, RECORD_VERSION, Record, StoredRecord,
    error::Problem,
    spill::{spill, unspill},
};

/// A record's stored form, and the blobs it spills.
pub(crate) fn encode(
    record: &Record,
) -> Result<(StoredRecord, Vec<(ContentHash, Bytes)>), serde_json::Error> {
    let (body, cuts, blobs) = spill(serde_json::to_string(&record.fact)?);
    let Record { at, node, .. } = *record;
    Ok((
        StoredRecord { at, node, kind: kind(&record.fact).into(), version: RECORD_VERSION, body, cuts },
        blobs,
    ))
}

fn kind(fact: &Fact) -> &'static str {
    match fact {
        Fact::Driver { .. } => "driver",
        Fact::Opened(_) => "opened",
        Fact::Began => "began",
        Fact::Happened { .. } => "happened",
        Fact::Started { .. } => "started",
        Fact::Ended { .. } => "ended",
        Fact::Limited { .. } => "limited",
        Fact::Relimited(_) => "relimited",
        Fact::Signalled(_) => "signalled",
        Fact::Reopened => "reopened",
        Fact::Handled { .. } => "handled",
        Fact::Forked { .. } => "forked",
        Fact::Released { .. } => "released",
    }
}

/// Reads records back; `after` is the version before the first of them, for error messages.
pub(crate) fn decode(tree: TreeId, after: u64, loaded: Loaded) -> Result<Vec<Record>, Error> {
    let Loaded { records, blobs } = loaded;
    let decode = |(version, stored): (u64, StoredRecord)| {
        if stored.version > RECORD_VERSION {
            return Err(Error::new(tree, Problem::Newer { version }));
        }
        let whole;
        let body = if stored.cuts.is_empty() {
            &stored.body
        } else {
            whole =
                unspill(&stored.body, &stored.cuts, |hash| blobs.get(hash).cloned()).map_err(|error| {
                    Error::new(tree, Problem::Unreadable { version, reason: error.to_string() })
                })?;
            &whole
        };
        let fact = serde_json::from_str(body)
            .map_err(|error| Error::new(tree, Problem::Unreadable { version, reason: error.to_string() }))?;
        Ok(Record { at: stored.at, node: stored.node, fact })
    };
    (after + 1..).zip(records).map(decode).collect()
}
