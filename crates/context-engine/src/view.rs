use std::{collections::BTreeMap, sync::Arc};

use smol_str::SmolStr;
use thermidor_types::{Chunked, Json, MemberId, Message, ModelCard, Text, Timestamp};

use crate::Language;

/// Everything a provider or processor may look at: plain data, cheap to clone.
///
/// Whoever calls the engine decides what a member may see by what is put in here. Clock, zone, variables
/// and ids are inputs, so the same view gives the same prompt, byte for byte.
///
/// ```
/// use thermidor_context_engine::View;
/// use thermidor_types::{ModelCard, Timestamp, Tokens};
///
/// let model = ModelCard::unknown("openai/gpt-5".parse()?, Tokens(128_000));
/// let view = View { zone: "Asia/Shanghai".into(), ..View::new(Timestamp::default(), model, "A tea timer") };
/// # Ok::<(), thermidor_types::ParseModelIdError>(())
/// ```
#[derive(Clone, Debug)]
pub struct View {
    /// The moment the prompt is for.
    pub now: Timestamp,
    /// The user's time zone, an IANA name. An unknown one counts as `UTC`, with a warning.
    pub zone: SmolStr,
    /// Who will read the prompt.
    pub member: Option<MemberId>,
    /// The sentence the run was started with. Data.
    pub request: Text,
    /// The operator's template for this turn; the only text here that may hold placeholders.
    pub instruction: Text,
    /// The conversation, oldest first. Data.
    pub history: Chunked<Arc<Message>>,
    /// What earlier stages produced, as far as the member may see it. Data.
    pub upstream: Vec<Upstream>,
    /// Values for `params.…` placeholders. Data.
    pub params: BTreeMap<SmolStr, Json>,
    /// The model the prompt is for.
    pub model: ModelCard,
    /// The language of the wording around the data.
    pub language: Language,
    /// What else the caller knows, for providers of one's own and for `facts.…` placeholders. Data.
    pub facts: BTreeMap<SmolStr, Text>,
}

impl View {
    /// A view with a request and nothing else: zone `UTC`, the language of the request.
    pub fn new(now: Timestamp, model: ModelCard, request: impl Into<Text>) -> Self {
        let request = request.into();
        Self {
            now,
            zone: "UTC".into(),
            member: None,
            language: Language::of(&request),
            request,
            instruction: Text::default(),
            history: Chunked::default(),
            upstream: Vec::new(),
            params: BTreeMap::new(),
            model,
            facts: BTreeMap::new(),
        }
    }
}

/// The output of an earlier stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Upstream {
    /// The stage's id, as in `outputs.plan`.
    pub id: SmolStr,
    /// The stage's title for people; empty when it has none.
    pub title: Text,
    /// Who wrote it, as shown to people.
    pub member: Option<Text>,
    /// The words.
    pub text: Text,
}
