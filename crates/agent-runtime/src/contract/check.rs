use thermidor_context_engine::Language;
use thermidor_types::Text;

use super::{
    count_words,
    files::{bad_paths, parse_files},
    headings::{headings, plain},
};
use crate::Contract;

/// Where `text` does not have the form asked for, in words; nothing when it fits.
pub(crate) fn faults(contract: &Contract, text: &str, language: Language) -> Vec<Text> {
    let mut faults = Vec::new();
    if let Some(wanted) = contract.words {
        let words = count_words(text);
        // 1.3 times as many are accepted.
        if words as u64 * 10 > u64::from(wanted) * 13 {
            faults.push(language.pick(
                format!("It has {words} words; {wanted} were asked for."),
                format!("要求 {wanted} 字以内，实际有 {words} 字。"),
            ));
        }
    }
    if !contract.sections.is_empty() {
        let found: Vec<String> = headings(text).collect();
        let missing = contract.sections.iter().filter(|section| !found.contains(&plain(section)));
        faults.extend(missing.map(|section| {
            language.pick(format!("The heading \"{section}\" is missing."), format!("缺少标题“{section}”。"))
        }));
    }
    if contract.files {
        if parse_files(text).is_empty() {
            faults.push(
                language.pick(
                    "It holds none of the project's files: a line `File: path` and then a fenced code block."
                        .into(),
                    "没有任何项目文件：需要单独一行 `文件：路径`，后面跟一个围栏代码块。".into(),
                ),
            );
        }
        faults.extend(bad_paths(text).into_iter().map(|path| {
            let path: String = path.chars().take(80).collect();
            language.pick(
                format!("The path {path:?} is not a relative path inside of the project."),
                format!("路径 {path:?} 不是项目内的相对路径。"),
            )
        }));
    }
    faults.into_iter().map(Text::from).collect()
}

/// How a model is asked to repair its answer.
pub(crate) fn repair_words(faults: &[Text], language: Language) -> Text {
    let list: String = faults.iter().flat_map(|fault| ["- ", fault, "\n"]).collect();
    language
        .pick(
            format!(
                "Your answer does not have the form that was asked for:\n{list}Give the whole answer once more with this put right, and nothing beside it."
            ),
            format!("你的回答不符合要求的形式：\n{list}请改正后重新给出完整的回答，不要附加其他内容。"),
        )
        .into()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(contract: &Contract, text: &str, language: Language, expected: Expect) {
        expected.assert_eq(&faults(contract, text, language).join("\n"));
    }

    #[test]
    fn faults_name_what_is_wrong() {
        let contract =
            Contract { words: Some(10), sections: vec!["Goal".into(), "Files".into()], files: true };
        let fits = "## Goal\nA timer.\n## 2. Files:\nFile: a.txt\n```\nx\n```";
        check(&contract, fits, Language::En, expect![""]);
        check(
            &contract,
            "# Files\none two three four five six seven eight nine ten eleven twelve thirteen\nFile: ../x\n```\n```",
            Language::En,
            expect![[r#"
                It has 16 words; 10 were asked for.
                The heading "Goal" is missing.
                It holds none of the project's files: a line `File: path` and then a fenced code block.
                The path "../x" is not a relative path inside of the project."#]],
        );
        check(
            &Contract { words: Some(3), sections: vec!["目标".into()], files: false },
            "面试训练器",
            Language::Zh,
            expect![[r"
                要求 3 字以内，实际有 5 字。
                缺少标题“目标”。"]],
        );
    }

    /// Would fail if the border of 1.3 times lay a word to either side.
    #[test]
    fn a_third_more_words_is_too_many() {
        let contract = Contract { words: Some(10), ..Contract::default() };
        let words = |count: usize| vec!["word"; count].join(" ");
        check(&contract, &words(13), Language::En, expect![""]);
        check(&contract, &words(14), Language::En, expect!["It has 14 words; 10 were asked for."]);
    }
}
