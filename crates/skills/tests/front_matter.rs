//! Tables of good and bad `SKILL.md` texts.

use std::fmt::Write as _;

use proptest::prelude::*;
use thermidor_skills::{Rule, Skill};

/// What a person sees of a parsed text: the skill in a line and its warnings, or the fault.
fn shown(text: &str) -> String {
    match Skill::parse(text, "pdf/SKILL.md") {
        Ok(skill) => {
            let mut out =
                format!("{} | {} | {}", skill.name, skill.description, skill.body.replace('\n', "⏎"));
            for warning in &skill.warnings {
                let _infallible = write!(out, "\n{warning}");
            }
            out
        }
        Err(fault) => fault.to_string(),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(shown(text), expected, "{text:?}");
}

#[track_caller]
fn refused(text: &str, rule: Rule, line: Option<usize>) {
    let fault = Skill::parse(text, "pdf/SKILL.md").expect_err(text);
    assert_eq!((fault.rule, fault.line), (rule, line), "{fault}");
}

#[test]
fn good_ones() {
    check("---\nname: pdf\ndescription: Fills forms.\n---\n# Do\nit\n", "pdf | Fills forms. | # Do⏎it");
    check("---\nname: pdf\ndescription: d\n---", "pdf | d | ");
    check("\u{feff}---\r\nname: pdf\r\ndescription: d\r\n---\r\n\r\na\r\nb\r\n", "pdf | d | a⏎b");
    check("--- \nname: 'pdf'\ndescription: >-\n  Two\n  lines\n---\nb", "pdf | Two lines | b");
    check("---\n# a remark\nname: pdf\ndescription: 填表\n---\n---\nb", "pdf | 填表 | ---⏎b");
    check("---\nname: pdf\ndescription: d\nlicense: MIT\ncompatibility: c\nmetadata:\n---\nb", "pdf | d | b");
}

/// Would fail if metadata were read as numbers or lost its order.
#[test]
fn metadata_is_text_in_order() {
    let text = "---\nname: pdf\ndescription: d\nmetadata:\n  version: 1.10\n  avatar: 🧾\n  author: yes\nallowed-tools: Bash(git *) Read,Write\n---\n";
    let skill = Skill::parse(text, "pdf/SKILL.md").expect("valid");
    let metadata: Vec<_> = skill.metadata.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(metadata, ["version=1.10", "avatar=🧾", "author=yes"]);
    assert_eq!(skill.allowed_tools, ["Bash(git *)", "Read", "Write"]);
    assert_eq!(skill.warnings, []);
}

#[test]
fn unquoted_colons_are_read_as_plain_text_and_reported() {
    check(
        "---\nname: pdf\ndescription: Use when: it's a form\n---\nb",
        "pdf | Use when: it's a form | b\npdf/SKILL.md:3: a value holds `: ` without quotes; put it in single quotes",
    );
    check(
        "---\nname: pdf\ndescription: Use when: a\n  form: comes\nmetadata:\n  note: b: c\n---\nb",
        "pdf | Use when: a form: comes | b\n\
         pdf/SKILL.md:3: a value holds `: ` without quotes; put it in single quotes\n\
         pdf/SKILL.md:6: a value holds `: ` without quotes; put it in single quotes",
    );
    // A block keeps its own colons, also when another line needs the second reading.
    check(
        "---\nname: pdf\ndescription: |\n  Note: this: stays\nlicense: see: file\n---\nb",
        "pdf | Note: this: stays | b\npdf/SKILL.md:5: a value holds `: ` without quotes; put it in single quotes",
    );
}

#[test]
fn smaller_faults_are_warnings() {
    check(
        "---\nname: pdf\ndescription: d\nversion: 1\nallowed-tools: [Read, Write]\n---\nb",
        "pdf | d | b\n\
         pdf/SKILL.md:4: the key `version` is not part of the format; move it under `metadata:`; the keys are name, \
         description, license, compatibility, metadata, allowed-tools\n\
         pdf/SKILL.md:5: the allowed tools are a list; write `allowed-tools: Read Write`",
    );
    check(
        "---\nname: pdf\ndescription: d\n---\n\n[a](../b.md) [c](c.md)\n`references/.env`",
        "pdf | d | [a](../b.md) [c](c.md)⏎`references/.env`\n\
         pdf/SKILL.md:6: `../b.md` leads out of the skill's folder; link files inside the skill's folder only\n\
         pdf/SKILL.md:7: `references/.env` is hidden; link files inside the skill's folder only",
    );
    let long = format!("---\nname: pdf\ndescription: d\n---\n{}", "a\n".repeat(501));
    assert!(shown(&long).ends_with(
        "\npdf/SKILL.md: the instructions have 501 lines, 500 are advised; move details into files under references/"
    ));
}

#[test]
fn bad_ones() {
    let with = |keys: &str| format!("---\n{keys}\n---\nb");
    refused("", Rule::FrontMatter, Some(1));
    refused("# Only Markdown", Rule::FrontMatter, Some(1));
    refused("\n---\nname: pdf\ndescription: d\n---\n", Rule::FrontMatter, Some(1));
    refused("---\nname: pdf\ndescription: d\n", Rule::FrontMatter, Some(1));
    refused("---\n---\n", Rule::Name, None);
    refused(&with("- a\n- b"), Rule::Yaml, Some(2));
    refused(&with("name: pdf\ndescription: [a, b"), Rule::Yaml, Some(3));
    refused(&with("name: pdf\n\tdescription: d"), Rule::Yaml, Some(2));
    refused(&with("name: pdf\nname: pdf\ndescription: d"), Rule::Yaml, Some(3));
    refused(&with("name: pdf\ndescription: d\nmetadata:\n  a: {b: c}"), Rule::Yaml, Some(5));
    refused(&with("description: d"), Rule::Name, None);
    refused(&with("description: d\nname: Pdf"), Rule::Name, Some(3));
    refused(&with("name: pdf-\ndescription: d"), Rule::Name, Some(2));
    refused(&with("name: p--df\ndescription: d"), Rule::Name, Some(2));
    refused(&with("name: 表单\ndescription: d"), Rule::Name, Some(2));
    refused(&with(&format!("name: {}\ndescription: d", "a".repeat(65))), Rule::Name, Some(2));
    refused(&with("name: forms\ndescription: d"), Rule::Name, Some(2));
    refused(&with("name: pdf"), Rule::Description, None);
    refused(&with("name: pdf\ndescription: '  '"), Rule::Description, Some(3));
    refused(&with(&format!("name: pdf\ndescription: {}", "长".repeat(1025))), Rule::Description, Some(3));
    refused(&with("name: pdf\ndescription: d\ncompatibility: ''"), Rule::Compatibility, Some(4));
    refused(
        &with(&format!("name: pdf\ndescription: d\ncompatibility: {}", "a".repeat(501))),
        Rule::Compatibility,
        Some(4),
    );
    refused(&with(&format!("name: pdf\ndescription: {}", "a".repeat(70_000))), Rule::Size, Some(1));
}

/// Would fail if the limits were counted in bytes, or were off by one.
#[test]
fn limits_are_in_characters() {
    let text = format!("---\nname: {}\ndescription: {}\n---\n", "a".repeat(64), "长".repeat(1024));
    let skill = Skill::parse(&text, "SKILL.md").expect("just within the limits");
    assert_eq!(skill.description.chars().count(), 1024);
}

/// Would fail if nested aliases were expanded: the last one stands for 10⁹ scalars.
#[test]
fn an_alias_bomb_is_refused() {
    let mut bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (this, last) in ('b'..='i').zip('a'..) {
        let last = vec![format!("*{last}"); 10].join(",");
        let _infallible = writeln!(bomb, "{this}: &{this} [{last}]");
    }
    let fault = Skill::parse(&format!("---\n{bomb}name: pdf\ndescription: d\n---\n"), "pdf/SKILL.md")
        .expect_err("a bomb");
    assert_eq!(fault.rule, Rule::Yaml);
    let deep = format!("---\nname: pdf\ndescription: {}\n---\n", "[".repeat(50_000));
    assert_eq!(Skill::parse(&deep, "pdf/SKILL.md").expect_err("too deep").rule, Rule::Yaml);
}

#[test]
fn titles_and_translations() {
    let text = "---\nname: pdf\ndescription: Fills forms.\nmetadata:\n  title-en: Forms\n  title-zh: 表单\n---\n# A\n";
    let mut skill = Skill::parse(text, "pdf/SKILL.md").expect("valid");
    skill
        .add_translation("zh", "---\nname: pdf\ndescription: 填表。\n---\n# 甲\n", "pdf/SKILL.zh.md")
        .expect("valid");
    assert_eq!(skill.warnings, []);
    let title = |language: &str| skill.title(language).to_string();
    assert_eq!(
        [title("zh"), title("zh-Hans_CN"), title("ZH"), title("de"), title("")],
        ["表单", "表单", "表单", "Forms", "Forms"]
    );
    assert_eq!(skill.in_language("zh-CN").body, "# 甲");
    assert_eq!(skill.in_language("fr").body, "# A");
    assert_eq!(skill.catalogue_line("zh"), "pdf: 填表。");

    let other = skill.add_translation("de", "---\nname: other\ndescription: d\n---\n", "other/SKILL.de.md");
    assert_eq!(other.expect_err("another skill").rule, Rule::Translation);
    skill
        .add_translation("fr", "---\nname: pdf\ndescription: d\n---\n## A", "pdf/SKILL.fr.md")
        .expect("loads");
    assert_eq!(skill.warnings.iter().map(|fault| fault.rule).collect::<Vec<_>>(), [Rule::Translation]);
}

proptest! {
    /// Would fail if some text panicked, or a skill came out that breaks the rules.
    #[test]
    fn parse_never_panics(
        front in r#"(name: pdf\n|description: [^\n]{0,20}\n|metadata:\n  [a-z]{1,3}: .{0,5}\n|[-a-z:'"|>&*\[\]{}# \t\n天]{0,20})*"#,
        body in "(\\]\\([./a-z]{0,6}\\)|`references/[./a-z]{0,4}`|#{0,7} |```|~~~|[a-z天\r\n]{0,5}){0,20}",
        whole in "\\PC{0,60}",
    ) {
        let _any = Skill::parse(&whole, "pdf/SKILL.md").is_ok();
        if let Ok(skill) = Skill::parse(&format!("---\n{front}---\n{body}"), "pdf/SKILL.md") {
            prop_assert_eq!(skill.name.as_str(), "pdf");
            prop_assert!((1..=1024).contains(&skill.description.chars().count()));
            prop_assert!(skill.references.iter().all(|reference| !reference.path.split('/').any(|part| part == "..")));
            prop_assert!(!skill.catalogue_line("zh").contains('\n'));
        }
    }
}
