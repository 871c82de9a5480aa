//! The sentences of the rehearsal model, read from one text file per language.

use std::sync::LazyLock;

use super::language::Language;

/// The kind for a heading of which no word is known, and for an answer without headings.
pub(super) const GENERAL: &str = "general";
/// Sentences that quote a further sentence of the request.
pub(super) const WORDS: &str = "words";
/// Sentences that quote a criterion of quality.
pub(super) const RULE: &str = "rule";

/// What a sentence does in its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Opening,
    Following,
    Item,
    /// Takes up what somebody wrote.
    Upstream,
}

/// The sentences for one kind of section.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// The words of a heading that mean this kind, in lower case.
    headings: Vec<String>,
    /// The kinds upstream whose sentences fit here, the best first.
    pub(super) near: Vec<&'static str>,
    pub(super) lines: Vec<(Form, &'static str)>,
}

/// All kinds of a language.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) kinds: Vec<Kind>,
}

static ENGLISH: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("sentences/en.txt")));
static CHINESE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("sentences/zh.txt")));

impl Table {
    pub(super) fn of(language: Language) -> &'static Self {
        language.pick(&ENGLISH, &CHINESE)
    }

    fn parse(text: &'static str) -> Self {
        let mut kinds: Vec<Kind> = Vec::new();
        for line in text.lines() {
            let Some((mark, rest)) = line.split_once(' ') else { continue };
            let form = match mark {
                "==" => {
                    let mut fields =
                        rest.split(" | ").map(|field| field.split(", ").filter(|word| *word != "-"));
                    kinds.push(Kind {
                        name: fields.next().and_then(|mut names| names.next()).unwrap_or_default(),
                        headings: fields.next().into_iter().flatten().map(str::to_lowercase).collect(),
                        near: fields.next().into_iter().flatten().collect(),
                        lines: Vec::new(),
                    });
                    continue;
                }
                ">" => Form::Opening,
                "-" => Form::Following,
                "+" => Form::Item,
                "@" => Form::Upstream,
                _ => continue,
            };
            if let Some(kind) = kinds.last_mut() {
                kind.lines.push((form, rest));
            }
        }
        Self { kinds }
    }

    pub(super) fn kind(&self, name: &str) -> Option<&Kind> {
        self.kinds.iter().find(|kind| kind.name == name)
    }

    /// What a heading is about, in the order of its words. An earlier kind takes its words first, so that
    /// a "user experience" is no "user".
    fn read(&self, heading: &str) -> Vec<&'static str> {
        let mut left = heading.to_lowercase();
        let mut found: Vec<(usize, &'static str)> = Vec::new();
        for kind in &self.kinds {
            for word in &kind.headings {
                let Some(place) = at_borders(&left, word) else { continue };
                left.replace_range(place..place + word.len(), &" ".repeat(word.len()));
                if !found.iter().any(|(_, name)| *name == kind.name) {
                    found.push((place, kind.name));
                }
            }
        }
        found.sort_unstable_by_key(|&(place, _)| place);
        found.into_iter().map(|(_, name)| name).collect()
    }
}

/// The kinds of a heading in whichever language it is written; none when no word is known.
pub(super) fn kinds_of(heading: &str, language: Language) -> Vec<&'static str> {
    let own = Table::of(language).read(heading);
    if own.is_empty() {
        Table::of(language.pick(Language::Chinese, Language::English)).read(heading)
    } else {
        own
    }
}

/// Where a word stands in a text; one of Latin letters only between letters of other kinds.
fn at_borders(text: &str, word: &str) -> Option<usize> {
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(word).map(|(place, _)| place).find(|&place| {
        !word.is_ascii()
            || !(letter(text[..place].chars().next_back())
                || letter(text[place + word.len()..].chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Would fail if a heading of the bundled teams were written about as something else.
    #[test]
    fn headings_are_understood() {
        for (heading, expected) in [
            ("User and need", &["users"][..]),
            ("Value and first scope", &["goal", "scope"]),
            ("Risks and measures", &["risks", "evaluation"]),
            ("Milestones and owners", &["plan"]),
            ("User experience", &["experience"]),
            ("Serving and interface", &["serving"]),
            ("Interface design", &["interface"]),
            ("Delivery plan", &["plan"]),
            ("Database", &[]),
            ("用户与需求", &["users"]),
            ("用户体验", &["experience"]),
            ("价值与首版范围", &["goal", "scope"]),
            ("风险与待定问题", &["risks", "questions"]),
            ("服务与接口", &["serving"]),
            ("问题定义", &["problem"]),
            ("项目文件", &["files"]),
        ] {
            assert_eq!(kinds_of(heading, Language::of(heading)), expected, "{heading}");
        }
        assert_eq!(kinds_of("Risks", Language::Chinese), ["risks"]);
    }

    /// Would fail if the languages drifted apart, a kind ran dry for a bare subject, or a slot were misspelt.
    #[test]
    fn both_tables_are_sound() {
        let (english, chinese) = (Table::of(Language::English), Table::of(Language::Chinese));
        let names =
            |table: &Table| table.kinds.iter().map(|kind| (kind.name, kind.near.clone())).collect::<Vec<_>>();
        assert_eq!(names(english), names(chinese));
        for kind in english.kinds.iter().chain(&chinese.kinds) {
            let bare = kind.lines.iter().filter(|(form, line)| {
                *form != Form::Upstream
                    && !["{do}", "{q}", "{w}", "{c}", "{s-}"].iter().any(|slot| line.contains(slot))
            });
            let aside = [WORDS, RULE].contains(&kind.name);
            assert!(aside || bare.count() >= 3, "{}", kind.name);
            for (form, line) in &kind.lines {
                let slots: Vec<&str> = line
                    .split('{')
                    .skip(1)
                    .filter_map(|rest| rest.split_once('}'))
                    .map(|(slot, _)| slot)
                    .collect();
                assert!(
                    slots
                        .iter()
                        .all(|slot| ["s", "s-", "do", "q", "w", "h", "n", "m", "b", "u", "c"].contains(slot)),
                    "{line}"
                );
                assert_eq!(*form == Form::Upstream, slots.contains(&"u"), "{line}");
                assert_eq!(slots.contains(&"m") || slots.contains(&"b"), slots.contains(&"u"), "{line}");
                assert!(
                    *form != Form::Opening || slots.iter().any(|slot| ["s", "s-", "q"].contains(slot)),
                    "{line}"
                );
                assert!(line.ends_with(['.', '?', '。', '？']), "{line}");
            }
            assert!(kind.near.iter().all(|near| english.kind(near).is_some()), "{}", kind.name);
        }
    }
}
