//! A run's result as files.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use thermidor_agent_runtime::parse_files;

use crate::Output;

/// The folder into which a project's own files go.
const PROJECT: &str = "project";

/// Makes sure that a delivery can be written into `folder`: it does not exist, or is an empty folder that
/// may be written.
///
/// # Errors
/// When it cannot; the message says why and what to do.
pub fn check(folder: &Path) -> io::Result<()> {
    let other = |kind, message: String| Err(io::Error::new(kind, message));
    match fs::read_dir(folder) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                let message =
                    format!("{} is not empty: name a new folder, nothing is overwritten", folder.display());
                return other(io::ErrorKind::DirectoryNotEmpty, message);
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return other(error.kind(), format!("{}: {error}", folder.display())),
    }
    fs::create_dir_all(folder).or_else(|error| other(error.kind(), format!("{}: {error}", folder.display())))
}

/// What was written of a delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The files: the answer first, then the stages, then the project's own.
    pub files: Vec<PathBuf>,
    /// Project files that could not be written under the name the model gave them, and why. Their content
    /// stands in the answer.
    pub left_out: Vec<String>,
}

/// Writes what a run made into `folder`: `delivery.md` (the final answer), one file a stage
/// (`stages/01-analysis.md`, …), and the project's files of the last section under `project/`.
///
/// The names of project files come from a model: they are taken only as far as [`parse_files`] takes them,
/// which is never outside the folder. Nothing that exists is overwritten.
///
/// # Errors
/// When the answer or a stage cannot be written.
pub fn write(folder: &Path, output: &Output) -> io::Result<Delivery> {
    let mut delivery = Delivery::default();
    delivery.files.push(put(folder.join("delivery.md"), &with_newline(output.text()))?);
    for (number, stage) in (1..).zip(output.stages()) {
        let name = format!("{number:02}-{}.md", file_name(&stage.stage));
        let mut text = format!("# {}\n\n{}", stage.title, with_newline(&stage.text));
        for fault in &stage.unfit {
            text.extend(["\n> ", fault.as_str(), "\n"]);
        }
        delivery.files.push(put(folder.join("stages").join(name), &text)?);
    }
    for file in parse_files(output.text()) {
        match put(folder.join(PROJECT).join(&*file.path), &file.content) {
            Ok(path) => delivery.files.push(path),
            Err(error) => delivery.left_out.push(error.to_string()),
        }
    }
    Ok(delivery)
}

fn put(path: PathBuf, text: &str) -> io::Result<PathBuf> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
        let mut file = fs::File::create_new(&path)?;
        file.write_all(text.as_bytes())
    });
    match written {
        Ok(()) => Ok(path),
        Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    }
}

fn with_newline(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

/// A stage's id as a file name: ids of bundled teams are plain; others may be in any script.
fn file_name(id: &str) -> String {
    id.chars()
        .map(|letter| if letter.is_alphanumeric() || "-_".contains(letter) { letter } else { '-' })
        .collect()
}
