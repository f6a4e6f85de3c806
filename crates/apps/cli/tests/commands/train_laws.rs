//! Training must not silently lose rows, lose learnt parameters, or minimise something else than it prints.

use std::fmt::Write;

use crate::folder::{Folder, bytes, losses};

/// Pseudo-random choices, the same on every run.
struct Choices(u64);

impl Choices {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        let n = all.len() as u64;
        all[usize::try_from(self.below(n)).expect("it is small")]
    }
}

/// A model of terms that look back and ahead, an optimiser, and how sequences end.
fn program(choices: &mut Choices) -> (String, bool) {
    let mut terms = vec!["param(0.5) * x".to_string()];
    for _ in 0..=choices.below(3) {
        terms.push(
            choices
                .of(&[
                    "param(0.25) * (0.0 fby x)",
                    "param(0.2) * post x",
                    "param(0.1) * post (post x)",
                    "param(-0.3) * post (post (post x))",
                    "tanh(param(0.4) * x + 0.5 * (0.0 fby (0.0 fby x)))",
                    "param(0.3) * (merge c (x when c) ((0.5 * x) when not c))",
                    "param(0.2) * (0.0 fby h)",
                    "param(0.3) * s",
                    "param(0.3) * s + param(0.1) * post x",
                ])
                .to_string(),
        );
    }
    let needs_bound = terms.iter().any(|term| term.contains("fby h"));
    let bound = if needs_bound {
        choices.of(&["segment", "segment mean", "truncate", "delayed"])
    } else {
        choices.of(&["", "", "segment", "segment mean truncate"])
    };
    let k = if bound == "delayed" { 1 } else { choices.below(3) };
    let mut optimiser = choices
        .of(&[
            "sgd(0.05)",
            "momentum(0.05, 0.9)",
            "adam(0.05, 0.9, 0.999, 1e-8)",
            "sgd_batch(0.1, 2)",
            "nesterov(0.02, 0.9)",
        ])
        .to_string();
    if bound == "delayed" || choices.below(4) == 0 {
        optimiser = choices
            .of(&[
                "sgd_delayed(0.05, K)",
                "momentum_delayed(0.02, 0.9, K)",
                "adam_delayed(0.05, 0.9, 0.999, 1e-8, K)",
            ])
            .replace('K', &k.to_string());
    }
    let name = optimiser.split('(').next().expect("it has a name").to_string();
    let import = if name.contains("delayed") || name == "nesterov" {
        format!("import {name} from \"eddy:optimisers\";\n")
    } else {
        String::new()
    };
    let bound = if bound == "delayed" { "" } else { bound };
    let text = format!(
        "{import}node m(x) -> (y)\n  c = true fby not c;\n  h = param(0.3) * x;\n  s = 0.1 * x + (0.0 fby back s);\n  y = {} + 0.1 * h;\ntrain m as learn loss mse optim {optimiser} {bound};\n",
        terms.join(" + ")
    );
    (text, bound.contains("segment"))
}

fn rows(choices: &mut Choices, n: u64, has_bp: bool) -> String {
    let mut text = if has_bp { "x,gt,bp\n" } else { "x,gt\n" }.to_string();
    for row in 0..n {
        let [x, gt] = [(); 2]
            .map(|()| choices.below(200))
            .map(|n| f64::from(u32::try_from(n).expect("it is small")) / 100.0 - 1.0);
        let _ = if has_bp { writeln!(text, "{x},{gt},{}", row % 5 != 3) } else { writeln!(text, "{x},{gt}") };
    }
    text
}

