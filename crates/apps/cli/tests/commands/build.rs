//! `eddy build`: its files compile without a warning, run under sanitizers and allocate nothing, and it
//! overwrites no file of the user.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::folder::{Ended, Folder};

/// Programs of the repository: file, node, and further options.
const NODES: &[(&str, &str, &str)] = &[
    ("examples/reactive/iir-filter.eddy", "low_pass", ""),
    ("examples/reactive/counter.eddy", "counter", ""),
    ("bench/programs/lstm.eddy", "layer", "--const units=3 --const inputs=2 --shape x=[2] --f32"),
    (
        "bench/programs/lstm.eddy",
        "gradient",
        "--const units=5 --const inputs=2 --const steps=5 --shape x=[2] --max-window 8",
    ),
    (
        "bench/programs/lstm.eddy",
        "gradient",
        "--const units=5 --const inputs=2 --const steps=5 --shape x=[2] --max-window 8 --checkpoint sqrt",
    ),
    (
        "bench/programs/mlp.eddy",
        "step",
        "--const inputs=7 --const hidden=5 --const classes=3 --shape x=[4,7] --shape gt=[4,3]",
    ),
    ("docs/guide/programs/truncated.eddy", "learn", "--max-window 16"),
];

/// The report of the files that were written.
#[track_caller]
fn written(ended: &Ended) -> String {
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout.clone()
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn has(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Compiles and runs the example in a folder.
fn compile_and_run(compiler: &str, place: &Path, name: &str) -> Result<String, String> {
    let binary = place.join("checked");
    let built = Command::new(compiler)
        .args(["-std=c99", "-O1", "-g", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-ffp-contract=off"])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o"])
        .arg(&binary)
        .args([place.join("main.c"), place.join(format!("{name}.c"))])
        .arg("-lm")
        .output()
        .map_err(|error| error.to_string())?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).lines().take(20).collect::<Vec<_>>().join("\n"));
    }
    let ran = Command::new(&binary).output().map_err(|error| error.to_string())?;
    let message = String::from_utf8_lossy(&ran.stderr).into_owned();
    if ran.status.success() { Ok(String::from_utf8_lossy(&ran.stdout).into_owned()) } else { Err(message) }
}

#[test]
fn what_is_written_is_clean() {
    let compilers: Vec<&str> = ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)).collect();
    for (file, node, arguments) in NODES {
        let folder = Folder::new(node);
        let file = root().join(file).display().to_string();
        let mut all = vec!["build", &file, "--node", node, "--out", "c"];
        all.extend(arguments.split_whitespace());
        written(&folder.eddy(&all));
        let place = folder.0.join("c");
        for compiler in &compilers {
            let printed = compile_and_run(compiler, &place, node);
            let printed = printed.unwrap_or_else(|error| panic!("{compiler}: {node}: {error}"));
            // Ten cycles go in; windows end after five.
            assert_eq!(printed.lines().count(), 10, "{compiler}: {node}: {printed}");
        }
    }
}

/// Functions that stay calls: recursion, tensors in an arena, tapes, several results, failures.
const CALLS: &str = "\
fn power(x: num, n: int) -> num = if n <= 0 then 1.0 else x * power(x, n - 1);
fn smooth(v: num [5], w: num [3], n: int) -> (num [5], num, bool, int) =
  let r = fold v = v for i < n do [j < 5: 0.5 * v[j] + 0.25 * w[j mod 3] * sin(v[(j + 1) mod 5])] in
  (r, sum(r), sum(r) > 3.0, n div 2);
fn picked(v: num [5], i: int) -> num = v[i mod 5];
node forward(v: num [5], n: int) -> (r, s, hot, m, p)
  w = param([0.5, 1.0, 0.25]);
  r, s, hot, m = smooth(v, w, 9 + n mod 3);
  p = power(s, 1 + n mod 4) + picked(r, n) + (0.0 fby 0.5 * p);
node loss(v: num [5], n: int) -> (l)
  r, s, hot, m = smooth(v, param([0.5, 1.0, 0.25]), 9 + n mod 3);
  l = sum(r * r) + (if hot then power(s, 1 + n mod 4) else s) + num(m);
train loss as learn loss mse optim sgd(0.125);
";

