//! The command line of `cargo xtask`.

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
    }
}
