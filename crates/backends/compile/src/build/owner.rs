//! Checks who can write a file: objects in the cache are executed, so only the user may write them.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file or folder is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotOurs {
    Owned(PathBuf),
    Writable(PathBuf),
}

/// Checks that a file or folder belongs to the user, and that no other user can write to it. Accepts a
/// missing path.
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

/// Cache folders are private on other systems.
#[cfg(not(unix))]
pub(super) fn is_ours_alone(_: &Path) -> Result<(), NotOurs> {
    Ok(())
}

/// Creates a folder that only the user can open.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Revokes the write permission of other users, which a permissive umask may have granted.
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