#[test]
fn functions_are_clean_too() {
    let cases = [
        ("forward", ""),
        ("forward", "--f32"),
        ("adj_loss", ""),
        ("tan_loss", "--arena 65536"),
        ("adj_loss", "--batch 3 --f32"),
        ("learn", "--max-window 16"),
    ];
    for (node, arguments) in cases {
        let folder = Folder::new("calls").with("calls.eddy", CALLS);
        let mut all = vec!["build", "calls.eddy", "--node", node, "--out", "c"];
        all.extend(arguments.split_whitespace());
        written(&folder.eddy(&all));
        for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
            let printed = compile_and_run(compiler, &folder.0.join("c"), node);
            let printed = printed.unwrap_or_else(|error| panic!("{compiler}: {node} {arguments}: {error}"));
            assert_eq!(printed.lines().count(), 10, "{compiler}: {node}: {printed}");
        }
    }
}

/// A program whose functions are so long that they are cut.
fn long() -> String {
    let n = 120;
    let lines = (0..n).map(|this| {
        let next = this + 1;
        format!(
            "  x{next} = x{this} * 0.25 + (if c then x{this} else 0.5 * post x{next});
  n{next} = ((n{this} fby n{next}) + (if x{next} > 1.0 then n{this} else 2)) mod 7;"
        )
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    format!("node long(x0:num [], c:bool) -> (y, n)\n  n0 = 1;\n{lines}\n  y = x{n}; n = n{n};\n")
}

#[test]
fn long_functions_in_pieces_are_clean_too() {
    let rows = (0..10).map(|t| format!("{{\"x0\":{t}.5,\"c\":{}}}", t % 4 == 3));
    let rows = rows.collect::<Vec<_>>().join("\n");
    let folder = Folder::new("long").with("long.eddy", long()).with("rows.jsonl", rows);
    let run = ["run", "long.eddy", "--node", "long", "--in", "rows.jsonl", "--engine"];
    let [compiled, simulated] =
        ["compiled", "simulate"].map(|engine| written(&folder.eddy(&[&run[..], &[engine]].concat())));
    assert_eq!(compiled, simulated);
    written(&folder.eddy(&["build", "long.eddy", "--node", "long", "--out", "c", "--max-window", "8"]));
    assert!(folder.read("c/long.c").contains("EDDY_PIECE void long_window0_piece0("));
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        let printed = compile_and_run(compiler, &folder.0.join("c"), "long");
        let printed = printed.unwrap_or_else(|error| panic!("{compiler}: {error}"));
        assert_eq!(printed.lines().count(), 10, "{compiler}: {printed}");
    }
}

/// Nodes that look ahead, and their outputs for ten cycles: windows end after five, and `flush` gives the
/// known rest.
const WAITING: &str = "
node ahead(x)->(y) y = x - (0.0 fby back x);
node later(x)->(y,w) y = x - (0.0 fby back x) + (0.0 fby (0.0 fby back (0.0 fby back x))); w = x;
node unknown(x)->(y) y = x - post x;
node partly(x)->(y,z) y = x - post x; z = x - (0.0 fby back (0.0 fby back (0.0 fby back x)));
node ends_late(x,e)->(o) d = (0.0 fby back (0.0 fby back x)) - post x; o = backfill(d,e);
node open(x,e)->(s) s = x + (if true fby e then 0.0 else 0.0 fby back s);
node late(x,e)->(o) d = x - (0.0 fby back x); o = d + (if e then 0.0 else 0.0 fby back o);
node two(x,y,e,g)->(s) s = backfill(x,e) + backfill(y,g);
node sampled(x,c,e)->(o) k = 0.0 fby (k + 1.0); o = backfill(merge c ((k when c) + (0.0 fby (x when c))) (x when not c),e);
";

#[test]
fn what_is_left_is_flushed() {
    if !has("cc") {
        return;
    }
    let nodes = [
        ("ahead", 10),
        ("later", 10),
        ("unknown", 9),
        ("partly", 9),
        ("ends_late", 5),
        ("open", 10),
        ("late", 10),
        ("two", 10),
        ("sampled", 10),
    ];
    for (node, n) in nodes {
        let folder = Folder::new(&format!("flush-{node}")).with("waiting.eddy", WAITING);
        written(&folder.eddy(&["build", "waiting.eddy", "--node", node, "--out", "c", "--max-window", "8"]));
        let printed = compile_and_run("cc", &folder.0.join("c"), node);
        let printed = printed.unwrap_or_else(|error| panic!("{node}: {error}"));
        assert_eq!(printed.lines().count(), n, "{node}: {printed}");
    }
}

#[test]
fn nothing_is_allocated() {
    if !has("cc") || !has("nm") {
        return;
    }
    let folder = Folder::new("allocation");
    let (file, node, arguments) = &NODES[3];
    let file = root().join(file).display().to_string();
    let mut all = vec!["build", &file, "--node", node, "--out", "c"];
    all.extend(arguments.split_whitespace());
    written(&folder.eddy(&all));
    let place = folder.0.join("c");
    let object = place.join("node.o");
    let source = place.join(format!("{node}.c"));
    let built =
        Command::new("cc").args(["-std=c99", "-O2", "-c"]).arg(source).arg("-o").arg(&object).status();
    assert!(built.is_ok_and(|status| status.success()));
    let symbols = Command::new("nm").arg(&object).output().expect("nm is there").stdout;
    let symbols = String::from_utf8_lossy(&symbols).into_owned();
    let is_data = |line: &&str| {
        line.contains(" B ") || line.contains(" b ") || line.contains(" D ") || line.contains(" d ")
    };
    assert_eq!(symbols.lines().filter(is_data).collect::<Vec<_>>(), Vec::<&str>::new(), "no globals");
    for name in ["malloc", "calloc", "realloc", "free"] {
        assert!(!symbols.contains(name), "{symbols}");
    }
}

#[test]
fn files_of_others_are_left_alone() {
    let folder = Folder::new("others").with("twice.eddy", "node twice(x)->(y) y = x + x;");
    let build = ["build", "twice.eddy", "--node", "twice"];
    written(&folder.eddy(&build));
    fs::write(folder.0.join("twice/main.c"), "mine").expect("it can be written");
    let again = written(&folder.eddy(&build));
    assert!(again.contains("kept "), "{again}");
    assert_eq!(folder.read("twice/main.c"), "mine");
    fs::write(folder.0.join("twice/twice.c"), "int mine;").expect("it can be written");
    folder.eddy(&build).fails(1, &["not written by Eddy"]);
    assert_eq!(folder.read("twice/twice.c"), "int mine;");
}

/// Words with a meaning in C, C++, their libraries, compilers, or the package itself.
const WORDS: &str = "
    auto break case char const continue default do double enum extern float for goto inline int long register restrict return short signed sizeof static struct
    switch typedef union unsigned void volatile while _Bool _Complex _Imaginary _Alignas _Alignof _Atomic _Generic _Noreturn _Static_assert _Thread_local
    alignas alignof asm bitand bitor catch class compl const_cast constexpr constinit consteval decltype delete dynamic_cast explicit export friend mutable namespace
    new noexcept nullptr operator private protected public reinterpret_cast requires static_assert static_cast template this thread_local throw try typeid typename
    typeof using virtual wchar_t char8_t char16_t char32_t concept co_await co_return co_yield and_eq or_eq not_eq xor xor_eq
    NULL EOF BUFSIZ FILENAME_MAX FOPEN_MAX L_tmpnam TMP_MAX SEEK_SET SEEK_CUR stdin stdout stderr errno EINVAL EDOM INT64_MIN INT64_MAX INT32_MAX UINT8_MAX SIZE_MAX
    INT64_C PTRDIFF_MAX INTPTR_MIN WCHAR_MAX INT_MAX CHAR_BIT LONG_MIN FLT_MAX DBL_EPSILON LDBL_MIN NAN INFINITY HUGE_VAL M_PI I complex imaginary assert NDEBUG
    RAND_MAX EXIT_SUCCESS CLOCKS_PER_SEC SIGINT SIG_DFL LC_ALL FE_INVALID PRId64 SCNu8 PRIX8 offsetof va_list setjmp linux unix i386
    __func__ __FILE__ __LINE__ __x86_64__ __linux__ __GNUC__ __attribute__ _X __x _x x_present in out self state n t i i0 cycle outputs show main error size_t int64_t bool_
    printf fprintf memcpy exp log tanh fma sqrt pow
    PORTS_MAX_OUTPUTS PORTS_STATE_BYTES OUTS_MAX_OUTPUTS OUTS_STATE_BYTES
    eddy_rt eddy_exp eddy_index EDDY_INLINE EDDY_LANES NUM BITS Num Bits Makefile nothing codes parallel
";

/// The compiler's output for a file, if there is any.
fn complaints(compiler: &str, arguments: &[&str], place: &Path) -> Option<String> {
    let strict = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic", "-c", "-o", "checked.o"];
    let output = Command::new(compiler).args(arguments).args(strict).current_dir(place).output();
    let output = output.expect("the compiler was asked before");
    let said = String::from_utf8_lossy(&output.stderr).lines().take(12).collect::<Vec<_>>().join("\n");
    (!output.status.success()).then_some(said)
}

/// The package in a folder compiles, and its header is valid C++.
#[track_caller]
fn is_strictly_right(place: &Path, name: &str) {
    let user = format!(
        "#include <cerrno>\n#include <cstdio>\n#include \"{name}.h\"\n\
         int use() {{ static {name}_state state; {name}_reset(&state); return {name}_flush(&state, nullptr); }}\n"
    );
    fs::write(place.join("user.cc"), user).expect("it can be written");
    let source = format!("{name}.c");
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler)) {
        for (standard, file) in [("-std=c99", source.as_str()), ("-std=gnu11", "main.c")] {
            assert_eq!(complaints(compiler, &[standard, file], place), None, "{compiler} {standard} {file}");
        }
    }
    // Without a C++ compiler, the header is not compiled as C++.
    if let Some(compiler) = ["g++", "clang++"].into_iter().find(|compiler| has(compiler)) {
        assert_eq!(complaints(compiler, &["-std=gnu++20", "user.cc"], place), None, "{compiler} {name}");
    }
}

