use std::fmt::Write as _;

use async_trait::async_trait;
use thermidor_types::Text;

use crate::{ContextProvider, Contribution, Error, Keep, Language, View};

/// What the answer must look like, in sentences that are always the same. The step's name is `output-contract`.
///
/// | | English | Chinese |
/// | --- | --- | --- |
/// | `words` | `Write at most 500 words.` | `不超过 500 字。` |
/// | `sections` | `Use exactly these headings, in this order:` and lines `## Heading` | `按顺序使用以下标题：` and lines `## 标题` |
/// | `files` | `End with the project's files…`, `File: path` | `最后给出项目文件…`, `文件：path` |
///
/// It also says that the answer's language is the request's. It stands behind everything else beside the last
/// user message, is kept whole and has no tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputContract {
    /// The most words, or characters of Chinese.
    pub words: Option<u32>,
    /// The headings the answer must have, in order, without the `##`.
    pub sections: Vec<Text>,
    /// Whether the answer ends with files.
    pub files: bool,
}

impl OutputContract {
    /// The wording in a language.
    pub fn wording(&self, language: Language) -> String {
        let mut out = String::new();
        if let Some(words) = self.words {
            out +=
                &language.pick(format!("Write at most {words} words.\n"), format!("不超过 {words} 字。\n"));
        }
        if !self.sections.is_empty() {
            out += language.pick("Use exactly these headings, in this order:\n", "按顺序使用以下标题：\n");
            for section in &self.sections {
                // Writing to a string cannot fail.
                let _ = writeln!(out, "## {}", section.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            out.push('\n');
        }
        if self.files {
            out += language.pick(
                "End with the project's files: each file is a fenced code block, preceded by a line `File: path` of its own.\n",
                "最后给出项目文件：每个文件是一个围栏代码块，代码块前单独一行写 `文件：路径`。\n",
            );
        }
        out + language.pick("Answer in the language of the request.", "请用请求所用的语言（中文）回答。")
    }
}

#[async_trait]
impl ContextProvider for OutputContract {
    fn name(&self) -> &'static str {
        "output-contract"
    }

    async fn contribute(&self, view: &View) -> Result<Vec<Contribution>, Error> {
        let contract = Contribution::last_user("contract", self.wording(view.language));
        Ok(vec![contract.bare().priority(0).keep(Keep::Whole)])
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_wording_is_fixed() {
        let contract = OutputContract {
            words: Some(500),
            sections: vec!["Goal".into(), "Files\nX".into()],
            files: true,
        };
        expect![[r"
            Write at most 500 words.
            Use exactly these headings, in this order:
            ## Goal
            ## Files X

            End with the project's files: each file is a fenced code block, preceded by a line `File: path` of its own.
            Answer in the language of the request."]]
        .assert_eq(&contract.wording(Language::En));
        expect![[r"
            不超过 500 字。
            按顺序使用以下标题：
            ## Goal
            ## Files X

            最后给出项目文件：每个文件是一个围栏代码块，代码块前单独一行写 `文件：路径`。
            请用请求所用的语言（中文）回答。"]]
        .assert_eq(&contract.wording(Language::Zh));
        assert_eq!(OutputContract::default().wording(Language::En), "Answer in the language of the request.");
    }
}
