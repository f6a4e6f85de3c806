//! Functions of other languages, imported in `.eddy` files.

use crate::folder::Folder;

const POWER: &str = "\
letrec power(x:real, n:real):real = if n < 0.5 then 1 else x * power(x, n - 1) in
let slope(x:real):real = grad[x](y. power(y, 3)) in
let norm(v:real^3):real = dot(v, v) in
power(2, 3)
";

#[test]
fn a_function_of_rd_is_called_differentiated_and_applied_in_a_node() {
    let main = "\
import power, slope, norm from \"power.rd\";
node cube(x) -> (y)
  y = power(x, 3.0);
eval (power(2.0, 3.0), slope(2.0), norm(((1.0, 2.0), 2.0)));
eval (
  grad(power, (2.0, 3.0)),
  grad(slope, 2.0),
  adj_slope(2.0, 1.0),
  tan_power(2.0, 3.0, 1.0, 0.0)
);
run adj_cube { x: 2; dy: 1; }
";
    let folder = Folder::new("kernels_rd").with("power.rd", POWER).with("main.eddy", main);
    let lines = folder.answer("run main.eddy");
    let expected = "[8,12,9]\n[[12,0],12,[12,12],[8,12]]\n{\"y\":8,\"dx\":12}\n";
    assert_eq!(lines, expected);
    assert_eq!(folder.answer("fmt --check main.eddy"), "");
    assert!(folder.answer("check main.eddy").starts_with("cube: (x: num [] @ base)"));
}

#[test]
fn definitions_of_pullback_are_functions_and_constants() {
    let defs = "def twice f x = f (f x);\ndef k = 3;\ndef cube x = x * x * x + k;\ndef add x y = x + y;\n";
    let main = "\
import twice, cube, add, k from \"defs.pb\";
eval (twice(cube, 1.0), grad(cube, 2.0), add(1.0, k), twice(\\x. add(x, 2.0), 0.0));
";
    let folder = Folder::new("kernels_pb").with("defs.pb", defs).with("main.eddy", main);
    assert_eq!(folder.answer("run main.eddy"), "[67,12,4,4]\n");
}

#[test]
fn all_exports_are_imported_and_no_helper() {
    let helpers = "let f(x:real):real = x^3 + tan(x) in let g(a:real, b:real):real = a * b in f(1)";
    let folder = Folder::new("kernels_exports")
        .with("f.rd", helpers)
        .with(
            "all.eddy",
            "import \"f.rd\";\nfn tangent(x: num) -> num = 7.0;\neval (f(0.0), g(2.0, 3.0), tangent(1.0));\n",
        )
        .with("helper.eddy", "import power_3 from \"f.rd\";\neval power_3(2.0);\n");
    assert_eq!(folder.answer("run all.eddy"), "[0,6,7]\n");
    let ended = folder.call("run helper.eddy --short");
    assert_eq!(ended.code, Some(1));
    let message = "helper.eddy:1:8: error[E0202]: unknown node or function `power_3` in `f.rd`";
    assert!(ended.stderr.starts_with(message), "{}", ended.stderr);
}

#[test]
fn mistakes_of_the_file_are_shown_there_and_at_the_import() {
    let folder = Folder::new("kernels_mistakes")
        .with("wrong.rd", "let f(x:real):real = y in f(1)")
        .with("clarke.rd", "use clarke let f(x:real):real = if x <= 0 then 0 else x in f(1)")
        .with("wrong.eddy", "import f from \"wrong.rd\";\neval f(1.0);\n")
        .with("clarke.eddy", "import f from \"clarke.rd\";\neval f(1.0);\n")
        .with("single.eddy", "import f from \"f.cd\";\neval f(1.0);\n");
    let ended = folder.call("run wrong.eddy");
    assert_eq!(ended.code, Some(1));
    for part in ["error[RD003]", "wrong.rd:1:22", "wrong.eddy:1:15", "imported here"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    let ended = folder.call("run clarke.eddy --short");
    let message = "clarke.rd:1:5: error[E0216]: `use clarke` cannot be translated to functions";
    assert!(ended.code == Some(1) && ended.stderr.starts_with(message), "{}", ended.stderr);
    let ended = folder.call("run single.eddy --short");
    let message = "single.eddy:1:15: error[E0216]: `f.cd` cannot be imported";
    assert!(ended.code == Some(1) && ended.stderr.starts_with(message), "{}", ended.stderr);
}

#[test]
fn a_failure_points_into_the_file_of_the_function() {
    let folder = Folder::new("kernels_failures")
        .with("f.rd", "letrec[2] f(n:real):real = if n < 0.5 then 1 else n * f(n - 1) in f(1)")
        .with("main.eddy", "import f from \"f.rd\";\neval f(1.0);\neval f(2.0);\n");
    let ended = folder.call("run main.eddy --short");
    assert_eq!((ended.code, &*ended.stdout), (Some(3), "1\n"));
    assert!(ended.stderr.starts_with("f.rd:1:11: error[E0602]: division by zero"), "{}", ended.stderr);
}
