use serde::Deserialize;
use serde_json::value::RawValue;
use thermidor_types::{Citation, Text};

use crate::dialect::lenient::string;

#[derive(Deserialize)]
struct Reported<'a> {
    #[serde(borrow, default)]
    cited_text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    document_title: Option<&'a RawValue>,
    #[serde(borrow, default)]
    title: Option<&'a RawValue>,
    #[serde(borrow, default)]
    url: Option<&'a RawValue>,
    /// What a search result of the request is called: an address, mostly.
    #[serde(borrow, default)]
    source: Option<&'a RawValue>,
    #[serde(borrow, default)]
    file_id: Option<&'a RawValue>,
}

/// The source that a citation names, whatever its type; `None` when it names none.
pub(super) fn read(raw: &RawValue) -> Option<Citation> {
    let reported: Reported<'_> = serde_json::from_str(raw.get()).ok()?;
    let words = |raw| string(raw).map(|words| Text::from(&*words));
    let citation = Citation {
        url: words(reported.url).or_else(|| words(reported.source)),
        title: words(reported.title)
            .or_else(|| words(reported.document_title))
            .or_else(|| words(reported.file_id)),
        quote: words(reported.cited_text),
        span: None,
    };
    (citation != Citation::default()).then_some(citation)
}
