//! Objects that were made before, by key.
//!
//! ```text
//! FOLDER/compiled/KEY/HASH.so     what was made for this key; HASH is the hash of the file itself
//! FOLDER/compiled/.making-…/      what a compiler is at work on
//! ```
//!
//! The name of an object says what must be in it. So one rename makes an entry, whole and with its hash; a file that was truncated
//! or overwritten is seen to be bad, and made anew; and what is at a path never changes, even if two processes made it
//! at once, from different compilers for all we care. Nobody locks anything, so nobody who is killed leaves a lock behind.
//!
//! The time at which a file was written is set anew whenever it is used, and those that were not used for longest go first.

use std::fs::{self, DirBuilder, File, FileTimes};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

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

/// What folders are called that a compiler is at work in.
const MAKING: &str = ".making-";

/// No compiler works as long as this: a folder that is older was left by a process that was killed.
const LEFT_BEHIND: Duration = Duration::from_hours(24);

/// How often an entry is written if its folder is removed at the same time.
const ATTEMPTS: usize = 10;

impl Cache {
    fn compiled(&self) -> PathBuf {
        self.folder.join("compiled")
    }

    /// The object for a key, and its hash.
    ///
    /// One that is not as it was made is passed over, and what is made anew takes its place. It is not removed: by the time that
    /// is done, it could be a good one that another process made.
    pub(super) fn find(&self, key: &blake3::Hash) -> Option<(PathBuf, blake3::Hash)> {
        let is_good = |(path, hash): &(PathBuf, blake3::Hash)| {
            // What cannot be read, for whatever reason, is made anew.
            fs::read(path).is_ok_and(|bytes| blake3::hash(&bytes) == *hash)
        };
        let folder = self.compiled().join(key.to_string());
        let named = |path: PathBuf| hash_in_name(&path).map(|hash| (path, hash));
        let found = files(&folder).into_iter().filter_map(named).find(is_good)?;
        mark_as_used(&found.0);
        Some(found)
    }

    /// A new folder to make an object in. It is in the cache, since a file system can rename only what is its own.
    pub(super) fn workshop(&self) -> Result<TempDir, CannotWrite> {
        let folder = self.compiled();
        let made =
            make_private(&folder).and_then(|()| tempfile::Builder::new().prefix(MAKING).tempdir_in(&folder));
        made.map_err(|error| CannotWrite { path: folder, error })
    }

    /// Takes an object into the cache, and removes old ones if there are too many.
    pub(super) fn keep(
        &self,
        key: &blake3::Hash,
        object: &Path,
    ) -> Result<(PathBuf, blake3::Hash), CannotWrite> {
        let hash = hash_of(object)?;
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
            if is_left_behind(&folder) {
                drop(fs::remove_dir_all(&folder));
            } else if folder.is_dir() {
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
    /// None for what a compiler is at work on, or is gone by now.
    fn of(path: PathBuf) -> Option<Entry> {
        let is_making = path.parent()?.file_name()?.to_str()?.starts_with(MAKING);
        let metadata = path.metadata().ok()?;
        let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        (!is_making).then_some(Entry { path, bytes: metadata.len(), used })
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

/// Objects are run, so nobody but the user may write them.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// A cache that can only be read is still of use, so it is no error if this fails.
fn mark_as_used(path: &Path) {
    let times = FileTimes::new().set_modified(SystemTime::now());
    drop(File::open(path).and_then(|file| file.set_times(times)));
}

fn is_left_behind(folder: &Path) -> bool {
    let is_making = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(MAKING));
    let made = folder.metadata().and_then(|metadata| metadata.modified());
    let age = made.ok().and_then(|made| SystemTime::now().duration_since(made).ok());
    is_making && age.is_some_and(|age| age > LEFT_BEHIND)
}
