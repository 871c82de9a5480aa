//! What must hold for every byte that comes from outside.
//!
//! A [`Target`] is a check over arbitrary bytes: it panics where a promise is broken. `cargo xtask fuzz` drives each
//! with libFuzzer, guided by coverage; a finding is minimised and kept under `testdata/`, and a test runs every
//! target over its findings and seeds, so that no finding comes back.
//!
//! ```
//! let target = thermidor_fuzz::targets().into_iter().find(|target| target.name() == "fault").expect("it is there");
//! target.run(b"\x01\x90{\"error\":{\"message\":\"no\"}}");
//! ```

mod findings;
mod input;
mod linear;
mod request;
mod seeds;
mod targets;

pub use findings::findings;
pub use targets::{Target, targets};
