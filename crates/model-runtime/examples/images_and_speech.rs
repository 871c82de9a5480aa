//! An image of words, words as a sound, and the sound as words again. Takes a key for OpenAI as its only argument;
//! costs some cents.
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use thermidor_model_runtime::{
    Error, ModelRuntime,
    image::{ImageRequest, ImageSize},
    speech::{AudioFormat, SpeechRequest, TranscriptionRequest},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let Some(key) = std::env::args().nth(1) else {
        println!("run it with a key for OpenAI");
        return Ok(());
    };
    let runtime = ModelRuntime::builder().key("openai", key).build()?;

    let size = Some(ImageSize { width: 1_024, height: 1_024 });
    let request = ImageRequest { size, ..ImageRequest::of("A red circle on a white background") };
    let made = runtime.image("openai/gpt-image-1-mini")?.generate(request).await?;
    println!("an image of type {}, {} tokens", made.images[0].media.media_type, made.usage.total());

    let request = SpeechRequest::of("Good morning.", "alloy");
    let spoken = runtime.speech("openai/gpt-4o-mini-tts")?.speak(request).await?;
    println!("{} bytes of {}", spoken.audio.len(), spoken.media_type);

    let request = TranscriptionRequest::of(spoken.audio, AudioFormat::Mp3);
    let heard = runtime.transcription("openai/gpt-4o-mini-transcribe")?.transcribe(request).await?;
    println!("heard: {}", heard.text);
    Ok(())
}
