//! Dependencies point down. The table is in docs/architecture.md.

use std::collections::BTreeMap;

use super::fault::Fault;
use crate::workspace::{Dependency, Package, Purpose};

/// The layers a manifest can name.
pub(crate) const KNOWN: &str = "layers are 0, 1a, 1b, 2a, 2b, 3, 4, 5, 6, testing and xtask";

/// The only arrows inside a layer.
const INSIDE: [(&str, &str); 3] = [
    ("thermidor-runs", "thermidor-storage"),
    ("thermidor-runs", "thermidor-durable"),
    ("thermidor-runs", "thermidor-telemetry"),
];

/// Where a package stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// On a floor of the house, counted from the ground.
    Floor(usize),
    /// Beside the house: what tests use.
    Testing,
    /// Outside: the project's own tasks.
    Xtask,
}

/// The floor up to which `testing` may look.
const TESTING_SEES: usize = 2;
const FLOORS: [&str; 9] = ["0", "1a", "1b", "2a", "2b", "3", "4", "5", "6"];

impl Layer {
    /// The layer of that name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "testing" => Some(Self::Testing),
            "xtask" => Some(Self::Xtask),
            floor => FLOORS.iter().position(|known| *known == floor).map(Self::Floor),
        }
    }
}

/// Refuses every arrow that is not in the table.
pub(crate) fn check(packages: &BTreeMap<String, Package>) -> Vec<Fault> {
    let layer = |name: &str| packages.get(name).and_then(|package| Layer::parse(package.layer.as_deref()?));
    let mut faults = Vec::new();
    for (name, package) in packages {
        let Some(from) = layer(name) else { continue };
        for dependency in &package.dependencies {
            let Some(to) = layer(&dependency.name) else { continue };
            if let Err(mend) = judge(name, from, dependency, to) {
                let kind = if dependency.purpose == Purpose::Tests { "dev-dependency" } else { "dependency" };
                let what = format!(
                    "{kind} {} → {} points the wrong way",
                    place(name, from),
                    place(&dependency.name, to)
                );
                faults.push(Fault::new(&package.manifest, line_of(package, dependency), what, mend));
            }
        }
    }
    faults
}

/// Says whether an arrow is allowed, or how to do without it.
fn judge(name: &str, from: Layer, dependency: &Dependency, to: Layer) -> Result<(), &'static str> {
    let (Layer::Floor(from), Layer::Floor(to)) = (from, to) else {
        return judge_outside(from, dependency.purpose, to);
    };
    let fine = match dependency.purpose {
        Purpose::Tests => to <= from,
        Purpose::Product if name == "examples" && dependency.name != "thermidor" => {
            return Err("examples use what everybody uses: take it from the facade `thermidor`");
        }
        Purpose::Product => to < from || INSIDE.contains(&(name, dependency.name.as_str())),
    };
    if fine { Ok(()) } else { Err("let the lower crate declare a trait, and the higher one implement it") }
}

/// The same for arrows from or to what does not stand in the house.
fn judge_outside(from: Layer, purpose: Purpose, to: Layer) -> Result<(), &'static str> {
    match (from, to) {
        (Layer::Xtask, _) => Ok(()),
        (_, Layer::Xtask) => Err("nothing uses the project's own tasks"),
        (_, Layer::Testing) if purpose == Purpose::Product => {
            Err("make it a dev-dependency: what is shipped does not use `testing`")
        }
        (Layer::Testing, Layer::Floor(floor)) if floor > TESTING_SEES => {
            Err("`testing` sees the first three layers only: what needs more is tested where it lives")
        }
        (Layer::Floor(_) | Layer::Testing, Layer::Floor(_) | Layer::Testing) => Ok(()),
    }
}

fn place(name: &str, layer: Layer) -> String {
    match layer {
        Layer::Floor(floor) => format!("{name} ({})", FLOORS.get(floor).copied().unwrap_or("?")),
        Layer::Testing | Layer::Xtask => name.to_owned(),
    }
}

/// The line of the manifest that names the dependency; tests are listed last.
fn line_of(package: &Package, dependency: &Dependency) -> usize {
    let mut lines = package.text.lines().enumerate().filter(|(_, line)| {
        let rest = line.strip_prefix(dependency.name.as_str());
        rest.is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    });
    let found = match dependency.purpose {
        Purpose::Product => lines.next(),
        Purpose::Tests => lines.last(),
    };
    found.map_or(1, |(index, _)| index + 1)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::tidy::fault::brief;

    /// Each line is `name layer: dependency dependency …`; a dev-dependency begins with `~`.
    fn check_house(house: &str, expected: Expect) {
        let packages = house.lines().filter(|line| !line.trim().is_empty()).map(|line| {
            let (head, tail) = line.split_once(':').expect("a colon in every line");
            let (name, layer) = head.trim().split_once(' ').expect("name and layer");
            let dependencies = tail.split_whitespace().map(|word| match word.strip_prefix('~') {
                Some(name) => Dependency { name: name.into(), purpose: Purpose::Tests },
                None => Dependency { name: word.into(), purpose: Purpose::Product },
            });
            let package = Package {
                manifest: name.into(),
                text: tail.replace('~', "").trim().replace(' ', ".x\n")
                    + ".x
",
                layer: Some(layer.into()),
                dependencies: dependencies.collect(),
                ..Package::default()
            };
            (name.to_owned(), package)
        });
        expected.assert_eq(&brief(&check(&packages.collect())));
    }

    /// Would fail if an arrow of the table were refused.
    #[test]
    fn the_table_passes() {
        check_house(
            "types 0:
             engine 1a: types ~testing ~tools
             tools 1a: types
             mcp 1b: types tools engine
             agent 2a: types engine tools mcp ~testing
             group 2b: agent types ~agent
             teams 3: group agent
             thermidor-storage 4: engine types ~thermidor-runs
             thermidor-runs 4: teams group thermidor-storage ~testing
             thermidor 5: thermidor-runs types ~testing
             cli 6: thermidor-runs teams ~thermidor
             examples 6: thermidor ~testing
             testing testing: engine tools mcp types
             xtask xtask: cli testing",
            expect![""],
        );
    }

    /// Would fail if an arrow up, sideways, or into what is not shipped passed.
    #[test]
    fn other_arrows_are_named() {
        check_house(
            "types 0: engine
             engine 1a: tools ~agent
             tools 1a: testing
             agent 2a: group
             group 2b: types
             thermidor-storage 4: thermidor-runs
             thermidor-runs 4: thermidor
             thermidor 5: server
             server 5: xtask
             examples 6: thermidor types
             testing testing: types agent
             xtask xtask: types",
            expect![[r"
                agent:1: dependency agent (2a) → group (2b) points the wrong way
                engine:1: dependency engine (1a) → tools (1a) points the wrong way
                engine:2: dev-dependency engine (1a) → agent (2a) points the wrong way
                examples:2: dependency examples (6) → types (0) points the wrong way
                server:1: dependency server (5) → xtask points the wrong way
                testing:2: dependency testing → agent (2a) points the wrong way
                thermidor:1: dependency thermidor (5) → server (5) points the wrong way
                thermidor-runs:1: dependency thermidor-runs (4) → thermidor (5) points the wrong way
                thermidor-storage:1: dependency thermidor-storage (4) → thermidor-runs (4) points the wrong way
                tools:1: dependency tools (1a) → testing points the wrong way
                types:1: dependency types (0) → engine (1a) points the wrong way
            "]],
        );
    }
}
