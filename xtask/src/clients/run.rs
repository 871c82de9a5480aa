//! The whole of it, in order.

use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde_json::json;
use xshell::Shell;

use super::{
    case::{Case, Ours, Theirs, Verdict},
    table,
};
use crate::{artifacts::Artifacts, mock::Mock, python, workspace::Workspace};

/// The answers, from the root.
const ANSWERS: &str = "crates/testing/testdata/openai_chat.toml";
/// The Python side.
const SCRIPT: &str = include_str!("ask.py");
/// Our side, and the server.
const PROGRAMS: [&str; 6] = ["-p", "thermidor-testing", "--bin", "mock-provider", "--bin", "ask-answers"];

/// Lets both clients ask the mock for every answer of the file, prints the table, and writes what was heard.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(&workspace.root);
    let python = python::with_client(&shell, workspace)?;
    let programs = Artifacts::build(workspace, &PROGRAMS)?;
    let answers = workspace.root.join(ANSWERS);
    let mock = Mock::start_with(programs.get("mock-provider")?, Some(&answers))?;
    let base_url = format!("{}/v1", mock.url());

    let mut command = Command::new(programs.get("ask-answers")?);
    command.arg("--answers").arg(&answers).args(["--base-url", &base_url]);
    let ours: Vec<Ours> = lines(&mut command, "")?;
    let asked: Vec<_> =
        ours.iter().map(|ours| json!({"name": ours.name, "stream": ours.case.stream})).collect();
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT, &base_url]);
    let theirs: Vec<Theirs> = lines(&mut command, &json!(asked).to_string())?;

    let mut theirs: BTreeMap<String, Theirs> =
        theirs.into_iter().map(|theirs| (theirs.name.clone(), theirs)).collect();
    let cases = ours.into_iter().map(|ours| {
        let theirs = theirs.remove(&ours.name);
        let theirs = theirs.with_context(|| format!("the Python side says nothing of {}", ours.name))?;
        Ok(Case::judge(ours, theirs))
    });
    let cases = cases.collect::<Result<Vec<Case>>>()?;
    ensure!(!cases.is_empty(), "{ANSWERS} holds no answer");
    println!("{}", table::render(&cases));
    let file = keep(&workspace.target.join("xtask"), &cases)?;
    let count = |verdict| cases.iter().filter(|case| case.verdict == verdict).count();
    println!(
        "{} answers: {} heard alike, {} marked with a reason; compared with {}; written to {}",
        cases.len(),
        count(Verdict::Equal),
        count(Verdict::Marked),
        python::CLIENT,
        file.display()
    );
    let wrong: Vec<_> = cases.iter().filter(|case| !case.verdict.is_fine()).map(describe).collect();
    ensure!(wrong.is_empty(), "not as it must be:\n- {}", wrong.join("\n- "));
    Ok(())
}

fn describe(case: &Case) -> String {
    let Case { name, expected, ours, python, verdict, .. } = case;
    format!("{name}: {}\n  expected {expected}\n  ours     {ours}\n  python   {python}", verdict.words())
}

fn keep(folder: &Path, cases: &[Case]) -> Result<PathBuf> {
    let file = folder.join("clients.json");
    fs::write(&file, serde_json::to_string_pretty(cases)? + "\n")
        .with_context(|| format!("failed to write {}", file.display()))?;
    Ok(file)
}

/// What a program prints, a document a line.
fn lines<T: DeserializeOwned>(command: &mut Command, input: &str) -> Result<Vec<T>> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("failed to start")?;
    let mut stdin = child.stdin.take().context("no stdin")?;
    stdin.write_all(input.as_bytes()).context("it does not read")?;
    drop(stdin);
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{} ended with {}", command.get_program().display(), output.status);
    let text = String::from_utf8(output.stdout)?;
    text.lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("not understood: {line}")))
        .collect()
}
