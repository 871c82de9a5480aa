use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use thermidor_types::Text;

use crate::{Fault, Rule};

/// The largest `SKILL.md`, in bytes.
pub const SKILL_LIMIT: u64 = 256 * 1024;
/// The largest reference that is read, in bytes.
pub const REFERENCE_LIMIT: u64 = 1024 * 1024;

/// Where a skill's files are.
#[derive(Clone, Debug)]
pub(crate) enum Folder {
    /// The skill was parsed from a text alone.
    Nowhere,
    /// On disk.
    Disk(PathBuf),
    /// In the program: the files whose paths begin with `root` and a slash.
    Embedded { root: &'static str, files: Files },
}

/// Paths and texts built into a program.
pub(crate) type Files = &'static [(&'static str, &'static str)];

/// Whether a path stays inside the folder by its letters alone. Gives the reason if not, a fragment.
pub(crate) fn fits_inside(path: &str) -> Result<(), &'static str> {
    if path.is_empty() || path.contains('\0') {
        return Err("is no path");
    }
    if path.starts_with('/') || path.contains('\\') || path.contains(':') {
        return Err("is not a relative path with forward slashes");
    }
    for segment in path.split('/') {
        match segment {
            ".." => return Err("leads out of the skill's folder"),
            "" => return Err("has an empty part"),
            _ if segment.starts_with('.') => return Err("is hidden"),
            _ => {}
        }
    }
    Ok(())
}

impl Folder {
    /// The text of a file inside, of at most `limit` bytes.
    pub(crate) fn read(&self, path: &str, limit: u64) -> Result<Text, Fault> {
        let shown = self.shown(path);
        let text = match self.locate(path, limit)? {
            Located::Embedded(text) => return Ok(text.into()),
            Located::Disk(real) => {
                let mut bytes = Vec::new();
                let file = File::open(real).map_err(|error| unreadable(&shown, &error))?;
                file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&shown, &error))?;
                // The file may have grown since it was measured.
                within(bytes.len() as u64, limit, &shown)?;
                bytes
            }
        };
        String::from_utf8(text).map(Text::from).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Fault::new(
                &shown,
                Rule::Encoding,
                format!("the file is not UTF-8 at byte {at}"),
                "save it as UTF-8 text",
            )
        })
    }

    /// Checks that a file is inside, and of at most `limit` bytes.
    pub(crate) fn check(&self, path: &str, limit: u64) -> Result<(), Fault> {
        self.locate(path, limit).map(drop)
    }

    fn locate(&self, path: &str, limit: u64) -> Result<Located, Fault> {
        let shown = self.shown(path);
        let refuse = |why: &str| {
            Fault::new(
                &shown,
                Rule::Reference,
                format!("`{path}` {why}"),
                "name a file inside the skill's folder",
            )
        };
        fits_inside(path).map_err(refuse)?;
        match self {
            Self::Nowhere => Err(refuse("is not there: the skill has no folder")),
            Self::Embedded { root, files } => {
                let inside = |file: &str| {
                    file.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) == Some(path)
                };
                let (_, text) =
                    files.iter().find(|(file, _)| inside(file)).ok_or_else(|| refuse("is not there"))?;
                within(text.len() as u64, limit, &shown)?;
                Ok(Located::Embedded(text))
            }
            Self::Disk(root) => {
                let root = root.canonicalize().map_err(|error| unreadable(root, &error))?;
                let real = root.join(path).canonicalize().map_err(|error| match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => refuse("is not there"),
                    _ => unreadable(&shown, &error),
                })?;
                if !real.starts_with(&root) {
                    return Err(refuse("leads out of the skill's folder by a symbolic link"));
                }
                let about = fs::metadata(&real).map_err(|error| unreadable(&shown, &error))?;
                if !about.is_file() {
                    return Err(refuse("is no file"));
                }
                within(about.len(), limit, &shown)?;
                Ok(Located::Disk(real))
            }
        }
    }

    fn shown(&self, path: &str) -> PathBuf {
        match self {
            Self::Nowhere => path.into(),
            Self::Disk(root) => root.join(path),
            Self::Embedded { root, .. } => Path::new(root).join(path),
        }
    }
}

enum Located {
    Disk(PathBuf),
    Embedded(&'static str),
}

fn within(length: u64, limit: u64, path: &Path) -> Result<(), Fault> {
    if length <= limit {
        return Ok(());
    }
    Err(Fault::new(
        path,
        Rule::Size,
        format!("the file is larger than {limit} bytes"),
        "split it into smaller files",
    ))
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Fault {
    Fault::new(
        path,
        Rule::Unreadable,
        format!("cannot be read: {error}"),
        "check that it is there and may be read",
    )
}
