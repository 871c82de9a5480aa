//! Finds the data blocks of a prompt. What stands in them is data, whatever it looks like.

/// The kinds of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Output,
    Skill,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Request, Self::Output, Self::Skill];

    fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Output => "output",
            Self::Skill => "skill",
        }
    }
}

/// One block: its kind, its opening tag, what stands between the tags.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block<'a> {
    pub(super) kind: Kind,
    tag: &'a str,
    pub(super) body: &'a str,
}

impl Block<'_> {
    /// What was put into the block, before a renderer made it harmless.
    pub(super) fn text(&self) -> String {
        unescape(&undo(self.body.trim(), self.kind))
    }

    /// The value of an attribute of the opening tag, empty when it has none.
    pub(super) fn attribute(&self, name: &str) -> String {
        let quoted = self.tag.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
        unescape(quoted.map_or("", |(value, _)| value))
    }
}

/// Takes back the backslash that a renderer set into closing tags of a block's own kind: `<\/request>` was
/// `</request>`, and one with more backslashes had one less.
fn undo(body: &str, kind: Kind) -> String {
    let (mut out, mut rest) = (String::with_capacity(body.len()), body);
    while let Some((before, after)) = rest.split_once("<\\") {
        out.push_str(before);
        out.push('<');
        rest = after;
        let closes = rest.trim_start_matches('\\').trim_start().strip_prefix('/').map(str::trim_start);
        let named =
            closes.and_then(|tag| Some((tag.get(..kind.name().len())?, tag.get(kind.name().len()..)?)));
        let own = named.is_some_and(|(name, after)| {
            let longer = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
            name.eq_ignore_ascii_case(kind.name()) && !after.starts_with(longer)
        });
        if !own {
            out.push('\\');
        }
    }
    out.push_str(rest);
    out
}

/// Reads the entities a renderer may have put in place of angle brackets, quotes and ampersands.
fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// Splits a message into its blocks and the text outside of them.
///
/// A block ends at the last closing tag of its kind before another block opens, or at the one that balances
/// its own if that is later; without either, at the very last one. A stray closing tag shows that data closed its block early: everything outside from
/// the first block of that kind up to the stray tag is dropped. Only a renderer that escapes its data can stop
/// data that both closes its block and opens a new one.
pub(super) fn split(message: &str) -> (Vec<Block<'_>>, String) {
    let openings = openings(message);
    let (mut blocks, mut outside, mut at) = (Vec::new(), Outside::default(), 0);
    for (index, &(start, end, kind)) in openings.iter().enumerate() {
        if start < at {
            continue;
        }
        let close = closing(kind);
        let next = openings[index + 1..].first().map_or(message.len(), |&(start, ..)| start);
        let last = |text: &str| text.rfind(&close).map(|place| end + place);
        let before_next =
            last(&message[end..next.max(end)]).max(matching(&message[end..], kind).map(|place| end + place));
        let Some(stop) = before_next.or_else(|| last(&message[end..])) else {
            continue;
        };
        outside.push(&message[at..start]);
        outside.opened(kind);
        blocks.push(Block { kind, tag: &message[start..end], body: &message[end..stop] });
        at = stop + close.len();
    }
    outside.push(&message[at..]);
    (blocks, outside.text)
}

/// Where the closing tag stands that balances an opening one, if openings and closings balance.
fn matching(text: &str, kind: Kind) -> Option<usize> {
    let (open, close) = (format!("<{}", kind.name()), closing(kind));
    let mut tags: Vec<(usize, bool)> = text.match_indices(&open).map(|(place, _)| (place, true)).collect();
    tags.extend(text.match_indices(&close).map(|(place, _)| (place, false)));
    tags.sort_unstable();
    let mut depth = 1_usize;
    tags.into_iter().find_map(|(place, opens)| {
        depth = if opens { depth + 1 } else { depth - 1 };
        (depth == 0).then_some(place)
    })
}

fn closing(kind: Kind) -> String {
    format!("</{}>", kind.name())
}

/// The text outside of blocks, and where in it the first block of each kind opened.
#[derive(Default)]
struct Outside {
    text: String,
    first: [Option<usize>; 3],
}

impl Outside {
    fn opened(&mut self, kind: Kind) {
        self.first[kind as usize].get_or_insert(self.text.len());
    }

    fn push(&mut self, mut text: &str) {
        for kind in Kind::ALL {
            let close = closing(kind);
            let Some(place) = text.rfind(&close) else { continue };
            text = &text[place + close.len()..];
            if let Some(first) = self.first[kind as usize] {
                self.text.truncate(first);
            }
        }
        self.text.push_str(text);
        self.text.push('\n');
    }
}

/// Start and end of every opening tag; of a kind that has some at the start of a line, only those.
fn openings(message: &str) -> Vec<(usize, usize, Kind)> {
    let mut found = Vec::new();
    for kind in Kind::ALL {
        let all: Vec<_> = message
            .match_indices(&format!("<{}", kind.name()))
            .filter_map(|(start, opened)| {
                let rest = &message[start + opened.len()..];
                let end = rest.find('>')?;
                let fits = match kind {
                    Kind::Request => end == 0,
                    Kind::Output | Kind::Skill => rest.starts_with(' ') && rest[..end].contains("=\""),
                };
                fits.then_some((start, start + opened.len() + end + 1, kind))
            })
            .collect();
        let line_start = |start: usize| {
            message[..start].trim_end_matches([' ', '\t']).chars().next_back().is_none_or(|c| c == '\n')
        };
        let any = all.iter().any(|&(start, ..)| line_start(start));
        found.extend(all.into_iter().filter(|&(start, ..)| !any || line_start(start)));
    }
    found.sort_unstable_by_key(|&(start, ..)| start);
    found
}
