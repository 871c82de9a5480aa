use std::{fs, io, path::PathBuf};

/// The inputs under `testdata/NAME` that broke a promise of this target once, by their path.
///
/// # Errors
/// When the folder is there and cannot be read.
pub fn findings(target: &str) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata")).join(target);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    paths.into_iter().map(|path| Ok((path.clone(), fs::read(path)?))).collect()
}
