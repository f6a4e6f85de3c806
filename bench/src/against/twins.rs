//! Twins: implementations in C, written for speed and built by the system's compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::workload::{Twin, Workload};

/// The twins need reassociation and approximate mathematical functions: without them, loops over `exp` and
/// `tanh` do not vectorise.
pub const FLAGS: &[&str] =
    &["-std=gnu11", "-O3", "-march=native", "-ffast-math", "-fopenmp-simd", "-Wall", "-Wextra"];

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("twins")
}

pub fn compiler() -> String {
    std::env::var("CC").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "cc".to_owned())
}

#[cfg(test)]
pub fn has_compiler() -> bool {
    Command::new(compiler()).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Builds the twin of a workload into a folder; in double precision if finite differences will check it.
pub fn build(workload: Workload, to: &Path, is_checked: bool) -> Result<PathBuf, String> {
    let Twin { source, defines, .. } = workload.twin();
    let sizes: Vec<String> = defines.iter().map(|(_, size)| format!("-{size}")).collect();
    let name = format!(
        "{}{}{}",
        source.trim_end_matches(".c"),
        sizes.concat(),
        if is_checked { "-check" } else { "" }
    );
    fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    let binary = to.join(name);
    let mut command = Command::new(compiler());
    command.args(FLAGS).args(defines.iter().map(|(name, size)| format!("-D{name}={size}")));
    if is_checked {
        command.arg("-DREAL=double");
    }
    let output = command
        .arg(folder().join(source))
        .arg("-o")
        .arg(&binary)
        .arg("-lm")
        .output()
        .map_err(|error| format!("{}: {error}", compiler()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(binary)
}

#[cfg(test)]
mod tests {
    use super::super::numbers::number;
    use super::*;

    /// Small sizes. Those of the perceptron need no padding; its source says why.
    const SMALL: &[&str] = &[
        "lstm-train-h4-b1-i3-t5",
        "lstm-train-h4-b2-i3-t5",
        "gradbench-lstm-l2-c6-b3-gradient",
        "gmm-d3-k4-n70-gradient",
        "mlp-5-16-16-b4",
        "hvp-3-4-4-1-b5-product",
    ];

    fn temporary_folder(test: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("eddy-twins-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder can be created");
        folder
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        if !has_compiler() {
            return;
        }
        let place = temporary_folder("differences");
        for name in SMALL {
            let workload = Workload::named(name).expect("the name is that of a workload");
            let binary = build(workload, &place, true).expect("the twin compiles");
            let output = Command::new(&binary).arg("--check").output().expect("the twin runs");
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
        }
        fs::remove_dir_all(&place).expect("the folder can be removed");
    }

    #[test]
    fn numbers_are_the_same_in_c() {
        if !has_compiler() {
            return;
        }
        let place = temporary_folder("numbers");
        let text = "#include \"twin.h\"\nint main(void) {\n  for (uint64_t i = 0; i < 1000; i++)\n    \
                    printf(\"%.17g\\n\", number(i % 7, i * i, 0.1));\n}\n";
        let (source, binary) = (place.join("numbers.c"), place.join("numbers"));
        fs::write(&source, text).expect("the source can be written");
        let mut command = Command::new(compiler());
        command.args(["-std=gnu11", "-w", "-I"]).arg(folder()).arg(&source).arg("-o").arg(&binary).arg("-lm");
        assert!(command.status().expect("the compiler runs").success());
        let output = Command::new(&binary).output().expect("the program runs");
        for (i, line) in (0..).zip(String::from_utf8_lossy(&output.stdout).lines()) {
            assert_eq!(line.parse(), Ok(number(i % 7, i * i, 0.1)), "number {i}");
        }
        fs::remove_dir_all(&place).expect("the folder can be removed");
    }
}
