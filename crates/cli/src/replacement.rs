//! A file that takes the place of another in one step, or not at all.
//!
//! The new text goes to a temporary file beside the old one, reaches the disk, takes over the permissions, and is renamed over
//! it. Whatever happens before the rename, a full disk, a crash, a program that turns out to be wrong, leaves the old file whole.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The new text of a file, as it is being written. Unless it is finished, it leaves nothing behind.
pub struct Replacement {
    path: PathBuf,
    temporary: PathBuf,
    to: BufWriter<File>,
    /// Those of the file that it replaces.
    permissions: Option<fs::Permissions>,
}

impl Replacement {
    /// Begins the new text of a file, which need not be there yet.
    pub fn new(path: &Path) -> io::Result<Self> {
        // Through a symbolic link, the file that it points to is rewritten and the link stays.
        let (path, permissions) = match fs::canonicalize(path) {
            Ok(path) => {
                let permissions = permissions(&path)?;
                (path, Some(permissions))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => (path.to_owned(), None),
            Err(error) => return Err(error),
        };
        let (temporary, file) = create_beside(&path)?;
        Ok(Replacement { path, temporary, to: BufWriter::with_capacity(1 << 16, file), permissions })
    }

    /// Puts the new text in the place of the old one.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.flush()?;
        // Some file systems report a full disk only now, and a rename before the data would not survive a crash.
        self.to.get_ref().sync_all()?;
        if let Some(permissions) = self.permissions.take() {
            fs::set_permissions(&self.temporary, permissions)?;
        }
        fs::rename(&self.temporary, &self.path)?;
        self.path.parent().map_or(Ok(()), sync_folder)
    }
}

/// Waits until the entries of a folder have reached the disk: a rename is one of them.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Not all systems can open folders, or know what to do with one.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::Unsupported | ErrorKind::PermissionDenied | ErrorKind::InvalidInput
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// Gives a file, new or not, these contents.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut replacement = Replacement::new(path)?;
    replacement.write_all(bytes)?;
    replacement.finish()
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // After the rename there is none; before it, the failure that is told is the first one.
        let _ = fs::remove_file(&self.temporary);
    }
}

fn permissions(path: &Path) -> io::Result<fs::Permissions> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    // A rename asks only the folder for permission, but a file that is read-only is meant to stay as it is.
    if metadata.permissions().readonly() {
        return Err(io::Error::other("it is read-only"));
    }
    Ok(metadata.permissions())
}

/// A new file in the same folder, hence on the same disk, where a rename is one step.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut attempt = 0;
    loop {
        let temporary = path.with_file_name(format!(".{name}.eddy-{:016x}", unlikely_to_be_taken(attempt)));
        // `create_new` neither follows a link nor overwrites a file.
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
            outcome => return outcome.map(|file| (temporary, file)),
        }
    }
}

/// How often a name is tried that is taken.
const ATTEMPTS: u64 = 10;

/// A number that differs from process to process and from call to call. The number of the process alone would not do: containers that share a folder have the same ones, and a
/// process that was killed leaves its file behind.
fn unlikely_to_be_taken(attempt: u64) -> u64 {
    // The keys of hashers are random.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    RandomState::new().hash_one((std::process::id(), now, attempt))
}
