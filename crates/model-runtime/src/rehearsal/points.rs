//! Finds what a text says: whole sentences, each under its heading. Nothing is cut in the middle.

use super::{
    language::Language,
    phrases::{horizon, phrases, plain},
    table::kinds_of,
};

/// A whole sentence or item that can be quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Point {
    /// What its heading is about.
    pub(super) kinds: Vec<&'static str>,
    /// Whether it is an item of a list.
    pub(super) item: bool,
    pub(super) text: String,
}

/// A paragraph or a list item as one line, and the heading it stands under.
#[derive(Debug)]
pub(super) struct Line {
    heading: String,
    item: bool,
    pub(super) text: String,
}

/// The most points of a text.
const MOST: usize = 60;

/// The points of a text, questions left out; of one without whole sentences its clauses, else its headings, else its
/// phrases.
///
/// A sentence that quotes somebody is left to that one; only quotations of `own`, the request's words, are kept, as
/// quotations in a quotation.
pub(super) fn points(text: &str, own: &[String]) -> Vec<Point> {
    let text = horizon(text);
    let language = Language::of(text);
    let mut lines = lines(text);
    for line in lines.iter_mut().filter(|line| line.text.contains('“')) {
        for words in own {
            line.text = line.text.replace(&format!("“{words}”"), &format!("‘{words}’"));
        }
    }
    let fits = |piece: &str, least: usize| {
        (least..=language.pick(28, 46)).contains(&language.count_words(piece))
            && piece.len() <= 240
            && piece.chars().any(char::is_alphanumeric)
            && !piece.contains(['“', '”', '"', '「', '」'])
    };
    let collect = |least: usize, split: fn(&str) -> Vec<&str>| {
        let mut found: Vec<Point> = Vec::new();
        let mut known: (&str, Vec<&'static str>) = ("", Vec::new());
        for line in &lines {
            if known.0 != line.heading {
                known = (&line.heading, kinds_of(&line.heading, language));
            }
            let told = split(&line.text).into_iter().filter(|piece| !piece.trim_end().ends_with(['?', '？']));
            for piece in told.map(plain).filter(|piece| fits(piece, least)) {
                if found.len() < MOST && !found.iter().any(|point| point.text == piece) {
                    found.push(Point { kinds: known.1.clone(), item: line.item, text: piece });
                }
            }
        }
        found
    };
    let attempts = [
        collect(language.pick(4, 6), sentences_of),
        collect(1, sentences_of),
        collect(2, |line| line.split([',', ';', ':', '，', '；', '：']).collect()),
    ];
    if let Some(found) = attempts.into_iter().find(|found| !found.is_empty()) {
        return found;
    }
    let headings = text.lines().filter(|line| line.starts_with('#')).map(plain).filter(|line| fits(line, 1));
    let mut rest: Vec<String> = headings.take(MOST).collect();
    if rest.is_empty() {
        rest = phrases(text, 8);
    }
    rest.into_iter().map(|text| Point { kinds: Vec::new(), item: false, text }).collect()
}

/// The prose of a text: paragraphs joined, list items apart; no code, no quotations, no line in emphasis as a whole.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    let (mut heading, mut fenced, mut open) = (String::new(), false, false);
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            (fenced, open) = (!fenced, false);
            continue;
        }
        let emphasis =
            line.len() > 1 && line.starts_with('*') && line.ends_with('*') && !line.starts_with("**");
        if fenced || emphasis || line.is_empty() || line.starts_with('>') {
            open = false;
        } else if line.starts_with('#') {
            (heading, open) = (plain(line), false);
        } else if let Some(last) = found.last_mut().filter(|_| open && !is_item(line)) {
            last.text.push(' ');
            last.text.push_str(line);
        } else {
            open = true;
            found.push(Line {
                heading: heading.clone(),
                item: is_item(line),
                text: without_mark(line).to_owned(),
            });
        }
    }
    found
}

fn is_item(line: &str) -> bool {
    without_mark(line).len() < line.len() || line.starts_with('|')
}

/// A list item without its bullet or number.
pub(super) fn without_mark(line: &str) -> &str {
    let bullets = ["- ", "* ", "+ ", "• "];
    let figures = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (figures.len() < line.len())
        .then(|| [". ", ") ", "、"].iter().find_map(|mark| figures.strip_prefix(mark)))
        .flatten();
    bullets.iter().find_map(|bullet| line.strip_prefix(bullet)).or(numbered).unwrap_or(line).trim()
}

/// A line cut behind full stops, not behind those of abbreviations.
pub(super) fn sentences_of(line: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    for (place, c) in line.char_indices() {
        let end = place + c.len_utf8();
        let after = &line[end..];
        let stop = match c {
            '。' | '！' | '？' => true,
            '.' => {
                after.starts_with(' ')
                    && !["e.g", "i.e", "etc", "vs", "no", "Mr", "Dr"]
                        .iter()
                        .any(|short| line[start..place].ends_with(short))
            }
            '!' | '?' => after.starts_with(' '),
            _ => false,
        };
        if stop {
            found.push(&line[start..end]);
            start = end;
        }
    }
    found.push(&line[start..]);
    found
}
