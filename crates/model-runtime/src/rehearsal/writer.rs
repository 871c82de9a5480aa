use std::collections::HashSet;

use super::{
    facts::Facts,
    language::Language,
    phrases::plain,
    table::{Form, GENERAL, Kind, RULE, Table, WORDS, kinds_of},
};

/// Where a section stands.
#[derive(Debug)]
pub(super) struct Section<'a> {
    heading: &'a str,
    kinds: Vec<&'static Kind>,
    items: usize,
    /// Whether a criterion of quality is still to be named here.
    rule: bool,
    /// Whether what the subject is to do was named here.
    tasked: bool,
}

/// Writes the sentences of one answer, none twice.
pub(super) struct Writer<'a> {
    facts: &'a Facts,
    language: Language,
    table: &'static Table,
    subject: String,
    introduction: String,
    introduced: bool,
    spoken: HashSet<&'a str>,
    dice: u64,
    ceiling: usize,
    words: usize,
    used: HashSet<&'static str>,
    quoted: HashSet<(usize, usize)>,
    voices: Vec<usize>,
    tasks: usize,
    notes: usize,
    said: HashSet<String>,
}

impl<'a> Writer<'a> {
    /// `spoken` is what others said already, `ceiling` the most words, `words` those that stand already.
    pub(super) fn new(
        facts: &'a Facts,
        language: Language,
        spoken: &'a [String],
        seed: u64,
        ceiling: usize,
        words: usize,
    ) -> Self {
        Self {
            facts,
            language,
            table: Table::of(language),
            subject: facts.brief.subject(language),
            introduction: facts.brief.introduction(language),
            introduced: false,
            spoken: spoken.iter().map(String::as_str).collect(),
            dice: seed,
            ceiling,
            words,
            used: HashSet::new(),
            quoted: HashSet::new(),
            voices: vec![0; facts.sources.len()],
            tasks: 0,
            notes: 0,
            said: HashSet::new(),
        }
    }

    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// Whether a section that is to list something lists nothing yet.
    pub(super) fn owes(section: &Section<'_>) -> bool {
        section.items == 0 && section.kinds.iter().take(1).any(|kind| has_items(kind))
    }

