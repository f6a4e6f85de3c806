//! How programs are built, from environment variables.
//!
//! | variable | meaning | default |
//! | --- | --- | --- |
//! | `CC` | the C compiler, optionally with arguments | the first of `cc`, `gcc`, `clang` on `PATH` |
//! | `EDDY_CC_SECONDS` | the time limit for a call of the compiler | 300 |
//! | `EDDY_CC_TRUST` | `1`: use the compiler without qualifying it | qualify it |
//! | `EDDY_CACHE_DIR` | the folder of the cache | `eddy` in the user's cache folder |
//! | `EDDY_CACHE_SIZE` | the largest size of the cache, such as `500M` or `2G`; `0` disables it | `1G` |

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::cache::Cache;
use super::toolchain::Search;

#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// Where to look for a compiler.
    pub search: Search,
    /// `None` disables the cache.
    pub cache: Option<Cache>,
    /// For a call of the compiler.
    pub time_limit: Duration,
    /// Whether to qualify a compiler before its first use.
    pub tries_compiler: bool,
}

/// Large programs take minutes at `-O3`; beyond this the compiler is assumed to hang.
const SECONDS: u64 = 300;

/// Enough for ten thousand programs.
const CACHE_SIZE: u64 = 1 << 30;

/// A variable of the environment that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable `{variable}` is `{value}`, where {expected} is expected")]
pub struct BadSetting {
    pub variable: &'static str,
    pub value: String,
    /// A description of valid values.
    pub expected: &'static str,
}

impl BuildOptions {
    /// Reads the environment of this process.
    pub fn from_environment() -> Result<BuildOptions, BadSetting> {
        BuildOptions::from_variables(|name| env::var_os(name))
    }

    /// Reads these variables. An empty one counts as unset.
    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<BuildOptions, BadSetting> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let seconds = match set("EDDY_CC_SECONDS") {
            None => SECONDS,
            Some(value) => number("EDDY_CC_SECONDS", &value, "a whole number above 0", |text| {
                text.parse().ok().filter(|seconds| *seconds > 0)
            })?,
        };
        let limit = match set("EDDY_CACHE_SIZE") {
            None => CACHE_SIZE,
            Some(value) => {
                number("EDDY_CACHE_SIZE", &value, "a number of bytes such as `500M`, `2G` or `0`", size)?
            }
        };
        let is_trusted = match set("EDDY_CC_TRUST") {
            None => 0,
            Some(value) => number("EDDY_CC_TRUST", &value, "`0` or `1`", |text| {
                text.parse().ok().filter(|trust| *trust < 2)
            })?,
        };
        let folder = set("EDDY_CACHE_DIR").map(PathBuf::from).or_else(|| cache_folder(&set));
        Ok(BuildOptions {
            search: Search { cc: set("CC"), path: set("PATH") },
            cache: folder.filter(|_| limit > 0).map(|folder| Cache { folder, limit }),
            time_limit: Duration::from_secs(seconds),
            tries_compiler: is_trusted == 0,
        })
    }
}

/// Eddy's folder in the system's place for caches; `None` if the user has no home.
fn cache_folder(set: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // The XDG standard requires to ignore paths that are not absolute.
    let absolute = |name: &str| set(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || absolute("HOME").or_else(env::home_dir);
    let caches = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Caches"))
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| home().map(|home| home.join(".cache")))
    };
    caches.map(|caches| caches.join("eddy"))
}

fn number(
    variable: &'static str,
    value: &OsString,
    expected: &'static str,
    read: impl Fn(&str) -> Option<u64>,
) -> Result<u64, BadSetting> {
    let bad = || BadSetting { variable, value: value.to_string_lossy().into_owned(), expected };
    value.to_str().and_then(|text| read(text.trim())).ok_or_else(bad)
}

/// A number of bytes, optionally with a suffix for powers of 1024.
fn size(text: &str) -> Option<u64> {
    let units = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];
    let unit = units.iter().find(|(letter, _)| text.to_ascii_uppercase().ends_with(*letter));
    let (digits, shift) = unit.map_or((text, 0), |(_, shift)| (&text[..text.len() - 1], *shift));
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(variables: &[(&str, &str)]) -> Result<BuildOptions, BadSetting> {
        let value =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        BuildOptions::from_variables(value)
    }

    #[track_caller]
    fn check_cache(variables: &[(&str, &str)], folder: &str, limit: u64) {
        let cache = options(variables).expect("the variables make sense").cache.expect("there is a cache");
        assert_eq!((cache.folder, cache.limit), (PathBuf::from(folder), limit));
    }

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn the_cache_is_in_the_users_folder_for_caches() {
        check_cache(&[("HOME", "/me")], "/me/.cache/eddy", CACHE_SIZE);
        check_cache(&[("HOME", "/me"), ("XDG_CACHE_HOME", "/caches")], "/caches/eddy", CACHE_SIZE);
        check_cache(&[("HOME", "/me"), ("XDG_CACHE_HOME", "caches")], "/me/.cache/eddy", CACHE_SIZE);
        check_cache(&[("HOME", "/me"), ("XDG_CACHE_HOME", "")], "/me/.cache/eddy", CACHE_SIZE);
    }

    #[test]
    fn eddys_own_variables_come_first() {
        let folder = ("EDDY_CACHE_DIR", "/here");
        check_cache(&[folder, ("XDG_CACHE_HOME", "/caches")], "/here", CACHE_SIZE);
        for (size, bytes) in
            [("1", 1), ("10k", 10 << 10), ("500M", 500 << 20), (" 2G ", 2 << 30), ("1T", 1 << 40)]
        {
            check_cache(&[folder, ("EDDY_CACHE_SIZE", size)], "/here", bytes);
        }
        assert!(options(&[folder, ("EDDY_CACHE_SIZE", "0")]).expect("it makes sense").cache.is_none());
        let options =
            options(&[folder, ("EDDY_CC_SECONDS", "7"), ("CC", "gcc -m64")]).expect("it makes sense");
        assert_eq!(options.time_limit, Duration::from_secs(7));
        assert_eq!(options.search, Search { cc: Some("gcc -m64".into()), path: None });
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        for size in ["big", "-1", "1.5G", "G", "99999999999T", "1GB", "१"] {
            let error = options(&[("EDDY_CACHE_SIZE", size)]).expect_err(size);
            assert_eq!((error.variable, error.value.as_str()), ("EDDY_CACHE_SIZE", size));
        }
        let error = options(&[("EDDY_CC_SECONDS", "0")]).expect_err("no time at all");
        assert_eq!(
            error.to_string(),
            "the environment variable `EDDY_CC_SECONDS` is `0`, where a whole number above 0 is expected"
        );
    }
}
