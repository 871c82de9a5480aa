//! What the tests over recorded traffic share. A test binary takes it in with `mod support;`.

pub(crate) mod meaning;
