//! Data as people have them: columns of other names, texts, missing values, other units, other formats.

use std::fmt::Write;

use crate::folder::{Folder, bytes, losses};

/// Two inputs, and a weight for each and for the kind.
const PRICE: &str = "node price(x, kind:int []) -> (y)
  y = sum(param([0.5, 0.5]) * x) + matmul(onehot(3, kind), param([0.0, 0.0, 0.0]));
train price as learn loss mse optim sgd(0.05);
";

const COLUMNS: &str = "--columns x=size,age --columns kind=town --category town --target price";

/// Rows with blanks, texts and Windows line ends, and columns that nothing reads.
fn houses(n: i32) -> String {
    let mut text = "id, size ,age,town,price\r\n".to_string();
    for row in 0..n {
        let (size, age, town) = (row * 7 % 11, row * 5 % 13, row % 3);
        let price = 0.25 * f64::from(size) - 0.125 * f64::from(age) + f64::from(town);
        let town = ["Ulm", "\"Bad, Ems\"", "Trier"][usize::try_from(town).expect("it is positive")];
        let _ = write!(text, "{row},{size},{age},{town},{price}\r\n");
    }
    text
}

/// The numbers of the only output of each row.
fn numbers(answer: &str) -> Vec<f64> {
    let number = |line: &str| line.trim_end_matches('}').rsplit(':').next().map(str::parse);
    answer.lines().map(|line| number(line).expect("a line has a number").expect("it is a number")).collect()
}

#[test]
fn a_table_is_learnt_and_used_with_its_columns_and_categories() {
    let folder = Folder::new("houses").with("p.eddy", PRICE).with("data.csv", houses(60));
    let train = format!("train p.eddy --in data.csv {COLUMNS} --normalize x --epochs 40 --run run");
    let ended = folder.call(&train);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("`town` has 3 categories: 0 = Ulm, 1 = Bad, Ems, 2 = Trier"),
        "{}",
        ended.stderr
    );
    // The parameters know the columns, the categories and the units.
    let folder = folder.with("new.csv", "town,age,size\nTrier,2,10\n\"Bad, Ems\",8,4\n");
    let run = "run p.eddy --node price --in new.csv --params run/parameters.safetensors";
    let found = numbers(&folder.answer(run));
    assert!((found[0] - 4.25).abs() < 0.05 && (found[1] - 1.0).abs() < 0.05, "{found:?}");
    assert_eq!(folder.answer(run), folder.answer(&format!("{run} --engine simulate")));
    let folder = folder.with("bad.csv", "town,age,size\nTrier,2,10\nBonn,8,4\n");
    let ended =
        folder.call("run --short p.eddy --node price --in bad.csv --params run/parameters.safetensors");
    assert_eq!(ended.code, Some(1));
    let message = "bad.csv:3:1: error[E0701]: `town` has the text `Bonn`, which the training data did not have: it had `Ulm`, `Bad, Ems`, `Trier`";
    assert!(ended.stderr.contains(message), "{}", ended.stderr);
    let folder = folder.with("late.csv", houses(3).replace("Trier", "Bonn"));
    let message =
        folder.refusal(&format!("train p.eddy --in data.csv --validate late.csv {COLUMNS} --run other"));
    assert!(message.contains("`town` has the text `Bonn`"), "{message}");
}

#[test]
fn a_run_is_resumed_with_its_columns_categories_and_units() {
    let folder = Folder::new("resumed").with("p.eddy", PRICE).with("data.csv", houses(30));
    let train = format!("train p.eddy --in data.csv {COLUMNS} --normalize x --split 0.7");
    folder.answer(&format!("{train} --epochs 5 --run whole"));
    folder.answer(&format!("{train} --epochs 2 --run parts"));
    let ended = folder.call(&format!("{train} --epochs 5 --run parts --resume"));
    assert!(!ended.stderr.contains("changed"), "{}", ended.stderr);
    for file in ["checkpoint.safetensors", "parameters.safetensors"] {
        assert_eq!(
            bytes(&folder, &format!("whole/{file}")),
            bytes(&folder, &format!("parts/{file}")),
            "{file}"
        );
    }
    let ended = folder.call(&format!("{train} --epochs 6 --run parts --resume --pad --batch 4 --f32"));
    for what in ["the batch changed", "whether batches are padded changed", "the precision changed"] {
        assert!(ended.stderr.contains(what), "{}", ended.stderr);
    }
}

