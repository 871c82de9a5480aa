//! The official Python client in an environment of its own below `target`, for whoever compares with it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::workspace::Workspace;

/// The official client (Apache-2.0), which nothing of ours is built from.
pub(crate) const CLIENT: &str = "openai==3.57.0";

/// Installs the client where it is missing, and returns the interpreter that finds it.
///
/// Needs Python 3 with `venv`, and once the network.
pub(crate) fn with_client(shell: &Shell, workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target.join("xtask").join("python");
    let (python, mark) = (folder.join("bin").join("python"), folder.join("installed"));
    if fs::read_to_string(&mark).is_ok_and(|there| there == CLIENT) {
        return Ok(python);
    }
    eprintln!("installing {CLIENT} into {} (once)", folder.display());
    install(shell, &folder, &python)?;
    fs::write(&mark, CLIENT).with_context(|| format!("failed to write {}", mark.display()))?;
    Ok(python)
}

fn install(shell: &Shell, folder: &Path, python: &Path) -> Result<()> {
    cmd!(shell, "python3 -m venv --clear {folder}")
        .run()
        .context("failed to make a Python environment: Python 3 with `venv` is needed")?;
    cmd!(shell, "{python} -m pip install --quiet --disable-pip-version-check --only-binary :all: {CLIENT}")
        .run()
        .context("failed to install from the Python package index")?;
    Ok(())
}
