//! Deep and large programs: nothing recurses natively over them, and what is too large is refused.

use eddy_language::kernels::Kernel;
use eddy_syntax::SourceFile;

use crate::harness::{Found, translated};

const DEEP: usize = 3_000;

fn nested(open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(DEEP), close.repeat(DEEP))
}

#[track_caller]
fn has_value(kernel: Kernel, text: &str, value: f64) {
    match translated(kernel, text) {
        Found::Numbers(found) => assert_eq!(found, [value]),
        Found::Failed(failed) => panic!("{}", failed.title),
        Found::Refused(refused) => panic!("{}", refused[0].title),
    }
}

#[test]
#[allow(clippy::cast_precision_loss)]
fn deep_terms_are_translated() {
    has_value(Kernel::Rd, &nested("(1 + ", "0", ")"), DEEP as f64);
    has_value(Kernel::Rd, &format!("{}x", "let x = 1 in ".repeat(DEEP)), 1.0);
    has_value(Kernel::Pullback, &nested("(1 + ", "0", ")"), DEEP as f64);
    has_value(Kernel::Coherent, &nested("succ (", "0", ")"), DEEP as f64);
    has_value(Kernel::Lam, &nested("(1 + ", "0", ")"), DEEP as f64);
    has_value(Kernel::Lam, &format!("{}x", "let x = 1 in ".repeat(DEEP)), 1.0);
}

#[test]
fn a_translation_that_would_be_too_long_is_refused() {
    // Each definition uses the previous one twice. The kernel shares the two uses; a text cannot share them,
    // so its length doubles with each definition.
    let doubled = |n: u32| format!("def f{n} = \\x:nat. f{} (f{} x);\n", n - 1, n - 1);
    let text = format!("def f0 = \\x:nat. x;\n{}f59 0", (1..60).map(doubled).collect::<Vec<_>>().concat());
    let refused = Kernel::Coherent.translate(&SourceFile::new("large.cd", text)).expect_err("it is too long");
    assert_eq!(refused[0].code.name(), "E0216");
    assert!(refused[0].title.contains("too long"), "{}", refused[0].title);
}
