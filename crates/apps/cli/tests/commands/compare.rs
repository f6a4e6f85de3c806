//! `eddy compare`: every semantics of a program, side by side.

use crate::folder::Folder;

const AGREE: &str = "\
node acc(x)->(s) s = x + (0.0 fby s);
run acc { x: 1 2 3; }
fn cube(x: num) -> num = x * x * x;
eval grad(cube, 2.0);
";

#[test]
fn semantics_that_agree_are_shown_side_by_side() {
    let folder = Folder::new("compare").with("a.eddy", AGREE);
    let text = folder.answer("compare a.eddy");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("run acc (2:5): ") && lines[0].ends_with(" semantics agree"), "{text}");
    // Without a C compiler there is no compiled column.
    assert!(lines[1].starts_with("  simulate  denote   plan"), "{text}");
    assert!(lines[2].starts_with("  {\"s\":1}   {\"s\":1}  {\"s\":1}"), "{text}");
    assert_eq!(lines[5], "fn cube (3:4): 3 semantics agree");
    assert_eq!(lines[6].split_whitespace().collect::<Vec<_>>(), ["reverse", "forward", "differences"]);
    assert!(lines[8].starts_with("eval (4:1): "), "{text}");
    assert!(lines[9].starts_with("  interpret") && lines[10].starts_with("  12"), "{text}");
    let json = folder.answer("compare a.eddy --json");
    assert!(json.contains("\"answer\":{\"agrees\":true,\"items\":[{\"name\":\"run acc (2:5)\""), "{json}");
}

#[test]
fn the_first_difference_is_marked_and_the_exit_code_is_1() {
    let wrong = "fn f(x: num, y: num) -> num = x * y;\n\
                 fn adj_f(x: num, y: num, dy: num) -> (num, num, num) = (f(x, y), y * dy, 2.0 * x * dy);\n";
    let folder = Folder::new("compare_wrong").with("a.eddy", wrong);
    let ended = folder.call("compare a.eddy");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines[0], "fn f (1:4): differs at line 2");
    assert!(lines[2].starts_with("  x: ") && lines[3].starts_with("> y: "), "{}", ended.stdout);
    let json = folder.call("compare a.eddy --json");
    assert!(json.stdout.contains("\"status\":\"differs\"") && json.stdout.contains("\"first_difference\":1"));
}

/// The first line of an answer, and the names of its columns.
fn heads(text: &str) -> (String, Vec<String>) {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().to_string();
    (first, lines.next().unwrap_or_default().split_whitespace().map(str::to_string).collect())
}

#[test]
fn a_program_of_another_language_is_compared_with_its_translation() {
    let folder = Folder::new("compare_kernels")
        .with("a.rd", "let f(x:real, y:real):real = x * x * y in (f(3, 2), 1.rd[3](x. f(x, 2)))")
        .with("a.pb", "def twice f x = f (f x); def cube x = x^3;\n(twice cube 2, grad cube at 2)")
        .with("a.cd", "(fix \\f:nat -> nat. \\n:nat. if n then 0 else succ succ (f (pred n))) 21")
        .with("a.lam", "let f = \\self n. if n = 0 then 1 else n * self self (n - 1) in f f 10");
    let cases = [
        (
            "a.rd",
            "rd program (1:1): 6 semantics agree",
            "tape reference transform denote interpret",
            "(18, 12)",
        ),
        (
            "a.pb",
            "pullback program (2:1): 5 semantics agree",
            "fast reference translation interpret",
            "<512, 12>",
        ),
        ("a.cd", "coherent program (1:1): 5 semantics agree", "env det nd interpret", "42"),
        ("a.lam", "lam program (1:1): 4 semantics agree", "closures ask interpret", "3628800"),
    ];
    for (file, first, columns, value) in cases {
        let text = folder.answer(&format!("compare {file}"));
        let (found, names) = heads(&text);
        // Without a C compiler there is no compiled column.
        let n_compiled = usize::from(names.last().is_some_and(|name| name == "compiled"));
        assert_eq!(names[..names.len() - n_compiled].join(" "), columns, "{text}");
        let (what, _) = first.split_once("): ").expect("a place");
        assert!(found.starts_with(what) && found.ends_with(" semantics agree"), "{text}");
        assert!(text.lines().nth(2).is_some_and(|line| line.contains(value)), "{text}");
    }
    let text = folder.answer("compare a.rd");
    assert!(text.contains("fn f (1:5): 3 semantics agree\n  reverse"), "{text}");
    let json = folder.answer("compare a.cd --json");
    assert!(json.contains("\"agrees\":true,\"items\":[{\"name\":\"coherent program"), "{json}");
    assert!(json.contains("\"env\":[\"42\"]"), "{json}");
}

#[test]
fn what_has_no_translation_is_named_and_the_engines_are_compared() {
    let folder = Folder::new("compare_outside")
        .with("clarke.rd", "use clarke\ngrad[0](x. relu(x))")
        .with("pair.pb", "let p = <\\x:R. x, 1> in snd p")
        .with("pair.cd", "pi1 (inj1 3)")
        .with("both.lam", "let id = \\x. x in if 1 then id 3 else id id 3");
    let outside = [
        (
            "clarke.rd",
            "[0, 1]",
            "clarke.rd:1:5: warning[E0216]: `use clarke` cannot be translated to functions",
        ),
        ("pair.pb", "1", "pair.pb:1:9: warning[E0216]: a pair with a function cannot be translated"),
        ("pair.cd", "3", "pair.cd:1:6: warning[E0216]: an operation on summable pairs cannot be translated"),
        ("both.lam", "3", "warning[E0216]: a term that is used as a number and as a function"),
    ];
    for (file, value, message) in outside {
        let ended = folder.call(&format!("compare {file} --short"));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(ended.stdout.lines().nth(2).is_some_and(|line| line.contains(value)), "{}", ended.stdout);
        assert!(!ended.stdout.contains("interpret"), "{}", ended.stdout);
        assert!(ended.stderr.contains(message), "{}", ended.stderr);
    }
}

#[test]
fn where_a_kernel_has_no_value_functions_are_shown_and_not_compared() {
    let folder = Folder::new("compare_undefined")
        .with("tie.rd", "relu(1 - 1)")
        .with("forever.rd", "letrec f(x:real):real = f(x + 1) in f(0)");
    let tie = folder.answer("compare tie.rd");
    assert!(tie.starts_with("rd program (1:1): 4 semantics agree; not compared: interpret"), "{tie}");
    assert!(tie.contains("undefined: lt at (0, 0)"), "{tie}");
    let forever = folder.answer("compare forever.rd --fuel 1000");
    assert!(forever.contains("diverged: out of fuel") && forever.contains("out of fuel"), "{forever}");
}

#[test]
fn a_program_with_mistakes_is_refused() {
    let folder = Folder::new("compare_mistakes").with("a.rd", "x + 1");
    let ended = folder.call("compare a.rd --short");
    assert_eq!((ended.code, &*ended.stdout), (Some(1), ""));
    assert!(ended.stderr.contains("error[RD003]"), "{}", ended.stderr);
}