    pub(super) fn section<'h>(&self, heading: &'h str, rule: bool) -> Section<'h> {
        let mut kinds: Vec<&Kind> =
            kinds_of(heading, self.language).iter().filter_map(|name| self.table.kind(name)).collect();
        if kinds.is_empty() {
            kinds.extend(self.table.kind(GENERAL));
        }
        Section { heading, kinds, items: 0, rule: rule && !heading.is_empty(), tasked: false }
    }

    /// The next sentence that fits into what is left.
    ///
    /// A section opens with its subject, one opening for each kind of its heading, then takes up what somebody
    /// wrote and goes on by itself. Where a kind has items, they come first.
    pub(super) fn sentence(&mut self, section: &mut Section<'_>, count: usize) -> Option<(Form, String)> {
        let own = section.kinds[count % section.kinds.len()];
        let lists = has_items(own);
        let turn = (count + 1).saturating_sub(section.kinds.len());
        let brief = &self.facts.brief;
        let unsaid = self.tasks == 0 && !brief.tasks.is_empty() && brief.full.is_none();
        let wish: &[Form] = match turn {
            0 => &[Form::Opening],
            1 if unsaid => &[Form::Following, Form::Upstream, Form::Item],
            2 if self.quoted.is_empty() => &[Form::Upstream, Form::Following, Form::Item],
            1 if lists && self.quoted.is_empty() => &[Form::Upstream, Form::Item, Form::Following],
            3 if lists => &[Form::Upstream, Form::Item, Form::Following],
            _ if lists => &[Form::Item, Form::Following, Form::Upstream],
            1 | 5 | 9 | 14 | 20 => &[Form::Upstream, Form::Following, Form::Item],
            _ => &[Form::Following, Form::Upstream, Form::Item],
        };
        let aside = match turn {
            3 | 6 | 11 | 16 if !lists && self.notes < brief.notes.len() => self.table.kind(WORDS),
            2.. if section.rule && !lists => self.table.kind(RULE),
            _ => None,
        };
        let mut pools: Vec<(&'static Kind, Form)> =
            aside.into_iter().map(|kind| (kind, Form::Following)).collect();
        for form in wish {
            pools.push((own, *form));
            pools.extend(section.kinds.iter().map(|kind| (*kind, *form)));
        }
        let rest = [Form::Opening, Form::Following, Form::Upstream, Form::Item];
        pools.extend(section.kinds.iter().flat_map(|kind| rest.map(|form| (*kind, form))));
        let general = self.table.kind(GENERAL)?;
        pools.extend([Form::Opening, Form::Following, Form::Upstream].map(|form| (general, form)));
        for kind in general.near.iter().filter_map(|name| self.table.kind(name)) {
            pools.extend([Form::Following, Form::Opening].map(|form| (kind, form)));
        }
        for fresh in [true, false] {
            for &(kind, form) in &pools {
                if let Some(sentence) = self.draw(kind, form, section, fresh) {
                    section.items += usize::from(form == Form::Item);
                    section.rule &= kind.name != RULE;
                    return Some((form, sentence));
                }
            }
        }
        None
    }

    /// A line of a kind that was not used, at random; items in their order. A `fresh` one was not said upstream either.
    fn draw(
        &mut self,
        kind: &'static Kind,
        form: Form,
        section: &mut Section<'_>,
        fresh: bool,
    ) -> Option<String> {
        let mut lines: Vec<&'static str> = kind
            .lines
            .iter()
            .filter(|(shape, line)| *shape == form && !self.used.contains(line))
            .map(|(_, line)| *line)
            .collect();
        let start = if form == Form::Item { 0 } else { self.roll(lines.len()) };
        lines.rotate_left(start);
        if form == Form::Following && !section.tasked && !self.facts.brief.tasks.is_empty() {
            lines.sort_by_key(|line| !line.contains("{do}"));
        }
        for line in lines {
            let Some((sentence, source)) = self.fill(line, kind, section) else { continue };
            let words = self.language.count_words(&sentence) + usize::from(form == Form::Item);
            let stale = fresh && form != Form::Item && self.spoken.contains(sentence.as_str());
            if stale || self.words + words > self.ceiling || !self.said.insert(sentence.clone()) {
                continue;
            }
            self.words += words;
            self.used.insert(line);
            self.tasks += usize::from(line.contains("{do}"));
            section.tasked |= line.contains("{do}");
            self.introduced |= line.contains("{s}");
            self.notes += usize::from(line.contains("{w}"));
            if let Some((voice, point)) = source {
                self.voices[voice] += 1;
                self.quoted.insert((voice, point));
            }
            return Some(sentence);
        }
        None
    }

    /// A line with everything it names, and the upstream point it quotes.
    fn fill(
        &mut self,
        line: &str,
        kind: &Kind,
        section: &Section<'_>,
    ) -> Option<(String, Option<(usize, usize)>)> {
        let facts = self.facts;
        let brief = &facts.brief;
        let source = if line.contains("{u}") { Some(self.source(kind)?) } else { None };
        let (mut sentence, mut rest) = (String::with_capacity(line.len() * 2), line);
        while let Some((before, after)) = rest.split_once('{') {
            let (slot, after) = after.split_once('}')?;
            sentence.push_str(before);
            rest = after;
            match slot {
                "s" if !self.introduced && !sentence.contains(&self.introduction) => {
                    sentence.push_str(&self.introduction);
                }
                "s" => sentence.push_str(&self.subject),
                "s-" => sentence.push_str(Some(&brief.name).filter(|_| brief.thing)?),
                "do" => sentence.push_str(brief.tasks.get(self.tasks % brief.tasks.len().max(1))?),
                "q" => sentence.push_str(brief.whole.as_ref()?),
                "w" => sentence.push_str(brief.notes.get(self.notes)?),
                "h" => sentence
                    .push_str(Some(plain(section.heading)).filter(|heading| !heading.is_empty())?.as_str()),
                "n" => sentence.push_str(&(section.items + 1).to_string()),
                "m" => sentence.push_str(&facts.sources[source?.0].label),
                "b" => sentence.push_str(&facts.sources[source?.0].aside),
                "u" => sentence.push_str(&facts.sources[source?.0].points[source?.1].text),
                "c" => {
                    let place = self.roll(facts.criteria.len());
                    sentence.push_str(facts.criteria.get(place)?);
                }
                _ => return None,
            }
        }
        sentence.push_str(rest);
        let mut letters = sentence.chars();
        let first = letters.next()?;
        Some((first.to_uppercase().chain(letters).collect(), source))
    }

    /// A point that was not quoted: of the voice heard least, of the kind that is nearest, about the subject.
    fn source(&mut self, kind: &Kind) -> Option<(usize, usize)> {
        let turn = self.roll(1 << 16);
        let facts = self.facts;
        let rank = |kinds: &[&str]| {
            kind.near.iter().position(|near| kinds.contains(near)).unwrap_or(kind.near.len())
        };
        let places = facts.sources.iter().enumerate().flat_map(|(voice, source)| {
            source.points.iter().enumerate().map(move |(place, point)| (voice, place, point))
        });
        places
            .filter(|&(voice, place, _)| !self.quoted.contains(&(voice, place)))
            .min_by_key(|&(voice, place, point)| {
                let named = point.text.contains(&facts.brief.name);
                let count = facts.sources[voice].points.len();
                (self.voices[voice], rank(&point.kinds), !point.item, !named, (place + turn) % count)
            })
            .map(|(voice, place, _)| (voice, place))
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

fn has_items(kind: &Kind) -> bool {
    kind.lines.iter().any(|(form, _)| *form == Form::Item)
}