/// L14: simulated and compiled epochs learn the same bits, also where the last rows are unknown; and so does
/// a run that was interrupted and resumed.
#[test]
fn l14_engines_and_resumed_runs_learn_the_same() {
    let mut choices = Choices(7);
    let (mut n_unknown, mut n_refused) = (0, 0);
    let n_cases = 16;
    for case in 0..n_cases {
        let (text, has_segments) = program(&mut choices);
        let n_rows = 8 + choices.below(12);
        let has_bp = choices.below(3) == 0;
        let data = rows(&mut choices, n_rows, has_bp);
        let mut options = String::new();
        if text.contains("segment") {
            options += " --sequence 4";
        }
        if text.contains("truncate") {
            options += " --cut 2";
        }
        if has_segments && !has_bp && choices.below(2) == 0 {
            options += " --batch 2";
        }
        let folder = Folder::new(&format!("l14_{case}")).with("p.eddy", &text).with("data.csv", &data);
        let line = format!("train p.eddy --in data.csv{options}");
        let compiled = folder.call(&format!("{line} --epochs 3 --run compiled"));
        let simulated = folder.call(&format!("{line} --epochs 3 --engine simulate --run simulated"));
        assert_eq!(
            compiled.code, simulated.code,
            "{text}\n{data}\n{}\n{}",
            compiled.stderr, simulated.stderr
        );
        if compiled.code != Some(0) {
            assert!(compiled.stderr.contains("no known loss"), "{text}\n{}", compiled.stderr);
            n_refused += 1;
            continue;
        }
        n_unknown += usize::from(compiled.stderr.contains("no known loss"));
        folder.answer(&format!("{line} --epochs 1 --run resumed"));
        folder.answer(&format!("{line} --epochs 3 --run resumed --resume"));
        for other in ["simulated", "resumed"] {
            for file in ["checkpoint.safetensors", "parameters.safetensors"] {
                let same =
                    bytes(&folder, &format!("compiled/{file}")) == bytes(&folder, &format!("{other}/{file}"));
                assert!(same, "{other}/{file}\n{line}\n{text}\n{data}");
            }
            assert_eq!(losses(&folder, "compiled"), losses(&folder, other), "{text}\n{data}");
        }
    }
    assert!(n_unknown >= 4, "only {n_unknown} of {n_cases} programs have unknown rows");
    assert!(n_refused <= n_cases / 3, "{n_refused} of {n_cases} programs are refused");
}

/// The same for traces that are barely longer than the look-ahead, and for one that is a single window.
#[test]
fn l14_short_traces_and_whole_ones() {
    let short = "node m(x) -> (y)
  y = param(0.5) * x + param(0.25) * (0.0 fby x) + param(0.2) * post (post (post x));
train m as learn loss mse optim adam(0.1, 0.9, 0.999, 1e-8);
";
    let whole = "node m(x) -> (y)
  s = 0.1 * x + (0.0 fby back s);
  y = param(0.5) * s + param(0.2) * post x;
train m as learn loss mse optim momentum(0.05, 0.9);
";
    let folder = Folder::new("l14_short").with("short.eddy", short).with("whole.eddy", whole);
    let mut folder = folder;
    for (n, program) in [(4, "short"), (5, "short"), (6, "short"), (8, "short"), (12, "whole")] {
        let mut data = "x,gt,bp\n".to_string();
        for row in 0..n {
            let is_learnt = program == "whole" || row < n - 3;
            let _ = writeln!(
                data,
                "{},{},{is_learnt}",
                f64::from(row * 7 % 11) / 11.0,
                f64::from(row * 5 % 7) / 7.0
            );
        }
        folder = folder.with("data.csv", data);
        let line = format!("train {program}.eddy --in data.csv");
        let run = |name: &str| format!("{program}-{n}-{name}");
        folder.answer(&format!("{line} --epochs 3 --run {}", run("compiled")));
        folder.answer(&format!("{line} --epochs 3 --engine simulate --run {}", run("simulated")));
        folder.answer(&format!("{line} --epochs 1 --run {}", run("resumed")));
        folder.answer(&format!("{line} --epochs 3 --run {} --resume", run("resumed")));
        let checkpoint = |name: &str| bytes(&folder, &format!("{}/checkpoint.safetensors", run(name)));
        assert_eq!(checkpoint("compiled"), checkpoint("simulated"), "{program}, {n} rows");
        assert_eq!(checkpoint("compiled"), checkpoint("resumed"), "{program}, {n} rows");
    }
}

