//! Teams in folders: precedence, faults that hide nothing else, names.

use std::fs;

use expect_test::expect;
use thermidor_skills::{Library as Skills, Source};
use thermidor_teams::{Entry, ErrorKind, Library, Origin, bundled_skills, bundled_teams};

fn skills() -> Skills {
    Skills::read(&[Source::Embedded(bundled_skills())])
}

fn own(name: &str) -> String {
    format!(
        "version = 1\nname = \"{name}\"\nlimits = {{ turns = 1, tokens = 1000, minutes = 1 }}\n\
         [agents.me]\npersona = \"You answer.\"\n[[stages]]\nid = \"answer\"\nagent = \"me\"\nprompt = \"Answer.\"\n"
    )
}

#[test]
fn the_first_folder_wins_and_a_bad_file_hides_no_good_one() {
    let (project, user) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    fs::write(project.path().join("software-company.toml"), own("software-company")).expect("writes");
    fs::write(project.path().join("bad.toml"), "version = 1\nname =").expect("writes");
    fs::write(project.path().join("notes.md"), "no team").expect("writes");
    fs::create_dir(user.path().join("round")).expect("creates");
    fs::write(user.path().join("round/team.toml"), own("round")).expect("writes");
    fs::write(user.path().join("software-company.toml"), "nonsense").expect("writes");
    fs::write(user.path().join("renamed.toml"), own("old")).expect("writes");

    let folders = [(Origin::Project, project.path()), (Origin::User, user.path())];
    let library = Library::open(&folders, &skills());
    let show = |entry: &Entry| {
        let hides: Vec<&str> = entry.hides.iter().map(|origin| origin.words()).collect();
        format!("{} {} ok={} hides={hides:?}", entry.id, entry.origin.words(), entry.team.is_ok())
    };
    let shown = library.entries().iter().map(show).collect::<Vec<_>>().join("\n");
    expect![[r#"
        bad project ok=false hides=[]
        software-company project ok=true hides=["user", "bundled"]
        renamed user ok=false hides=[]
        round user ok=true hides=[]
        software-company-parallel bundled ok=true hides=[]"#]]
    .assert_eq(&shown);
    assert_eq!(library.get("software-company").expect("the project's").stages().len(), 1);
    assert_eq!(library.get("bad").expect_err("no TOML").kind(), ErrorKind::Syntax);
    let renamed = library.get("renamed").expect_err("two names").to_string();
    assert!(
        renamed.ends_with("the team is called \"old\" and its file \"renamed\"; give both the same name"),
        "{renamed}"
    );
    let round = library.get("ruond").expect_err("a slip").to_string();
    assert_eq!(round, "unknown team \"ruond\"; did you mean \"round\"?");
}

#[test]
fn folders_that_are_not_there_are_empty_and_files_in_their_place_are_faults() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("teams");
    fs::write(&file, "no folder").expect("writes");
    let missing = folder.path().join("missing");
    let library =
        Library::open(&[(Origin::Project, missing.as_path()), (Origin::User, file.as_path())], &skills());
    assert_eq!(
        library.faults().iter().map(thermidor_teams::Error::kind).collect::<Vec<_>>(),
        [ErrorKind::Unreadable]
    );
    assert_eq!(library.entries().len(), bundled_teams().len());
}

#[test]
fn a_file_too_large_or_not_text_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("large.toml"), "#".repeat((1 << 20) + 1)).expect("writes");
    fs::write(folder.path().join("bytes.toml"), [0xff, 0xfe]).expect("writes");
    let library = Library::open(&[(Origin::User, folder.path())], &skills());
    for id in ["large", "bytes"] {
        assert_eq!(library.get(id).expect_err(id).kind(), ErrorKind::Unreadable);
    }
}
