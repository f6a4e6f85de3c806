//! The file tests: every program under `tests/` and `examples/` does what its comments say.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    eddy_tests::run(&eddy_tests::TestPaths {
        eddy: env!("CARGO_BIN_EXE_eddy").into(),
        root: root.canonicalize().expect("the repository is where it was built"),
        scratch: Path::new(env!("CARGO_TARGET_TMPDIR")).join("files"),
    })
}
