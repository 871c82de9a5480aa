//! A run of 1,000 steps: what a step costs early and late, how much is stored, how long it takes to go on.

use std::{fs, path::Path, sync::Arc};

use tempfile::TempDir;
use thermidor_agent_runtime::AgentSpec;
use thermidor_group_orchestration::GroupMachine;
use thermidor_model_runtime::ModelRuntime;
use thermidor_runs::{RunRequest, Runs};
use thermidor_step_engine::{Driven, Engine, Journal, Kinds, Limits, Start};
use thermidor_storage::Durability;
use thermidor_types::{Json, RandomIds, Timestamp, TreeId};
use tokio_util::sync::CancellationToken;

use crate::{
    Bench, Error, Row, agents,
    diary::{self, Pen},
    meter::{Cost, Meter, micros, millis},
    runtime::{spawned, two_threads},
    talker::Talker,
};

const FIGURE: &str = "1,000 steps";
const STEPS: u32 = 1_000;
/// Steps around one that are taken together.
const AROUND: usize = 10;

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>, Error> {
    let rounds = bench.pick(7, 2);
    let mut diaries = Vec::new();
    let mut loops = Vec::new();
    for _ in 0..rounds {
        diaries.push(diary()?);
        loops.push(agent()?);
    }
    let of = |what: &str, unit: &'static str, pick: fn(&Measured) -> f64, from: &[Measured]| {
        Row::of(FIGURE, what.to_owned(), unit, from.iter().map(pick))
    };
    let plain = "one machine, one effect and one message of 400 characters a step, SQLite NORMAL";
    let talk = "answers of 400 characters with one tool call each, in-process model, SQLite NORMAL";
    let once = |what: &str, unit: &'static str, pick: fn(&Diary) -> f64| {
        Row::of(FIGURE, what.to_owned(), unit, diaries.iter().map(pick))
    };
    let plains: Vec<Measured> = diaries.iter().map(|diary| diary.steps).collect();
    Ok(vec![
        of("plain machine, on disk", "MB", |it| it.bytes / 1e6, &plains).at_most(1.5).how(plain),
        of("plain machine, step 10", "µs CPU", |it| micros(it.early.cpu), &plains)
            .how("mean of steps 5 to 15"),
        of("plain machine, step 1,000", "µs CPU", |it| micros(it.late.cpu), &plains)
            .at_most(300.0)
            .how("mean of steps 990 to 1,000"),
        of("plain machine, step 1,000 against step 10", "×", Measured::growth, &plains).at_most(1.2),
        of("agent, on disk", "MB", |it| it.bytes / 1e6, &loops).at_most(1.5).how(talk),
        of("agent, step 10", "µs CPU", |it| micros(it.early.cpu), &loops)
            .how("one model call and one tool call"),
        of("agent, step 1,000", "µs CPU", |it| micros(it.late.cpu), &loops)
            .how("its prompt holds all 1,000 messages"),
        of("agent, step 1,000 against step 10", "×", Measured::growth, &loops),
        once("list the history", "ms wall", |it| millis(it.list.wall))
            .at_most(50.0)
            .how("all records read and decoded"),
        once("load and fold, without a snapshot", "ms wall", |it| millis(it.fold.wall)).at_most(50.0),
        once("open the file, resume, one more step", "ms wall", |it| millis(it.resume.wall))
            .at_most(50.0)
            .how("the journal opened anew, the tree taken over, one step made and stored"),
    ])
}

#[derive(Clone, Copy)]
struct Measured {
    bytes: f64,
    early: Cost,
    late: Cost,
}

impl Measured {
    fn growth(&self) -> f64 {
        self.late.cpu.as_secs_f64() / self.early.cpu.as_secs_f64()
    }

    fn of(steps: &[Meter], bytes: f64) -> Result<Self, Error> {
        let last = STEPS as usize;
        Ok(Self { bytes, early: mean(steps, 5)?, late: mean(steps, last - AROUND)? })
    }
}

struct Diary {
    steps: Measured,
    list: Cost,
    fold: Cost,
    resume: Cost,
}

