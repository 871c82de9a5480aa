use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use smol_str::SmolStr;
use thermidor_types::Text;

use crate::{
    Fault, Rule,
    folder::{Folder, fits_inside},
    front_matter,
    links::links,
    outline::same_outline,
    rules,
};

/// The most lines of instructions the specification advises.
const BODY_LINES: usize = 500;
/// The language of a file without a language in its name.
const DEFAULT_LANGUAGE: &str = "en";

/// A skill: what it is for, its instructions, and the files they point to.
#[derive(Clone, Debug)]
pub struct Skill {
    /// Its name, equal to its folder's: `a-z`, `0-9` and hyphens.
    pub name: SmolStr,
    /// What it does and when to use it, in the language of `SKILL.md`.
    pub description: Text,
    /// The instructions, in the language of `SKILL.md`; line ends are `\n`.
    pub body: Text,
    /// The licence, by name or file.
    pub license: Option<Text>,
    /// What it needs: products, packages, network.
    pub compatibility: Option<Text>,
    /// The tools it may use without asking, when the user's own policy agrees.
    pub allowed_tools: Vec<SmolStr>,
    /// Whatever else it says of itself: `title-zh`, `avatar`, `team`, …
    pub metadata: IndexMap<SmolStr, Text>,
    /// The same in other languages, by language tag, from files such as `SKILL.zh.md`.
    pub translations: IndexMap<SmolStr, Translation>,
    /// The files its instructions point to. Of a parsed text all that stay inside the folder; a
    /// [`Library`](crate::Library) keeps those that are there.
    pub references: Vec<Reference>,
    /// Rules it breaks without being useless.
    pub warnings: Vec<Fault>,
    /// Its `SKILL.md`.
    pub path: PathBuf,
    pub(crate) folder: Folder,
}

/// What another language says in place of the original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// What it does and when to use it.
    pub description: Text,
    /// The instructions.
    pub body: Text,
    /// What the translation says of itself.
    pub metadata: IndexMap<SmolStr, Text>,
}

/// A skill in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edition {
    /// For people.
    pub title: Text,
    /// What it does and when to use it.
    pub description: Text,
    /// The instructions.
    pub body: Text,
}

/// A file that a skill's instructions point to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its path inside the skill's folder, as [`Skill::read_reference`] wants it.
    pub path: SmolStr,
    /// The file that points to it first.
    pub from: PathBuf,
    /// The line there, counted from 1.
    pub line: usize,
}

impl Skill {
    /// Reads the text of a `SKILL.md`. `path` is where it is from: its folder must have the skill's name,
    /// and faults show it. Reads no file: whether references exist is not known yet.
    ///
    /// ```
    /// use thermidor_skills::{Rule, Skill};
    /// let text = "---\nname: PDF\ndescription: Fills forms.\n---\n";
    /// let fault = Skill::parse(text, "skills/pdf/SKILL.md").unwrap_err();
    /// assert_eq!((fault.rule, fault.line), (Rule::Name, Some(2)));
    /// assert!(fault.to_string().starts_with("skills/pdf/SKILL.md:2: the name holds 'P'; use "));
    /// ```
    ///
    /// # Errors
    /// The first rule broken that makes the skill useless: [`Rule::FrontMatter`], [`Rule::Yaml`],
    /// [`Rule::Size`], [`Rule::Name`], [`Rule::Description`], [`Rule::Compatibility`]. Smaller faults are
    /// in [`Skill::warnings`].
    pub fn parse(text: &str, path: impl AsRef<Path>) -> Result<Self, Fault> {
        let path = path.as_ref();
        let mut warnings = Vec::new();
        let halves = front_matter::split(text, path)?;
        let (read, quoted) = front_matter::read(halves.front, path)?;
        for line in quoted {
            let fault = Fault::new(
                path,
                Rule::Quoting,
                "a value holds `: ` without quotes",
                "put it in single quotes",
            );
            warnings.push(fault.at(line));
        }
        let checked = rules::check(read, halves.front, path, &mut warnings)?;
        let body = halves.body.replace("\r\n", "\n");
        let body: Text = body.trim_matches('\n').into();
        let skipped = halves.body.len() - halves.body.trim_start_matches(['\r', '\n']).len();
        let first_line = halves.body_line + halves.body[..skipped].matches('\n').count();
        let lines = body.lines().count();
        if lines > BODY_LINES {
            let message = format!("the instructions have {lines} lines, {BODY_LINES} are advised");
            warnings.push(Fault::new(path, Rule::Body, message, "move details into files under references/"));
        }
        let mut references = Vec::new();
        for link in links(&body) {
            let line = first_line + link.line - 1;
            match fits_inside(&link.path) {
                Ok(()) => references.push(Reference { path: link.path.into(), from: path.to_owned(), line }),
                Err(why) => {
                    let message = format!("`{}` {why}", link.path);
                    let remedy = "link files inside the skill's folder only";
                    warnings.push(Fault::new(path, Rule::Reference, message, remedy).at(line));
                }
            }
        }
        Ok(Self {
            name: checked.name,
            description: checked.description,
            body,
            license: checked.license,
            compatibility: checked.compatibility,
            allowed_tools: checked.allowed_tools,
            metadata: checked.metadata,
            translations: IndexMap::new(),
            references,
            warnings,
            path: path.to_owned(),
            folder: Folder::Nowhere,
        })
    }

