//! An evaluation: converts the input to arguments, and runs the function as often as the benchmark requests.

use std::time::{Duration, Instant};

use eddy_driver::FunctionModel;
use eddy_driver::functions::{Datum, Expected, NoResult};
use eddy_formats::packed::Packed;

pub struct Evaluated {
    /// The output of the last run, as JSON.
    pub output: String,
    /// The time that it took to read the arguments and to prepare the code.
    pub preparation: Duration,
    /// The time of each run.
    pub runs: Vec<Duration>,
}

/// How often a function runs: at least this number of times, and at least this long in total.
struct Repetition {
    min_runs: usize,
    min_time: Duration,
}

pub fn evaluate(function: &mut FunctionModel, input: Packed) -> Result<Evaluated, String> {
    let repetition = Repetition::of(&input);
    let start = Instant::now();
    let arguments = arguments(function.params(), input)?;
    let mut call = function.prepare(&arguments).map_err(|no_result| why(&no_result))?;
    let preparation = start.elapsed();
    let (mut runs, mut total) = (Vec::new(), Duration::ZERO);
    loop {
        let start = Instant::now();
        let outcome = call.run();
        let time = start.elapsed();
        runs.push(time);
        total += time;
        let outcome = outcome.map_err(|no_result| why(&no_result))?;
        if runs.len() >= repetition.min_runs && total >= repetition.min_time {
            return Ok(Evaluated { output: outcome.to_string(), preparation, runs });
        }
    }
}

impl Repetition {
    /// An input that is not an object requests no repetition.
    fn of(input: &Packed) -> Repetition {
        if !matches!(input, Packed::Object(_)) {
            return Repetition { min_runs: 1, min_time: Duration::ZERO };
        }
        let min_runs = match input.get("min_runs") {
            Some(Packed::Int(n)) => usize::try_from(*n).unwrap_or(1),
            _ => 1,
        };
        let seconds = match input.get("min_seconds") {
            #[expect(clippy::cast_precision_loss, reason = "a number of seconds is small")]
            Some(Packed::Int(n)) => *n as f64,
            Some(Packed::Num(x)) => *x,
            _ => 1.0,
        };
        Repetition { min_runs, min_time: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO) }
    }
}

/// The members of the input that are parameters. An input that is not an object is the only argument.
fn arguments(params: &[(String, Expected)], input: Packed) -> Result<Vec<(String, Datum)>, String> {
    let given = match (input, params) {
        (Packed::Object(members), _) => members,
        (input, [(name, _)]) => vec![(name.clone(), input)],
        _ => return Err("the input is no object with the parameters of the function".to_string()),
    };
    let mut arguments = Vec::new();
    for (name, value) in given {
        if let Some((_, expected)) = params.iter().find(|(param, _)| *param == name) {
            let datum = datum(value, expected).ok_or_else(|| format!("`{name}` contains null"))?;
            arguments.push((name, datum));
        }
    }
    Ok(arguments)
}

/// A value as data. Fields that the parameter's type lacks are dropped: the benchmark sends some for human
/// readers. The JSON reader limits the depth.
fn datum(value: Packed, expected: &Expected) -> Option<Datum> {
    Some(match value {
        Packed::Null => return None,
        Packed::Bool(truth) => Datum::Bool(truth),
        Packed::Int(n) => Datum::Int(n),
        Packed::Num(x) => Datum::Num(x),
        Packed::Text(text) => Datum::Text(text),
        Packed::Numbers(numbers) => Datum::Tensor(numbers.into_value()),
        Packed::List(parts) => {
            let parts = parts.into_iter().map(|part| datum(part, &Expected::Open));
            Datum::List(parts.collect::<Option<_>>()?)
        }
        Packed::Object(members) => {
            let mut fields = Vec::new();
            for (name, member) in members {
                let field = match expected {
                    Expected::Record(known) => known.iter().find(|(other, _)| *other == name),
                    _ => None,
                };
                match (expected, field) {
                    (Expected::Record(_), None) => {}
                    (_, field) => {
                        let expected = field.map_or(&Expected::Open, |(_, expected)| expected);
                        fields.push((name, datum(member, expected)?));
                    }
                }
            }
            Datum::Record(fields)
        }
    })
}

fn why(no_result: &NoResult) -> String {
    match no_result {
        NoResult::Refused(refusal) | NoResult::Failed(refusal) => super::reason(refusal),
    }
}
