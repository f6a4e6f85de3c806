//! Files that are written in one step: whoever reads them, at any moment, sees the old contents or the new ones.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file, new or not, in one step.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (temporary, file) = create_beside(path)?;
    let written = fill(file, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first failure is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Gives a file that exists new contents, in one step.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Through a symbolic link, the file that it points to is rewritten and the link stays.
    let path = fs::canonicalize(path)?;
    let metadata = fs::metadata(&path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    // A rename asks only the folder for permission, but a file that is read-only is meant to stay as it is.
    if metadata.permissions().readonly() {
        return Err(io::Error::other("it is read-only"));
    }
    let (temporary, file) = create_beside(&path)?;
    let replaced = fill(file, bytes)
        .and_then(|()| fs::set_permissions(&temporary, metadata.permissions()))
        .and_then(|()| fs::rename(&temporary, &path));
    if replaced.is_err() {
        // The first failure is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    replaced
}

fn fill(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    // Some file systems report a full disk only now, and a rename before the data would not survive a crash.
    file.sync_all()
}

/// A new file in the same folder, hence on the same disk, where a rename is one step.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.eddy-{}", std::process::id()));
    // `create_new` never follows or overwrites what somebody else put there.
    let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    Ok((temporary, file))
}