#[test]
fn columns_that_are_not_there_are_refused() {
    let folder = Folder::new("columns").with("p.eddy", PRICE).with("data.csv", houses(6));
    for (options, message) in [
        ("--columns x=size,depth --target price", "`x=size,depth`: there is no column `depth`"),
        ("--columns x=size..id --target price", "`x=size..id`: the column `size` comes after `id`"),
        ("--columns z=size --target price", "the node `learn` has no input `z` for `--columns`"),
        ("--columns x=size,age --target cost", "the data have nothing for the input"),
        ("--columns x=size,age --target price", "the data have nothing for the input `kind`"),
        (
            "--columns x=size,town --columns kind=id --target price",
            "`town` must be a number or a truth value",
        ),
        ("--columns x=size,age --columns kind=id --columns gt=age --target price", "both name the target"),
        (
            "--columns x=size,age --columns kind=id --target price --category place",
            "no input reads a column `place` for `--category`",
        ),
        (
            "--columns x=size,age --columns kind=id --target price --normalize kind",
            "`kind` cannot be normalised",
        ),
        ("--columns x=size,age --columns kind=id --target price --normalize gt", "`gt` cannot be normalised"),
        ("--columns x=size,age --columns kind=id --target price --normalize w", "there is no input `w`"),
    ] {
        let message_found = folder.refusal(&format!("train p.eddy --in data.csv {options}"));
        assert!(message_found.contains(message), "{options}: {message_found}");
    }
    folder
        .eddy(&["run", "p.eddy", "--node", "price", "--in", "data.csv", "--columns", "z=id"])
        .fails(1, &["the node `price` has no input `z`"]);
    folder.eddy(&["train", "p.eddy", "--in", "data.csv", "--columns", "x"]).fails(2, &["INPUT=COLUMNS"]);
}

/// All engines, and C, normalise alike.
#[test]
fn normalisation_is_part_of_the_program() {
    let folder = Folder::new("units").with("p.eddy", PRICE).with("data.csv", houses(40));
    folder.answer(&format!("train p.eddy --in data.csv {COLUMNS} --normalize x --epochs 3 --run run"));
    let run = "run p.eddy --node price --in data.csv --params run/parameters.safetensors";
    let simulated = folder.answer(&format!("{run} --engine simulate"));
    for engine in ["compiled", "denote"] {
        assert_eq!(folder.answer(&format!("{run} --engine {engine}")), simulated, "{engine}");
    }
    let built = folder.answer("build p.eddy --node price --params run/parameters.safetensors --out c");
    assert!(built.contains("wrote c/"), "{built}");
    assert!(folder.read("c/price.c").contains(" / "), "the deviation divides");
    // A node without this input cannot be given the parameters.
    let other = PRICE.replace("price(x,", "price(z,").replace("* x)", "* z)");
    let folder = folder.with("other.eddy", other);
    let message = folder.refusal(
        "run other.eddy --node price --in data.csv --columns z=size,age --params run/parameters.safetensors",
    );
    assert!(message.contains("normalises an input `x`, and the node has none of that name"), "{message}");
}

const LINE: &str =
    "node line(x)->(y)\n  y = param(0.0) * x + param(0.0);\ntrain line as learn loss mse optim sgd(0.1);\n";