/// What a step took on average in the [`AROUND`] steps from the one called `from`.
fn mean(steps: &[Meter], from: usize) -> Result<Cost, Error> {
    let pair = steps.get(from - 1).zip(steps.get(from - 1 + AROUND));
    let (first, last) = pair.ok_or_else(|| format!("only {} steps were made", steps.len()))?;
    let Cost { cpu, wall } = first.until(last);
    let count = u32::try_from(AROUND)?;
    Ok(Cost { cpu: cpu / count, wall: wall / count })
}

fn engine(journal: impl Journal, kinds: Kinds) -> Engine {
    let grace = std::time::Duration::from_millis(1);
    Engine::new(Arc::new(journal), kinds, || Timestamp::from_millis(1_780_000_000_000)).with_grace(grace)
}

fn limits() -> Limits {
    Limits { steps: None, tokens: None, ..Limits::default() }
}

fn diary() -> Result<Diary, Error> {
    let runtime = two_threads()?;
    let folder = agents::folder()?;
    let tree = TreeId::fresh(&RandomIds);
    let suspend = CancellationToken::new();
    let pen = Pen::default();
    // Pages are counted from 0: the thousandth is stored, the one after it is in flight.
    pen.stop_before(STEPS, suspend.clone());
    let writer = engine(agents::sqlite(&folder, Durability::Normal)?, diary::kinds(STEPS + 1, pen.clone()));
    spawned(&runtime, async move {
        let start = Start {
            kind: "diary".into(),
            spec: Json::default(),
            command: Json::default(),
            limits: limits(),
            title: "A diary".into(),
        };
        writer.start(tree, start).await?;
        match writer.drive(tree, &suspend).await? {
            Driven::Suspended => Ok(()),
            other => Err(format!("the diary did not stop for the night: {other:?}").into()),
        }
    })?;
    let steps = Measured::of(&pen.steps(), bytes(&folder)?)?;

    // A program that knows one more kind of runs: snapshots of the other one do not count, all records are folded.
    let kinds = diary::kinds(STEPS + 1, Pen::default()).with::<GroupMachine>(|_| Err("never opened".into()));
    let reader = engine(agents::sqlite(&folder, Durability::Normal)?, kinds);
    let (list, fold) = spawned(&runtime, async move {
        let meter = Meter::start();
        let records = reader.records(tree, 0).await?;
        let list = meter.read();
        assert!(records.len() > STEPS as usize, "records are missing");
        let meter = Meter::start();
        reader.image(tree, u64::MAX).await?;
        Ok((list, meter.read()))
    })?;

    let meter = Meter::start();
    let again = engine(agents::sqlite(&folder, Durability::Normal)?, diary::kinds(STEPS + 1, Pen::default()));
    spawned(&runtime, async move {
        match again.drive(tree, &CancellationToken::new()).await? {
            Driven::Ended(_) => Ok(()),
            other => Err(format!("the diary did not come to its end: {other:?}").into()),
        }
    })?;
    Ok(Diary { steps, list, fold, resume: meter.read() })
}

/// An agent in a loop of model calls and tool calls.
fn agent() -> Result<Measured, Error> {
    let runtime = two_threads()?;
    let folder = agents::folder()?;
    let talker = Talker::new(STEPS);
    let models = ModelRuntime::builder().register(talker.clone()).build()?;
    let runs =
        agents::with_tools(Runs::builder(models).journal(agents::sqlite(&folder, Durability::Normal)?))?;
    let spec = AgentSpec {
        model: talker.id(),
        tools: agents::TOOLS.map(Into::into).to_vec(),
        ..agents::agent("unused")
    };
    let request = RunRequest::agent(spec, agents::REQUEST).limits(limits());
    spawned(&runtime, async move { agents::finish(&runs, request).await })?;
    Measured::of(&talker.steps(), bytes(&folder)?)
}

/// The bytes of all files in the folder, once the journal is closed.
fn bytes(folder: &TempDir) -> Result<f64, Error> {
    let sizes = fs::read_dir(Path::new(folder.path()))?.map(|entry| Ok(entry?.metadata()?.len()));
    Ok(sizes.sum::<Result<u64, std::io::Error>>()? as f64)
}
