//! The workspace as cargo sees it.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, MetadataCommand, TargetKind};

/// The packages of this repository and where things are.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The repository's folder.
    pub(crate) root: PathBuf,
    /// Where cargo builds.
    pub(crate) target: PathBuf,
    /// The packages by name.
    pub(crate) packages: BTreeMap<String, Package>,
}

/// One package of this repository.
#[derive(Clone, Debug, Default)]
pub(crate) struct Package {
    /// The manifest, from the root.
    pub(crate) manifest: String,
    /// The manifest's text.
    pub(crate) text: String,
    /// The layer it says it is in.
    pub(crate) layer: Option<String>,
    /// What it says it is.
    pub(crate) description: Option<String>,
    /// Its licence.
    pub(crate) license: Option<String>,
    /// The packages of this repository it depends on.
    pub(crate) dependencies: Vec<Dependency>,
    /// The names of its examples.
    pub(crate) examples: Vec<String>,
}

/// An arrow from one package of this repository to another.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    /// The package depended on.
    pub(crate) name: String,
    /// What for.
    pub(crate) purpose: Purpose,
}

/// What a dependency is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It is part of what is shipped.
    Product,
    /// Tests, examples and benches of the package use it.
    Tests,
}

impl Workspace {
    /// Asks cargo. Does not touch the network.
    pub(crate) fn load() -> Result<Self> {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
        let metadata = MetadataCommand::new()
            .manifest_path(manifest)
            .no_deps()
            .exec()
            .context("failed to read the workspace with `cargo metadata`")?;
        let root = metadata.workspace_root.clone().into_std_path_buf();
        let names: Vec<String> = metadata.packages.iter().map(|package| package.name.to_string()).collect();
        let mut packages = BTreeMap::new();
        for package in metadata.packages {
            let path = package.manifest_path.as_std_path();
            let text =
                fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
            let dependencies = package
                .dependencies
                .iter()
                .filter(|dependency| names.contains(&dependency.name))
                .map(|dependency| Dependency {
                    name: dependency.name.clone(),
                    purpose: match dependency.kind {
                        DependencyKind::Development => Purpose::Tests,
                        _ => Purpose::Product,
                    },
                })
                .collect();
            let examples = package
                .targets
                .iter()
                .filter(|target| target.kind.contains(&TargetKind::Example))
                .map(|target| target.name.clone())
                .collect();
            let read = Package {
                manifest: path.strip_prefix(&root).unwrap_or(path).to_string_lossy().into_owned(),
                text,
                layer: package.metadata["house"]["layer"].as_str().map(str::to_owned),
                description: package.description.clone(),
                license: package.license.clone(),
                dependencies,
                examples,
            };
            packages.insert(package.name.to_string(), read);
        }
        Ok(Self { root, target: metadata.target_directory.into_std_path_buf(), packages })
    }
}