/// C12, on both engines.
#[test]
fn an_unknown_last_row_is_counted_and_loses_nothing() {
    let text = "node ahead(x) -> (y)  y = param(2.0) * post x;\ntrain ahead as tr loss mse optim sgd(0.1);\n";
    let folder = Folder::new("c12").with("p.eddy", text).with("data.csv", "x,gt\n1,1\n2,1\n3,1\n4,1\n");
    for engine in ["compiled", "simulate"] {
        let ended = folder.call(&format!(
            "train p.eddy --in data.csv --validate data.csv --epochs 3 --engine {engine} --run {engine}"
        ));
        assert_eq!(ended.stderr.matches("1 of 4 rows have no known loss").count(), 6, "{}", ended.stderr);
        let expected = [4.101_866_666_666_666, 0.446_720_887_466_666_4, 0.095_708_324_574_003_2];
        for (line, loss) in losses(&folder, engine).iter().zip(expected) {
            assert!(line.contains(&format!("\"loss\":{loss},\"unknown\":1,")), "{line}");
            assert!(line.contains("\"validation_unknown\":1"), "{line}");
        }
        let parameters = bytes(&folder, &format!("{engine}/parameters.safetensors"));
        let last: [u8; 8] = parameters[parameters.len() - 8..].try_into().expect("eight bytes");
        assert!((f64::from_le_bytes(last) - 0.358_794_752).abs() < 1e-15);
    }
}

const WAITING: &str = "node m(x) -> (y)\n  h = param(0.5) * x;\n  y = h + param(0.25) * (0.0 fby h);\ntrain m as tr loss mse optim sgd(0.125);\n";

#[test]
fn parameters_that_wait_for_themselves_are_refused_with_the_remedy() {
    let mut choices = Choices(3);
    let data = rows(&mut choices, 300, false);
    let folder = Folder::new("waits").with("p.eddy", WAITING).with("data.csv", &data);
    for engine in ["compiled", "simulate"] {
        let message = folder.refusal(&format!("train p.eddy --in data.csv --engine {engine} --run {engine}"));
        for expected in [
            "E0808",
            "299 of 300 rows have no known loss",
            "`y` waits for the parameter `param#1`",
            "`segment`",
            "`truncate`",
            "`bp` false",
            "k = 1 row late",
            "sgd_delayed(0.125, 1)",
        ] {
            assert!(message.contains(expected), "no `{expected}` in {message}");
        }
        assert!(!folder.0.join(engine).join("checkpoint.safetensors").exists());
    }
    // As deep as the model's memory.
    let deep = WAITING
        .replace("(0.0 fby h)", "(0.0 fby (0.0 fby (0.0 fby h)))")
        .replace("sgd(0.125)", "adam(0.125, 0.9, 0.999, 1e-8)");
    let folder = folder.with("deep.eddy", &deep);
    let message = folder.refusal("train deep.eddy --in data.csv --run deep");
    assert!(
        message.contains("k = 3 rows late: `optim adam_delayed(0.125, 0.9, 0.999, 1e-8, 3)`"),
        "{message}"
    );
    // The suggested fix works.
    let mended = deep.replace("adam(0.125, 0.9, 0.999, 1e-8)", "adam_delayed(0.125, 0.9, 0.999, 1e-8, 3)");
    let folder =
        folder.with("mended.eddy", format!("import adam_delayed from \"eddy:optimisers\";\n{mended}"));
    folder.answer("train mended.eddy --in data.csv --epochs 2 --run mended");
    assert!(!folder.read("mended/metrics.jsonl").contains("unknown"));
}

#[test]
fn validation_without_known_losses_is_refused() {
    let text = "node m(x) -> (y)  y = param(2.0) * post (post x);\ntrain m as tr loss mse optim sgd(0.01);\n";
    let mut choices = Choices(5);
    let folder = Folder::new("validation")
        .with("p.eddy", text)
        .with("data.csv", rows(&mut choices, 9, false))
        .with("short.csv", rows(&mut choices, 3, false));
    let message = folder.refusal("train p.eddy --in data.csv --validate short.csv --run run");
    assert!(message.contains("2 of 3 rows have no known loss in the data for validation"), "{message}");
}