    /// Adds another language: the text of a `SKILL.zh.md`, by the same rules as `SKILL.md`. A different
    /// outline is a warning.
    ///
    /// # Errors
    /// As [`Skill::parse`], and [`Rule::Translation`] when it is the translation of another skill.
    pub fn add_translation(
        &mut self,
        language: &str,
        text: &str,
        path: impl AsRef<Path>,
    ) -> Result<(), Fault> {
        let other = Self::parse(text, path)?;
        if other.name != self.name {
            let message = format!("the name is `{}`, the original's `{}`", other.name, self.name);
            return Err(Fault::new(&other.path, Rule::Translation, message, "give both the same name"));
        }
        self.warnings.extend(other.warnings);
        self.warnings.extend(same_outline(&self.body, &other.body, &other.path).err());
        for reference in other.references {
            if !self.references.iter().any(|known| known.path == reference.path) {
                self.references.push(reference);
            }
        }
        let translation =
            Translation { description: other.description, body: other.body, metadata: other.metadata };
        self.translations.insert(language.to_ascii_lowercase().into(), translation);
        Ok(())
    }

    /// The skill in `language` (a tag such as `zh` or `zh-CN`), or as it is in `SKILL.md` when it is not
    /// translated. Cheap: texts are shared.
    pub fn in_language(&self, language: &str) -> Edition {
        let title = self.title(language);
        match self.translation(language) {
            Some(other) => {
                Edition { title, description: other.description.clone(), body: other.body.clone() }
            }
            None => Edition { title, description: self.description.clone(), body: self.body.clone() },
        }
    }

    fn translation(&self, language: &str) -> Option<&Translation> {
        tags(language).iter().find_map(|tag| self.translations.get(tag.as_str()))
    }

    /// The title for people in `language`: from the metadata `title-zh` and the like, a translation's own
    /// `title`, `title`, `title-en`, or else the name.
    pub fn title(&self, language: &str) -> Text {
        let own =
            tags(language).into_iter().find_map(|tag| self.metadata.get(format!("title-{tag}").as_str()));
        own.or_else(|| self.translation(language)?.metadata.get("title"))
            .or_else(|| self.metadata.get("title"))
            .or_else(|| self.metadata.get(format!("title-{DEFAULT_LANGUAGE}").as_str()))
            .filter(|title| !title.is_empty())
            .cloned()
            .unwrap_or_else(|| self.name.as_str().into())
    }

    /// The first step of loading: one line for a list of skills that a model chooses from.
    pub fn catalogue_line(&self, language: &str) -> String {
        let description = self.in_language(language).description;
        format!("{}: {}", self.name, description.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The third step of loading: the text of a file in the skill's folder.
    ///
    /// # Errors
    /// [`Rule::Reference`] when the path leaves the folder, names a hidden file, or nothing is there;
    /// [`Rule::Size`] beyond [`REFERENCE_LIMIT`](crate::REFERENCE_LIMIT); [`Rule::Encoding`] when it is no
    /// text; [`Rule::Unreadable`].
    pub fn read_reference(&self, path: &str) -> Result<Text, Fault> {
        self.folder.read(path, crate::REFERENCE_LIMIT)
    }
}

/// The tag itself and, after it, its main language: `zh-cn`, `zh`.
fn tags(language: &str) -> Vec<String> {
    let whole = language.trim().replace('_', "-").to_ascii_lowercase();
    let main = whole.split('-').next().map(str::to_owned).filter(|main| *main != whole);
    std::iter::once(whole).chain(main).collect()
}
