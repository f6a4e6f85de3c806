//! One writer for a run folder.
//!
//! The lock is an operating system lock on a file of the folder. It ends with the process in any case, so no
//! lock is ever stale. The text of the file is used only in messages of other processes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// The name of the lock file in a run folder.
pub const LOCK: &str = "lock";

/// While this value lives, no other process writes to the folder.
pub struct Lock {
    file: File,
}

/// Why locking a folder failed.
pub enum NotLocked {
    /// Another process holds the lock; the text of its lock file.
    Held(String),
    /// The file system has no locks, or the file cannot be written.
    Failed(io::Error),
}

impl Lock {
    /// Locks a folder; writes nothing to it but the lock file.
    pub fn new(folder: &Path) -> Result<Lock, NotLocked> {
        let path = folder.join(LOCK);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = opened.map_err(NotLocked::Failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { file }),
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // The holder may not have written its name yet.
                let _ = file.read_to_string(&mut holder);
                let holder = holder.trim();
                let holder = if holder.is_empty() { "another process" } else { holder };
                Err(NotLocked::Held(holder.to_string()))
            }
            Err(TryLockError::Error(error)) => Err(NotLocked::Failed(error)),
        }
    }

    /// Writes this process into the lock file.
    pub fn sign(&mut self) {
        let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let on = if machine.trim().is_empty() { String::new() } else { format!(" on {}", machine.trim()) };
        // The lock holds without the text.
        let _ = self.rewrite(&format!("process {}{on}\n", std::process::id()));
    }

    fn rewrite(&mut self, text: &str) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(text.as_bytes())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The text of a process that has ended would mislead.
        if self.file.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            let _ = self.file.set_len(0);
        }
    }
}
