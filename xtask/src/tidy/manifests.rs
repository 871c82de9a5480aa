//! Manifests are complete enough to publish, and say their layer.

use std::collections::BTreeMap;

use super::{fault::Fault, layers};
use crate::workspace::Package;

/// Requires a description, a licence and a layer.
pub(crate) fn check(packages: &BTreeMap<String, Package>) -> Vec<Fault> {
    packages.values().flat_map(check_one).collect()
}

fn check_one(package: &Package) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |what: String, mend: &str| faults.push(Fault::new(&package.manifest, 1, what, mend));
    if package.description.as_ref().is_none_or(|text| text.trim().is_empty()) {
        fault("no description".into(), "add `description = \"…\"`, one sentence");
    }
    if package.license.is_none() {
        fault("no licence".into(), "add `license.workspace = true`");
    }
    match &package.layer {
        None => fault(
            "no layer".into(),
            "add `[package.metadata.house]` with `layer = \"…\"`, see docs/architecture.md",
        ),
        Some(layer) if layers::Layer::parse(layer).is_none() => {
            fault(format!("`{layer}` is no layer"), layers::KNOWN);
        }
        Some(_) => {}
    }
    faults
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::tidy::fault::brief;

    /// Would fail if a package could leave out what publishing or the layer check needs.
    #[test]
    fn manifests_are_complete() {
        let bare = Package { manifest: "crates/a/Cargo.toml".into(), ..Package::default() };
        let odd = Package {
            manifest: "crates/b/Cargo.toml".into(),
            description: Some("B".into()),
            license: Some("MIT".into()),
            layer: Some("7".into()),
            ..Package::default()
        };
        expect![[r"
            crates/a/Cargo.toml:1: no description
            crates/a/Cargo.toml:1: no licence
            crates/a/Cargo.toml:1: no layer
            crates/b/Cargo.toml:1: `7` is no layer
        "]]
        .assert_eq(&brief(&check(&BTreeMap::from([("a".into(), bare), ("b".into(), odd)]))));
    }
}
