use async_trait::async_trait;
use thermidor_types::ModelCard;

use super::{
    Speech, SpeechModel, SpeechRequest, Transcript, TranscriptionModel, TranscriptionRequest, encode_speech,
    encode_transcription, read_speech, read_transcript,
};
use crate::{Error, dialect::Target, http::Whole, whole::Calls};

/// One model that writes down what is spoken, over HTTP, with retry.
#[derive(Debug)]
pub(crate) struct HttpTranscription(pub(crate) Calls);

#[async_trait]
impl TranscriptionModel for HttpTranscription {
    fn card(&self) -> &ModelCard {
        self.0.card()
    }

    async fn transcribe(&self, request: TranscriptionRequest) -> Result<Transcript, Error> {
        let Self(calls) = self;
        let provider = calls.provider()?;
        let target = Target { card: calls.card(), provider };
        let wire = encode_transcription(&request, target).map_err(|why| calls.refused(why))?;
        let reading = |whole: &Whole| read_transcript(provider, &whole.body);
        let heard = calls.ask(&wire, |base| base, reading).await?;
        Ok(Transcript { usage: calls.priced(heard.usage), ..heard })
    }
}

/// One model that speaks, over HTTP, with retry.
#[derive(Debug)]
pub(crate) struct HttpSpeech(pub(crate) Calls);

#[async_trait]
impl SpeechModel for HttpSpeech {
    fn card(&self) -> &ModelCard {
        self.0.card()
    }

    async fn speak(&self, request: SpeechRequest) -> Result<Speech, Error> {
        let Self(calls) = self;
        let target = Target { card: calls.card(), provider: calls.provider()? };
        let wire = encode_speech(&request, target).map_err(|why| calls.refused(why))?;
        let reading =
            |whole: &Whole| read_speech(&request, whole.content_type.as_deref(), whole.body.clone());
        calls.ask(&wire, |base| base, reading).await
    }
}
