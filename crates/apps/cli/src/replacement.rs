//! Replaces a file in one step, or not at all.
//!
//! The new text goes to a temporary file beside the old one, is synced to the disk, takes over the
//! permissions, and is renamed over the old file. A full disk, a crash or a refused program before the rename
//! leaves the old file unchanged.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, IntoInnerError, Write};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The new text of a file in progress. Dropped before `finish`, it removes the temporary file.
pub struct Replacement {
    path: PathBuf,
    to: BufWriter<NamedTempFile>,
    /// The permissions of the file that it replaces.
    permissions: Option<fs::Permissions>,
}

impl Replacement {
    /// Begins the new text of a file, which need not exist yet.
    pub fn new(path: &Path) -> io::Result<Self> {
        // Through a symbolic link, the target is rewritten and the link stays.
        let (path, permissions) = match fs::canonicalize(path) {
            Ok(path) => {
                let permissions = permissions(&path)?;
                (path, Some(permissions))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => (path.to_owned(), None),
            Err(error) => return Err(error),
        };
        let to = BufWriter::with_capacity(1 << 16, create_beside(&path)?);
        Ok(Replacement { path, to, permissions })
    }

    /// Replaces the old text by the new one.
    pub fn finish(self) -> io::Result<()> {
        let temporary = self.to.into_inner().map_err(IntoInnerError::into_error)?;
        // Some file systems report a full disk only now, and after a crash a rename without synced data would
        // leave an empty file.
        temporary.as_file().sync_all()?;
        if let Some(permissions) = self.permissions {
            fs::set_permissions(&temporary, permissions)?;
        }
        temporary.persist(&self.path).map_err(|failed| failed.error)?;
        sync_folder(folder_of(&self.path))
    }
}

/// Syncs the entries of a folder, such as a rename, to the disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(named(folder)).and_then(|folder| folder.sync_all()) {
        // Some systems cannot open or sync folders.
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

/// Writes these contents to a file, new or existing.
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

fn permissions(path: &Path) -> io::Result<fs::Permissions> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    // A rename needs only the folder's permission, but a read-only file must stay as it is.
    if metadata.permissions().readonly() {
        return Err(io::Error::other("it is read-only"));
    }
    Ok(metadata.permissions())
}

/// A new file in the same folder, hence on the same file system, where a rename is atomic.
fn create_beside(path: &Path) -> io::Result<NamedTempFile> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.eddy-");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    // A new file gets the permissions of any new file; a temporary file would be private to its owner.
    #[cfg(unix)]
    builder.permissions(fs::Permissions::from_mode(0o666));
    builder.tempfile_in(folder_of(path))
}

/// The folder of a path, in a form that can be opened.
pub fn folder_of(path: &Path) -> &Path {
    named(path.parent().unwrap_or(path))
}

fn named(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_has_the_permissions_of_any_new_file() {
        let folder = tempfile::tempdir().expect("there is a place for temporary files");
        let (ours, plain) = (folder.path().join("ours"), folder.path().join("plain"));
        replace(&ours, b"text").expect("it can be written");
        fs::write(&plain, b"text").expect("it can be written");
        let mode = |path: &Path| fs::metadata(path).expect("it was just written").permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
        assert_eq!(fs::read_dir(folder.path()).expect("it can be listed").count(), 2);
    }
}
