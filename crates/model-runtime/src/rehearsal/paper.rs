use super::{language::Language, table::Form};

/// Lays out the sentences of a section: paragraphs, then its list, then what follows the list.
#[derive(Debug, Default)]
pub(super) struct Paper {
    prose: String,
    list: String,
    paragraph: usize,
}

impl Paper {
    pub(super) fn put(&mut self, form: Form, sentence: &str, language: Language) {
        if form == Form::Item {
            self.list.push_str("\n- ");
            self.list.push_str(sentence);
            return;
        }
        let gap = if self.paragraph.is_multiple_of(4) { "\n\n" } else { language.pick(" ", "") };
        self.prose.push_str(gap);
        self.prose.push_str(sentence);
        self.paragraph += 1;
    }

    pub(super) fn text(self) -> String {
        let gap = if self.list.is_empty() { "" } else { "\n" };
        format!("{}{gap}{}", self.prose, self.list)
    }
}
