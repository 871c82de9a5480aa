//! The command as a person meets it: the real binary, a fresh home, an empty environment.

#![allow(dead_code, reason = "each test file uses its part")]

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;
use thermidor_testing::mock::MockProvider;

/// A home of its own, thrown away at the end.
pub(crate) struct Bed {
    folder: TempDir,
}

/// What a command said and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        // A process killed by a signal has no code: shells say 128 and its number.
        let code = output.status.code().unwrap_or(-1);
        Self { code, out: text(output.stdout), err: text(output.stderr) }
    }

    /// The first line that names an error.
    pub(crate) fn error(&self) -> &str {
        self.err.lines().find(|line| line.starts_with("error: ")).unwrap_or("no error")
    }

    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "out: {}\nerr: {}", self.out, self.err);
        self
    }
}

impl Bed {
    pub(crate) fn new() -> Self {
        let bed = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir_all(bed.work()).expect("made");
        bed
    }

    /// `$THERMIDOR_HOME`.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The folder the command is started in.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Writes a file below the home.
    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        write(&self.home().join(path), text)
    }

    /// Lets `-m mock/…` reach the mock.
    pub(crate) fn with_mock(&self, mock: &MockProvider) {
        self.write("config.toml", &format!("[providers.mock]\nbase_url = \"{}\"\n", mock.base_url()));
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thermidor"));
        command.args(args).current_dir(self.work()).env_clear().stdin(Stdio::null());
        command.env("HOME", self.folder.path()).env("THERMIDOR_HOME", self.home()).env("LANG", "C.UTF-8");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        Said::of(self.command(args).output().expect("it starts"))
    }

    /// As [`Bed::run`], with something piped in.
    pub(crate) fn piped(&self, args: &[&str], stdin: &[u8]) -> Said {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        child.stdin.take().expect("piped").write_all(stdin).expect("it reads");
        Said::of(child.wait_with_output().expect("it ends"))
    }

    /// Starts it and lets it run.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    }

    /// The events of a run, from `runs show --json`.
    pub(crate) fn events(&self, run: &str) -> Vec<serde_json::Value> {
        let shown = self.run(&["runs", "show", run, "--json"]).expect(0);
        shown.out.lines().map(|line| serde_json::from_str(line).expect("one JSON value a line")).collect()
    }
}

/// Waits for the end of a started one and gives what it said.
pub(crate) fn end(child: Child) -> Said {
    Said::of(child.wait_with_output().expect("it ends"))
}

pub(crate) fn write(path: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
    path.to_owned()
}

/// Waits for something another process does, looking again and again for at most 30 seconds.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    #[expect(clippy::disallowed_methods, reason = "another process's progress is told by no clock of ours")]
    let now = Instant::now;
    let began = now();
    while !done() {
        assert!(now().duration_since(began) < Duration::from_secs(30), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How many events of a type there are.
pub(crate) fn count(events: &[serde_json::Value], kind: &str) -> usize {
    events.iter().filter(|event| event["type"] == kind).count()
}
