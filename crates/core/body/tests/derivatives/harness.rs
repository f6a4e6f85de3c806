//! Runs a body and all of its derivatives, and compares them.

use std::slice::from_ref;

use eddy_body::verify::interface;
use eddy_body::{
    Checkpoints, Limits, Mode, Module, Program, RunError, expand_with, own, parse, verify_final,
};
use eddy_tensor::{Data, Scalar, Shape, Value};

pub fn vector(elements: &[f64]) -> Value {
    Value::new(Shape::new(&[elements.len()]), Data::Num(elements.to_vec())).expect("as many as it has")
}

/// A module with its copies, and a body for each of these derivatives of `f`: `tan_adj` is the tangent of the
/// adjoint.
pub fn with_marks(text: &str, derivatives: &[&str]) -> Result<Module, String> {
    let mut text = text.to_owned();
    for word in derivatives {
        let (mark, rest) = word.split_once('_').unwrap_or((word, ""));
        let of = if rest.is_empty() { "f".to_owned() } else { format!("{rest}_f") };
        let known = parse(&text).map_err(|error| error.to_string())?;
        let body = known.body(known.find(&of).ok_or("the inner derivative comes first")?);
        let (params, results) = interface(body, if mark == "adj" { Mode::Adj } else { Mode::Tan });
        let list: Vec<String> =
            params.iter().enumerate().map(|(at, ty)| format!("x{at}: {}", known.type_text(*ty))).collect();
        let names: Vec<String> = (0..params.len()).map(|at| format!("x{at}")).collect();
        let types: Vec<String> = results.iter().map(|ty| known.type_text(*ty)).collect();
        let yields: Vec<String> = (0..results.len()).map(|at| format!("y{at}")).collect();
        text = format!(
            "{text}\nbody {word}_f({}) -> ({}) {{ {} = {mark} {of}({}) yield {} }}\n",
            list.join(", "),
            types.join(", "),
            yields.join(", "),
            names.join(", "),
            yields.join(" "),
        );
    }
    let mut module = parse(&text).map_err(|error| error.to_string())?;
    own::own(&mut module);
    Ok(module)
}

pub const ALL: [&str; 6] = ["adj", "tan", "tan_adj", "adj_adj", "adj_tan", "tan_tan"];

/// Bodies that can be run.
pub struct Bodies {
    pub module: Module,
    program: Program,
}

impl Bodies {
    pub fn new(text: &str, derivatives: &[&str]) -> Result<Bodies, String> {
        Bodies::keeping(text, derivatives, Checkpoints::All)
    }

    pub fn keeping(text: &str, derivatives: &[&str], checkpoints: Checkpoints) -> Result<Bodies, String> {
        let marked = with_marks(text, derivatives)?;
        let module = expand_with(&marked, 8, checkpoints).map_err(|error| format!("{error}\n{marked}"))?;
        verify_final(&module).map_err(|error| format!("{error}\n{module}"))?;
        let program = Program::new(&module).map_err(|error| error.to_string())?;
        Ok(Bodies { module, program })
    }

    pub fn run(&self, name: &str, arguments: &[Value]) -> Result<Vec<Value>, RunError> {
        let id = self.module.find(name).expect("it is there");
        self.program.run(id, arguments, &Limits { fuel: Some(10_000_000), ..Limits::default() })
    }

    /// The results of derivative code, which does not fail where the value does not.
    pub fn derivative(&self, name: &str, arguments: &[&[Value]]) -> Result<Vec<Value>, String> {
        self.run(name, &arguments.concat()).map_err(|error| format!("{name}: {error}"))
    }
}

pub fn nums(values: &[Value]) -> Vec<f64> {
    let elements = values.iter().flat_map(|value| value.elements().collect::<Vec<_>>());
    elements.filter_map(|element| if let Value::Num(x) = element { Some(x) } else { None }).collect()
}

pub fn is_num(value: &Value) -> bool {
    value.ty().scalar == Scalar::Num
}

/// Numbers that are no multiples of each other.
pub fn noise(value: &Value, seed: &mut u64) -> Value {
    let elements: Vec<f64> = (0..value.n_elements())
        .map(|_| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            #[allow(clippy::cast_precision_loss)]
            let unit = (*seed >> 11) as f64 / (1_u64 << 53) as f64;
            unit * 2.0 - 1.0
        })
        .collect();
    Value::new(value.shape().clone(), Data::Num(elements)).expect("as many")
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn moved(point: &[Value], direction: &[Value], step: f64) -> Vec<Value> {
    let mut direction = direction.iter();
    let shift = |value: &Value| {
        if !is_num(value) {
            return value.clone();
        }
        let by = direction.next().expect("a direction for each number");
        let elements: Vec<f64> =
            nums(from_ref(value)).iter().zip(nums(from_ref(by))).map(|(x, d)| x + step * d).collect();
        Value::new(value.shape().clone(), Data::Num(elements)).expect("as many")
    };
    point.iter().map(shift).collect()
}

