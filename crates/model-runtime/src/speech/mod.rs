//! Speech to words, and words to speech.
//!
//! [`TranscriptionModel`] and [`SpeechModel`] are the traits; [`ModelRuntime::transcription`](crate::ModelRuntime::transcription)
//! and [`ModelRuntime::speech`](crate::ModelRuntime::speech) hand out models. The functions are the pure codecs behind
//! them.

mod form;
mod format;
mod http;
mod json;
mod model;
mod multipart;
mod spoken;
mod transcript;

pub use form::{
    SpeechForm, TranscriptionForm, encode_speech, encode_transcription, read_speech, read_transcript,
};
pub use format::AudioFormat;
pub(crate) use http::{HttpSpeech, HttpTranscription};
pub use model::{
    Segment, Speech, SpeechModel, SpeechRequest, Transcript, TranscriptDetail, TranscriptionModel,
    TranscriptionRequest,
};
