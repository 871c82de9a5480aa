use super::{
    brief_en, brief_zh,
    language::Language,
    phrases::{phrases, plain},
    points::{lines, sentences_of},
};

/// What a request asks for, taken apart: no word in it is not the request's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Brief {
    /// What is asked for, in the request's words: `AI trainer`.
    pub(super) name: String,
    /// Whether the name is a thing that can be spoken of, rather than words to quote.
    pub(super) thing: bool,
    /// The name with what follows it in the request, when that is short: `AI trainer for job interviews`.
    pub(super) full: Option<String>,
    /// The measure word of a Chinese name.
    pub(super) measure: &'static str,
    /// What it is to do: verbs in their base form, `help with job interviews`; in Chinese the request's words.
    pub(super) tasks: Vec<String>,
    /// Further whole sentences of the request.
    pub(super) notes: Vec<String>,
    /// The whole request when it is short.
    pub(super) whole: Option<String>,
}

impl Brief {
    pub(super) fn of(request: &str, language: Language) -> Self {
        let sentences: Vec<String> = lines(request)
            .iter()
            .flat_map(|line| sentences_of(&line.text))
            .map(bare)
            .filter(|sentence| sentence.chars().any(char::is_alphanumeric))
            .take(40)
            .collect();
        let mut brief = match language {
            Language::English => brief_en::read(&sentences),
            Language::Chinese => brief_zh::read(&sentences),
        };
        if brief.name.is_empty() {
            let found =
                phrases(request, 1).pop().map(|phrase| bare(&phrase)).filter(|phrase| !phrase.is_empty());
            brief.thing = found.is_none();
            brief.name = found.unwrap_or_else(|| language.pick("task", "任务").to_owned());
        }
        let whole = bare(request);
        let short = (1..=language.pick(16, 36)).contains(&language.count_words(&whole)) && whole.len() <= 160;
        brief.whole = Some(whole).filter(|_| short && sentences.len() == 1);
        brief
    }

    /// The subject as a sentence speaks of it, by its name.
    pub(super) fn subject(&self, language: Language) -> String {
        if self.thing { self.spoken(language, &self.name) } else { format!("“{}”", self.name) }
    }

    /// The subject as it is introduced, with what the request says of it.
    pub(super) fn introduction(&self, language: Language) -> String {
        self.full.as_ref().map_or_else(|| self.subject(language), |full| self.spoken(language, full))
    }

    fn spoken(&self, language: Language, thing: &str) -> String {
        match language {
            Language::English => format!("the {thing}"),
            Language::Chinese if self.measure.is_empty() => format!("这个{thing}"),
            Language::Chinese => format!("这{}{thing}", self.measure),
        }
    }

    /// Everything that was found, in one list that is never empty.
    pub(super) fn all(&self) -> Vec<String> {
        std::iter::once(&self.name).chain(&self.tasks).chain(&self.notes).cloned().collect()
    }
}

/// Plain words without quotation marks, so that they can be quoted.
pub(super) fn bare(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !matches!(c, '“' | '”' | '"' | '「' | '」')).collect();
    plain(&kept)
}
