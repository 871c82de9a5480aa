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

        /// Lets the software company work on a real, small language model, and judges the form of what comes.
        ///
        /// Needs Python 3; downloads 200 MB once, into a cache folder of the home folder. Takes several minutes.
        cmd real-model {
            /// Runs this program instead of building one.
            optional --program program: PathBuf
            /// The threads that the model computes on: 1.
            optional --threads threads: u32
        }
    }
}
