//! The targets, side by side.

use std::{sync::Mutex, thread};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::{
    build,
    drive::{Drive, Driven},
};
use crate::{artifacts::Artifacts, flags, workspace::Workspace};

/// Minutes a target, where nobody says.
const MINUTES: u64 = 1;

/// Builds the fuzzer, lets every chosen target run, and fails when one has found something.
pub(crate) fn run(workspace: &Workspace, options: &flags::Fuzz) -> Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(&workspace.root);
    let plain = Artifacts::build(workspace, &["-p", "thermidor-fuzz", "--bin", "fuzz"])?;
    let plain = plain.get("fuzz")?;
    let known = cmd!(shell, "{plain} list").quiet().read()?;
    let known: Vec<&str> = known.lines().collect();
    let wrong = options.target.iter().find(|name| !known.contains(&name.as_str()));
    ensure!(wrong.is_none(), "there is no target {wrong:?}; there are {}", known.join(", "));
    let chosen: Vec<&str> = known
        .into_iter()
        .filter(|name| options.target.is_empty() || options.target.iter().any(|one| one == name))
        .collect();
    let folder = workspace.target.join("fuzz");
    let seeds = folder.join("seeds");
    cmd!(shell, "{plain} seeds {seeds}").quiet().run()?;
    eprintln!("building the instrumented fuzzer: minutes, once");
    let program = build::instrumented(&shell, workspace)?;

    let (home, minutes) = (workspace.root.join("crates").join("fuzz"), options.minutes.unwrap_or(MINUTES));
    let dictionary = home.join("dictionary.txt");
    let drive = |target: &str| {
        eprintln!("{target}: {minutes} min");
        let drive = Drive {
            program: &program,
            target,
            folder: folder.join("work").join(target),
            seeds: seeds.join(target),
            findings: home.join("testdata").join(target),
            dictionary: &dictionary,
        };
        drive.run(minutes * 60).with_context(|| format!("failed to drive {target}"))
    };
    let driven = side_by_side(&chosen, drive)?;
    println!(
        "| target | inputs tried | edges reached | corpus | findings |\n| --- | --- | --- | --- | --- |"
    );
    for Driven { target, tried, covered, corpus, found, .. } in &driven {
        println!("| {target} | {tried} | {covered} | {corpus} | {} |", found.len());
    }
    let found = driven.iter().flat_map(|driven| {
        driven.found.iter().map(|path| format!("{} (what it says: {})", path.display(), driven.log.display()))
    });
    let found: Vec<String> = found.collect();
    ensure!(found.is_empty(), "inputs that break a promise, kept for the test:\n- {}", found.join("\n- "));
    Ok(())
}

/// Runs `work` over all `names`, one a core at a time; results in the order of the names.
fn side_by_side<T: Send>(names: &[&str], work: impl Fn(&str) -> Result<T> + Sync) -> Result<Vec<T>> {
    let next = Mutex::new(names.iter().enumerate());
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                loop {
                    let taken = next.lock().ok().and_then(|mut names| names.next());
                    let Some((place, name)) = taken else { break };
                    let result = work(name);
                    if let Ok(mut done) = done.lock() {
                        done.push((place, result));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    ensure!(done.len() == names.len(), "a target was not driven to its end");
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}
