//! One writer for a run folder.
//!
//! The lock is the operating system's, on a file of the folder: it ends with the process, however that ends,
//! so there are no stale locks. What the file says is for the message to others only.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// The name of the file in a run folder.
pub const LOCK: &str = "lock";

/// A folder that no other process writes to as long as this lives.
pub struct Lock {
    file: File,
}

/// Why a folder could not be locked.
pub enum NotLocked {
    /// Another process has it; what it says of itself.
    Held(String),
    /// The file system knows no locks, or the file cannot be written.
    Failed(io::Error),
}

impl Lock {
    /// Locks a folder, without writing anything to it but the file of the lock.
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

    /// Tells others who has the folder.
    pub fn sign(&mut self) {
        let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let on = if machine.trim().is_empty() { String::new() } else { format!(" on {}", machine.trim()) };
        // The lock holds without it.
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
        // A name that stays would only be misleading.
        if self.file.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            let _ = self.file.set_len(0);
        }
    }
}
