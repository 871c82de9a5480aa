//! What is bundled obeys the rules that everybody's files obey, and a few of our own.

use std::{collections::BTreeSet, path::Path};

use thermidor_skills::{Library as Skills, Source, outline, same_outline};
use thermidor_teams::{Language, Library, Localised, Origin, bundled_avatars, bundled_skills, bundled_teams};
use thermidor_types::Text;

fn skills() -> Skills {
    Skills::read(&[Source::Embedded(bundled_skills())])
}

/// Every file below `bundled/FOLDER`, as paths with `/`.
fn on_disk(folder: &str) -> BTreeSet<String> {
    fn walk(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            match entry.path() {
                path if path.is_dir() => walk(&path, &format!("{name}/"), found),
                _ => assert!(found.insert(name)),
            }
        }
    }
    let mut found = BTreeSet::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("bundled").join(folder), "", &mut found);
    found
}

#[test]
fn every_file_is_in_the_program() {
    for (folder, table) in
        [("teams", bundled_teams()), ("skills", bundled_skills()), ("avatars", bundled_avatars())]
    {
        assert_eq!(on_disk(folder), table.iter().map(|(path, _)| (*path).to_owned()).collect(), "{folder}");
    }
}

#[test]
fn the_skills_are_without_fault_or_warning() {
    let skills = skills();
    assert_eq!(skills.remarks().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    assert_eq!(skills.len(), 4);
}

#[test]
fn both_languages_of_a_skill_say_the_same_things() {
    let files = bundled_skills();
    let text = |path: &str| files.iter().find(|(file, _)| *file == path).map(|(_, text)| *text);
    for (path, english) in files.iter().filter(|(path, _)| !path.ends_with(".zh.md")) {
        let other = path.replace(".md", ".zh.md");
        let chinese = text(&other).expect(&other);
        same_outline(english, chinese, Path::new(&other)).expect("the same outline");
        assert_eq!(Language::of(english), Language::En, "{path}");
        assert_eq!(Language::of(chinese), Language::Zh, "{other}");
        // Lists are as long, quotations as many: nothing was left out of one language.
        for mark in ["- ", "> **", "1. ", "8. "] {
            let count = |text: &str| text.lines().filter(|line| line.starts_with(mark)).count();
            assert_eq!(count(english), count(chinese), "lines with {mark:?} in {path}");
        }
    }
}

#[test]
fn an_employee_is_described_in_full() {
    for skill in skills().iter() {
        let name = skill.name.as_str();
        let headings: Vec<(u8, &str)> =
            outline(&skill.body).iter().map(|heading| (heading.level, heading.text)).collect();
        let expected = [
            (2, "Role"),
            (2, "Competence"),
            (3, "Professional"),
            (3, "Supporting"),
            (3, "Soft"),
            (2, "Way of working"),
            (2, "Deliverables"),
            (2, "Quality criteria"),
            (2, "Boundaries"),
            (2, "Using what others wrote"),
            (2, "Application examples"),
            (3, "Example 1"),
            (3, "Example 2"),
            (2, "Common mistakes"),
        ];
        assert_eq!(headings.len(), expected.len() + 1, "{name}");
        for ((level, text), (wanted_level, wanted)) in headings[1..].iter().zip(expected) {
            assert!(*level == wanted_level && text.starts_with(wanted), "{name}: {text}");
        }
        let words = skill.body.split_whitespace().count();
        assert!((900..=1500).contains(&words), "{name} has {words} words");
        assert_eq!(skill.metadata.get("team").map(Text::as_str), Some("software-company"), "{name}");
        assert_eq!(skill.license.as_ref().map(Text::as_str), Some("MIT OR Apache-2.0"), "{name}");
        assert_ne!(skill.title("en"), skill.title("zh"), "{name}");
        for language in ["en", "zh"] {
            let edition = skill.in_language(language);
            assert!(edition.description.chars().count() <= 1024, "{name}");
        }
    }
}

#[test]
fn the_teams_pass_their_check() {
    let library = Library::open(&[], &skills());
    let sees = |id: &str| -> Vec<(String, Vec<String>)> {
        let team = library.get(id).unwrap_or_else(|error| panic!("{error}"));
        let owned = |sees: Vec<&str>| sees.into_iter().map(str::to_owned).collect();
        team.stages().map(|(stage, sees)| (stage.id.clone(), owned(sees))).collect()
    };
    let stages = |algorithm: &str| -> Vec<(String, Vec<String>)> {
        [
            ("analysis", vec![]),
            ("plan", vec!["analysis"]),
            ("frontend", vec!["plan"]),
            ("algorithm", vec![algorithm]),
            ("summary", vec!["analysis", "plan", "frontend", "algorithm"]),
        ]
        .into_iter()
        .map(|(id, sees)| (id.into(), sees.into_iter().map(str::to_owned).collect()))
        .collect()
    };
    assert_eq!(sees("software-company"), stages("frontend"));
    assert_eq!(sees("software-company-parallel"), stages("plan"));
    assert!(library.entries().iter().all(|entry| entry.origin == Origin::Bundled && entry.team.is_ok()));
}

#[test]
fn every_text_of_a_team_is_there_in_both_languages() {
    let skills = skills();
    let library = Library::open(&[], &skills);
    for entry in library.entries() {
        let file = entry.team.as_ref().expect("a good team").file();
        let differ = |text: &Option<Localised<String>>, what: &str| {
            let text = text.as_ref().expect(what);
            assert_eq!(Language::of(text.get(Language::En)), Language::En, "{what}");
            assert_eq!(Language::of(text.get(Language::Zh)), Language::Zh, "{what}");
        };
        differ(&file.title, "title");
        differ(&file.description, "description");
        for (id, agent) in &file.agents {
            differ(&agent.name, id);
            differ(&agent.persona, id);
            let avatar =
                agent.avatar.as_deref().and_then(|avatar| avatar.strip_prefix("avatars/")).expect(id);
            assert!(
                bundled_avatars().iter().any(|(name, svg)| *name == avatar && svg.starts_with("<svg ")),
                "{avatar}"
            );
            let skill = skills.get(agent.skill.as_deref().expect(id)).expect(id);
            assert_eq!(skill.metadata.get("avatar").map(Text::as_str), agent.avatar.as_deref());
        }
        for stage in &file.stages {
            differ(&stage.title, &stage.id);
            differ(&Some(stage.prompt.clone()), &stage.id);
            for language in [Language::En, Language::Zh] {
                // The prompt says what belongs under each heading that is asked for.
                for heading in stage.sections.as_ref().expect(&stage.id).get(language) {
                    assert!(
                        stage.prompt.get(language).contains(heading.as_str()),
                        "{heading} of {}",
                        stage.id
                    );
                }
            }
        }
        let words: Vec<Option<u32>> = file.stages.iter().map(|stage| stage.words).collect();
        assert_eq!(words, [Some(300), Some(400), Some(500), Some(500), None]);
        let holders: Vec<&str> =
            file.stages.iter().filter(|stage| stage.files).map(|stage| stage.id.as_str()).collect();
        assert_eq!(holders, ["summary"]);
    }
}
