//! `thermidor doctor`

use std::{fmt::Write as _, fs, path::Path};

use crate::{
    exit::Trouble,
    providers::{self, Extras},
    screen::{Paint, Screen},
    settings::{Places, Settings},
    shelf::Shelf,
    store, words,
};

/// Below this the disk is called nearly full, in bytes.
const LITTLE: u64 = 200 << 20;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grade {
    Ok,
    Warning,
    Problem,
}

/// What was found, a line each.
#[derive(Debug)]
struct Findings {
    paint: Paint,
    text: String,
    problems: u64,
}

impl Findings {
    fn new(paint: Paint) -> Self {
        Self { paint, text: String::new(), problems: 0 }
    }

    fn add(&mut self, grade: Grade, what: impl AsRef<str>) {
        let word = match grade {
            Grade::Ok => self.paint.green("ok      "),
            Grade::Warning => self.paint.yellow("warning "),
            Grade::Problem => self.paint.red("problem "),
        };
        self.problems += u64::from(grade == Grade::Problem);
        let _ = writeln!(self.text, "{word} {}", what.as_ref());
    }

    fn print(self, screen: Screen) -> Result<(), Trouble> {
        screen.print(&self.text)?;
        match self.problems {
            0 => Ok(()),
            count => Err(Trouble::configuration(format!("{} to mend", words::count(count, "problem")))),
        }
    }
}

/// When the settings themselves are the problem.
pub(super) fn without_settings(trouble: &Trouble, screen: Screen) -> Result<(), Trouble> {
    let mut findings = Findings::new(screen.out_paint);
    findings.add(Grade::Problem, &trouble.message);
    findings.print(screen)
}

/// Checks everything that a run needs.
pub(super) async fn doctor(settings: &Settings, screen: Screen) -> Result<(), Trouble> {
    let mut findings = Findings::new(screen.out_paint);
    findings.add(Grade::Ok, format!("thermidor {}", env!("CARGO_PKG_VERSION")));
    data(&settings.places, &mut findings).await;
    models(settings, &mut findings).await;
    files(settings, &mut findings);
    if screen.live {
        findings.add(Grade::Ok, "terminal: live lines");
    } else {
        findings.add(Grade::Ok, "standard error is no terminal: plain lines");
    }
    findings.print(screen)
}

async fn data(places: &Places, findings: &mut Findings) {
    let data = &places.data;
    // The nearest folder that exists tells whether the rest can be made.
    let there = data.ancestors().find(|folder| folder.exists()).unwrap_or(data);
    let shown = data.display();
    match probe(there) {
        Ok(()) if there == data => findings.add(Grade::Ok, format!("data folder {shown} can be written")),
        Ok(()) => findings.add(Grade::Ok, format!("data folder {shown} will be made by the first run")),
        Err(error) => {
            let remedy = "make it writable, or set THERMIDOR_HOME to another folder";
            findings.add(Grade::Problem, format!("data folder {shown} cannot be written: {error}; {remedy}"));
        }
    }
    match room(there) {
        Some(free) if free < LITTLE => {
            findings.add(Grade::Warning, format!("only {} MiB are free for {shown}; make room", free >> 20));
        }
        Some(free) => findings.add(Grade::Ok, format!("{} MiB are free there", free >> 20)),
        None => {}
    }
    let database = places.database();
    match store::look(places) {
        Ok(None) => findings.add(Grade::Ok, "there is no database yet: the first run makes it"),
        Ok(Some(runs)) => match runs.list(None, 1000).await {
            Ok(listed) => {
                let count = words::count(listed.len() as u64, "run");
                findings.add(Grade::Ok, format!("database {} can be read: {count}", database.display()));
                let dead = listed.iter().filter(|run| run.is_interrupted()).count() as u64;
                if dead > 0 {
                    let what = words::count(dead, "run");
                    findings.add(
                        Grade::Warning,
                        format!("{what} broke off; go on with thermidor runs resume (see runs ls)"),
                    );
                }
            }
            Err(error) => findings.add(Grade::Problem, format!("database: {error}")),
        },
        Err(trouble) => findings.add(Grade::Problem, format!("database: {}", trouble.message)),
    }
}

/// Whether a file can be made in a folder.
fn probe(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(format!(".thermidor-probe-{}", std::process::id()));
    fs::File::create_new(&path)?;
    fs::remove_file(path)
}

#[cfg(unix)]
fn room(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn room(_: &Path) -> Option<u64> {
    None
}

async fn models(settings: &Settings, findings: &mut Findings) {
    let runtime = match providers::runtime(settings, Extras::default()) {
        Ok(runtime) => runtime,
        Err(trouble) => return findings.add(Grade::Problem, trouble.message),
    };
    let set = |name: &&str| settings.environment.get(name).is_some();
    let variables = runtime.providers().flat_map(|provider| &provider.key_variables);
    let keys: Vec<&str> = variables.map(AsRef::as_ref).filter(set).collect();
    let servers = runtime.discover_local().await;
    for server in &servers {
        let count = words::count(server.models.len() as u64, "model");
        findings.add(Grade::Ok, format!("a server answers at {}: {count}", server.base_url));
    }
    if !keys.is_empty() {
        findings.add(Grade::Ok, format!("keys: {}", keys.join(", ")));
    } else if servers.is_empty() {
        let remedy =
            "set one such as OPENAI_API_KEY (thermidor models ls), or start a local server such as Ollama";
        findings.add(Grade::Warning, format!("no key and no local server: runs are rehearsals; {remedy}"));
    }
    if let Some(model) = &settings.model
        && let Err(error) = runtime.model(&model.value)
        && model.value != "rehearsal"
    {
        findings
            .add(Grade::Problem, format!("model {:?} ({}): {}", model.value, model.from, error.message()));
    }
}

fn files(settings: &Settings, findings: &mut Findings) {
    let shelf = Shelf::open(&settings.places);
    let faulty = shelf.teams.entries().iter().filter_map(|entry| entry.team.as_ref().err());
    let problems: Vec<String> = faulty.chain(shelf.teams.faults()).map(ToString::to_string).collect();
    for problem in problems.iter().flat_map(|problem| problem.lines()) {
        findings.add(Grade::Problem, problem);
    }
    for fault in &shelf.skills.faults {
        findings.add(Grade::Problem, fault.to_string());
    }
    for warning in shelf.skills.iter().flat_map(|skill| &skill.warnings) {
        findings.add(Grade::Warning, warning.to_string());
    }
    let sound = shelf.teams.entries().iter().filter(|entry| entry.team.is_ok()).count() as u64;
    let (teams, skills) = (words::count(sound, "team"), words::count(shelf.skills.len() as u64, "skill"));
    findings.add(Grade::Ok, format!("{teams} and {skills} can be used"));
    if shelf.teams.entry(&settings.team.value).is_none() && !settings.team.value.contains(['/', '.']) {
        let (value, from) = (&settings.team.value, &settings.team.from);
        findings.add(Grade::Problem, format!("there is no team {value:?} ({from}); see thermidor teams ls"));
    }
}
