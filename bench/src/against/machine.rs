//! The machine: clocks, and facts that readers of the figures need.

use std::fs;
use std::process::Command;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use super::{peers, twins};

/// Processor time of this thread, which excludes other work on the machine.
pub fn thread_time_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Pins this process and its children to one core: the last one allowed.
pub fn pin() {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    if let Some(core) = (0..CpuSet::MAX_CPU).rev().find(|core| allowed.is_set(*core)) {
        let mut one = CpuSet::new();
        one.set(core);
        // Without permission to pin, the figures depend on how idle the machine is.
        let _ = sched_setaffinity(None, &one);
    }
}

/// Runs a function on all cores, then restores the previous ones.
pub fn on_all_cores<T>(what: impl FnOnce() -> T) -> T {
    let before = sched_getaffinity(None);
    let mut all = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|core| all.set(core));
    // Without permission, the process keeps its one core, and the figures show it.
    let _ = sched_setaffinity(None, &all);
    let answer = what();
    if let Ok(before) = before {
        let _ = sched_setaffinity(None, &before);
    }
    answer
}

/// Lines about the machine for the head of a table.
pub fn facts(has_peers: bool) -> Vec<String> {
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = processor.lines().filter(|line| line.starts_with("processor")).count();
    let widest = ["avx512f", "avx2", "avx", "sse2"].into_iter().find(|name| processor.contains(name));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split_whitespace().take(3).collect();
    let mut facts = vec![
        format!(
            "processor: {}, {cores} cores, {}",
            model.map_or("unknown", |(_, name)| name),
            widest.unwrap_or("no known vector instructions")
        ),
        format!("load when it began: {}", load.join(", ")),
        format!("C: {} with `{}`", first_line(&twins::compiler(), "--version"), twins::FLAGS.join(" ")),
        format!("Rust: {}", first_line("rustc", "--version")),
    ];
    if has_peers {
        facts.push(format!("peers: {}", peers::versions().join(", ")));
    }
    facts
}

fn first_line(program: &str, argument: &str) -> String {
    let output = Command::new(program).arg(argument).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("not found").to_owned()
}
