//! Peers in Python: a virtual environment with pinned versions, created once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreters to try, in order. The pinned versions are for the first one.
const INTERPRETERS: &[&str] = &["python3.11", "python3"];

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

/// The interpreter of the environment in this folder. Creates the environment if it is missing or has other
/// versions.
pub fn environment(folder_of_environment: &Path) -> Result<PathBuf, String> {
    let requirements = folder().join("requirements.txt");
    let wanted = fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let python = folder_of_environment.join("bin/python");
    let done = folder_of_environment.join("requirements.txt");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) && python.exists() {
        return Ok(python);
    }
    let interpreter = INTERPRETERS
        .iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
        .ok_or("there is no Python")?;
    succeed(Command::new(interpreter).args(["-m", "venv"]).arg(folder_of_environment))?;
    succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(&requirements))?;
    fs::write(&done, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

/// The pinned versions, as `name version`.
pub fn versions() -> Vec<String> {
    let text = fs::read_to_string(folder().join("requirements.txt")).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once("=="));
    lines.map(|(name, version)| format!("{name} {version}")).collect()
}

fn succeed(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}
