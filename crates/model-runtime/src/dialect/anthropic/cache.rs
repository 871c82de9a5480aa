//! Marks where cached prefixes of the prompt end.

use super::request::{Block, CacheControl, Tool, Turn};
use crate::{CacheLifetime, CacheMarks, PromptCache};

/// So many marks the API takes.
const MOST_MARKS: usize = 4;

/// Where a message ended up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// In the system's block at this place.
    System(usize),
    /// In this turn, up to and with the block at this place.
    Turn(usize, usize),
}

/// Marks the last tool and the ends that `cache` asks for, the last ones where there are too many.
///
/// `ends` says for each message of the request where it is; `None` for those of which nothing is sent.
pub(super) fn mark<'a>(
    cache: &PromptCache,
    ends: &[Option<End>],
    tools: &mut [Tool<'_>],
    system: &mut [Block<'a>],
    turns: &mut [Turn<'a>],
) {
    let ttl = match cache.lifetime {
        CacheLifetime::Minutes => None,
        CacheLifetime::Hour => Some("1h"),
    };
    let control = CacheControl { r#type: "ephemeral", ttl };
    let mut wanted: Vec<End> = match &cache.marks {
        CacheMarks::Off => return,
        CacheMarks::After(places) => places.iter().filter_map(|place| *ends.get(*place)?).collect(),
        CacheMarks::Automatic => {
            let last = turns.len().checked_sub(1);
            let turn = last.and_then(|turn| Some(End::Turn(turn, turns[turn].content.len().checked_sub(1)?)));
            system.len().checked_sub(1).map(End::System).into_iter().chain(turn).collect()
        }
    };
    let mut left = MOST_MARKS;
    if let Some(tool) = tools.last_mut() {
        tool.cache_control = Some(control);
        left -= 1;
    }
    while let Some(end) = wanted.pop() {
        let blocks = match end {
            End::System(place) => &mut system[..=place],
            End::Turn(turn, place) => &mut turns[turn].content[..=place],
        };
        if left > 0
            && let Some(mark) = blocks.iter_mut().filter_map(Block::mark).next_back()
            && mark.is_none()
        {
            *mark = Some(control);
            left -= 1;
        }
    }
}