#[test]
fn rows_with_missing_values_are_errors_or_counted() {
    let table = "x,gt\n1,2\nNA,3\n3,-\n4,\n0.5,1\n";
    let folder = Folder::new("missing").with("p.eddy", LINE).with("data.csv", table);
    let train = "train p.eddy --in data.csv --missing - --epochs 3";
    let message = folder.refusal(train);
    assert!(message.contains("row 2 of the data has nothing for `x`"), "{message}");
    assert!(message.contains("--skip-missing"), "{message}");
    let ended = folder.call(&format!("{train} --skip-missing --run skipped"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("1 of 5 rows have no value for an input: they are left out"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("2 of 5 rows have no target: nothing is learnt from them"),
        "{}",
        ended.stderr
    );
    // The same as without these rows, in the order of the data.
    let folder = folder.with("whole.csv", "x,gt\n1,2\n0.5,1\n");
    folder.answer(&format!("{train} --skip-missing --no-shuffle --run ordered"));
    folder.answer("train p.eddy --in whole.csv --epochs 3 --no-shuffle --run whole");
    let [ordered, whole] = ["ordered", "whole"].map(|run| losses(&folder, run));
    assert_eq!(ordered, whole);
    // Validation skips the same rows.
    let ended = folder.call(&format!("{train} --skip-missing --validate data.csv --run validated"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // A sequence with a hole would join rows that are no neighbours.
    let recurrent = "node f(x)->(y)\n  y = param(0.5) * x + param(0.5) * (0.0 fby x);\n\
        train f as learn loss mse optim sgd(0.1) segment;\n";
    let folder = folder.with("r.eddy", recurrent);
    let message = folder.refusal("train r.eddy --in data.csv --missing - --skip-missing");
    assert!(message.contains("row 2 of the data has nothing for `x`"), "{message}");
}

#[test]
fn data_are_divided_by_part_group_and_value() {
    let mut table = "x,gt,who,part\n".to_string();
    for row in 0..40 {
        let x = f64::from(row % 8) / 8.0;
        let _ = writeln!(table, "{x},{},p{},{}", 2.0 * x, row % 4, if row < 30 { "train" } else { "test" });
    }
    let folder = Folder::new("divided").with("p.eddy", LINE).with("data.csv", table);
    for (options, n) in [("--split 0.8", 8), ("--split 0.5 --split-by who", 20), ("--split-by part=test", 10)]
    {
        let ended = folder.call(&format!("train p.eddy --in data.csv --epochs 2 {options}"));
        assert!(
            ended.stderr.contains(&format!("note: {n} rows are kept for validation")),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("validation 0."), "{}", ended.stderr);
    }
    for (options, message) in [
        ("--split-by part=late", "no data are left for validation"),
        ("--split-by where=x", "row 1 has nothing in the column `where`"),
    ] {
        let found = folder.refusal(&format!("train p.eddy --in data.csv {options}"));
        assert!(found.contains(message), "{options}: {found}");
    }
    for options in ["--split 1.5", "--split 0", "--split-by who", "--split 0.5 --split-by part=test"] {
        assert_eq!(folder.call(&format!("train p.eddy --in data.csv {options}")).code, Some(2), "{options}");
    }
    // The last rows of a stream are for validation.
    let memory = "node f(x)->(y)\n  y = param(0.5) * x + 0.5 * (0.0 fby x);\n\
        train f as learn loss mse optim sgd(0.1);\n";
    let folder = folder.with("m.eddy", memory);
    folder.answer("train m.eddy --in data.csv --split-by part=test --epochs 2 --run value");
    folder.answer("train m.eddy --in data.csv --split 0.75 --epochs 2 --run part");
    assert_eq!(losses(&folder, "value"), losses(&folder, "part"));
    let message = folder.refusal("train m.eddy --in data.csv --split-by who=p1");
    assert!(message.contains("the rows of the two parts are mixed"), "{message}");
}

#[test]
fn data_that_are_streamed_train_alike() {
    let mut table = "x,gt\n".to_string();
    for row in 0..50 {
        let x = f64::from(row * 7 % 11) / 11.0;
        let _ = writeln!(table, "{x},{}", 2.0 * x - 1.0);
    }
    let folder = Folder::new("streamed").with("p.eddy", LINE).with("data.csv", &table);
    let train = "train p.eddy --in data.csv --validate data.csv --normalize x --epochs 4";
    folder.answer(&format!("{train} --no-shuffle --run kept"));
    folder.answer(&format!("{train} --no-shuffle --stream --run streamed"));
    let same = |left: &str, right: &str| {
        let file = |run: &str| bytes(&folder, &format!("{run}/parameters.safetensors"));
        assert_eq!((losses(&folder, left), file(left)), (losses(&folder, right), file(right)));
    };
    same("kept", "streamed");
    // Shuffled in a buffer, and resumed.
    folder.answer(&format!("{train} --stream=10 --run whole"));
    folder.answer(&format!("{} --stream=10 --run parts", train.replace("--epochs 4", "--epochs 2")));
    folder.answer(&format!("{train} --stream=10 --run parts --resume"));
    same("whole", "parts");
    assert_ne!(losses(&folder, "whole"), losses(&folder, "streamed"));
    // Sequences, in batches.
    let recurrent = "node f(x)->(y)\n  y = tanh(param(0.5) * x + param(0.5) * (0.0 fby y));\n\
        train f as learn loss mse optim sgd(0.1) segment;\n";
    let folder = Folder(folder.0.clone()).with("r.eddy", recurrent);
    for options in ["--sequence 5", "--sequence 5 --batch 2", "--sequence 7 --batch 3 --pad"] {
        let train = format!("train r.eddy --in data.csv --epochs 2 --no-shuffle {options}");
        let name = options.replace([' ', '-'], "");
        folder.answer(&format!("{train} --run {name}k"));
        folder.answer(&format!("{train} --stream --run {name}s"));
        assert_eq!(losses(&folder, &format!("{name}k")), losses(&folder, &format!("{name}s")), "{options}");
    }
    let ended =
        folder.eddy_with_input(&["train", "p.eddy", "--in", "-", "--in-format", "csv", "--stream"], &table);
    ended.fails(1, &["a pipe can be read only once"]);
}

#[test]
fn a_padded_batch_has_the_mean_gradient_of_its_sequences() {
    let program = |optimiser: &str, mean: &str| {
        format!(
            "node f(x)->(y)\n  y = tanh(param(0.5) * x + param(0.25) * (0.0 fby y));\n\
             train f as learn loss mse optim {optimiser} segment{mean};\n"
        )
    };
    // Sequences of 3, 1, 5 and 2 rows.
    let mut table = "x,gt,end\n".to_string();
    for (row, end) in (0..11).zip("..EE....E.E".chars()) {
        let x = f64::from(row * 5 % 7) / 7.0;
        let _ = writeln!(table, "{x},{},{}", 0.5 - x, end == 'E');
    }
    let folder = Folder::new("padded").with("data.csv", &table).with("x.csv", "x\n1\n-2\n0.5\n");
    for mean in ["", " mean"] {
        let folder = Folder(folder.0.clone())
            .with("batch.eddy", program("sgd(0.1)", mean))
            .with("sums.eddy", program("accumulated(4, sgd(rate = 0.1))", mean));
        let values =
            |program: &str, options: &str| {
                let run = format!("run{}", options.replace([' ', '-'], "_"));
                let _ = std::fs::remove_dir_all(folder.0.join(&run));
                let train =
                    format!("train {program} --in data.csv --no-shuffle --epochs 1 --run {run} {options}");
                let ended = folder.call(&train);
                assert_eq!(ended.code, Some(0), "{}", ended.stderr);
                assert!(!ended.stderr.contains("left out"), "{}", ended.stderr);
                numbers(&folder.answer(&format!(
                    "run batch.eddy --node f --in x.csv --params {run}/parameters.safetensors"
                )))
            };
        let expected = values("sums.eddy", "");
        // Four sequences in one group; and in a group that has room for more.
        for batch in ["--batch 4 --pad", "--batch 7 --pad"] {
            for engine in ["compiled", "simulate"] {
                let found = values("batch.eddy", &format!("{batch} --engine {engine}"));
                let is_close = |(left, right): (&f64, &f64)| (left - right).abs() < 1e-12;
                assert!(found.iter().zip(&expected).all(is_close), "{mean} {batch}: {found:?} {expected:?}");
            }
        }
    }
    // The loss is the mean over the rows of the data, as without a batch.
    let loss = |options: &str, run: &str| {
        folder
            .answer(&format!("train batch.eddy --in data.csv --no-shuffle --epochs 1 --run {run} {options}"));
        losses(&folder, run)
    };
    let folder = Folder(folder.0.clone()).with("batch.eddy", program("sgd(0.0)", ""));
    let number = |line: &str| -> f64 {
        let text = line.rsplit(':').next().map(|text| text.trim_end_matches('}'));
        text.expect("a line has a loss").parse().expect("it is a number")
    };
    let (plain, padded) = (loss("", "plain"), loss("--batch 3 --pad", "three"));
    assert!((number(&plain[0]) - number(&padded[0])).abs() < 1e-15, "{plain:?} {padded:?}");
    // Values that depend on later rows would change.
    let ahead = "node f(x)->(y)\n  y = param(0.5) * (0.0 fby back (x + 0.5 * y));\n\
        train f as learn loss mse optim sgd(0.1) segment;\n";
    let folder = folder.with("ahead.eddy", ahead);
    let message = folder.refusal("train ahead.eddy --in data.csv --batch 2 --pad");
    assert!(message.contains("`f` looks ahead, so padding would change its answers"), "{message}");
}

/// An array of doubles, as numpy writes it.
fn npy(order: &str, shape: &str, numbers: &[f64]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    file
}

#[test]
fn other_formats_give_the_same_rows() {
    let program = "node f(x)->(y) y = sum(x * [1.0, 10.0]);\n";
    let folder = Folder::new("formats")
        .with("p.eddy", program)
        .with("a.npy", npy("False", "(3, 2)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
        .with("b.npy", npy("True", "(3, 2)", &[1.0, 3.0, 5.0, 2.0, 4.0, 6.0]))
        .with("a.tsv", "b\ta\tnote\n2\t1\ta, b\n4\t3\t\n6\t5\t\"c\td\"\n")
        .with("a.csv", "a,b\n1,2\n3,4\n5,6\n");
    let expected = "{\"y\":21}\n{\"y\":43}\n{\"y\":65}\n";
    for options in [
        "--in a.npy",
        "--in x=b.npy",
        "--in a.tsv --columns x=a,b",
        "--in a.csv --columns x=*",
        "--in a.csv --columns x=a..b",
    ] {
        let ended = folder.call(&format!("run p.eddy --node f {options}"));
        assert_eq!((ended.code, &*ended.stdout), (Some(0), expected), "{options}: {}", ended.stderr);
    }
    let run = ["run", "p.eddy", "--node", "f", "--in", "-", "--columns", "x=a,b", "--in-format"];
    folder.eddy_with_input(&[&run[..], &["csv"]].concat(), folder.read("a.csv")).is(0, expected);
    folder.eddy_with_input(&[&run[..], &["tsv"]].concat(), "a\tb\n1\t2\n3\t4\n5\t6\n").is(0, expected);
    folder.eddy(&["run", "p.eddy", "--node", "f", "--in", "a.npy", "--columns", "x=*"]).is(0, expected);
}
