//! `eddy train` for users: what it learns, what it keeps, and that nothing is lost.

use std::fmt::Write;

use crate::folder::{Ended, Folder, bytes};

const LINE: &str = "node line(x)->(y)
  k = param(0.0);
  y = k * x + param(0.0);
train line as learn loss mse optim adam(0.1,0.9,0.999,0.00000001);
";

const RECURRENT: &str = "node rnn(x)->(y)
  h = tanh(param(0.5) * x + param(0.3) * (0.0 fby h));
  y = param(1.0) * h;
train rnn as learn loss mse optim sgd(0.1) segment;
";

/// Rows of a line with slope 2 and offset -3.
fn line_data(n: i32) -> String {
    let mut text = "x,gt\n".to_string();
    for row in 0..n {
        let x = f64::from(row * 7 % 13) / 3.0 - 2.0;
        let _ = writeln!(text, "{x},{}", 2.0 * x - 3.0);
    }
    text
}

/// Sequences of 6 rows.
fn sequences(n: i32) -> String {
    let mut text = "x,gt,end\n".to_string();
    for row in 0..6 * n {
        let x = f64::from(row * 5 % 11) / 11.0 - 0.5;
        let _ = writeln!(text, "{x},{},{}", 0.4 * x, row % 6 == 5);
    }
    text
}

fn last_loss(folder: &Folder, run: &str) -> f64 {
    let metrics =
        String::from_utf8(bytes(folder, &format!("{run}/metrics.jsonl"))).expect("metrics are UTF-8");
    let line = metrics.lines().last().expect("there is an epoch");
    let number = line.split("\"loss\":").nth(1).and_then(|rest| rest.split([',', '}']).next());
    number.expect("a line has a loss").parse().expect("a loss is a number")
}

#[test]
fn a_line_is_learnt_and_used() {
    let folder = Folder::new("line").with("line.eddy", LINE).with("data.csv", line_data(60));
    let answer = folder.answer("train line.eddy --in data.csv --validate data.csv --epochs 20 --run run");
    assert!(answer.contains("parameters: run/parameters.safetensors"), "{answer}");
    assert!(last_loss(&folder, "run") < 1e-3);
    let folder = folder.with("x.jsonl", "{\"x\":1}\n{\"x\":-1}\n");
    let answer = folder.answer("run line.eddy --node line --in x.jsonl --params run/parameters.safetensors");
    let values: Vec<f64> = answer
        .lines()
        .map(|line| line.trim_start_matches("{\"y\":").trim_end_matches('}').parse().expect("a number"))
        .collect();
    assert!((values[0] + 1.0).abs() < 0.05 && (values[1] + 5.0).abs() < 0.05, "{answer}");
    assert!(String::from_utf8_lossy(&bytes(&folder, "run/loss.svg")).starts_with("<svg"));
    assert!(String::from_utf8_lossy(&bytes(&folder, "run/run.json")).contains("\"source_hash\""));
}

#[test]
fn a_run_that_is_resumed_goes_on_bit_for_bit() {
    for (name, program, data) in [("line", LINE, line_data(40)), ("rnn", RECURRENT, sequences(12))] {
        let folder = Folder::new(&format!("resume_{name}")).with("p.eddy", program).with("data.csv", data);
        folder.answer("train p.eddy --in data.csv --epochs 7 --seed 5 --run whole");
        folder.answer("train p.eddy --in data.csv --epochs 3 --seed 5 --run parts");
        folder.answer("train p.eddy --in data.csv --epochs 7 --seed 5 --run parts --resume");
        for file in ["checkpoint.safetensors", "parameters.safetensors"] {
            assert_eq!(
                bytes(&folder, &format!("whole/{file}")),
                bytes(&folder, &format!("parts/{file}")),
                "{name}: {file}"
            );
        }
    }
}

#[test]
fn loops_that_run_again_change_no_bit() {
    let folder = Folder::new("again").with("p.eddy", RECURRENT).with("data.csv", sequences(12));
    let again = "--checkpoint sqrt";
    folder.answer("train p.eddy --in data.csv --epochs 4 --run kept");
    folder.answer(&format!("train p.eddy --in data.csv --epochs 4 --run again {again}"));
    let file = |run: &str| bytes(&folder, &format!("{run}/parameters.safetensors"));
    assert_eq!(file("kept"), file("again"));
    let folder = folder.with("one.csv", "x,bp,gt,end\n1,true,2,false\n2,true,1,false\n-1,true,0,true\n");
    let run = "run p.eddy --node learn --in one.csv";
    assert_eq!(folder.answer(run), folder.answer(&format!("{run} {again}")));
}

