//! Recorded exchanges, and reading an answer cut as one likes.

use serde::Deserialize;
use thermidor_model_runtime::{
    ChatEvent, Provider, Quirk, Quirks, StreamEnd, bundled_providers,
    dialect::{Close, Decoder},
};
use thermidor_types::ModelId;

/// A recorded exchange.
#[derive(Deserialize)]
pub(crate) struct Exchange {
    pub(crate) case: String,
    pub(crate) provider: String,
    pub(crate) path: String,
    /// The body sent.
    pub(crate) request: Option<String>,
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) response: String,
}

/// All recorded exchanges whose path ends in `ending`, query aside.
pub(crate) fn exchanges(ending: &str) -> Vec<Exchange> {
    let folder = format!("{}/testdata/recordings", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("the recordings are there");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).expect("text"));
    let lines = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    let all = lines.map(|line| serde_json::from_str::<Exchange>(&line).expect("an exchange"));
    all.filter(|exchange| exchange.path.split('?').next().is_some_and(|path| path.ends_with(ending)))
        .collect()
}

/// The row of `provider` as it holds for `model`, with `further` quirks.
pub(crate) fn row(provider: &str, model: &str, further: &[Quirk]) -> Provider {
    let bundled = bundled_providers().iter().find(|row| row.name == provider);
    let mut row =
        bundled.map_or_else(|| Provider::new(provider, "http://127.0.0.1"), |row| row.serving(model));
    row.quirks = row.quirks.with(&Quirks::of(further.iter().copied()));
    row
}

/// What was heard of an answer: how many events there were, what the deltas add up to, and the end.
#[derive(Debug, PartialEq)]
pub(crate) struct Heard {
    pub(crate) events: u64,
    pub(crate) text: String,
    pub(crate) reasoning: String,
    /// Name and arguments of each call.
    pub(crate) fragments: Vec<(String, String)>,
    pub(crate) media: usize,
    pub(crate) end: StreamEnd,
}

/// Reads an answer that comes in `pieces`.
pub(crate) fn hear<'a>(row: &Provider, pieces: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut decoder = Decoder::new(row.dialect, ModelId::new(row.name.clone(), "m"), "p", &row.quirks);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        events.extend(decoder.events());
    }
    events.extend(decoder.finish(Close::EndOfStream));
    let Some(ChatEvent::Ended(end)) = events.pop() else { panic!("the last event is the end") };
    let mut heard = Heard {
        events: decoder.events_read(),
        text: String::new(),
        reasoning: String::new(),
        fragments: Vec::new(),
        media: 0,
        end: *end,
    };
    for event in events {
        match event {
            ChatEvent::Text(more) => heard.text += &more,
            ChatEvent::Reasoning(more) => heard.reasoning += &more,
            ChatEvent::Media(_) => heard.media += 1,
            ChatEvent::Call { index, name, fragment } => {
                let most = heard.fragments.len().max(index + 1);
                heard.fragments.resize(most, Default::default());
                heard.fragments[index].0 = name.to_string();
                heard.fragments[index].1 += &fragment;
            }
            ChatEvent::Ended(_) => panic!("two ends"),
        }
    }
    heard
}
