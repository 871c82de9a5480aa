//! One model call: prompt, stream, and what came of it.

use std::sync::Arc;

use futures_util::StreamExt;
use smol_str::SmolStr;
use thermidor_context_engine::{ContextEngine, Room, View};
use thermidor_model_runtime::{ChatEvent, ChatModel, ChatRequest, Error, StreamEnd, StreamEnding};
use thermidor_step_engine::EffectContext;
use thermidor_tools::Registry;
use thermidor_types::{
    AssistantMessage, Clock, Ending, Failure, FailureKind, Json, ModelCard, Timestamp, Tokens, ToolSchema,
    Usage,
};

use crate::{
    AgentSpec, CallFragment, CallReport, Cut, ModelReply, Offer, Reply, Tries, partial::Partial, prompt::room,
};

/// The answer that a call may give although no tokens are left: one that was let start says something.
const SHORTEST_ANSWER: Tokens = Tokens(16);

/// Everything one call needs, owned.
pub(crate) struct ModelCall {
    pub(crate) model: Result<Arc<dyn ChatModel>, Error>,
    pub(crate) engine: ContextEngine,
    pub(crate) spec: Arc<AgentSpec>,
    pub(crate) tools: Arc<Registry>,
    pub(crate) offer: Offer,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tries: Option<Tries>,
    pub(crate) context: EffectContext,
}

/// Makes the call. What it consumed is spent on the effect's account, however it ends.
pub(crate) async fn call_model(call: ModelCall, view: Option<View>) -> ModelReply {
    let began = call.clock.now();
    let mut report = CallReport::default();
    let reply = match (&call.model, view) {
        (Ok(model), Some(view)) => {
            let model = model.clone();
            attempt(&call, &*model, view, began, &mut report).await
        }
        (Err(error), _) => Reply::Failed(error.to_failure(), Usage::default()),
        (Ok(_), None) => {
            Reply::Failed(Failure::new(FailureKind::Internal, "there is nothing to see"), Usage::default())
        }
    };
    let usage = match &reply {
        Reply::Said(message) | Reply::CutOff(message, _) => message.usage,
        Reply::Failed(_, usage) => *usage,
    };
    if usage != Usage::default() {
        call.context.spend(usage.total(), usage.cost);
    }
    report.total_ms = millis(&call, began);
    ModelReply { reply, call: report }
}

/// Calls the model; if it counts a prompt too long that was taken to fit, once more with half of it.
async fn attempt(
    call: &ModelCall,
    model: &dyn ChatModel,
    view: View,
    began: Timestamp,
    report: &mut CallReport,
) -> Reply {
    let room = room(model.card());
    match ask(call, model, view.clone(), room, began, report).await {
        Err((error, taken)) if error.kind() == FailureKind::ContextTooLong => {
            // Our count was an estimate, and off: for some languages others' vocabularies need twice as many.
            let window = model.card().context_window;
            let squeezed = Room { answer: window.saturating_sub(Tokens(taken.0 / 2)) };
            let again = ask(call, model, view, squeezed, began, report).await;
            again.unwrap_or_else(|(error, _)| Reply::Failed(error.to_failure(), Usage::default()))
        }
        Err((error, _)) => Reply::Failed(error.to_failure(), Usage::default()),
        Ok(reply) => reply,
    }
}

