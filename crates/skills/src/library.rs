use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use smol_str::SmolStr;

use crate::{
    Fault, REFERENCE_LIMIT, Rule, SKILL_LIMIT, Skill,
    folder::{Files, Folder, unreadable},
};

/// The most folders looked at in one source.
const MOST: usize = 2_000;
const FILE: &str = "SKILL.md";

/// A place where skills are.
#[derive(Clone, Debug)]
pub enum Source {
    /// A folder of skill folders. One that does not exist holds no skills, which is no fault. Skills tell
    /// a model what to do: read a project's folder only when the project is trusted.
    Folder(PathBuf),
    /// Built into the program: paths such as `haiku/SKILL.md` or `haiku/references/season.md`, and texts.
    Embedded(&'static [(&'static str, &'static str)]),
}

/// The skills of several places. Reading it is the only file access of this crate, together with
/// [`Skill::read_reference`].
#[derive(Clone, Debug, Default)]
pub struct Library {
    skills: BTreeMap<SmolStr, Skill>,
    /// What could not be loaded, and why.
    pub faults: Vec<Fault>,
    /// Skills hidden by one of the same name in an earlier source.
    pub shadowed: Vec<Shadowed>,
}

/// A skill hidden by another one of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// The name of both.
    pub name: SmolStr,
    /// The `SKILL.md` that is hidden.
    pub path: PathBuf,
    /// The `SKILL.md` that hides it.
    pub by: PathBuf,
}

impl Library {
    /// Reads all sources; on equal names the earlier source wins: give the project's before the user's
    /// before the bundled ones. Costs one pass over the folders, blocking; of references only the size is
    /// looked at.
    pub fn read(sources: &[Source]) -> Self {
        let mut library = Self::default();
        for source in sources {
            match source {
                Source::Folder(root) => library.read_disk(root),
                Source::Embedded(files) => library.read_embedded(files),
            }
        }
        library
    }

    /// The skill of this name.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.skills.get(name)
    }

    /// The skills by name.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.skills.values()
    }

    /// The number of skills.
    pub fn len(&self) -> usize {
        self.skills.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// Everything that is wrong: what could not be loaded, then the warnings of the skills by name.
    pub fn remarks(&self) -> impl Iterator<Item = &Fault> {
        self.faults.iter().chain(self.iter().flat_map(|skill| &skill.warnings))
    }

    /// The first step of loading: a line for each skill, by name, each ending in a line break.
    pub fn catalogue(&self, language: &str) -> String {
        self.iter().map(|skill| skill.catalogue_line(language) + "\n").collect()
    }

    fn read_disk(&mut self, root: &Path) {
        let folders = match subfolders(root) {
            Ok(folders) => folders,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.faults.push(unreadable(root, &error)),
        };
        if folders.len() > MOST {
            let message = format!("there are {} folders, the first {MOST} are looked at", folders.len());
            self.faults.push(Fault::new(root, Rule::Size, message, "keep skills in a folder of their own"));
        }
        for folder in folders.into_iter().take(MOST) {
            match file_names(&folder) {
                Ok(files) => self.read_skill(&folder, &Folder::Disk(folder.clone()), &files),
                Err(error) => self.faults.push(unreadable(&folder, &error)),
            }
        }
    }

    fn read_embedded(&mut self, files: Files) {
        for (path, _) in files {
            let Some(root) = path.strip_suffix(FILE).and_then(|folder| folder.strip_suffix('/')) else {
                continue;
            };
            let inside = |(file, _): &(&str, &str)| {
                let rest = file.strip_prefix(root)?.strip_prefix('/')?;
                (!rest.contains('/')).then(|| rest.to_owned())
            };
            let mut names: Vec<String> = files.iter().filter_map(inside).collect();
            names.sort();
            self.read_skill(Path::new(root), &Folder::Embedded { root, files }, &names);
        }
    }

    /// Reads the skill of one folder, if it is one. `files` are the names directly inside, sorted.
    fn read_skill(&mut self, path: &Path, folder: &Folder, files: &[String]) {
        if !files.iter().any(|file| file == FILE) {
            if let Some(file) = files.iter().find(|file| file.eq_ignore_ascii_case(FILE)) {
                let message = format!("the file is named `{file}`");
                self.faults.push(Fault::new(
                    &path.join(file),
                    Rule::FileName,
                    message,
                    "rename it to `SKILL.md`",
                ));
            }
            return;
        }
        let read = folder.read(FILE, SKILL_LIMIT).and_then(|text| Skill::parse(&text, path.join(FILE)));
        let mut skill = match read {
            Ok(skill) => skill,
            Err(fault) => return self.faults.push(fault),
        };
        for file in files {
            let Some(language) = language_of(file) else { continue };
            let added = folder
                .read(file, SKILL_LIMIT)
                .and_then(|text| skill.add_translation(language, &text, path.join(file)));
            skill.warnings.extend(added.err());
        }
        let (references, mut gone) = (std::mem::take(&mut skill.references), Vec::new());
        for reference in references {
            match folder.check(&reference.path, REFERENCE_LIMIT) {
                Ok(()) => skill.references.push(reference),
                Err(fault) => gone.push(Fault { path: reference.from, line: Some(reference.line), ..fault }),
            }
        }
        skill.warnings.append(&mut gone);
        skill.folder = folder.clone();
        match self.skills.get(&skill.name) {
            Some(first) => {
                self.shadowed.push(Shadowed { name: skill.name, path: skill.path, by: first.path.clone() });
            }
            None => {
                self.skills.insert(skill.name.clone(), skill);
            }
        }
    }
}

/// The folders directly inside, sorted by name; hidden ones and `node_modules` are none of ours.
fn subfolders(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let name = entry.file_name();
        let ours = name.to_str().is_none_or(|name| !name.starts_with('.') && name != "node_modules");
        if ours && entry.path().is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

/// The names directly inside that are text, sorted.
fn file_names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.extend(entry?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// `zh` of `SKILL.zh.md`.
fn language_of(file: &str) -> Option<&str> {
    let tag = file.strip_prefix("SKILL.")?.strip_suffix(".md")?;
    let part =
        |part: &str| (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    tag.split('-').all(part).then_some(tag)
}
