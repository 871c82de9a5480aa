//! The command, as somebody would use it who has such a server.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, ensure};

use super::{
    events::{self, Seen},
    judge::STAGES,
    process::{Process, wait_until},
    server::Server,
};

/// What the team is asked for.
const REQUEST: &str = "an AI trainer for job interviews";
/// The name of the model to the command. The server has only one, whatever it is called.
const MODEL: &str = "local/small";
/// The longest answer asked for, in tokens: the longest stage is to have 500 words.
const LONGEST_ANSWER: u32 = 800;
/// How long looking at a run may take.
const LOOK: Duration = Duration::from_secs(30);
/// How soon everything must have ended after Ctrl-C.
const SOON: Duration = Duration::from_secs(5);

/// The command in a home of its own.
#[derive(Debug)]
pub(crate) struct Team {
    program: PathBuf,
    room: PathBuf,
}

impl Team {
    /// Writes the configuration: the server as a provider.
    pub(crate) fn configure(program: PathBuf, room: PathBuf, server: &Server, window: u32) -> Result<Self> {
        let home = room.join("home");
        fs::create_dir_all(&home).with_context(|| format!("failed to make {}", home.display()))?;
        let address = server.address();
        let settings = format!(
            "[providers.local]\nbase_url = \"{address}/v1\"\ncontext_window = {window}\nmax_output = {LONGEST_ANSWER}\n"
        );
        fs::write(home.join("config.toml"), settings).context("failed to write the configuration")?;
        Ok(Self { program, room })
    }

    /// Lets the team work, shows its progress, and returns the answer.
    pub(crate) fn run(&self, patience: Duration) -> Result<String> {
        let answer = self.room.join("answer.md");
        let mut command = self.command(&["run", "-m", MODEL, REQUEST, "--timeout"]);
        command.arg(format!("{}s", patience.as_secs())).arg("-o").arg(self.delivery());
        command.stdout(File::create(&answer)?);
        let status = Process::start(&mut command)?.finish(patience + LOOK)?;
        ensure!(status.code() == Some(0), "the run ended with {status} instead of 0");
        Ok(fs::read_to_string(answer)?)
    }

    /// The folder of the delivery.
    pub(crate) fn delivery(&self) -> PathBuf {
        self.room.join("delivery")
    }

    /// What is missing of the delivery.
    pub(crate) fn missing(&self, answer: &str) -> Vec<String> {
        let folder = self.delivery();
        let mut missing = Vec::new();
        let mut expect = |path: &Path, holds: &str| match fs::read_to_string(folder.join(path)) {
            Ok(text) if !text.trim().is_empty() && text.contains(holds) => {}
            Ok(_) => missing.push(format!("{} does not hold what was said", path.display())),
            Err(error) => missing.push(format!("{}: {error}", path.display())),
        };
        expect(Path::new("delivery.md"), answer.trim());
        for (number, stage) in (1..).zip(STAGES) {
            expect(&Path::new("stages").join(format!("{number:02}-{stage}.md")), "");
        }
        missing
    }

    /// The timeline of the newest run as people see it, and its events.
    pub(crate) fn look(&self) -> Result<(String, Seen)> {
        let timeline = self.read(&["runs", "show", "last"])?;
        Ok((timeline, events::read(&self.read(&["runs", "show", "last", "--json"])?)?))
    }

    /// Starts a run, presses Ctrl-C in the middle of the first answer, and returns how long the server went on.
    pub(crate) fn stop(&self, server: &Server, patience: Duration) -> Result<Duration> {
        let mut command = self.command(&["run", "-m", MODEL, REQUEST, "--json"]);
        command.stdout(Stdio::piped());
        let mut process = Process::start(&mut command)?;
        let (id, output) = (process.child().id(), process.child().stdout.take());
        // It has no deadline of its own, but ends with the process.
        let lines = BufReader::new(output.context("its output is a pipe")?).lines();
        let spoke = std::thread::spawn(move || {
            let mut lines = lines.map_while(Result::ok);
            let spoke = lines.any(|line| line.contains("\"type\":\"delta\""));
            (spoke, lines)
        });
        wait_until(patience, || Ok(spoke.is_finished())).context("no fragment came")?;
        let Ok((true, rest)) = spoke.join() else { anyhow::bail!("the run ended without a fragment") };
        ensure!(server.is_busy()?, "the server should be in the middle of an answer");
        let kill = Command::new("kill").args(["-INT", &id.to_string()]).status()?;
        ensure!(kill.success(), "failed to send the signal");
        // Whoever writes must find a reader.
        let reader = std::thread::spawn(move || rest.count());
        let quiet = wait_until(SOON, || Ok(!server.is_busy()?)).context("the server still writes")?;
        let status = process.finish(SOON).context("the command goes on after Ctrl-C")?;
        ensure!(reader.join().is_ok(), "its output could not be read");
        ensure!(status.code() == Some(130), "the command ended with {status} instead of 130");
        Ok(quiet)
    }

    fn read(&self, arguments: &[&str]) -> Result<String> {
        let output = self.room.join("look");
        let mut command = self.command(arguments);
        let status = Process::start(command.stdout(File::create(&output)?))?.finish(LOOK)?;
        ensure!(status.success(), "`{}` ended with {status}", arguments.join(" "));
        Ok(fs::read_to_string(output)?)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.room).stdin(Stdio::null());
        command.env_clear().env("HOME", &self.room).env("THERMIDOR_HOME", self.room.join("home"));
        command
    }
}
