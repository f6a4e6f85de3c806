//! The working folders of compilers.
//!
//! A folder contains a file that is locked while the process that created it lives. The system releases the
//! lock when a process ends, however it ends; so a folder whose file can be locked is abandoned, and is
//! removed. Process ids would not work: machines and containers that share a cache reuse the same ones.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::CannotWrite;
use super::owner::make_private;

/// A folder to build an object in; removed on drop.
#[derive(Debug)]
pub(super) struct Workshop {
    path: PathBuf,
    _lock: Option<File>,
}

/// The prefix of their names. The rest is random.
const PREFIX: &str = ".making-";

/// The prefix until they have their lock.
const UNLOCKED: &str = ".new-";

/// The file that is locked.
const LOCK: &str = "lock";

/// Without file locks: no compiler runs longer than this.
const LEFT_BEHIND: Duration = Duration::from_hours(24);

impl Workshop {
    /// A new one, in a folder that is created if it is missing.
    pub fn new(folder: &Path) -> Result<Workshop, CannotWrite> {
        let cannot_write = |error| CannotWrite { path: folder.to_owned(), error };
        make_private(folder).map_err(cannot_write)?;
        let made = tempfile::Builder::new().prefix(UNLOCKED).tempdir_in(folder).map_err(cannot_write)?;
        let lock = File::create(made.path().join(LOCK)).ok().filter(|file| file.try_lock().is_ok());
        let name = made.path().file_name().unwrap_or_default().to_string_lossy().replace(UNLOCKED, PREFIX);
        let path = folder.join(name);
        // It is renamed after it is locked, so a folder of that name with a free lock is abandoned.
        fs::rename(made.path(), &path).map_err(cannot_write)?;
        let _ = made.keep();
        Ok(Workshop { path, _lock: lock })
    }

    /// A new one among the temporary files, which belongs to the user alone.
    pub fn elsewhere() -> Result<Workshop, CannotWrite> {
        let folder = tempfile::Builder::new().prefix("eddy-").tempdir();
        let folder = folder.map_err(|error| CannotWrite { path: std::env::temp_dir(), error })?;
        Ok(Workshop { path: folder.keep(), _lock: None })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn remove(&self) {
        drop(fs::remove_dir_all(&self.path));
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Whether a compiler may be working in a folder of this name.
pub(super) fn is_workshop(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(PREFIX) || name.starts_with(UNLOCKED)
}

/// Whether the process that created it has ended.
fn is_left_behind(folder: &Path) -> bool {
    let has_lock = !folder.file_name().unwrap_or_default().to_string_lossy().starts_with(UNLOCKED);
    match File::open(folder.join(LOCK)).map(|file| file.try_lock()) {
        Ok(Ok(())) if has_lock => true,
        Ok(Err(TryLockError::WouldBlock)) => false,
        _ => {
            let made = folder.metadata().and_then(|metadata| metadata.modified());
            let age = made.ok().and_then(|made| SystemTime::now().duration_since(made).ok());
            age.is_some_and(|age| age > LEFT_BEHIND)
        }
    }
}

/// Removes the folders that killed processes have left behind.
pub(super) fn sweep(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for left in entries.filter(|path| is_workshop(path) && is_left_behind(path)) {
        // Other processes may do the same at the same time.
        drop(fs::remove_dir_all(left));
    }
}
