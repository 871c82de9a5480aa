//! Libraries on disk and in the program.
#![cfg(unix)]

use std::{fs, os::unix::fs::symlink, path::Path};

use thermidor_context_engine::{ContextProvider as _, View};
use thermidor_skills::{Library, REFERENCE_LIMIT, Rule, Source, provider};
use thermidor_types::{ModelCard, Timestamp, Tokens};

fn skill(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n{body}")
}

fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("inside the root")).expect("a temporary folder");
    fs::write(path, text).expect("a temporary file");
}

fn remarks(library: &Library) -> Vec<(String, Rule, Option<usize>)> {
    let name =
        |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    library.remarks().map(|fault| (name(&fault.path), fault.rule, fault.line)).collect()
}

const BUNDLED: &[(&str, &str)] = &[
    ("a/SKILL.md", "---\nname: a\ndescription: bundled a\n---\n[r](references/r.md) [gone](gone.md)"),
    ("a/references/r.md", "the reference"),
    ("a/SKILL.zh.md", "---\nname: a\ndescription: 内置\n---\n[r](references/r.md)"),
    ("b/SKILL.md", "---\nname: b\ndescription: bundled b\n---\n"),
    ("broken/SKILL.md", "no front matter"),
];

#[test]
fn the_first_source_wins_and_shadowing_is_seen() {
    let (project, user) = (tempfile::tempdir().expect("temporary"), tempfile::tempdir().expect("temporary"));
    write(project.path(), "b/SKILL.md", skill("b", "project b", ""));
    write(user.path(), "b/SKILL.md", skill("b", "user b", ""));
    write(user.path(), "c/SKILL.md", skill("c", "user c", ""));
    write(user.path(), ".hidden/SKILL.md", skill("hidden", "no", ""));
    write(user.path(), "notes/readme.md", "no skill, no fault");
    let library = Library::read(&[
        Source::Folder(project.path().into()),
        Source::Folder(user.path().into()),
        Source::Folder(user.path().join("does-not-exist")),
        Source::Embedded(BUNDLED),
    ]);
    assert_eq!(library.catalogue("en"), "a: bundled a\nb: project b\nc: user c\n");
    assert_eq!(library.get("a").map(|skill| skill.catalogue_line("zh")).as_deref(), Some("a: 内置"));
    let hidden: Vec<_> = library.shadowed.iter().map(|shadowed| shadowed.path.clone()).collect();
    assert_eq!(hidden, [user.path().join("b/SKILL.md"), "b/SKILL.md".into()]);
    assert!(library.shadowed.iter().all(|shadowed| shadowed.by == project.path().join("b/SKILL.md")));
    assert_eq!(
        remarks(&library),
        [("SKILL.md".into(), Rule::FrontMatter, Some(1)), ("SKILL.md".into(), Rule::Reference, Some(5))]
    );
}

#[test]
fn embedded_references_are_read_on_demand() {
    let library = Library::read(&[Source::Embedded(BUNDLED)]);
    let a = library.get("a").expect("bundled");
    assert_eq!(
        a.references.iter().map(|reference| reference.path.as_str()).collect::<Vec<_>>(),
        ["references/r.md"]
    );
    assert_eq!(a.read_reference("references/r.md").expect("bundled"), "the reference");
    for path in ["gone.md", "../b/SKILL.md", "/etc/passwd", ""] {
        assert_eq!(a.read_reference(path).expect_err(path).rule, Rule::Reference, "{path}");
    }
}

