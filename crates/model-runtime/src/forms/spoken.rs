/// Reads the text of `{"answer": "…"}` while it grows, at any cut.
///
/// It says nothing of an answer in another form: that is read when it is whole.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    state: State,
    /// What may become an escape.
    escape: String,
    /// The first half of a pair of surrogates.
    high: Option<u32>,
    place: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before the text: so much of `HEAD` has come.
    #[default]
    Head,
    Inside,
    Escape,
    /// The text is over, or there is none.
    Over,
}

/// What comes before the text; blanks may stand between its tokens.
const HEAD: &[u8] = br#"{"answer":""#;

impl Spoken {
    /// What `text` adds to the answer.
    pub(super) fn feed(&mut self, text: &str) -> String {
        let mut said = String::new();
        for character in text.chars() {
            match self.state {
                State::Over => break,
                State::Head => self.head(character),
                State::Inside => self.inside(character, &mut said),
                State::Escape => self.escape(character, &mut said),
            }
        }
        said
    }

    fn head(&mut self, character: char) {
        let between = matches!(self.place, 0 | 1 | 9 | 10);
        if between && character.is_ascii_whitespace() {
            return;
        }
        if u32::from(HEAD[self.place]) == u32::from(character) {
            self.place += 1;
            if self.place == HEAD.len() {
                self.state = State::Inside;
            }
        } else {
            self.state = State::Over;
        }
    }

    fn inside(&mut self, character: char, said: &mut String) {
        match character {
            '"' => self.state = State::Over,
            '\\' => self.state = State::Escape,
            _ => {
                self.lone(said);
                said.push(character);
            }
        }
    }

    /// A first half that nothing follows.
    fn lone(&mut self, said: &mut String) {
        if self.high.take().is_some() {
            said.push(char::REPLACEMENT_CHARACTER);
        }
    }

    fn escape(&mut self, character: char, said: &mut String) {
        self.escape.push(character);
        let plain = match (self.escape.as_str(), character) {
            ("n", _) => '\n',
            ("t", _) => '\t',
            ("r", _) => '\r',
            ("b", _) => '\u{8}',
            ("f", _) => '\u{c}',
            ("\"" | "\\" | "/", other) => other,
            (escape, _) if escape.starts_with('u') && escape.len() < 5 => return,
            (escape, _) if escape.starts_with('u') => {
                let code = u32::from_str_radix(&escape[1..], 16).unwrap_or(0xFFFD);
                self.escape.clear();
                self.state = State::Inside;
                return self.unit(code, said);
            }
            _ => {
                // No escape of JSON: the whole text is read when it is there.
                self.state = State::Over;
                return;
            }
        };
        self.escape.clear();
        self.state = State::Inside;
        self.lone(said);
        said.push(plain);
    }

    fn unit(&mut self, code: u32, said: &mut String) {
        match (self.high.take(), code) {
            (Some(high), 0xDC00..=0xDFFF) => {
                let code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00);
                said.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (before, code) => {
                if before.is_some() {
                    said.push(char::REPLACEMENT_CHARACTER);
                }
                if (0xD800..=0xDBFF).contains(&code) {
                    self.high = Some(code);
                } else {
                    said.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
            }
        }
    }
}