#[test]
fn ports_may_have_any_name() {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let inputs: Vec<String> = words.iter().map(|word| format!("{word}:num []")).collect();
    let sum = words.join(" + ");
    let text = format!(
        "node ports({}) -> (y) y = {sum};\nnode outs(q:num []) -> ({}) {}\n",
        inputs.join(", "),
        words.join(", "),
        words.iter().map(|word| format!("{word} = q + 1.0;")).collect::<Vec<_>>().join(" ")
    );
    let folder = Folder::new("ports").with("ports.eddy", text);
    for node in ["ports", "outs"] {
        written(&folder.eddy(&["build", "ports.eddy", "--node", node]));
        is_strictly_right(&folder.0.join(node), node);
    }
}

#[test]
fn presence_has_a_field_of_its_own() {
    let programs = [
        "node p(c:bool, x, x_present) -> (y, y_present) y = x when c; y_present = x_present + 1.0;",
        "node p(c:bool, x_present, x) -> (y_present, y) y = x when c; y_present = x_present + 1.0;",
        "node p(c:bool, x, x_present, x_present_) -> (y, y_present) y = (x + x_present_) when c; y_present = x_present when c;",
    ];
    for program in programs {
        let folder = Folder::new("presence").with("p.eddy", program);
        written(&folder.eddy(&["build", "p.eddy", "--node", "p"]));
        is_strictly_right(&folder.0.join("p"), "p");
    }
}

#[test]
fn nodes_may_have_any_name() {
    let names = [
        ("main", "main_"),
        ("Makefile", "Makefile_"),
        ("eddy_rt", "eddy_rt_"),
        ("clean", "clean_"),
        ("Main", "Main_"),
        ("eddy", "eddy_"),
        ("INT64_MIN", "INT64_MIN"),
        ("EOF", "EOF"),
        ("__func__", "n__func__"),
        ("_stdint", "_stdint"),
        ("int", "int"),
        ("class", "class"),
        ("state", "state"),
        ("in", "in"),
    ];
    for (node, name) in names {
        let folder = Folder::new("node").with("n.eddy", format!("node {node}(x) -> (y) y = x + 1.0;"));
        let ended = folder.eddy(&["build", "n.eddy", "--node", node, "--out", "c"]);
        written(&ended);
        is_strictly_right(&folder.0.join("c"), name);
        if has("make") {
            let made = Command::new("make")
                .arg("CFLAGS=-O0")
                .current_dir(folder.0.join("c"))
                .output()
                .expect("make is there");
            assert!(made.status.success(), "{node}: {}", String::from_utf8_lossy(&made.stderr));
            assert!(folder.0.join("c").join(name).is_file(), "{node}");
        }
    }
}
