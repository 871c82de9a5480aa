use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use thermidor_skills::Library as Skills;

use crate::{Error, ErrorKind, Place, Problem, Team, bundled_teams, near};

/// The largest team file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// Where a team comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The project's folder, `.thermidor/teams`.
    Project,
    /// The user's folder.
    User,
    /// The program itself.
    Bundled,
}

impl Origin {
    /// `project`, `user` or `bundled`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Bundled => "bundled",
        }
    }
}

/// A team of the library, usable or not.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The file's name without its ending: what the team is called by.
    pub id: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The file; for a bundled team, a name that is no path.
    pub file: PathBuf,
    /// The team, or everything that is wrong with it.
    pub team: Result<Team, Error>,
    /// Teams of the same id that this one hides.
    pub hides: Vec<Origin>,
}

/// All teams there are: those of the folders handed in, then the bundled ones; the first of an id counts.
#[derive(Clone, Debug, Default)]
pub struct Library {
    entries: Vec<Entry>,
    faults: Vec<Error>,
}

impl Library {
    /// Reads `NAME.toml` and `NAME/team.toml` in each of the folders, most important first, and the bundled teams.
    ///
    /// A folder that does not exist is empty. What cannot be read becomes a fault, what does not fit an entry with
    /// its error: one bad file hides no good one. Reads files of at most 1 MiB, one after the other.
    ///
    /// ```
    /// use thermidor_skills::Source;
    /// use thermidor_teams::{Library, bundled_skills};
    /// let skills = thermidor_skills::Library::read(&[Source::Embedded(bundled_skills())]);
    /// let library = Library::open(&[], &skills);
    /// assert_eq!(library.get("software-company").expect("bundled").stages().len(), 5);
    /// let error = library.get("software-compny").expect_err("a slip");
    /// assert_eq!(error.to_string(), r#"unknown team "software-compny"; did you mean "software-company"?"#);
    /// ```
    pub fn open(folders: &[(Origin, &Path)], skills: &Skills) -> Self {
        let mut library = Self::default();
        for (origin, folder) in folders {
            match files(folder) {
                Ok(files) => files.into_iter().for_each(|(id, file)| library.read(id, *origin, file, skills)),
                Err(error) => library.faults.push(unreadable(folder, &error)),
            }
        }
        for (file, text) in bundled_teams() {
            let id = file.trim_end_matches(".toml").to_owned();
            let team = load(text, &format!("bundled {file}"), &id, skills);
            library.add(Entry { id, origin: Origin::Bundled, file: file.into(), team, hides: Vec::new() });
        }
        library
    }

    /// Every team by its id, in order of precedence and name.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The folders that could not be read.
    pub fn faults(&self) -> &[Error] {
        &self.faults
    }

    /// The entry of a team, usable or not.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// The team called `id`.
    ///
    /// # Errors
    /// [`ErrorKind::Unknown`] with a suggestion when there is none, or everything that is wrong with it.
    pub fn get(&self, id: &str) -> Result<&Team, Error> {
        match self.entry(id) {
            Some(entry) => entry.team.as_ref().map_err(Clone::clone),
            None => Err(Error::from(Problem {
                kind: ErrorKind::Unknown,
                place: Place::default(),
                message: format!("unknown team {id:?}"),
                remedy: near::suggest(id, self.entries.iter().map(|entry| entry.id.as_str())),
            })),
        }
    }

    fn read(&mut self, id: String, origin: Origin, file: PathBuf, skills: &Skills) {
        let team = match text_of(&file) {
            Ok(text) => load(&text, &file.display().to_string(), &id, skills),
            Err(error) => Err(unreadable(&file, &error)),
        };
        self.add(Entry { id, origin, file, team, hides: Vec::new() });
    }

    fn add(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|other| other.id == entry.id) {
            Some(first) => first.hides.push(entry.origin),
            None => self.entries.push(entry),
        }
    }
}

fn load(text: &str, name: &str, id: &str, skills: &Skills) -> Result<Team, Error> {
    let team = Team::load(text, name, skills)?;
    if team.id() == id {
        return Ok(team);
    }
    let place = Place { file: name.into(), path: "name".into(), ..Place::default() };
    let message = format!("the team is called {:?} and its file {id:?}", team.id());
    let remedy = Some("give both the same name".into());
    Err(Problem { kind: ErrorKind::BadValue, place, message, remedy }.into())
}

/// Id and path of every team file in a folder, by id.
fn files(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let inner = path.join("team.toml");
        let (stem, file) = if inner.is_file() {
            (path.file_name(), inner)
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            (path.file_stem(), path.clone())
        } else {
            continue;
        };
        if let Some(id) = stem.and_then(|stem| stem.to_str()) {
            found.push((id.to_owned(), file));
        }
    }
    found.sort();
    Ok(found)
}

pub(crate) fn text_of(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(file)?.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than 1 MiB"));
    }
    Ok(text)
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Error {
    let place = Place { file: path.display().to_string(), ..Place::default() };
    Problem { kind: ErrorKind::Unreadable, place, message: format!("cannot be read: {error}"), remedy: None }
        .into()
}
