use std::collections::HashSet;

use super::{
    contract::Contract,
    facts::Facts,
    files,
    language::Language,
    phrases::plain,
    templates::{Topic, notices, templates},
};

/// Sentences of a section when no limit is set.
const UNLIMITED: usize = 4;
const MOST_IN_SECTION: usize = 60;
const TRIES: usize = 40;

/// Writes the answer that a contract asks for. `seed` picks the wording.
///
/// The notice and the headings always stand; sentences are added up to three quarters of the limit, and
/// never past nine tenths of it. The contents of files are no prose and do not count.
pub(super) fn compose(contract: &Contract, facts: &Facts, seed: u64) -> String {
    let language = contract.language;
    let limit = contract.words.unwrap_or(usize::MAX);
    let headings: usize =
        contract.headings.iter().map(|heading| language.count_words(&format!("## {heading}"))).sum();
    let notice = notice(language, limit, headings);
    let fixed = headings + language.count_words(notice);
    let mut writer = Writer {
        facts,
        language,
        ceiling: limit / 10 * 9 + limit % 10 * 9 / 10,
        words: fixed,
        dice: seed,
        cursors: [0; 6],
        bags: Default::default(),
        said: HashSet::new(),
    };
    let mut answer = notice.to_owned();
    let sections: Vec<Option<&str>> = match contract.headings.as_slice() {
        [] => vec![None],
        some => some.iter().map(|heading| Some(heading.as_str())).collect(),
    };
    let target = (limit / 4).saturating_mul(3) + limit % 4 * 3 / 4;
    for (index, &heading) in sections.iter().enumerate() {
        if let Some(heading) = heading {
            answer.push_str("\n\n## ");
            answer.push_str(heading);
        }
        let bundle = contract.files && index + 1 == sections.len();
        let share = match contract.words {
            Some(_) => Room::Words(fixed + target.saturating_sub(fixed) * (index + 1) / sections.len()),
            None if bundle => Room::Sentences(2),
            None => Room::Sentences(UNLIMITED),
        };
        writer.section(&mut answer, heading, share, index == 0);
    }
    if contract.files {
        files::append(&mut answer, contract, facts);
    }
    answer
}

/// The longest notice that leaves room for the answer.
pub(super) fn notice(language: Language, limit: usize, headings: usize) -> &'static str {
    let [long, middle, short] = notices(language);
    let room = limit.saturating_sub(headings);
    [(long, 4), (middle, 1)]
        .into_iter()
        .find(|(form, times)| language.count_words(form) * times <= room)
        .map_or(short, |(form, _)| form)
}

/// How much a section may take.
#[derive(Clone, Copy)]
enum Room {
    /// Until the whole answer has so many words.
    Words(usize),
    /// So many sentences.
    Sentences(usize),
}

struct Writer<'a> {
    facts: &'a Facts,
    language: Language,
    ceiling: usize,
    words: usize,
    dice: u64,
    cursors: [usize; 6],
    bags: [Vec<usize>; 7],
    said: HashSet<String>,
}

impl Writer<'_> {
    fn section(&mut self, answer: &mut String, heading: Option<&str>, room: Room, first: bool) {
        for count in 0..MOST_IN_SECTION {
            let full = match room {
                Room::Words(words) => self.words >= words,
                Room::Sentences(sentences) => count >= sentences,
            };
            if full {
                break;
            }
            let Some(sentence) = self.fitting(heading, count, first) else { break };
            let gap = if count % 4 == 0 { "\n\n" } else { self.language.pick(" ", "") };
            answer.push_str(gap);
            answer.push_str(&sentence);
        }
    }

    /// A sentence not said before that fits into what is left, a brief one if no other does.
    fn fitting(&mut self, heading: Option<&str>, count: usize, first: bool) -> Option<String> {
        for attempt in 0..TRIES {
            let topic = match (first, count, attempt) {
                (.., 30..) => Topic::Brief,
                (true, 0, 0..8) => Topic::Opening,
                _ => match (count + attempt + usize::from(!first)) % 6 {
                    0 | 4 => Topic::Request,
                    1 => Topic::Heading,
                    2 => Topic::Source,
                    3 => Topic::Skill,
                    _ if attempt % 2 == 0 => Topic::Quotation,
                    _ => Topic::Source,
                },
            };
            let forms = templates(topic, self.language);
            let form = forms[self.draw(topic, forms.len())];
            let Some(sentence) = self.fill(form, heading) else { continue };
            let words = self.language.count_words(&sentence);
            if self.words + words <= self.ceiling && self.said.insert(sentence.clone()) {
                self.words += words;
                return Some(sentence);
            }
        }
        None
    }

    fn fill(&mut self, form: &str, heading: Option<&str>) -> Option<String> {
        let facts = self.facts;
        let mut sentence = form.to_owned();
        let mut put = |slot: &str, value: Option<&str>| -> Option<()> {
            if sentence.contains(slot) {
                sentence = sentence.replace(slot, value?);
            }
            Some(())
        };
        let pair = |list: &[String], at: usize| {
            let first = list.get(at % list.len().max(1)).cloned();
            let second = (list.len() > 1).then(|| list[(at + 1) % list.len()].clone());
            (first, second)
        };
        // What is put in has no braces (`plain`), so data never opens a slot.
        put("{h}", heading.map(plain).as_deref())?;
        put(
            "{d}",
            take(&facts.deliverables, &mut self.cursors[0], form.contains("{d}")).map(String::as_str),
        )?;
        put("{q}", take(&facts.criteria, &mut self.cursors[1], form.contains("{q}")).map(String::as_str))?;
        if form.contains("{m}") || form.contains("{u}") {
            let voice = take(&facts.sources, &mut self.cursors[2], true)?;
            let (phrase, other) = pair(&voice.phrases, self.cursors[3] / facts.sources.len().max(1));
            self.cursors[3] += 1;
            put("{m}", Some(&voice.label))?;
            put("{u}", phrase.as_deref())?;
            put("{u2}", other.as_deref())?;
            put(
                "{s}",
                take(&voice.sentences, &mut self.cursors[4], form.contains("{s}")).map(String::as_str),
            )?;
        }
        if form.contains("{r}") {
            let (phrase, other) = pair(&facts.request, self.cursors[5]);
            self.cursors[5] += 1;
            put("{r}", phrase.as_deref())?;
            put("{r2}", other.as_deref())?;
        }
        let mut letters = sentence.chars();
        let first = letters.next()?;
        Some(first.to_uppercase().chain(letters).collect())
    }

    /// A form of a topic, at random, none twice before all were drawn.
    fn draw(&mut self, topic: Topic, forms: usize) -> usize {
        if self.bags[topic as usize].is_empty() {
            self.bags[topic as usize].extend(0..forms);
        }
        let place = self.roll(self.bags[topic as usize].len());
        self.bags[topic as usize].swap_remove(place)
    }

    /// The next number below `bound` (splitmix64).
    fn roll(&mut self, bound: usize) -> usize {
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.dice;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed >> 32) % bound.max(1) as u64).unwrap_or(0)
    }
}

/// The item at the cursor, which then moves on.
fn take<'a, T>(list: &'a [T], cursor: &mut usize, wanted: bool) -> Option<&'a T> {
    if !wanted || list.is_empty() {
        return None;
    }
    let item = &list[*cursor % list.len()];
    *cursor += 1;
    Some(item)
}
