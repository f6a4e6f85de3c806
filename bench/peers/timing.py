"""How peers are timed, and the numbers that all sides agree on. Import it before anything else: it pins the process.

A script calls `main` with the things to time. By hand it takes one turn; with `--turns` it takes one for each line of
standard input, so that sides can alternate. A turn prints a JSON line for each thing and then an empty line.
"""
import json
import os
import sys
import time

UNPINNED = "--unpinned" in sys.argv
if not UNPINNED:
    # One core, the last one that is allowed, and one thread.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for name in ("OMP", "MKL", "OPENBLAS"):
        os.environ[name + "_NUM_THREADS"] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np  # noqa: E402  (the environment comes first)


def numbers(seed, shape, scale):
    """The agreed numbers: splitmix64, see bench/README.md."""
    i = np.arange(1, int(np.prod(shape)) + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = np.uint64(seed << 32) + i * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    unit = (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return ((unit * 2.0 - 1.0) * scale).reshape(shape)


def sizes(workload, **defaults):
    """The sizes in a name: `lstm-train-h64-b1` has h = 64 and b = 1."""
    found = dict(defaults)
    for part in workload.split("-"):
        if part[:1].isalpha() and part[1:].isdigit():
            found[part[0]] = int(part[1:])
    return found


def norm(parts):
    """The length of all parts together."""
    return float(np.sqrt(sum(np.sum(np.square(np.asarray(part, np.float64))) for part in parts)))


def settings():
    """What the command line says: workload, seconds of a turn."""
    seconds = [float(word.split("=")[1]) for word in sys.argv if word.startswith("--seconds=")]
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    return names, (seconds or [0.3])[0]


def turn(workload, peer, variant, run, check, seconds):
    """Calls `run` for some time; it returns when its work is done. `check` is what the first call computed."""
    run()
    times = []
    cpu = time.process_time_ns()
    begin = time.perf_counter_ns()
    while len(times) < 5 or time.perf_counter_ns() - begin < seconds * 1e9:
        start = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - start)
    cpu = (time.process_time_ns() - cpu) / len(times)
    low, middle, high = np.percentile(times, [25, 50, 75])
    record = {
        "workload": workload,
        "peer": peer,
        "variant": variant + (", unpinned" if UNPINNED else ""),
        "median_ns": middle,
        "p25_ns": low,
        "p75_ns": high,
        "cpu_ns": cpu,
        "runs": len(times),
        "check": check,
    }
    print(json.dumps(record))


def main(things, seconds):
    """`things` are (workload, peer, variant, run, check)."""
    by_line = "--turns" in sys.argv
    while not by_line or sys.stdin.readline():
        for thing in things:
            turn(*thing, seconds)
        print(flush=True)
        if not by_line:
            break