/// Would fail if any way out of the folder worked: dots, absolute paths, links, hidden files.
#[test]
fn nothing_outside_the_folder_is_read() {
    let root = tempfile::tempdir().expect("temporary");
    let root = root.path();
    write(root, "secret.md", "secret");
    let body = "[ok](ok.md) [out](out.md) [in](in.md) [dir](sub) [deep](linked/secret.md)\n[big](big.md) [none](none.md)";
    write(root, "skills/s/SKILL.md", skill("s", "d", body));
    write(root, "skills/s/ok.md", "fine");
    write(root, "skills/s/.env", "KEY");
    write(root, "skills/s/sub/inner.md", "inner");
    write(root, "skills/s/latin.md", b"caf\xe9");
    let big = vec![b'a'; usize::try_from(REFERENCE_LIMIT).expect("fits") + 1];
    write(root, "skills/s/big.md", &big);
    symlink(root.join("secret.md"), root.join("skills/s/out.md")).expect("a link");
    symlink(root, root.join("skills/s/linked")).expect("a link");
    symlink("ok.md", root.join("skills/s/in.md")).expect("a link");

    let library = Library::read(&[Source::Folder(root.join("skills"))]);
    let s = library.get("s").expect("it loads");
    assert_eq!(
        s.references.iter().map(|reference| reference.path.as_str()).collect::<Vec<_>>(),
        ["ok.md", "in.md"]
    );
    let file = || "SKILL.md".to_owned();
    assert_eq!(
        remarks(&library),
        [
            (file(), Rule::Reference, Some(5)),
            (file(), Rule::Reference, Some(5)),
            (file(), Rule::Reference, Some(5)),
            (file(), Rule::Size, Some(6)),
            (file(), Rule::Reference, Some(6)),
        ]
    );
    assert_eq!(s.read_reference("ok.md").expect("inside"), "fine");
    assert_eq!(s.read_reference("sub/inner.md").expect("inside"), "inner");
    for (path, rule) in [
        ("out.md", Rule::Reference),
        ("linked/secret.md", Rule::Reference),
        ("../../secret.md", Rule::Reference),
        ("sub/../../../secret.md", Rule::Reference),
        ("..\\..\\secret.md", Rule::Reference),
        (".env", Rule::Reference),
        ("sub", Rule::Reference),
        ("ok.md/x", Rule::Reference),
        ("big.md", Rule::Size),
        ("latin.md", Rule::Encoding),
    ] {
        assert_eq!(s.read_reference(path).expect_err(path).rule, rule, "{path}");
    }
    let absolute = root.join("secret.md");
    assert_eq!(s.read_reference(&absolute.to_string_lossy()).expect_err("outside").rule, Rule::Reference);
}

#[test]
fn what_cannot_be_loaded_is_a_fault_with_its_place() {
    let root = tempfile::tempdir().expect("temporary");
    let root = root.path();
    write(root, "secret", skill("s1", "d", ""));
    fs::create_dir_all(root.join("skills/s1")).expect("temporary");
    symlink(root.join("secret"), root.join("skills/s1/SKILL.md")).expect("a link");
    write(root, "skills/s2/skill.md", skill("s2", "d", ""));
    write(root, "skills/s3/SKILL.md", b"---\nname: s3\ndescription: caf\xe9\n---\n");
    write(root, "skills/s4/SKILL.md", "a".repeat(300 * 1024));
    write(root, "skills/s5/SKILL.md", skill("s5", "d", "# A"));
    write(root, "skills/s5/SKILL.zh.md", skill("s5", "d", "# 甲\n# 乙"));
    write(root, "skills/s5/SKILL.de.md", "nothing");
    write(root, "file", "");
    let library = Library::read(&[Source::Folder(root.join("skills")), Source::Folder(root.join("file"))]);
    assert_eq!(library.catalogue("en"), "s5: d\n");
    assert_eq!(
        remarks(&library),
        [
            ("SKILL.md".into(), Rule::Reference, None),
            ("skill.md".into(), Rule::FileName, None),
            ("SKILL.md".into(), Rule::Encoding, None),
            ("SKILL.md".into(), Rule::Size, None),
            ("file".into(), Rule::Unreadable, None),
            ("SKILL.de.md".into(), Rule::FrontMatter, Some(1)),
            ("SKILL.zh.md".into(), Rule::Translation, Some(2)),
        ]
    );
    assert!(library.get("s5").is_some_and(|skill| skill.in_language("zh").body.contains("乙")));
}

/// Would fail if the provider gave another language than the one asked for, or changed the instructions.
#[tokio::test]
async fn the_provider_gives_the_instructions_in_a_language() {
    let library = Library::read(&[Source::Embedded(BUNDLED)]);
    let model = ModelCard::unknown("openai/gpt-5".parse().expect("an id"), Tokens(8_000));
    let view = View::new(Timestamp::default(), model, "题");
    let skill = library.get("a").expect("bundled");
    for (language, body) in
        [("en", "[r](references/r.md) [gone](gone.md)"), ("zh-CN", "[r](references/r.md)")]
    {
        let provider = provider(skill, language);
        assert_eq!(provider.name(), "skill:a");
        let blocks = provider.contribute(&view).await.expect("it reads nothing");
        assert_eq!(blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>(), [body]);
    }
}
