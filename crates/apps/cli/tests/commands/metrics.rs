//! Training that tells how well it does: metrics, the best epoch, pictures, comparisons, single precision.

use std::fmt::Write;

use crate::folder::{Folder, bytes, losses};

/// Two classes, and how often the answer is right.
const CLASSES: &str = "node net(x) -> (o)
  a = param(0.1) * x + param(0.0);
  o = concat([0.0], [a]);
node cross(o, kind:int []) -> (l)
  l = 0.0 - sum(onehot(2, kind) * log(softmax(o)));
node accuracy(o, kind:int []) -> (share)
  share = if (o[1] > o[0]) == (kind == 1) then 1.0 else 0.0;
node both(o, kind:int []) -> (right, class)
  right = accuracy(o, kind);
  class = num(kind);
train net as learn loss cross optim sgd(0.5);
";

fn data() -> String {
    let mut text = "x,kind\n".to_string();
    for row in 0..40 {
        let x = f64::from(row % 20) / 10.0 - 1.0;
        let _ = writeln!(text, "{x},{}", if x > 0.0 { "yes" } else { "no" });
    }
    text
}

const TRAIN: &str = "train p.eddy --in data.csv --target kind --category kind --epochs 6";

#[test]
fn metrics_are_measured_after_each_epoch() {
    let folder = Folder::new("measured").with("p.eddy", CLASSES).with("data.csv", data());
    let ended = folder.call(&format!("{TRAIN} --metric accuracy,both --run run"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains(", accuracy 0.") && ended.stdout.contains(", both.right 1."),
        "{}",
        ended.stderr
    );
    let lines = losses(&folder, "run");
    assert_eq!(lines.len(), 6);
    assert!(lines[5].contains("\"accuracy\":") && lines[5].contains("\"both.class\":0.45"), "{}", lines[5]);
    // The engines measure the same.
    folder.answer(&format!("{TRAIN} --metric accuracy,both --engine simulate --run simulated"));
    assert_eq!(lines, losses(&folder, "simulated"));
    assert!(folder.read("run/loss.svg").contains(">accuracy</text>"));
    // Training does not depend on what is measured, and goes on after a stop.
    folder.answer(&format!("{TRAIN} --run plain"));
    let file = |run: &str| bytes(&folder, &format!("{run}/parameters.safetensors"));
    assert_eq!(file("run"), file("plain"));
    folder.answer(&format!("{} --metric accuracy,both --run parts", TRAIN.replace("epochs 6", "epochs 2")));
    folder.answer(&format!("{TRAIN} --metric accuracy,both --run parts --resume"));
    assert_eq!(lines, losses(&folder, "parts"));
}

#[test]
fn wrong_metrics_are_refused() {
    let folder = Folder::new("wrong").with("p.eddy", CLASSES).with("data.csv", data());
    for (options, message) in [
        ("--metric nothing", "unknown node or function `nothing`"),
        ("--metric net", "a metric has two inputs, and the node `net` has 1"),
    ] {
        let found = folder.refusal(&format!("{TRAIN} {options} --run r"));
        assert!(found.contains(message), "{options}: {found}");
    }
    for options in ["--metric loss", "--best max:accuracy", "--best accuracy", "--best max:validation"] {
        assert_eq!(folder.call(&format!("{TRAIN} {options}")).code, Some(2), "{options}");
    }
}

#[test]
fn the_best_epoch_is_that_of_the_named_metric() {
    let folder = Folder::new("best").with("p.eddy", CLASSES).with("data.csv", data());
    // The share of a class never changes, so no epoch is better than the first.
    let ended = folder.call(&format!("{TRAIN} --metric both --best max:both.class --patience 2 --run run"));
    assert!(ended.stderr.contains("stopped: nothing was better than epoch 1"), "{}", ended.stderr);
    assert_eq!(losses(&folder, "run").len(), 3);
}

#[test]
fn answers_are_compared_with_the_wanted_values() {
    let folder = Folder::new("answers").with("p.eddy", CLASSES).with("data.csv", data());
    let answer = folder.answer(&format!("{TRAIN} --answers --split 0.5 --run run"));
    assert!(answer.contains("of 20 are right; a row for each wanted class\n"), "{answer}");
    assert!(answer.contains("\nno ") && answer.contains("\nyes"), "{answer}");
    assert!(folder.read("run/answers.svg").starts_with("<svg"));
    let json = folder.answer(&format!("{TRAIN} --answers --run json --json"));
    assert!(json.contains("\"answers\":{\"classes\":[\"no\",\"yes\"],\"counts\":[["), "{json}");
    let line = "node line(x)->(y)\n  y = param(0.0) * x;\ntrain line as learn loss mse optim sgd(0.1);\n";
    let folder = folder.with("l.eddy", line).with("l.csv", "x,gt\n1,2\n2,4\n");
    let answer = folder.answer("train l.eddy --in l.csv --epochs 3 --answers --run line");
    assert!(answer.contains("answers: 2 pairs, mean error 0."), "{answer}");
}

#[test]
fn runs_are_compared() {
    let folder = Folder::new("compared").with("p.eddy", CLASSES).with("data.csv", data());
    folder.answer(&format!("{TRAIN} --metric accuracy --run a"));
    folder.answer(&format!("{TRAIN} --metric accuracy --seed 3 --no-shuffle --run b"));
    let answer = folder.answer("train --compare a b --svg curves.svg");
    let row = |name: &str| answer.lines().find(|line| line.split_whitespace().next() == Some(name));
    assert_eq!(row("seed").map(crate::folder::words), Some(vec!["seed", "0", "3"]));
    assert_eq!(row("shuffled").map(crate::folder::words), Some(vec!["shuffled", "true", "false"]));
    assert!(row("accuracy").is_some() && row("loss").is_some() && row("source_hash").is_none(), "{answer}");
    assert!(folder.read("curves.svg").contains(">b</text>"));
    assert!(folder.answer("train --compare a b --json").contains("\"runs\":[{\"folder\":\"a\""));
    folder.eddy(&["train", "--compare", "a", "nowhere"]).fails(1, &["nowhere: there is no such run folder"]);
    folder.eddy(&["train", "--compare", "a"]).fails(2, &["2 values required"]);
    folder.eddy(&["train", "--in", "data.csv"]).fails(2, &["<FILE>"]);
}

/// Parameters, checkpoint and computations in single precision; both engines agree, and a run goes on.
#[test]
fn training_in_single_precision() {
    let recurrent = "node rnn(x)->(y)\n  h = tanh(param(0.5) * x + param(0.3) * (0.0 fby h));\n  y = param(1.0) * h;\n\
        train rnn as learn loss mse optim adam(0.01) segment;\n";
    let mut table = "x,gt,end\n".to_string();
    for row in 0..60 {
        let x = f64::from(row * 5 % 11) / 11.0 - 0.5;
        let _ = writeln!(table, "{x},{},{}", 0.4 * x, row % 6 == 5);
    }
    let folder = Folder::new("single").with("p.eddy", recurrent).with("data.csv", table);
    let train = "train p.eddy --in data.csv --validate data.csv --f32";
    folder.answer(&format!("{train} --epochs 4 --run compiled"));
    folder.answer(&format!("{train} --epochs 4 --run simulated --engine simulate"));
    folder.answer(&format!("{train} --epochs 2 --run parts"));
    folder.answer(&format!("{train} --epochs 4 --run parts --resume"));
    for other in ["simulated", "parts"] {
        assert_eq!(losses(&folder, "compiled"), losses(&folder, other));
        for file in ["checkpoint.safetensors", "parameters.safetensors"] {
            assert_eq!(
                bytes(&folder, &format!("compiled/{file}")),
                bytes(&folder, &format!("{other}/{file}"))
            );
        }
    }
    let file = String::from_utf8_lossy(&bytes(&folder, "compiled/checkpoint.safetensors")).into_owned();
    assert!(file.contains("\"F32\"") && !file.contains("\"F64\""));
    folder.answer("train p.eddy --in data.csv --validate data.csv --epochs 4 --run double");
    assert_ne!(losses(&folder, "compiled"), losses(&folder, "double"));
    let run =
        "run p.eddy --node rnn_end --in data.csv --params compiled/parameters.safetensors --f32 --cycles 3";
    assert_eq!(folder.answer(run), folder.answer(&format!("{run} --engine simulate")));
    let folder = folder.with("large.csv", "x,gt,end\n1e39,1,true\n");
    let message = folder.refusal("train p.eddy --in large.csv --f32");
    assert!(message.contains("1e39, which is infinite in single precision"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_traced_on_demand() {
    let folder = Folder::new("memory").with("p.eddy", CLASSES).with("data.csv", data());
    folder.answer(&format!("{TRAIN} --trace-memory --run run"));
    assert!(folder.read("run/metrics.jsonl").lines().all(|line| line.contains("\"memory_mib\":")));
}
