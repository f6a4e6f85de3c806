//! Objects that were made before, by key.
//!
//! ```text
//! FOLDER/compiled/KEY/HASH.so     what was made for this key; HASH is the hash of the file itself
//! FOLDER/compiled/.making-…/      what a compiler is at work on
//! FOLDER/compilers/KEY            whether a compiler can be trusted
//! ```
//!
//! Objects are run. So nothing is used that another user owns or can write, be it the folder, an entry or an object.
//!
//! The name of an object says what must be in it. So one rename makes an entry, whole and with its hash; a file that was truncated
//! or overwritten is seen to be bad, and made anew; and what is at a path never changes, even if two processes made it
//! at once, from different compilers for all we care. Nobody locks anything, so nobody who is killed leaves a lock behind.
//!
//! The time at which a file was written is set anew whenever it is used, and those that were not used for longest go first.

use std::fs::{self, File, FileTimes};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::owner::{NotOurs, is_ours_alone, make_private, make_unwritable_to_others};
use super::workshop::{Workshop, is_workshop, sweep};
use super::{CannotWrite, hash_of};

/// A folder of objects.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Where it is. It need not exist.
    pub folder: PathBuf,
    /// How many bytes all objects may take together. The one that was made last is kept in any case: it is about to be used.
    pub limit: u64,
}

/// An object in the cache.
struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// How often an entry is written if its folder is removed at the same time.
const ATTEMPTS: usize = 10;

impl Cache {
    fn compiled(&self) -> PathBuf {
        self.folder.join("compiled")
    }

    /// Whether the cache may be used: the user alone can write to it, as far as it is there.
    pub(super) fn check(&self) -> Result<(), NotOurs> {
        is_ours_alone(&self.folder)?;
        is_ours_alone(&self.compiled())
    }

    /// The object for a key, and its hash.
    ///
    /// One that is not as it was made is passed over, and what is made anew takes its place. It is not removed: by the time that
    /// is done, it could be a good one that another process made.
    pub(super) fn find(&self, key: &blake3::Hash) -> Option<(PathBuf, blake3::Hash)> {
        let is_good = |(path, hash): &(PathBuf, blake3::Hash)| {
            // What cannot be read, for whatever reason, is made anew.
            is_ours_alone(path).is_ok() && fs::read(path).is_ok_and(|bytes| blake3::hash(&bytes) == *hash)
        };
        let folder = self.compiled().join(key.to_string());
        is_ours_alone(&folder).ok()?;
        let named = |path: PathBuf| hash_in_name(&path).map(|hash| (path, hash));
        let found = files(&folder).into_iter().filter_map(named).find(is_good)?;
        mark_as_used(&found.0);
        Some(found)
    }

    /// A new folder to make an object in. It is in the cache, since a file system can rename only what is its own.
    pub(super) fn workshop(&self) -> Result<Workshop, CannotWrite> {
        let folder = self.compiled();
        sweep(&folder);
        Workshop::new(&folder)
    }

    /// Takes an object into the cache, and removes old ones if there are too many.
    pub(super) fn keep(
        &self,
        key: &blake3::Hash,
        object: &Path,
    ) -> Result<(PathBuf, blake3::Hash), CannotWrite> {
        let hash = hash_of(object)?;
        make_unwritable_to_others(object).map_err(|error| CannotWrite { path: object.to_owned(), error })?;
        let folder = self.compiled().join(key.to_string());
        let path = folder.join(format!("{hash}{}", std::env::consts::DLL_SUFFIX));
        let mut outcome = Ok(());
        for _ in 0..ATTEMPTS {
            outcome = make_private(&folder).and_then(|()| fs::rename(object, &path));
            // Somebody else removed the folder in between: it was empty.
            let is_gone = matches!(&outcome, Err(error) if error.kind() == ErrorKind::NotFound);
            if !is_gone {
                break;
            }
        }
        outcome.map_err(|error| CannotWrite { path: path.clone(), error })?;
        self.remove_old(&path);
        Ok((path, hash))
    }

    /// Removes what was not used for longest until the rest fits. Others may be at the same work: what is gone is gone.
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
            // Only if that was its last entry; otherwise this fails, as it should.
            entry.path.parent().map(fs::remove_dir);
        }
    }
}

impl Entry {
    /// None for what is gone by now.
    fn of(path: PathBuf) -> Option<Entry> {
        let metadata = path.metadata().ok()?;
        let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Some(Entry { path, bytes: metadata.len(), used })
    }
}

/// What is in a folder, in the order of names; nothing if it cannot be read.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn hash_in_name(path: &Path) -> Option<blake3::Hash> {
    blake3::Hash::from_hex(path.file_stem()?.to_str()?).ok()
}

/// A cache that can only be read is still of use, so it is no error if this fails.
fn mark_as_used(path: &Path) {
    let times = FileTimes::new().set_modified(SystemTime::now());
    drop(File::open(path).and_then(|file| file.set_times(times)));
}
