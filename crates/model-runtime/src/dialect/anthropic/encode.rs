use super::{
    cache,
    request::{Body, Format, OutputConfig},
    sampling::sampling,
    thinking::Plan,
    tools,
    turns::{Fill, Turns},
};
use crate::{
    ChatRequest, Quirk,
    dialect::{Target, Unencodable, WireRequest},
};

/// The version of the API that this dialect is written for.
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// Needed where a file at the provider is named.
const FILES: (&str, &str) = ("anthropic-beta", "files-api-2025-04-14");

/// The JSON body for `request`, asking for a stream.
///
/// Same request, same bytes. Leading words of the operator are the system's, later ones the user's. Neighbouring
/// messages of one role are one turn; results directly follow the calls they answer; blank words and empty turns,
/// which the API refuses, are left out. Calls get the ids `call00001`, `call00002`, … in the order of the request:
/// they are unique whatever models made the history, and a growing history keeps its prefix. An open exchange is
/// answered as interrupted, arguments that are no JSON object are sent as `{"unparsed_arguments": "…"}`, media
/// a model cannot read become a note. Penalties and the seed have no form here and are left out, as they only lean
/// on the choice of words. See [`Plan::of`] for thinking and the length.
///
/// Cost: linear in the request; texts are borrowed, not copied.
///
/// # Errors
/// See [`Unencodable`].
pub(crate) fn encode(request: &ChatRequest, target: Target<'_>) -> Result<WireRequest, Unencodable> {
    let (card, quirks) = (target.card, &target.provider.quirks);
    let plan = Plan::of(request, card, quirks);
    let fill = if quirks.has(Quirk::ThinkingInEveryTurn) && plan.may_think(card) {
        Fill::BlankThought
    } else {
        Fill::Nothing
    };
    let mut turns = Turns::new(card, quirks, fill);
    turns.extend(&request.messages)?;
    if turns.list.is_empty() {
        return Err(Unencodable::NoMessage);
    }
    let mut tools = tools::offered(request);
    cache::mark(&request.cache, &turns.ends, &mut tools, &mut turns.system, &mut turns.list);
    let mut headers = vec![VERSION];
    headers.extend(turns.names_files().then_some(FILES));
    let (temperature, top_p) = sampling(request, quirks, plan.thinks())?;
    let format = request
        .response_schema
        .as_ref()
        .map(|wanted| Format { r#type: "json_schema", schema: &wanted.schema });
    let body = Body {
        model: card.id.model(),
        max_tokens: plan.max_tokens,
        tools,
        tool_choice: tools::choice(request)?,
        system: turns.system,
        messages: turns.list,
        thinking: plan.thinking,
        output_config: (plan.effort.is_some() || format.is_some())
            .then_some(OutputConfig { effort: plan.effort, format }),
        temperature,
        top_p,
        stop_sequences: request.stop.iter().filter(|words| !words.trim().is_empty()).collect(),
        stream: true,
    };
    let body = serde_json::to_vec(&body).map_err(|error| Unencodable::Json(error.to_string()))?;
    let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Ok(WireRequest { path: target.path("/v1/messages"), headers, body })
}
