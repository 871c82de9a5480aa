//! Decoding alone: bytes in memory to events.

use std::fs;

use serde::Deserialize;
use thermidor_model_runtime::{
    ChatEvent, Dialect, Quirks,
    dialect::{Close, Decoder},
};
use thermidor_types::ModelId;

use crate::{Bench, Error, Row, meter::Meter};

const FIGURE: &str = "decode";
const RECORDINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../model-runtime/testdata/recordings");
/// Bytes of a piece: a full read of a socket, a packet, a short write.
const PIECES: [usize; 3] = [16 * 1024, 1400, 64];

#[derive(Deserialize)]
struct Recording {
    path: String,
    status: u16,
    content_type: String,
    response: String,
}

impl Recording {
    fn is_chat_stream(&self) -> bool {
        self.path.ends_with("chat/completions")
            && self.status == 200
            && self.content_type.starts_with("text/event-stream")
    }
}

/// All recorded streams of chat completions, in the order of their files.
fn streams() -> Result<Vec<Recording>, Error> {
    let entries = fs::read_dir(RECORDINGS).map_err(|error| format!("{RECORDINGS}: {error}"))?;
    let mut files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    files.sort();
    let mut streams = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        for line in text.lines() {
            let recording: Recording = serde_json::from_str(line)?;
            if recording.is_chat_stream() {
                streams.push(recording);
            }
        }
    }
    Ok(streams)
}

/// Decodes recorded streams of chat completions.
pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>, Error> {
    let streams = streams()?;
    let bytes: usize = streams.iter().map(|stream| stream.response.len()).sum();
    let (samples, times) = bench.pick((25, 10), (3, 2));
    let mut rows = Vec::new();
    for size in PIECES {
        let mut rates = Vec::new();
        for sample in 0..=samples {
            let meter = Meter::start();
            for _ in 0..times {
                for stream in &streams {
                    decode(stream.response.as_bytes(), size)?;
                }
            }
            let megabytes = (bytes * times) as f64 / 1e6;
            if sample > 0 {
                rates.push(megabytes / meter.read().cpu.as_secs_f64());
            }
        }
        let how = format!("{} recorded streams, {bytes} bytes, a decoder each; of CPU", streams.len());
        rows.push(Row::of(FIGURE, format!("in pieces of {size} bytes"), "MB/s", rates).how(how));
    }
    Ok(rows)
}

fn decode(stream: &[u8], size: usize) -> Result<(), Error> {
    let mut decoder = Decoder::new(Dialect::OpenaiChat, ModelId::new("bench", "m"), "p", &Quirks::default());
    let mut events = 0;
    for piece in stream.chunks(size) {
        decoder.feed(piece);
        events += decoder.events().len();
    }
    match decoder.finish(Close::EndOfStream).last() {
        Some(ChatEvent::Ended(_)) if events > 0 => Ok(()),
        _ => Err("a recording gave no events".into()),
    }
}
