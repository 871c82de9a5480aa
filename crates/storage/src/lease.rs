use std::{
    fmt,
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use thermidor_step_engine::JournalError;
use thermidor_types::TreeId;

use crate::file_error::describe;

/// Sees to it that at most one process on this machine drives a tree at a time.
///
/// A lease is a lock that the operating system holds for a process and takes back when the process dies,
/// however it dies: a killed process's tree can be taken at once. It spares work and confusion; that two
/// drivers never both append is the journal's doing.
#[derive(Clone, Debug)]
pub struct Leases {
    folder: PathBuf,
}

impl Leases {
    /// Uses the folder `leases` in the data folder `data`, creates it, and clears away what dead processes left.
    ///
    /// # Errors
    /// `ReadOnly`, `Full` or `Unavailable` when the folder cannot be used.
    pub fn open(data: impl AsRef<Path>) -> Result<Self, JournalError> {
        let folder = data.as_ref().join("leases");
        let failed = |error| describe(&folder, error);
        fs::create_dir_all(&folder).map_err(failed)?;
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|extension| extension == "lock") {
                // Taking a lease and letting go of it removes its file.
                drop(lease(&path).map_err(|error| describe(&path, error))?);
            }
        }
        Ok(Self { folder })
    }

    /// Takes the lease of a tree; `None` when somebody has it, in this process or another. Blocks, up to a few
    /// milliseconds.
    ///
    /// # Errors
    /// `ReadOnly`, `Full` or `Unavailable` when its file cannot be used.
    pub fn try_lease(&self, tree: TreeId) -> Result<Option<LeaseGuard>, JournalError> {
        // Whoever asks whether a tree is leased holds its lock for a moment.
        const TRIES: u32 = 4;
        const PAUSE: Duration = Duration::from_millis(1);
        let path = self.path(tree);
        for _ in 1..TRIES {
            if let Some(guard) = lease(&path).map_err(|error| describe(&path, error))? {
                return Ok(Some(guard));
            }
            thread::sleep(PAUSE);
        }
        lease(&path).map_err(|error| describe(&path, error))
    }

    /// Whether somebody has the lease of a tree now. Blocks as long as opening a file does.
    ///
    /// # Errors
    /// `Unavailable` when its file cannot be read.
    pub fn is_leased(&self, tree: TreeId) -> Result<bool, JournalError> {
        let path = self.path(tree);
        let failed = |error| describe(&path, error);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(failed(error)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    fn path(&self, tree: TreeId) -> PathBuf {
        self.folder.join(format!("{tree}.lock"))
    }
}

/// A lease. Dropping it gives the tree free.
pub struct LeaseGuard {
    path: PathBuf,
    /// Holds the lock while it is open.
    _file: File,
}

impl fmt::Debug for LeaseGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LeaseGuard").field(&self.path).finish()
    }
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        // Under the lock: nobody else has it, and who waits for it finds that its file is gone. A file that
        // cannot be removed is no lease: the next `open` tries again.
        let _ = fs::remove_file(&self.path);
    }
}

fn lease(path: &Path) -> io::Result<Option<LeaseGuard>> {
    loop {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Between opening and locking the one before may have removed the file: then the lock is on a file
        // that nobody else will ever find.
        if is_at(&file, path)? {
            return Ok(Some(LeaseGuard { path: path.to_owned(), _file: file }));
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok(ours.dev() == there.dev() && ours.ino() == there.ino()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere a file that is open cannot be removed, so that it is always the one that was opened.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use thermidor_types::Uuid;

    use super::*;

    fn tree(number: u128) -> TreeId {
        TreeId::from(Uuid::from_u128(number))
    }

    #[test]
    fn a_lease_is_held_once_and_leaves_nothing_behind() {
        let data = tempfile::tempdir().expect("a folder");
        let leases = Leases::open(data.path()).expect("it opens");
        let other = Leases::open(data.path()).expect("it opens");
        assert!(!other.is_leased(tree(1)).expect("it is known"));
        let guard = leases.try_lease(tree(1)).expect("it works").expect("it is free");
        assert!(other.is_leased(tree(1)).expect("it is known"));
        assert!(other.try_lease(tree(1)).expect("it works").is_none());
        assert!(other.try_lease(tree(2)).expect("it works").is_some());
        drop(guard);
        assert!(!other.is_leased(tree(1)).expect("it is known"));
        assert!(other.try_lease(tree(1)).expect("it works").is_some());
        assert_eq!(fs::read_dir(data.path().join("leases")).expect("a folder").count(), 0);
    }

    #[test]
    fn what_a_dead_process_left_is_cleared_away_and_a_living_one_s_is_kept() {
        let data = tempfile::tempdir().expect("a folder");
        let leases = Leases::open(data.path()).expect("it opens");
        let guard = leases.try_lease(tree(1)).expect("it works").expect("it is free");
        fs::write(leases.path(tree(2)), "").expect("it is written");
        let other = Leases::open(data.path()).expect("it opens");
        assert!(!leases.path(tree(2)).exists());
        assert!(other.is_leased(tree(1)).expect("it is known"));
        drop(guard);
    }

    /// Would fail if a lock on a file that was removed meanwhile counted as a lease.
    #[test]
    fn no_two_hold_a_lease_at_once_however_often_it_changes_hands() {
        let data = tempfile::tempdir().expect("a folder");
        let leases = Leases::open(data.path()).expect("it opens");
        let (held, taken) = (AtomicBool::new(false), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Some(_guard) = leases.try_lease(tree(1)).expect("it works") else { continue };
                        assert!(!held.swap(true, Ordering::SeqCst), "two hold it");
                        taken.fetch_add(1, Ordering::SeqCst);
                        held.store(false, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(taken.into_inner() > 0);
    }
}