pub fn close(what: &str, a: f64, b: f64, tolerance: f64) -> Result<(), String> {
    // NaN is close to no number.
    if (a - b).abs() <= tolerance * (1.0 + a.abs() + b.abs()) {
        Ok(())
    } else {
        Err(format!("{what}: {a} and {b}"))
    }
}

fn zeros(values: &[Value]) -> Vec<Value> {
    values.iter().map(|value| Value::zeros(&value.ty())).collect()
}

/// `n` of the numbers in values: those before the last `n_behind`.
fn last(values: &[Value], n: usize, n_behind: usize) -> Vec<f64> {
    let all = nums(values);
    all[all.len() - n - n_behind..all.len() - n_behind].to_vec()
}

/// A point, and directions there.
pub struct Probe {
    pub point: Vec<Value>,
    pub y: Vec<Value>,
    pub v: Vec<Value>,
    pub u: Vec<Value>,
    pub w: Vec<Value>,
}

impl Probe {
    pub fn new(point: &[Value], y: Vec<Value>) -> Probe {
        let mut seed = 7;
        let mut like = |values: &[Value]| -> Vec<Value> {
            values.iter().filter(|value| is_num(value)).map(|value| noise(value, &mut seed)).collect()
        };
        let (v, u, w) = (like(point), like(point), like(&y));
        Probe { point: point.to_vec(), y, v, u, w }
    }

    /// L2, L19: both derivatives are transposed to each other, and the value that they return is that of the
    /// body. Returns the tangent, or `None` if a derivative is not finite: then an intermediate factor was
    /// infinite, and its product with zero is not specified.
    pub fn first_order(&self, bodies: &Bodies) -> Result<Option<Vec<f64>>, String> {
        let tangent = bodies.derivative("tan_f", &[&self.point, &self.v])?;
        let cotangent = bodies.derivative("adj_f", &[&self.point, &self.w])?;
        for (derivative, name) in [(&tangent, "tangent"), (&cotangent, "cotangent")] {
            if derivative[..self.y.len()] != self.y {
                return Err(format!("the value beside the {name}: {:?} and {:?}", derivative, self.y));
            }
        }
        let (ty, dx) = (nums(&tangent[self.y.len()..]), nums(&cotangent[self.y.len()..]));
        if ty.iter().chain(&dx).any(|d| !d.is_finite()) {
            return Ok(None);
        }
        close("⟨jvp,w⟩ = ⟨v,vjp⟩", dot(&ty, &nums(&self.w)), dot(&nums(&self.v), &dx), 1e-9)?;
        Ok(Some(ty))
    }

    /// L4: the second derivative ⟨w, D²f(v, u)⟩, in all mixtures of modes.
    pub fn second_order(&self, bodies: &Bodies) -> Result<(), String> {
        let Probe { point, v, u, w, .. } = self;
        let (n_x, n_y) = (nums(v).len(), nums(w).len());
        let ff = bodies.derivative("tan_tan_f", &[point, v, u, &zeros(v)])?;
        let ff = dot(&last(&ff, n_y, 0), &nums(w));
        // Results: y, dx, ty, tdx.
        let fr = bodies.derivative("tan_adj_f", &[point, w, u, &zeros(w)])?;
        let fr = dot(&last(&fr, n_x, 0), &nums(v));
        // Results: y, ty, dx, dtx.
        let rf = bodies.derivative("adj_tan_f", &[point, v, &zeros(w), w])?;
        let rf = dot(&last(&rf, n_x, n_x), &nums(u));
        // Results: y, dx, dx', ddy.
        let rr = bodies.derivative("adj_adj_f", &[point, w, &zeros(w), v])?;
        let rr = dot(&last(&rr, n_x, n_y), &nums(u));
        if [ff, fr, rf, rr].iter().any(|d| !d.is_finite()) {
            return Ok(());
        }
        close("ff = fr", ff, fr, 1e-8)?;
        close("ff = rf", ff, rf, 1e-8)?;
        close("ff = rr", ff, rr, 1e-8)
    }

    /// The central difference in direction v.
    pub fn difference(&self, bodies: &Bodies, step: f64) -> Option<Vec<f64>> {
        let up = bodies.run("f", &moved(&self.point, &self.v, step)).ok()?;
        let down = bodies.run("f", &moved(&self.point, &self.v, -step)).ok()?;
        let (up, down) = (nums(&up), nums(&down));
        (up.len() == down.len())
            .then(|| up.iter().zip(down).map(|(up, down)| (up - down) / (2.0 * step)).collect())
    }
}
