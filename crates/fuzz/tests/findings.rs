//! Whatever was found once stays mended, and the recordings keep every promise.

use thermidor_fuzz::{findings, targets};

/// Would fail if an input that broke a promise broke it again.
#[test]
fn no_finding_comes_back() {
    for target in targets() {
        for (path, input) in findings(target.name()).expect("the findings can be read") {
            let kept = std::panic::catch_unwind(|| target.run(&input));
            assert!(kept.is_ok(), "{} broke a promise of {}: see above", path.display(), target.name());
        }
    }
}

/// Would fail if a target could not even bear what it begins with.
#[test]
fn the_seeds_keep_every_promise() {
    for target in targets() {
        let seeds = target.seeds();
        assert!(!seeds.is_empty(), "{} has nothing to begin with", target.name());
        for seed in seeds.iter().filter(|seed| seed.len() < 4096) {
            target.run(seed);
        }
    }
}

/// Would fail if findings of a target that was renamed were read by nobody.
#[test]
fn every_folder_of_findings_has_its_target() {
    let names: Vec<String> = targets().iter().map(|target| target.name().to_owned()).collect();
    let folders =
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata")).expect("the folder is there");
    for folder in folders {
        let folder = folder.expect("it can be read");
        let name = folder.file_name().to_string_lossy().into_owned();
        assert!(name == "README.md" || names.contains(&name), "{name} is no target");
    }
}
