//! Runs every rule over the repository.

use std::{fs, path::Path};

use anyhow::{Context, Result, bail};

use super::{docs, fault::Fault, layers, length, manifests, modules, source::Source, text, words};
use crate::workspace::Workspace;

/// Folders that hold nothing written by hand.
const SKIPPED: [&str; 4] = [".git", ".thermidor", "node_modules", "target"];

/// Checks the repository and prints what is wrong.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut sources = Vec::new();
    collect(&workspace.root, &workspace.root, &mut sources)?;
    let mut faults: Vec<Fault> = sources.iter().flat_map(check).collect();
    faults.extend(layers::check(&workspace.packages));
    faults.extend(manifests::check(&workspace.packages));
    faults.sort();

    for (file, lines) in sources.iter().filter_map(length::advice) {
        println!("advice: {file} has {lines} lines: do two things live there?");
    }
    for fault in &faults {
        println!("{fault}");
    }
    let (files, packages) = (sources.len(), workspace.packages.len());
    if !faults.is_empty() {
        bail!("tidy found {} faults in {files} files and {packages} packages", faults.len());
    }
    println!("tidy: {files} files and {packages} packages are in order");
    Ok(())
}

fn check(source: &Source) -> Vec<Fault> {
    let mut faults = text::check(source);
    faults.extend(modules::check_name(source));
    if source.is_product_code() {
        faults.extend(length::check(source));
        faults.extend(docs::check(source));
        faults.extend(modules::check_body(source));
        faults.extend(words::check(source));
    }
    faults
}

/// Reads every text file below `folder`. Test data is left alone: it is kept byte for byte.
fn collect(root: &Path, folder: &Path, sources: &mut Vec<Source>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("failed to list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if name != "testdata" && !SKIPPED.contains(&name.as_ref()) {
                collect(root, &path, sources)?;
            }
        } else if kind.is_file() && name != "Cargo.lock" && name != ".git" {
            let bytes = fs::read(&path).with_context(|| format!("failed to read {}", path.display()))?;
            // Of a further work tree `.git` is a file. What is not UTF-8 is an image, a font, an archive.
            if let Ok(text) = String::from_utf8(bytes) {
                let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                sources.push(Source::new(&relative, text));
            }
        }
    }
    Ok(())
}
