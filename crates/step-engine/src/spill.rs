//! Large strings leave a record's JSON for the blob store, and come back byte for byte.
//!
//! A string token longer than [`SPILL_BYTES`] is cut out of the JSON text; the record keeps the byte
//! position, the blob store the characters under their content hash. Machines never notice, equal texts
//! are stored once, and because positions are kept apart from the text, nothing inside the data can be
//! mistaken for a reference.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use thermidor_types::ContentHash;

/// Strings longer than this many bytes of JSON leave the record.
pub const SPILL_BYTES: usize = 16 * 1024;

/// A place where a string was cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// The byte position of the string token in the shortened text.
    pub at: usize,
    /// Where its characters are.
    pub hash: ContentHash,
}

/// Cuts long string tokens out of a JSON text. Cost: one pass over the bytes.
pub(crate) fn spill(json: String) -> (String, Vec<Cut>, Vec<(ContentHash, Bytes)>) {
    if json.len() <= SPILL_BYTES {
        return (json, Vec::new(), Vec::new());
    }
    let (mut short, mut cuts, mut blobs) = (String::new(), Vec::new(), Vec::new());
    let (mut rest, mut from) = (json.as_str(), 0);
    while let Some((start, end)) = next_string(rest.as_bytes(), from) {
        from = end;
        if end - start <= SPILL_BYTES {
            continue;
        }
        let token = &rest[start..end];
        // Only what comes back to the same bytes may leave: other escapes of the same string stay.
        let Ok(text) = serde_json::from_str::<String>(token) else { continue };
        if serde_json::to_string(&text).is_ok_and(|again| again == token) {
            short.push_str(&rest[..start]);
            let hash = ContentHash::of(text.as_bytes());
            cuts.push(Cut { at: short.len(), hash });
            blobs.push((hash, Bytes::from(text)));
            rest = &rest[end..];
            from = 0;
        }
    }
    if cuts.is_empty() {
        return (json, cuts, blobs);
    }
    short.push_str(rest);
    (short, cuts, blobs)
}

/// The next string token at or after `from`: start of its opening quote, end after its closing quote.
fn next_string(json: &[u8], from: usize) -> Option<(usize, usize)> {
    let start = from + json.get(from..)?.iter().position(|byte| *byte == b'"')?;
    let mut at = start + 1;
    loop {
        match json.get(at)? {
            b'"' => return Some((start, at + 1)),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Why a record could not be made whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnspillError {
    #[error("the content {0} is missing from the blob store")]
    Missing(ContentHash),
    #[error("the content {0} or its place in the record is damaged")]
    Damaged(ContentHash),
}

/// Puts the strings back.
pub(crate) fn unspill(
    short: &str,
    cuts: &[Cut],
    blob: impl Fn(&ContentHash) -> Option<Bytes>,
) -> Result<String, UnspillError> {
    let (mut json, mut from) = (String::new(), 0);
    for cut in cuts {
        let bytes = blob(&cut.hash).ok_or(UnspillError::Missing(cut.hash))?;
        let damaged = || UnspillError::Damaged(cut.hash);
        let text = std::str::from_utf8(&bytes).map_err(|_| damaged())?;
        json.push_str(short.get(from..cut.at).ok_or_else(damaged)?);
        json.push_str(&serde_json::to_string(text).map_err(|_| damaged())?);
        from = cut.at;
    }
    json.push_str(short.get(from..).unwrap_or_default());
    Ok(json)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Would fail if a record with large or strange strings did not come back byte for byte.
        #[test]
        fn every_text_comes_back(
            parts in prop::collection::vec(("\\PC{1,8}", 0usize..3), 1..4),
            escaped in any::<bool>(),
        ) {
            let mut long: Vec<String> = parts.iter()
                .map(|(unit, times)| format!("\"\\{unit}\n").repeat(times * SPILL_BYTES / 4))
                .collect();
            long.push("{\"blob\":\"0000\"}".into());
            let mut json = serde_json::to_string(&long).expect("strings serialise");
            if escaped { json = json.replace('a', "\\u0061") }
            let (short, cuts, blobs) = spill(json.clone());
            let store: BTreeMap<_, _> = blobs.into_iter().collect();
            let whole = unspill(&short, &cuts, |hash| store.get(hash).cloned());
            prop_assert_eq!(whole, Ok(json));
            prop_assert!(serde_json::from_str::<Vec<String>>(&short).is_err() || cuts.is_empty());
        }
    }

    #[test]
    fn equal_texts_share_a_blob_and_short_ones_stay() {
        let text = "x".repeat(SPILL_BYTES + 1);
        let json = serde_json::to_string(&(&text, "short", &text)).expect("serialises");
        let (short, cuts, blobs) = spill(json);
        assert_eq!(short, r#"[,"short",]"#);
        assert_eq!(cuts.len(), 2);
        assert_eq!(blobs[0].0, blobs[1].0);
        assert_eq!(blobs[0].0, ContentHash::of(text.as_bytes()));
    }
}
