//! A wrong C compiler: it gets safer flags or is not used, and both `run` and `train` report it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::folder::{Ended, Folder};

const PROGRAM: &str =
    "node line(x) -> (y) y = param(0.5) * x;\ntrain line as learn loss mse optim sgd(0.1);\n";
const DATA: &str = "{\"x\":1,\"gt\":2}\n{\"x\":2,\"gt\":4}\n";

/// A folder with a compiler that, in probe programs, reads the wrong one of two elements unless its arguments
/// match one of these patterns.
fn folder(test: &str, right_with: &str) -> Folder {
    let script = format!(
        "#!/bin/sh\nfor word; do case \"$word\" in *battery.c) source=\"$word\";; esac; done\n\
         case \"$source$*\" in {right_with}) ;; *battery.c*) sed -i 's/(y.bits & mask)/(y.bits \\& ~mask)/' \"$source\";; esac\n\
         exec cc \"$@\" -O0\n"
    );
    let folder = Folder::new(test).with("wrong-cc", script).with("a.eddy", PROGRAM).with("d.jsonl", DATA);
    let path = folder.0.join("wrong-cc");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions can be set");
    folder
}

/// Calls `eddy` with the words of a line and the compiler of the folder.
fn call(folder: &Folder, line: &str) -> Ended {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut command = folder.command(&words);
    command.env("CC", folder.0.join("wrong-cc")).env("EDDY_CACHE_DIR", folder.0.join("cache"));
    Ended::new(&command.output().expect("eddy can be started"))
}

/// Both commands succeed, and print all of these words.
#[track_caller]
fn says(folder: &Folder, words: &[&str]) {
    for line in ["run a.eddy --node line --in d.jsonl", "train a.eddy --in d.jsonl --epochs 1 --run out"] {
        let Ended { code, stdout, stderr } = call(folder, line);
        assert_eq!(code, Some(0), "{stderr}");
        for word in words {
            assert!(stderr.contains(word) || stdout.contains(word), "no `{word}` in {stdout}{stderr}");
        }
    }
}

#[test]
fn a_compiler_that_is_wrong_with_the_usual_flags_gets_others() {
    let folder = folder("safer", "*-O2*");
    says(&folder, &["wrong-cc", "gives wrong results with the usual flags", "-O2 -fno-tree-vectorize"]);
}

#[test]
fn a_compiler_that_is_always_wrong_is_not_used() {
    let folder = folder("unreliable", "nothing");
    says(&folder, &["warning[E0902]", "wrong-cc", "runs in the simulator"]);
}

/// Such as tcc, and compilers of C++.
#[test]
fn a_compiler_that_lacks_what_is_printed_is_told() {
    let folder = folder("unfit", "nothing");
    let script = "#!/bin/sh\ncase \"$*\" in *battery.c*) echo \"undefined symbol '__builtin_fma'\"; exit 1;; esac\n\
                  exec cc \"$@\"\n";
    fs::write(folder.0.join("wrong-cc"), script).expect("it can be written");
    says(
        &folder,
        &[
            "warning[E0902]",
            "does not compile the C that Eddy prints",
            "undefined symbol '__builtin_fma'",
            "gcc and clang",
            "runs in the simulator",
        ],
    );
}