#[test]
fn early_stopping_keeps_the_best_parameters() {
    let folder = Folder::new("patience").with("p.eddy", LINE).with("data.csv", line_data(40));
    let answer = folder.answer("train p.eddy --in data.csv --epochs 500 --patience 3 --run run");
    let metrics = String::from_utf8(bytes(&folder, "run/metrics.jsonl")).expect("metrics are UTF-8");
    assert!(metrics.lines().count() < 500, "{answer}");
}

#[test]
fn a_run_that_diverges_reports_where_and_keeps_its_checkpoint() {
    let program = LINE.replace("adam(0.1,0.9,0.999,0.00000001)", "sgd(1.5)");
    let folder = Folder::new("diverges").with("p.eddy", program).with("data.csv", line_data(40));
    let message = folder.refusal("train p.eddy --in data.csv --epochs 50 --run run");
    assert!(message.contains("E0804") && message.contains("at cycle"), "{message}");
    assert!(message.contains("try a smaller rate"), "{message}");
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let folder = Folder::new("misfits").with("p.eddy", LINE).with("data.csv", line_data(8));
    folder.answer("train p.eddy --in data.csv --epochs 1 --run run");
    let other = LINE.replace("k = param(0.0)", "slope = param(0.0)").replace("k * x", "slope * x");
    let folder = folder.with("other.eddy", other).with("junk.safetensors", "junk");
    let message =
        folder.refusal("run other.eddy --node line --in data.csv --params run/parameters.safetensors");
    assert!(message.contains("E0703") && message.contains("`slope`"), "{message}");
    let message = folder.refusal("run p.eddy --node line --in data.csv --params junk.safetensors");
    assert!(message.contains("is no file of parameters"), "{message}");
    let message = folder.refusal("train other.eddy --in data.csv --epochs 2 --run run --resume");
    assert!(message.contains("does not fit"), "{message}");
    let message = folder.refusal("train p.eddy --in data.csv --run nowhere --resume");
    assert!(message.contains("no checkpoint to resume from"), "{message}");
    let folder = folder.with("x.csv", "x\n1\n");
    let message = folder.refusal("train p.eddy --in x.csv");
    assert!(message.contains("the data have nothing for the input `gt`"), "{message}");
    let message = folder.refusal("train p.eddy --in data.csv --const units=3");
    assert!(message.contains("has no input `units` for `--const`"), "{message}");
    let message = folder.refusal("train p.eddy --in missing.csv");
    assert!(message.contains("there is no such file"), "{message}");
    let message = folder.refusal("train p.eddy --in data.csv --run p.eddy/run");
    assert!(message.contains("cannot make the folder"), "{message}");
}

#[test]
fn data_that_teach_nothing_are_refused() {
    let folder = Folder::new("silent")
        .with("p.eddy", LINE)
        .with("data.csv", line_data(4))
        .with("header.csv", "x,gt\n")
        .with("nan.csv", "x,gt\n1,2\nnan,3\n")
        .with("off.csv", "x,gt,bp\n1,2,false\n2,3,false\n")
        .with("hole.csv", "x,gt\n1,2\n2,3\n3,\n4,5\n")
        .with("unjudged.csv", "x,gt,bp\n1,2,true\n2,,false\n3,,true\n")
        .with("unsaid.csv", "x,gt,bp\n1,2,true\n2,3,\n")
        .with("blank.csv", "x,gt\n1,2\n,3\n");
    for (line, expected) in [
        ("--in hole.csv", "row 3 of the data has nothing for `gt`, where `bp` is true"),
        ("--in unjudged.csv", "row 3 of the data has nothing for `gt`, where `bp` is true"),
        ("--in unsaid.csv", "row 2 of the data has nothing for `bp`"),
        ("--in blank.csv", "row 2 of the data has nothing for `x`"),
        (
            "--in data.csv --validate hole.csv",
            "row 3 of the data for validation has nothing for `gt`, where `bp` is true",
        ),
        ("--in header.csv", "the data have no rows"),
        ("--in nan.csv", "row 2 of the data has a number for `x` that is not finite"),
        ("--in off.csv", "the data give no loss at any row"),
        ("--in data.csv --validate off.csv", "the data for validation give no loss at any row"),
        (
            "--in data.csv --sequence 2",
            "`--sequence` says where sequences end, but nothing here asks for that",
        ),
        ("--in data.csv --cut 2", "`--cut` says where gradients are cut, but nothing here asks for that"),
        ("--in data.csv --run p.eddy", "is a file; a run needs a folder"),
    ] {
        let message = folder.refusal(&format!("train p.eddy {line}"));
        assert!(message.contains(expected), "{line}: {message}");
    }
}

