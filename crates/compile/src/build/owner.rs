//! Who can write a file: what is in the cache is run, so it must be the user's alone.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file or folder is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotOurs {
    /// Another user owns it.
    Owned(PathBuf),
    /// Other users can write to it.
    Writable(PathBuf),
}

/// Whether a file or folder belongs to the user, and no other user can write to it. True for a missing path.
#[cfg(unix)]
pub(super) fn is_ours_alone(path: &Path) -> Result<(), NotOurs> {
    use std::os::unix::fs::MetadataExt;
    let Ok(metadata) = path.metadata() else { return Ok(()) };
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(NotOurs::Owned(path.to_owned()));
    }
    // Group and others.
    if metadata.mode() & 0o022 != 0 {
        return Err(NotOurs::Writable(path.to_owned()));
    }
    Ok(())
}

/// Folders for caches are private on other systems.
#[cfg(not(unix))]
pub(super) fn is_ours_alone(_: &Path) -> Result<(), NotOurs> {
    Ok(())
}

/// Makes a folder that only the user can open.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Takes from other users the right to write a file, which a generous umask gave them.
pub(super) fn make_unwritable_to_others(file: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o700))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

impl std::fmt::Display for NotOurs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotOurs::Owned(path) => write!(f, "`{}` belongs to another user", path.display()),
            NotOurs::Writable(path) => {
                let path = path.display();
                write!(f, "other users can write to `{path}` (`chmod go-w {path}` changes that)")
            }
        }
    }
}
