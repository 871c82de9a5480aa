//! The grammar of model names; the table for people stands at [`MockProvider`](super::MockProvider).
//!
//! The parts before the faults are those of the original script and come in their order; anything that fits
//! no part is ignored, as is anything before `mock-`. Faults may come in any order.

/// What a model's name asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) role: Role,
    pub(super) steps: usize,
    /// Milliseconds before the answer.
    pub(super) latency: u64,
    pub(super) tokens: usize,
    /// Characters of a token, 0 for the word `token`.
    pub(super) chars: usize,
    pub(super) faults: Faults,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Supervisor,
    WorkerA,
    WorkerB,
    Selector,
    Text,
    Parallel,
    Echo,
}

/// How an answer goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    pub(super) status: Option<u16>,
    pub(super) retry_after: Option<u64>,
    /// Milliseconds before each event.
    pub(super) delay: u64,
    pub(super) cut: Option<Cut>,
    pub(super) hang: Option<usize>,
    /// Bytes of a piece.
    pub(super) odd: Option<usize>,
    pub(super) error: Option<usize>,
    pub(super) body: Body,
    /// Only the first so many requests of the model are hit.
    pub(super) first: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Events(usize),
    Bytes(usize),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Body {
    #[default]
    Proper,
    Html,
    NoEnd,
    Endless,
}

const ROLES: [(&str, Role); 7] = [
    ("sup", Role::Supervisor),
    ("wrka", Role::WorkerA),
    ("wrkb", Role::WorkerB),
    ("sel", Role::Selector),
    ("txt", Role::Text),
    ("par", Role::Parallel),
    ("echo", Role::Echo),
];
/// Numbers in a name are cut to this, so that no name asks for more than memory holds.
const MOST: u64 = 10_000_000;

impl Script {
    /// Reads a model's name. A name that is no script is plain text.
    pub(super) fn parse(name: &str) -> Self {
        let mut script =
            Self { role: Role::Text, steps: 2, latency: 0, tokens: 20, chars: 0, faults: Faults::default() };
        let found = name.match_indices("mock-").find_map(|(at, prefix)| {
            let rest = &name[at + prefix.len()..];
            ROLES.iter().find_map(|(word, role)| Some((*role, rest.strip_prefix(word)?)))
        });
        let Some((role, mut rest)) = found else { return script };
        script.role = role;
        let mut option = |letter: &str| {
            let (value, left) = number(rest.strip_prefix('-')?.strip_prefix(letter)?)?;
            rest = left;
            Some(value)
        };
        if let Some(steps) = option("n") {
            script.steps = size(steps);
        }
        if let Some(latency) = option("l") {
            script.latency = latency;
        }
        if let Some(tokens) = option("t") {
            script.tokens = size(tokens);
        }
        if let Some(chars) = option("c") {
            script.chars = size(chars).min(4096);
        }
        if rest.starts_with('-') {
            for fault in rest.split('-') {
                script.faults.add(fault);
            }
        }
        script
    }

    /// The same script without its faults.
    pub(super) fn sound(self) -> Self {
        Self { faults: Faults::default(), ..self }
    }
}

impl Faults {
    fn add(&mut self, fault: &str) {
        let letters = fault.find(|c: char| c.is_ascii_digit()).unwrap_or(fault.len());
        let (word, digits) = fault.split_at(letters);
        let value = number(digits).map(|(value, _)| value);
        match (word, value) {
            ("x", Some(_)) => self.add_status(digits),
            ("d", Some(delay)) => self.delay = delay,
            ("cut", Some(events)) => self.cut = Some(Cut::Events(size(events))),
            ("cutb", Some(bytes)) => self.cut = Some(Cut::Bytes(size(bytes))),
            ("hang", events) => self.hang = Some(size(events.unwrap_or(0))),
            ("odd", Some(bytes)) => self.odd = Some(size(bytes).max(1)),
            ("err", Some(events)) => self.error = Some(size(events)),
            ("html", None) => self.body = Body::Html,
            ("noend", None) => self.body = Body::NoEnd,
            ("endless", None) => self.body = Body::Endless,
            ("k", first @ Some(_)) => self.first = first,
            _ => {}
        }
    }

    fn add_status(&mut self, text: &str) {
        let Some((status, mut rest)) = number(text) else { return };
        self.status = u16::try_from(status).ok().filter(|status| (200..600).contains(status));
        while let Some(letter) = rest.chars().next() {
            let Some((value, left)) = number(&rest[letter.len_utf8()..]) else { return };
            match letter {
                'r' => self.retry_after = Some(value),
                'k' => self.first = Some(value),
                _ => return,
            }
            rest = left;
        }
    }
}

/// The digits at the beginning of a text, and what follows them.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let digits = &text[..end];
    (!digits.is_empty()).then(|| (digits.parse().unwrap_or(MOST).min(MOST), &text[end..]))
}

fn size(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn names_are_scripts() {
        let check = |name: &str, expected: Expect| {
            let Script { role, steps, latency, tokens, chars, faults } = Script::parse(name);
            let faults = if faults == Faults::default() { String::new() } else { format!(" {faults:?}") };
            expected.assert_eq(&format!("{role:?} n{steps} l{latency} t{tokens} c{chars}{faults}"));
        };
        check("mock-sup", expect!["Supervisor n2 l0 t20 c0"]);
        check("openai/mock-par-n3-l5-t7-c9", expect!["Parallel n3 l5 t7 c9"]);
        check("mock-txt-t5-n3", expect!["Text n2 l0 t5 c0"]);
        check("mock-txt-l", expect!["Text n2 l0 t20 c0"]);
        check("mock-x mock-wrkb-zzz", expect!["WorkerB n2 l0 t20 c0"]);
        check("gpt-5", expect!["Text n2 l0 t20 c0"]);
        check("mock-txt-t99999999999999999999", expect!["Text n2 l0 t10000000 c0"]);
        let fault = |name: &str| Script::parse(name).faults;
        let none = Faults::default();
        for (name, expected) in [
            ("mock-txt-x429r2k3", Faults { status: Some(429), retry_after: Some(2), first: Some(3), ..none }),
            ("mock-txt-t3-x500", Faults { status: Some(500), ..none }),
            ("mock-txt-c3", none),
            ("mock-txt-cut3-d50", Faults { cut: Some(Cut::Events(3)), delay: 50, ..none }),
            ("mock-txt-cutb17", Faults { cut: Some(Cut::Bytes(17)), ..none }),
            ("mock-txt-hang", Faults { hang: Some(0), ..none }),
            ("mock-txt-hang3-k1", Faults { hang: Some(3), first: Some(1), ..none }),
            ("mock-txt-odd7-err2", Faults { odd: Some(7), error: Some(2), ..none }),
            ("mock-echo-noend", Faults { body: Body::NoEnd, ..none }),
            ("mock-txt-odd0", Faults { odd: Some(1), ..none }),
            ("mock-txt-x7", none),
        ] {
            assert_eq!(fault(name), expected, "{name}");
        }
    }
}