/// The loss broadcasts neither argument: different shapes are refused; an open shape follows from the target.
#[test]
fn a_loss_stretches_neither_side() {
    let text = "node m(x:num [3]) -> (y)  y = param(ones([3])) * x;\nnode mine(a, b) -> (o)  o = mse(a, b);\ntrain m as tr loss mine optim sgd(0.1);\n";
    let folder = Folder::new("shapes")
        .with("p.eddy", text)
        .with("scalar.jsonl", "{\"x\":[1,2,3],\"gt\":1}\n")
        .with("longer.jsonl", "{\"x\":[1,2,3],\"gt\":[1,2]}\n")
        .with("right.jsonl", "{\"x\":[1,2,3],\"gt\":[1,2,3]}\n");
    assert!(folder.answer("check p.eddy").contains("gt: num [3] @ base on bp"));
    folder.answer("train p.eddy --in right.jsonl --epochs 1 --run right");
    let message = folder.refusal("train p.eddy --in scalar.jsonl --run scalar");
    assert!(message.contains("the loss `mine` compares `y` of shape [3] with `gt` of shape []"), "{message}");
    let message = folder.refusal("train p.eddy --in longer.jsonl --run longer");
    assert!(message.contains("[3]") && message.contains("[2]"), "{message}");
    // A loss of a part may have a target of that part's shape.
    let free = text.replace("mse(a, b)", "mse(a[0], b)");
    let folder = folder.with("free.eddy", free);
    folder.answer("train free.eddy --in scalar.jsonl --epochs 1 --run free");
}

fn loss_of(folder: &Folder, run: &str, epoch: usize) -> f64 {
    let line = losses(folder, run)[epoch - 1].clone();
    let number = line.split("\"loss\":").nth(1).and_then(|rest| rest.split([',', '}']).next());
    number.expect("a line has a loss").parse().expect("a loss is a number")
}

const LAYERS: &str = "import dense from \"eddy:layers\";\nnode m(x:num [2]) -> (y)\n  y = dense(1, 3, tanh(dense(3, 2, x)))[0];\ntrain m as learn loss mse optim sgd(RATE) BOUND;\n";

/// A batch of N equal streams learns the same as one of them: the mean of equal gradients is one of them.
/// Sums of products are rounded once per term, so the last bit may differ.
#[test]
fn a_batch_of_equal_streams_is_one_stream() {
    let sample = |n: usize| {
        let mut text = String::new();
        for row in 0..12 {
            let x = f64::from(row) / 6.0 - 1.0;
            for _ in 0..n {
                let _ = writeln!(text, "{{\"x\":[{x},{}],\"gt\":{}}}", x * x, 0.5 * x);
            }
        }
        text
    };
    let folder = Folder::new("equal")
        .with("p.eddy", LAYERS.replace("RATE", "0.1").replace("BOUND", ""))
        .with("fast.eddy", LAYERS.replace("RATE", "0.4").replace("BOUND", ""))
        .with("one.jsonl", sample(1))
        .with("four.jsonl", sample(4))
        .with("three.jsonl", sample(3));
    let train = |line: &str| folder.answer(&format!("train {line} --no-shuffle --epochs 3"));
    train("p.eddy --in one.jsonl --run one");
    train("p.eddy --in four.jsonl --batch 4 --run four");
    train("p.eddy --in four.jsonl --batch 4 --engine simulate --run four-simulated");
    train("fast.eddy --in one.jsonl --run fast");
    train("p.eddy --in four.jsonl --batch 4 --batch-loss sum --run four-sum");
    train("p.eddy --in three.jsonl --batch 3 --run three");
    let parameters = |run: &str| bytes(&folder, &format!("{run}/parameters.safetensors"));
    assert_eq!(parameters("four"), parameters("four-simulated"));
    // The sum of four equals four times the rate.
    for (one, other) in [("one", "four"), ("fast", "four-sum"), ("one", "three")] {
        let (left, right) = (loss_of(&folder, one, 3), loss_of(&folder, other, 3));
        assert!((left - right).abs() < 1e-13 * left, "{one} {left}, {other} {right}");
    }
    let (one, fast) = (loss_of(&folder, "one", 3), loss_of(&folder, "fast", 3));
    assert!((one - fast).abs() > 1e-3 * one, "the rate matters");
    assert!(folder.read("four-sum/run.json").contains("\"batch_loss\": \"sum\""));
}

