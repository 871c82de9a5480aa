use std::sync::Arc;

use smol_str::SmolStr;
use thermidor_types::{AssistantMessage, Content, Message, Part, Role, Text, Tokens};

use crate::{
    Keep, Language, ReportLine, Source, TokenCounter, Unit, Verdict, Warning, render,
    shorten::{shorten_with, water_level},
    unit::Body,
    weigh::MESSAGE_FRAME,
};

/// A text below this weight is not worth shortening.
pub(crate) const FLOOR: Tokens = Tokens(48);

/// A prompt in the making: units in the order they will be sent.
///
/// All changes go through methods that keep the account: what was removed or shortened, from how many tokens to
/// how many, and why. Pinned units (system, the last user message, contributions that are kept whole) are
/// neither removed nor shortened, whatever a method is asked.
pub struct Draft {
    pub(crate) units: Vec<Unit>,
    pub(crate) dropped: Vec<(usize, ReportLine)>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) step: SmolStr,
    counter: Arc<dyn TokenCounter>,
    budget: Tokens,
    fixed: Tokens,
}

impl std::fmt::Debug for Draft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Draft")
            .field("units", &self.units)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

impl Draft {
    pub(crate) fn new(
        units: Vec<Unit>,
        counter: Arc<dyn TokenCounter>,
        budget: Tokens,
        fixed: Tokens,
    ) -> Self {
        let mut draft = Self {
            units,
            dropped: Vec::new(),
            warnings: Vec::new(),
            step: SmolStr::default(),
            counter,
            budget,
            fixed,
        };
        for (position, unit) in draft.units.iter_mut().enumerate() {
            unit.position = position;
        }
        draft
    }

    /// The units that are in the prompt, in order.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Where the current turn starts: behind the last user message of the history; behind everything that stands
    /// before the history where there is none. What follows are the steps of the turn so far.
    pub fn current_turn(&self) -> usize {
        let said = |unit: &Unit| unit.message().is_some_and(|message| message.role() == Role::User);
        let after = self.units.iter().rposition(said).map_or(0, |last| last + 1);
        let first_step = self.units[after..].iter().position(|unit| unit.role() == Role::Assistant);
        first_step.map_or(self.units.len(), |step| after + step)
    }

    /// What the unit at `index` takes, without the frame of its message; zero when there is none. Counted once.
    pub fn tokens_of(&self, index: usize) -> Tokens {
        self.units.get(index).map_or(Tokens(0), |unit| unit.tokens(&*self.counter))
    }

    /// What the request would take as it stands, tools included.
    ///
    /// Counts what was not counted before: for a long history before the `Fit` stage that can be slow.
    pub fn total(&self) -> Tokens {
        let groups = render::groups(&self.units);
        self.fixed + groups.map(|units| MESSAGE_FRAME + render::group_tokens(units, &*self.counter)).sum()
    }

    /// What the request may take, tools included.
    pub fn budget(&self) -> Tokens {
        self.budget
    }

    /// What of the request is not in units: the tools.
    pub(crate) fn fixed(&self) -> Tokens {
        self.fixed
    }

    /// The counter all figures come from.
    pub fn counter(&self) -> &dyn TokenCounter {
        &*self.counter
    }

    /// Pins the unit at `index`: from now on it is neither removed nor shortened.
    pub fn pin(&mut self, index: usize) {
        if let Some(unit) = self.units.get_mut(index) {
            unit.pinned = true;
        }
    }

    /// Sends the unit at `index` as a part of the message before it, when that has the same role.
    pub fn join(&mut self, index: usize) {
        if let Some(unit) = self.units.get_mut(index) {
            unit.joined = true;
        }
    }

    /// Adds a warning to the report, under the name of the step that runs.
    pub fn warn(&mut self, text: impl Into<Text>) {
        self.warnings.push(Warning { step: self.step.clone(), text: text.into() });
    }

    /// Keeps the units for which `keep` says so, and the pinned ones. Gives the number of those removed.
    pub fn retain(&mut self, reason: &str, mut keep: impl FnMut(&Unit) -> bool) -> usize {
        let count = self.units.len();
        let (counter, dropped) = (&*self.counter, &mut self.dropped);
        self.units.retain(|unit| {
            let stays = unit.pinned || keep(unit);
            if !stays {
                drop_into(dropped, unit, counter, reason);
            }
            stays
        });
        count - self.units.len()
    }

    /// Removes the unit at `index`; gives whether it was there and not pinned. To remove many, use
    /// [`retain`](Self::retain).
    pub fn remove(&mut self, index: usize, reason: &str) -> bool {
        let Some(unit) = self.units.get(index).filter(|unit| !unit.pinned) else { return false };
        drop_into(&mut self.dropped, unit, &*self.counter, reason);
        self.units.remove(index);
        true
    }

    /// Puts other messages in the place of those for which `change` gives one; contributions are not asked, nor
    /// is a change of role accepted. Pinned messages are asked too: a change of form is no cut. Gives the
    /// number of changes.
    pub fn rewrite(&mut self, reason: &str, mut change: impl FnMut(&Message) -> Option<Message>) -> usize {
        let mut changes = 0;
        for unit in &mut self.units {
            let Some(message) = unit.message() else { continue };
            let Some(changed) = change(message).filter(|changed| changed.role() == message.role()) else {
                continue;
            };
            note_change(unit, &*self.counter, reason);
            unit.put(changed);
            changes += 1;
        }
        changes
    }

