//! Invariants 1, 2, 3 and 10 of the engine, on a tree with parallel, nested, asking and waiting runs.

mod crew;

use thermidor_step_engine::Limits;
use thermidor_testing::{Script, explore};
use thermidor_types::Json;

/// Would fail if any crash, stop, suspension or timing lost, doubled or stranded anything.
#[test]
fn a_tree_survives_everything() {
    let explored = explore(&Script {
        kinds: Box::new(crew::kinds),
        start: crew::start(Limits::default()),
        answer: Box::new(|wait| {
            let command = match wait.question.kind.as_str() {
                "approve" => crew::WorkerCommand::Answer(true),
                "lost" => crew::WorkerCommand::Resolve { again: false },
                _ => return None,
            };
            Json::of(&command).ok()
        }),
        seeds: 500,
    });
    assert!(explored.appends > 10, "{explored:?}");
    assert_eq!(explored.crashes, explored.appends * 2);
    assert!(explored.ends["done"] > 100 && explored.ends["stopped"] > 40, "{explored:?}");
}