/// With `segment mean`, the rate has the same effect for sequences of any length.
#[test]
fn the_mean_over_the_rows_of_a_sequence() {
    let program = |rate: &str, bound: &str| LAYERS.replace("RATE", rate).replace("BOUND", bound);
    let mut text = String::new();
    for row in 0..24 {
        let x = f64::from(row * 7 % 24) / 12.0 - 1.0;
        let _ = writeln!(
            text,
            "{{\"x\":[{x},{}],\"gt\":{},\"end\":{},\"bp\":{}}}",
            x * x,
            0.5 * x,
            row % 6 == 5,
            row % 6 < 4
        );
    }
    let folder = Folder::new("sequences")
        .with("mean.eddy", program("0.4", "segment mean"))
        .with("sum.eddy", program("0.1", "segment"))
        .with("data.jsonl", text);
    folder.answer("train mean.eddy --in data.jsonl --epochs 3 --run mean");
    folder.answer("train sum.eddy --in data.jsonl --epochs 3 --run sum");
    // Four of six rows have a loss.
    let parameters = |run: &str| bytes(&folder, &format!("{run}/parameters.safetensors"));
    assert_eq!(parameters("mean"), parameters("sum"));
    let message = folder.with("wrong.eddy", program("0.1", "mean")).refusal("check wrong.eddy");
    assert!(message.contains("`mean` comes after `segment`"), "{message}");
}

/// A classifier's gradient against its closed form, with the mean over a batch as in other systems.
#[test]
fn a_batch_minimises_the_mean_that_it_prints() {
    let text = "node m(x:num [3]) -> (o)  o = matmul(param(zeros([2,3])), x) + param(zeros([2]));
node cross_entropy(o, kind:int []) -> (l)  l = -sum(onehot(2, kind) * (o - log(sum(exp(o)))));
train m as learn loss cross_entropy optim sgd(0.5);
";
    let point = |row: usize| {
        let t = f64::from(u32::try_from(row).expect("it is small"));
        (
            [(t * 1.3).sin(), (t * 0.7).cos(), (t * 2.1).sin()],
            usize::from((t * 1.3).sin() + 0.3 * (t * 0.7).cos() > 0.0),
        )
    };
    let mut data = String::new();
    for row in 0..64 {
        let (x, kind) = point(row);
        let _ = writeln!(data, "{{\"x\":[{},{},{}],\"gt\":{kind}}}", x[0], x[1], x[2]);
    }
    let folder = Folder::new("classifier").with("p.eddy", text).with("data.jsonl", data);
    folder.answer("train p.eddy --in data.jsonl --batch 16 --no-shuffle --epochs 5 --run run");
    let (mut w, mut b) = ([[0.0_f64; 3]; 2], [0.0_f64; 2]);
    for epoch in 1..=5 {
        let mut total = 0.0;
        for batch in 0..4 {
            let (mut dw, mut db) = ([[0.0; 3]; 2], [0.0; 2]);
            for row in 16 * batch..16 * (batch + 1) {
                let (x, kind) = point(row);
                let o: Vec<f64> =
                    (0..2).map(|k| (0..3).map(|i| w[k][i] * x[i]).sum::<f64>() + b[k]).collect();
                let sum: f64 = o.iter().map(|o| o.exp()).sum();
                total -= o[kind] - sum.ln();
                for k in 0..2 {
                    let d = (o[k].exp() / sum - f64::from(u8::from(k == kind))) / 16.0;
                    db[k] += d;
                    (0..3).for_each(|i| dw[k][i] += d * x[i]);
                }
            }
            for k in 0..2 {
                b[k] -= 0.5 * db[k];
                (0..3).for_each(|i| w[k][i] -= 0.5 * dw[k][i]);
            }
        }
        let (expected, found) = (total / 64.0, loss_of(&folder, "run", epoch));
        assert!((expected - found).abs() < 1e-12, "epoch {epoch}: {found}, but {expected} is right");
    }
}

