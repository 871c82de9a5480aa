//! The figures of `cargo xtask bench`, one figure a process, so that memory and CPU are its own.
//!
//! `house FIGURE --mock http://127.0.0.1:PORT [--quick]` prints its rows as JSON lines. The mock provider is
//! a process of its own: what it consumes is not counted here.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for a terminal")]

mod agents;
mod budget;
mod client;
mod company;
mod decode;
mod deltas;
mod diary;
mod floor;
mod journal;
mod memory;
mod meter;
mod model_call;
mod row;
mod runtime;
mod steps;
mod talker;
mod throughput;

use std::process::ExitCode;

use row::Row;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// How a figure is to be measured.
#[derive(Clone, Debug)]
struct Bench {
    /// Where the mock provider listens, without a path.
    mock: String,
    effort: Effort,
}

/// How many samples are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effort {
    /// Enough to see that everything works.
    Quick,
    /// Enough to compare.
    Full,
}

impl Bench {
    fn pick<T>(&self, full: T, quick: T) -> T {
        match self.effort {
            Effort::Full => full,
            Effort::Quick => quick,
        }
    }

    fn base_url(&self) -> String {
        format!("{}/v1", self.mock)
    }
}

fn main() -> ExitCode {
    let Some((figure, bench)) = arguments() else {
        println!("started by `cargo xtask bench`: house FIGURE --mock http://127.0.0.1:PORT [--quick]");
        return ExitCode::SUCCESS;
    };
    let rows = match figure.as_str() {
        "model-call" => model_call::measure(&bench),
        "client" => client::measure(&bench),
        "decode" => decode::measure(&bench),
        "deltas" => deltas::measure(&bench),
        "journal" => journal::measure(&bench),
        "steps" => steps::measure(&bench),
        "throughput" => throughput::measure(&bench),
        "thousand" => throughput::thousand(&bench),
        "memory" => memory::of_runs(&bench),
        "memory-floor" => memory::of_streams(&bench),
        "budget" => budget::measure(&bench),
        "company" => company::measure(&bench),
        _ => Err(format!("there is no figure {figure:?}").into()),
    };
    match rows.and_then(|rows| rows.iter().try_for_each(Row::print)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{figure}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What it was started with; `None` when somebody else than `cargo xtask bench` started it.
fn arguments() -> Option<(String, Bench)> {
    let mut words = std::env::args().skip(1);
    let figure = words.next().filter(|word| !word.starts_with('-'))?;
    let (mut mock, mut effort) = (None, Effort::Full);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--mock" => mock = words.next(),
            "--quick" => effort = Effort::Quick,
            _ => return None,
        }
    }
    Some((figure, Bench { mock: mock?, effort }))
}
