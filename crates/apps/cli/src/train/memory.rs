//! How much memory this process takes.

/// The largest amount of memory so far, in mebibytes; `None` on systems that do not tell.
pub fn largest() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some((kibibytes / 1024.0 * 10.0).round() / 10.0)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn a_process_takes_some_memory() {
        assert!(super::largest().is_some_and(|mebibytes| mebibytes > 0.5));
    }
}
