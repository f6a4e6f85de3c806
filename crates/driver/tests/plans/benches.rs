//! Compiled code on the test benches of all file tests and examples: the golden examples, the library, the
//! semantics.

use std::cell::RefCell;

use crate::bench_files::each_bench;
use crate::compiled::{Folder, How, PLAIN, agrees};
use crate::generated::harness::Verdict;

/// One in double precision and without vectors, the next in single precision and with them.
#[test]
fn compiled_test_benches() {
    let (folder, number) = (Folder::new("compiled-benches"), RefCell::default());
    let (mut n, mut n_agree, mut skipped, mut wrong) = (0, 0, Vec::new(), Vec::new());
    each_bench(|path, ready| {
        n += 1;
        let how = match n % 2 {
            0 => PLAIN,
            _ => How { flags: &["-O3", "-march=native"], single: true, opens: true, ..PLAIN },
        };
        match agrees(&ready, &folder, how, &number) {
            Ok(Verdict::Holds) => n_agree += 1,
            Ok(_) => skipped.push(path.display().to_string()),
            Err(difference) => wrong.push(format!("{}: {difference}", path.display())),
        }
    });
    assert!(wrong.is_empty(), "{} of {n}: {}", wrong.len(), wrong[0]);
    assert!(n_agree >= 450, "{n_agree} of {n} agree; not compiled: {skipped:?}");
}
