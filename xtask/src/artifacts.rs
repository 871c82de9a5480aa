//! Builds programs of this workspace and says where they are.

use std::{
    collections::BTreeMap,
    io::BufReader,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use cargo_metadata::Message;

use crate::workspace::Workspace;

/// Programs by name.
#[derive(Debug)]
pub(crate) struct Artifacts(BTreeMap<String, PathBuf>);

impl Artifacts {
    /// Builds with these arguments of `cargo build`, in one go, so that everything has the same features.
    pub(crate) fn build(workspace: &Workspace, arguments: &[&str]) -> Result<Self> {
        eprintln!("$ cargo build {}", arguments.join(" "));
        let mut child = Command::new("cargo")
            .args(["build", "--quiet", "--message-format", "json-render-diagnostics"])
            .args(arguments)
            .current_dir(&workspace.root)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("failed to start cargo")?;
        let output = child.stdout.take().context("cargo has no stdout")?;
        let mut programs = BTreeMap::new();
        for message in Message::parse_stream(BufReader::new(output)) {
            if let Message::CompilerArtifact(artifact) = message.context("failed to read what cargo says")?
                && let Some(program) = artifact.executable
            {
                programs.insert(artifact.target.name, program.into_std_path_buf());
            }
        }
        ensure!(child.wait()?.success(), "the build failed");
        Ok(Self(programs))
    }

    /// The program called `name`.
    pub(crate) fn get(&self, name: &str) -> Result<&Path> {
        let program = self.0.get(name).with_context(|| format!("cargo built no program called {name:?}"))?;
        Ok(program)
    }
}