/// Each row of a table has a target, and `bp` chooses the rows to learn from.
#[test]
fn rows_to_learn_from_are_chosen_by_bp() {
    let folder = Folder::new("chosen").with("p.eddy", LINE);
    let folder = folder.with("all.csv", "x,gt,bp\n1,2,true\n5,900,false\n2,3,true\n");
    let folder = folder.with("some.csv", "x,gt,bp\n1,2,true\n5,,false\n2,3,true\n");
    folder.answer("train p.eddy --in all.csv --epochs 2 --run all");
    folder.answer("train p.eddy --in some.csv --epochs 2 --run some");
    let [all, some] = ["all", "some"].map(|run| bytes(&folder, &format!("{run}/parameters.safetensors")));
    assert_eq!(all, some);
}

/// Parameters change once per sequence, if `bp` holds at its first row; other values of `bp` are reported.
#[test]
fn sequences_without_learning_are_reported() {
    let row = |row: i32, bp: bool| format!("{row},{bp},{},{}\n", if bp { "1" } else { "" }, row % 3 == 2);
    let late: String = (0..9).map(|n| row(n, n % 3 == 2)).collect();
    let early: String = (0..9).map(|n| row(n, n % 3 == 0 || n == 8)).collect();
    let folder = Folder::new("unmoved")
        .with("p.eddy", RECURRENT)
        .with("late.csv", format!("x,bp,gt,end\n{late}"))
        .with("early.csv", format!("x,bp,gt,end\n{early}"));
    let messages = |data: &str| {
        let ended = folder.call(&format!("train p.eddy --in {data} --epochs 1"));
        assert_eq!(ended.code, Some(0));
        ended.stderr
    };
    let message = messages("late.csv");
    assert!(message.contains("`bp` is false at the first row of 3 of 3 sequences"), "{message}");
    assert!(!messages("early.csv").contains("`bp` is false"));
}

#[test]
fn results_have_a_machine_form() {
    let folder = Folder::new("json").with("p.eddy", LINE).with("data.csv", line_data(8));
    let Ended { stdout: answer, stderr, .. } =
        folder.call("train p.eddy --in data.csv --epochs 2 --run run --json");
    assert!(answer.starts_with("{\"version\":1,\"command\":\"train\",\"status\":\"answered\""), "{answer}");
    assert!(stderr.is_empty());
}

#[test]
fn nodes_that_cannot_be_trained_are_refused() {
    let folder = Folder::new("nothing")
        .with("none.eddy", "node f(x)->(y) y = x;\n")
        .with("several.eddy", format!("{LINE}train line as again loss mse optim sgd(0.1);\n"))
        .with("data.csv", line_data(4));
    let message = folder.refusal("train none.eddy --in data.csv");
    assert!(message.contains("E0607") && message.contains("declares no training node"), "{message}");
    let message = folder.refusal("train several.eddy --in data.csv");
    assert!(message.contains("learn, again"), "{message}");
}

/// Rows are shuffled, so the cycle within an epoch does not identify the row: a message names the row.
#[test]
fn an_error_names_the_row_of_the_data() {
    let program = "node table(i:int [])->(y)\n  y = matmul(onehot(3, i), param([0.0, 0.0, 0.0]));\ntrain table as learn loss mse optim sgd(0.1);\n";
    let mut data = "i,gt\n".to_string();
    for row in 1..=20 {
        let _ = writeln!(data, "{},1", if row == 13 { 7 } else { row % 3 });
    }
    let folder = Folder::new("placed").with("p.eddy", program).with("data.csv", data);
    for options in ["", "--seed 3", "--engine simulate", "--batch 1"] {
        let message = folder.refusal(&format!("train p.eddy --in data.csv {options}"));
        assert!(message.contains("the index 7 is out of range"), "{options}: {message}");
        assert!(message.contains("that is row 13 of the data"), "{options}: {message}");
    }
    // Without shuffling, the cycle is the row.
    let message = folder.refusal("train p.eddy --in data.csv --no-shuffle");
    assert!(message.contains("at cycle 12") && !message.contains("of the data"), "{message}");
    let message = folder.refusal("train p.eddy --in data.csv --batch 20");
    assert!(message.contains("and others of the data"), "{message}");
}