/// Makes the prompt that leaves `keep` free, and calls the model with it. The error comes with the tokens that the
/// prompt was taken to have.
async fn ask(
    call: &ModelCall,
    model: &dyn ChatModel,
    view: View,
    keep: Room,
    began: Timestamp,
    report: &mut CallReport,
) -> Result<Reply, (Error, Tokens)> {
    let card = model.card();
    let offered: Vec<ToolSchema> = match call.offer {
        Offer::Tools => call.tools.schemas(),
        Offer::Nothing => Vec::new(),
    };
    let cut = |partial: Partial, input| Reply::CutOff(partial.cut_off(card, input), Cut::Cancelled);
    let prompt = tokio::select! {
        biased;
        () = call.context.cancelled() => return Ok(cut(Partial::default(), Tokens(0))),
        prompt = call.engine.prompt(view, offered, keep) => match prompt {
            Ok(prompt) => prompt,
            Err(error) => return Ok(Reply::Failed(Failure::from(&error), Usage::default())),
        },
    };
    let input = prompt.report.total;
    // The report is plain data with text keys and always has a JSON form.
    report.context = Json::of(&prompt.report).unwrap_or_default();
    // Unique among all runs: it names the call to whoever counts tries. The machine gives calls their ids.
    let call_prefix = SmolStr::from(call.context.idempotency_key().as_str());
    // Another prompt is another request, also to a provider that recognises repeated ones.
    let shorter = if keep == room(card) { "" } else { "/shorter" };
    let key = format!("{}{shorter}", call.context.idempotency_key()).into();
    let request = ChatRequest {
        messages: prompt.messages,
        tools: prompt.tools,
        max_output: Some(longest(room(card), call.context.tokens_left(), input)),
        temperature: call.spec.temperature,
        call_prefix: call_prefix.clone(),
        idempotency_key: Some(key),
        ..ChatRequest::default()
    };
    let mut partial = Partial::default();
    let end = tokio::select! {
        biased;
        () = call.context.cancelled() => None,
        end = listen(call, model, request, began, report, &mut partial) => Some(end),
    };
    report.attempts += call.tries.as_ref().and_then(|tries| tries.take(&call_prefix)).unwrap_or(1);
    match end {
        None => Ok(cut(partial, input)),
        Some(Ok(end)) => Ok(ended(end, &call.tools)),
        Some(Err(error)) => Err((error, input)),
    }
}

/// The longest answer to a prompt of `input` tokens: what the room allows and, when a limit leaves fewer, what is
/// left of it.
fn longest(room: Room, left: Option<Tokens>, input: Tokens) -> Tokens {
    let affordable = left.map(|left| left.saturating_sub(input).max(SHORTEST_ANSWER));
    affordable.map_or(room.answer, |affordable| room.answer.min(affordable))
}

/// Hands fragments on until the answer ends.
async fn listen(
    call: &ModelCall,
    model: &dyn ChatModel,
    request: ChatRequest,
    began: Timestamp,
    report: &mut CallReport,
    partial: &mut Partial,
) -> Result<StreamEnd, Error> {
    let mut stream = model.stream(request).await?;
    while let Some(event) = stream.next().await {
        if report.first_ms.is_none() {
            report.first_ms = Some(millis(call, began));
        }
        match event {
            ChatEvent::Text(text) => {
                partial.text(&text);
                call.context.delta("text", text);
            }
            ChatEvent::Reasoning(text) => {
                partial.reasoning(&text);
                call.context.delta("reasoning", text);
            }
            ChatEvent::Call { index, name, fragment } => {
                let fragment = CallFragment { index, name, fragment };
                partial.call(&fragment);
                // Three plain fields always have a JSON form.
                let line = serde_json::to_string(&fragment).unwrap_or_default();
                call.context.delta("call", line + "\n");
            }
            ChatEvent::Media(media) => partial.media(media),
            ChatEvent::Ended(end) => return Ok(*end),
        }
    }
    let card: &ModelCard = model.card();
    let failure = Failure::new(FailureKind::Malformed, "the stream had no ending");
    let message = std::mem::take(partial).cut_off(card, Tokens(0));
    Ok(StreamEnd::new(message, StreamEnding::CutOff(failure)))
}

/// What the end of a stream means.
fn ended(end: StreamEnd, tools: &Registry) -> Reply {
    let StreamEnd { mut message, ending, .. } = end;
    for exchange in message.exchanges_mut() {
        if let Some(tool) = tools.by_wire_name(&exchange.call.name) {
            exchange.call.name = tool.spec().name.clone();
        }
    }
    let seen = !message.parts.is_empty();
    match ending {
        StreamEnding::Finished => Reply::Said(AssistantMessage { ending: Ending::Finished, ..message }),
        StreamEnding::Length => Reply::Said(AssistantMessage { ending: Ending::Length, ..message }),
        StreamEnding::CutOff(failure) if seen => Reply::CutOff(message, Cut::Broken(failure)),
        StreamEnding::Failed(failure) if seen && failure.kind.retryable() => {
            Reply::CutOff(message, Cut::Broken(failure))
        }
        StreamEnding::CutOff(failure) | StreamEnding::Failed(failure) => {
            Reply::Failed(failure, message.usage)
        }
    }
}

fn millis(call: &ModelCall, began: Timestamp) -> u64 {
    u64::try_from(call.clock.now().since(began).as_millis()).unwrap_or(u64::MAX)
}
