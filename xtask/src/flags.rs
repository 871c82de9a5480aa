//! The command line of `cargo xtask`.

use std::path::PathBuf;

xflags::xflags! {
    /// The project's own tasks.
    cmd xtask {
        /// Checks what the compiler cannot: layers, file length, module docs, words, manifests.
        cmd tidy {}

        /// Rewrites the files that are generated from code.
        cmd gen {
            /// Only compares, and fails when a file is not what the code says.
            optional --check
        }

        /// Runs everything that is checked before a change goes in.
        cmd ci {
            /// Runs the remaining steps after a failure.
            optional --keep-going
        }

        /// Measures speed, size and growth, prints the table, and writes it to `target/bench/house.json`.
        cmd bench {
            /// Takes few samples: shows that everything works, not how fast it is.
            optional --quick
            /// Also builds the command from nothing in a folder of its own, which takes minutes.
            optional --clean-build
            /// Also measures the official Python client on the same mock. Needs Python 3, and once the network.
            optional --python
            /// Only the figure of this name; the names stand in an error.
            optional --only figure: String
        }

        /// Lets our client and the official Python client ask the mock for the same answers, and compares what
        /// they hear.
        ///
        /// Needs Python 3; installs the client once, from the Python package index into `target`. Writes
        /// `target/xtask/clients.json`.
        cmd clients {}

        /// Feeds bytes that nobody thought of to everything that reads from outside, guided by coverage.
        ///
        /// Needs a C++ compiler, for libFuzzer. A finding is minimised, kept in `crates/fuzz/testdata`, and a failure.
        cmd fuzz {
            /// Only these targets; the names stand in an error.
            repeated target: String
            /// How long each target runs, in minutes: 1.
            optional --minutes minutes: u64
        }

        /// Kills a team's run at every append, and the command at any moment; each must come to the same end.
        cmd crash-sweep {
            /// Only this bundled team.
            optional --scenario team: String
            /// How often the command itself is killed at a random moment (12).
            optional --kills count: u32
            /// Begins the random moments here: a failure can be repeated.
            optional --seed seed: u64
        }

        /// Lets the software company work on a real, small language model, and judges the form of what comes.
        ///
        /// Needs Python 3; downloads 200 MB once, into a cache folder of the home folder. Takes several minutes.
        cmd real-model {
            /// Runs this program instead of building one.
            optional --program program: PathBuf
            /// The threads that the model computes on: 1.
            optional --threads threads: u32
            /// Only this part: `codecs`, the client against each endpoint of the server, without a run. A minute.
            optional --only part: String
        }
    }
}