    /// Shortens the texts of the unit at `index` in the middle until it takes at most `most` tokens; gives what
    /// it takes then. A message may stay above that: calls, reasoning and media are not cut, and a text keeps
    /// some 48 tokens.
    pub fn shorten(&mut self, index: usize, most: Tokens, reason: &str, language: Language) -> Tokens {
        let tokens = self.tokens_of(index);
        let counter = Arc::clone(&self.counter);
        let Some(unit) = self.units.get_mut(index).filter(|unit| !unit.pinned && tokens > most) else {
            return tokens;
        };
        let shorter = match &unit.body {
            Body::Block { contribution, .. } => {
                let weigh = |text: &str| counter.count(&contribution.render_with(text));
                let text = shorten_with(&contribution.text, most, language, &weigh);
                Shorter::Text(contribution.render_with(&text))
            }
            Body::Message { message, .. } => {
                match shorter_message(message, tokens, most, &*counter, language) {
                    Some(message) => Shorter::Message(message),
                    None => return tokens,
                }
            }
        };
        note_change(unit, &*counter, reason);
        unit.shortened = true;
        match shorter {
            Shorter::Text(text) => unit.put_text(text),
            Shorter::Message(message) => unit.put(message),
        }
        unit.tokens(&*counter)
    }

    /// Whether the budget may shorten the unit at `index`, or leave it out.
    pub(crate) fn keep(&self, index: usize) -> Keep {
        match &self.units[index] {
            unit if unit.pinned => Keep::Whole,
            unit => unit.contribution().map_or(Keep::Optional, |contribution| contribution.keep),
        }
    }
}

enum Shorter {
    Text(String),
    Message(Message),
}

fn note_change(unit: &mut Unit, counter: &dyn TokenCounter, reason: &str) {
    let before = unit.tokens(counter);
    unit.before.get_or_insert(before);
    unit.reason = reason.into();
}

/// Notes that a unit is out; neighbours out of the same reason share a line at once, so that a long history
/// costs little.
fn drop_into(dropped: &mut Vec<(usize, ReportLine)>, unit: &Unit, counter: &dyn TokenCounter, reason: &str) {
    // An old message that nobody will send is not worth counting: four bytes a token, as in most scripts.
    let known = unit.before.or_else(|| unit.counted());
    let tokens_before = known.unwrap_or_else(|| match &unit.body {
        Body::Message { .. } => Tokens(unit.bound().0.div_ceil(4)),
        Body::Block { .. } => unit.tokens(counter),
    });
    if let Body::Message { index, .. } = &unit.body
        && let Some((_, line)) = dropped.last_mut()
        && let Source::History { index: first, count } = &mut line.source
        && *first + *count == *index
        && line.reason == reason
    {
        *count += 1;
        line.tokens_before += tokens_before;
        return;
    }
    let (source, verdict) = (unit.source(), Verdict::Dropped);
    let line = ReportLine { source, tokens_before, tokens_after: Tokens(0), verdict, reason: reason.into() };
    dropped.push((unit.position, line));
}

/// The message with its longest texts sunk to one level, so that it takes about `most`.
fn shorter_message(
    message: &Message,
    tokens: Tokens,
    most: Tokens,
    counter: &dyn TokenCounter,
    language: Language,
) -> Option<Message> {
    let mut changed = message.clone();
    let mut texts = texts_of(&mut changed);
    let sizes: Vec<Tokens> = texts.iter().map(|text| counter.count(text)).collect();
    let rest = tokens.saturating_sub(sizes.iter().copied().sum());
    let level = water_level(&sizes, most.saturating_sub(rest)).max(FLOOR);
    let mut any = false;
    for (text, _) in texts.iter_mut().zip(sizes).filter(|(_, size)| *size > level) {
        **text = shorten_with(text, level, language, &|text| counter.count(text)).into();
        any = true;
    }
    any.then_some(changed)
}

/// The texts of a message that may be cut: words and results, not arguments and not reasoning.
fn texts_of(message: &mut Message) -> Vec<&mut Text> {
    match message {
        Message::System(system) => vec![&mut system.text],
        Message::User(user) => user.content.iter_mut().filter_map(words).collect(),
        Message::Assistant(AssistantMessage { parts, .. }) => parts
            .iter_mut()
            .flat_map(|part| match part {
                Part::Text(text) => vec![text],
                Part::Exchange(exchange) => exchange
                    .result
                    .iter_mut()
                    .flat_map(|result| result.content.iter_mut().filter_map(words))
                    .collect(),
                Part::Reasoning(_) | Part::Media(_) | Part::Native(_) => Vec::new(),
            })
            .collect(),
    }
}

fn words(content: &mut Content) -> Option<&mut Text> {
    match content {
        Content::Text(text) => Some(text),
        Content::Media(_) => None,
    }
}
