//! Which text is nearest to a question: embeddings by a server on this machine (`ollama pull nomic-embed-text`).
#![expect(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use thermidor_model_runtime::{Error, ModelRuntime, embedding::EmbeddingRequest};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let runtime = ModelRuntime::builder().build()?;
    let model = runtime.embedding("ollama-native/nomic-embed-text")?;
    let texts = ["How do I brew tea?", "Pour hot water over the leaves.", "The train leaves at nine."];
    let found = match model.embed(EmbeddingRequest::of(texts)).await {
        Ok(found) => found,
        Err(error) => {
            println!("no vectors from Ollama: {error}");
            return Ok(());
        }
    };
    let [question, answers @ ..] = found.vectors.as_slice() else { return Ok(()) };
    for (text, vector) in texts[1..].iter().zip(answers) {
        println!("{:.3} {text}", likeness(question, vector));
    }
    println!("{} tokens", found.usage.input);
    Ok(())
}

/// The cosine of the angle between two vectors: 1 where they point the same way.
fn likeness(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}
