//! `eddy compare`: a program under every semantics, side by side.

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
