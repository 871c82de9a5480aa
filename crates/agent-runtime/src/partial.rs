use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thermidor_model_runtime::cost;
use thermidor_types::{
    AssistantMessage, Ending, Exchange, Measure, Media, ModelCard, Part, Reasoning, Text, Tokens, ToolCall,
    Usage,
};

/// Bytes of text per token, where an answer was cut off and nobody will say how many it took.
const BYTES_PER_TOKEN: usize = 4;

/// A fragment of a tool call on its way: a line of the channel `call`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFragment {
    /// The call's place in the answer, from 0.
    pub index: usize,
    /// The tool's wire name.
    pub name: SmolStr,
    /// The next fragment of its arguments.
    pub fragment: Text,
}

/// The part of an answer that has come so far. Needed only when the answer is cut off by us: then its stream
/// is dropped, and no ending tells what it was.
#[derive(Debug, Default)]
pub(crate) struct Partial {
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Reasoning(String),
    Call { index: usize, name: SmolStr, arguments: String },
    Media(Media),
}

impl Partial {
    pub(crate) fn text(&mut self, more: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push_str(more),
            _ => self.pieces.push(Piece::Text(more.to_owned())),
        }
    }

    pub(crate) fn reasoning(&mut self, more: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Reasoning(text)) => text.push_str(more),
            _ => self.pieces.push(Piece::Reasoning(more.to_owned())),
        }
    }

    pub(crate) fn media(&mut self, media: Media) {
        self.pieces.push(Piece::Media(media));
    }

    pub(crate) fn call(&mut self, fragment: &CallFragment) {
        let known = self.pieces.iter_mut().rev().find_map(|piece| match piece {
            Piece::Call { index, arguments, .. } if *index == fragment.index => Some(arguments),
            Piece::Call { .. } | Piece::Text(_) | Piece::Reasoning(_) | Piece::Media(_) => None,
        });
        match known {
            Some(arguments) => arguments.push_str(&fragment.fragment),
            None => self.pieces.push(Piece::Call {
                index: fragment.index,
                name: fragment.name.clone(),
                arguments: fragment.fragment.to_string(),
            }),
        }
    }

    /// The message it amounts to, with what it is estimated to have consumed after a prompt of `input` tokens.
    pub(crate) fn cut_off(self, model: &ModelCard, input: Tokens) -> AssistantMessage {
        let length: usize = self.pieces.iter().map(Piece::length).sum();
        let output = Tokens(length.div_ceil(BYTES_PER_TOKEN) as u64);
        let mut usage = Usage { input, output, measure: Measure::Estimated, ..Usage::default() };
        usage.cost = model.price.as_ref().map(|price| cost(&usage, price));
        let parts = self.pieces.into_iter().map(|piece| match piece {
            Piece::Text(text) => Part::Text(text.into()),
            Piece::Reasoning(text) => Part::Reasoning(Reasoning {
                text: text.into(),
                signature: None,
                model: Some(model.id.clone()),
            }),
            Piece::Call { index, name, arguments } => {
                Part::Exchange(Exchange::open(ToolCall::new(format!("{index}"), name, arguments)))
            }
            Piece::Media(media) => Part::Media(media),
        });
        AssistantMessage {
            parts: parts.collect(),
            model: Some(model.id.clone()),
            usage,
            ending: Ending::CutOff,
            ..AssistantMessage::default()
        }
    }
}

impl Piece {
    fn length(&self) -> usize {
        match self {
            Self::Text(text) | Self::Reasoning(text) => text.len(),
            Self::Call { name, arguments, .. } => name.len() + arguments.len(),
            Self::Media(_) => 0,
        }
    }
}
