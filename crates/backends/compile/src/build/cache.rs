//! A cache of compiled objects, by key.
//!
//! ```text
//! FOLDER/compiled/KEY/HASH.so     the object for this key; HASH is the hash of the file itself
//! FOLDER/compiled/.making-…/      the working folder of a compiler
//! FOLDER/compilers/KEY            whether a compiler can be trusted
//! ```
//!
//! Objects are executed. So a folder, an entry or an object that another user owns or can write is not used.
//!
//! The name of an object contains the hash of its contents. So a single rename creates an entry, complete and
//! with its hash; a truncated or overwritten file is detected and made anew; and the contents at a path never
//! change, even if two processes with different compilers create it at the same time. There are no locks, so
//! a killed process leaves none behind.
//!
//! Each use updates the modification time of a file; the least recently used files are removed first.

use std::fs::{self, File, FileTimes};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::owner::{NotOurs, is_ours_alone, make_private, make_unwritable_to_others};
use super::workshop::{Workshop, is_workshop, sweep};
use super::{CannotWrite, hash_of};

#[derive(Clone, Debug)]
pub struct Cache {
    /// It need not exist.
    pub folder: PathBuf,
    /// The largest total size of all objects in bytes. The newest object is kept in any case, because it is
    /// about to be used.
    pub limit: u64,
}

struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// How often to try again to write an entry if its folder is removed at the same time.
const ATTEMPTS: usize = 10;

impl Cache {
    fn compiled(&self) -> PathBuf {
        self.folder.join("compiled")
    }

    /// Whether the cache may be used: the existing parts belong to the user, and no other user can write to
    /// them.
    pub(super) fn check(&self) -> Result<(), NotOurs> {
        is_ours_alone(&self.folder)?;
        is_ours_alone(&self.compiled())?;
        is_ours_alone(&self.verdicts())
    }

    /// The folder of the verdicts on compilers.
    pub(super) fn verdicts(&self) -> PathBuf {
        self.folder.join("compilers")
    }

    /// The object for a key, and its hash.
    ///
    /// An object whose contents do not match its name is skipped, and a new one takes its place. It is not
    /// removed: by then another process may have replaced it by a good one.
    pub(super) fn find(&self, key: &blake3::Hash) -> Option<(PathBuf, blake3::Hash)> {
        let is_good = |(path, hash): &(PathBuf, blake3::Hash)| {
            // A file that cannot be read is rebuilt.
            is_ours_alone(path).is_ok() && fs::read(path).is_ok_and(|bytes| blake3::hash(&bytes) == *hash)
        };
        let folder = self.compiled().join(key.to_string());
        is_ours_alone(&folder).ok()?;
        let named = |path: PathBuf| hash_in_name(&path).map(|hash| (path, hash));
        let found = files(&folder).into_iter().filter_map(named).find(is_good)?;
        mark_as_used(&found.0);
        Some(found)
    }

    /// A new working folder. It is inside of the cache, because a rename works only within a file system.
    pub(super) fn workshop(&self) -> Result<Workshop, CannotWrite> {
        let folder = self.compiled();
        sweep(&folder);
        Workshop::new(&folder)
    }

    /// Adds an object to the cache, and removes old ones if there are too many.
    pub(super) fn keep(
        &self,
        key: &blake3::Hash,
        object: &Path,
    ) -> Result<(PathBuf, blake3::Hash), CannotWrite> {
        let hash = hash_of(object)?;
        make_unwritable_to_others(object).map_err(|error| CannotWrite { path: object.to_owned(), error })?;
        let folder = self.compiled().join(key.to_string());
        let path = folder.join(format!("{hash}{}", std::env::consts::DLL_SUFFIX));
        if is_ours_alone(&folder).is_err() {
            // `find` would never look into it, and another user could replace the object before it is opened.
            // It goes into the working folder, which is removed.
            let aside = object.with_file_name("not-ours");
            fs::rename(&folder, aside).map_err(|error| CannotWrite { path: folder.clone(), error })?;
        }
        let mut outcome = Ok(());
        for _ in 0..ATTEMPTS {
            outcome = make_private(&folder).and_then(|()| fs::rename(object, &path));
            // Another process removed the folder, because it was empty.
            let is_gone = matches!(&outcome, Err(error) if error.kind() == ErrorKind::NotFound);
            if !is_gone {
                break;
            }
        }
        outcome.map_err(|error| CannotWrite { path: path.clone(), error })?;
        self.remove_old(&path);
        Ok((path, hash))
    }

    /// Removes the least recently used objects until the rest fits. Other processes may do the same at the
    /// same time.
    fn remove_old(&self, newest: &Path) {
        let mut entries = Vec::new();
        for folder in files(&self.compiled()) {
            if folder.is_dir() && !is_workshop(&folder) {
                entries.extend(files(&folder).into_iter().filter_map(Entry::of));
            }
        }
        let mut total: u64 = entries.iter().map(|entry| entry.bytes).sum();
        entries.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
        for entry in entries.iter().filter(|entry| entry.path != newest) {
            if total <= self.limit {
                break;
            }
            drop(fs::remove_file(&entry.path));
            total -= entry.bytes;
            // Removes the folder if this was its last entry, and fails otherwise.
            entry.path.parent().map(fs::remove_dir);
        }
    }
}

impl Entry {
    /// `None` if the file no longer exists.
    fn of(path: PathBuf) -> Option<Entry> {
        let metadata = path.metadata().ok()?;
        let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Some(Entry { path, bytes: metadata.len(), used })
    }
}

/// The contents of a folder, ordered by name; empty if it cannot be read.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn hash_in_name(path: &Path) -> Option<blake3::Hash> {
    blake3::Hash::from_hex(path.file_stem()?.to_str()?).ok()
}

/// Ignores errors, because a read-only cache is still useful.
fn mark_as_used(path: &Path) {
    let times = FileTimes::new().set_modified(SystemTime::now());
    drop(File::open(path).and_then(|file| file.set_times(times)));
}