/// A loss that grows large while finite is reported, with the likely reason.
#[test]
fn a_loss_that_grows_a_thousandfold_is_reported() {
    let text = "node m(x) -> (y)  y = param(0.0) * x;\ntrain m as learn loss mse optim sgd(RATE);\n";
    let mut choices = Choices(11);
    let mut data = "x,gt\n".to_string();
    for _ in 0..40 {
        let _ = writeln!(data, "1.5,{}", choices.below(3));
    }
    let folder = Folder::new("grows")
        .with("p.eddy", text.replace("RATE", "0.7"))
        .with("calm.eddy", text.replace("RATE", "0.1"))
        .with("data.csv", data);
    let ended = folder.call("train p.eddy --in data.csv --epochs 1 --run fast");
    assert!(ended.stderr.contains("warning[E0809]: the loss grew from"), "{}", ended.stderr);
    assert!(ended.stderr.contains("the rate is probably too high"), "{}", ended.stderr);
    let ended = folder.call("train calm.eddy --in data.csv --epochs 2 --run calm");
    assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);
}

/// With few rows the loss grows from epoch to epoch. It is reported when it is a thousand times as large, and
/// its line has an exponent.
#[test]
fn a_loss_that_grows_over_epochs_is_reported() {
    let text = "node m(x) -> (y)  y = param(0.0) * x;\ntrain m as learn loss mse optim sgd(1.2);\n";
    let folder = Folder::new("grows-slowly").with("p.eddy", text).with("data.csv", "x,gt\n1,1\n1,1\n");
    let ended = folder.call("train p.eddy --in data.csv --epochs 24 --run run");
    let warnings: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with("warning")).collect();
    let [warning] = warnings.as_slice() else { panic!("{}", ended.stderr) };
    assert!(warning.starts_with("warning[E0809]: the loss grew from 1.480e0 to "), "{warning}");
    assert!(warning.ends_with("since the first epoch"), "{warning}");
    let last = ended.stderr.lines().find(|line| line.starts_with("epoch 24: ")).expect("it trains");
    assert!(last.starts_with("epoch 24: loss ") && last.contains("e13 ("), "{last}");
}

/// Unknown outputs are counted, and a check that compares nothing fails.
#[test]
fn gradients_of_unknown_outputs_are_not_checked_in_silence() {
    let text = "node ahead(x) -> (y)  y = param(2.0) * x * post x;
node far(x) -> (y)  y = post (post (post (post (post (post x)))));
node two(x, z) -> (a, b)
  a = param(0.5) * x;
  b = param(0.5) * post (post (post (post (post (post z)))));
";
    let folder = Folder::new("gradcheck").with("p.eddy", text);
    let answer = folder.answer("gradcheck p.eddy --node ahead");
    assert!(answer.contains("note: 1 of 6 output cells are unknown"), "{answer}");
    let message = folder.refusal("gradcheck p.eddy --node far");
    assert!(message.contains("every output is unknown"), "{message}");
    let answer = folder.answer("gradcheck p.eddy --node two");
    assert!(answer.contains("two: 13 of 14 entries"), "{answer}");
    assert!(answer.contains("note: 6 of 12 output cells are unknown"), "{answer}");
    assert!(answer.contains("note: 1 entry is not checked"), "{answer}");
}

/// Nor are those of outputs that are absent or not finite, or of no cycles at all.
#[test]
fn a_check_of_gradients_without_numbers_to_compare_fails() {
    let text = "node never(x) -> (y)  y = (x * x) when (x > 100.0);\nnode d(x) -> (y)  y = 1.0 / x;\n";
    let folder = Folder::new("no-gradients")
        .with("p.eddy", text)
        .with("zero.csv", "x\n1\n0\n")
        .with("empty.csv", "x\n");
    for (command, words) in [
        ("gradcheck p.eddy --node never", "no output is present at any of 6 cycles"),
        ("gradcheck p.eddy --node d --in empty.csv", "the data have no rows"),
        ("gradcheck p.eddy --node d --in zero.csv", "`y` is not finite at cycle 1, so finite differences"),
        ("gradcheck p.eddy --node d --cycles 0", "it is a whole number from 1 to 65536"),
        ("gradcheck p.eddy --node d --cycles 99999999999", "it is a whole number from 1 to 65536"),
        ("gradcheck p.eddy --node d --cycles 2 --in zero.csv", "cannot be used with"),
    ] {
        let ended = folder.call(command);
        assert!(ended.code != Some(0) && ended.stderr.contains(words), "{command}: {}", ended.stderr);
    }
}
