//! The programs in the specification of the planner, and traces for those with checkpoints.

use eddy_language::elaborate::ElaborationOptions;
use eddy_language::infer::Hints;
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::resolve;
use eddy_language::semantics::Cell;
use eddy_plan::Options;
use eddy_syntax::{SourceFile, Sources};
use eddy_tensor::{Data, Value};

use crate::generated::case::Ready;
use crate::run::options;

/// Programs of the specification.
pub const PROGRAMS: &str = r"
node counter()->(o) o = 0 fby u; u = o + 1;
node running_mean(x)->(m) n = 1.0 + (0.0 fby n); s = x + (0.0 fby s); m = s / n;
node dense1(units, sizex, x) ->(o)
  kernel = param(glorot_uniform([units,sizex]));
  bias = param(zeros([units]));
  o = matmul(kernel,x) + bias;
node lstm_cell(units,sizex,h,c,x)->(h_next,c_next)
  zr     = reshape([4,units],dense1(4 * units, units + sizex,concat(x,h)));
  c_next = sigmoid(zr[0]) * c + sigmoid(zr[1]) * tanh(zr[3]);
  h_next = sigmoid(zr[2]) * tanh(c_next);
node lstm(units,sizex,x)->(h_next)
  h_next,c_next = lstm_cell(units,sizex,h,c,x);
  h = param(orthogonal([units])) fby h_next;
  c = param(orthogonal([units])) fby c_next;
node l(x:num [2])->(h) h = lstm(2,2,x);
node lb(x:num [2],end)->(o)
  f,cf = lstm_cell_end(2,2,h1,c1,x,end);
  h1 = fby_end([2],end,param(orthogonal([2])),f);
  c1 = fby_end([2],end,param(orthogonal([2])),cf);
  b,cb = lstm_cell_end(2,2,h2,c2,x,end);
  h2 = post_end([2],end,param(orthogonal([2])),b);
  c2 = post_end([2],end,param(orthogonal([2])),cb);
  o = concat(f,b);
node gating_network(x)->(g1,g2) g1 = relu(x); g2 = relu(-x);
node expert1(x)->(o) o = 2.0 * x;
node expert2(x)->(o) o = x + (0.0 fby o);
node moe(x)->(o)
  g1,g2 = gating_network(x);
  o1 = expert1(x when c1); c1 = (g1 != 0);
  o2 = expert2(x when c2); c2 = (g2 != 0);
  o = g1 * (merge c1 o1 0.0) + g2 * (merge c2 o2 0.0);
node subclock(x,c:bool [])->(o) a = x when c; s = a + 0.5 * (0.0 fby s); o = merge c (s * s) (x when not c);
node subclock_of_bp(x,bp)->(o) o = subclock(x,bp);
node backsub(x,c:bool [])->(o) a = x when c; s = a + 0.5 * (0.0 fby back s); o = merge c (s * s) (x when not c);
node app_pipe(i)->(o) x = param(1.0) * i + param(0.0); y = 0.0 fby x; o = y * y;
node app(i)->(o) x = param(1.0) * i + param(0.0); o = x * x;
node t_app(i,bp,gt)->(o) o,di = diff_app(i,bp,do); do = -0.0625 * mse_grad_i(o when bp,gt);
node t_pipe(i,bp,gt)->(o) o,di = diff_app_pipe(i,bp,do); do = -0.0625 * mse_grad_i(o when bp,gt);
node infer(i)->(o) o,_ = diff_app_pipe(i,false,0.0);
node sample_backfill(i,bp)->(o) nh = false fby (not nh); c = backfill(nh,bp); o = i when c;
node merge_backfill(i,bp)->(o) nh = false fby (not nh); c = backfill(nh,bp); o = merge c (i when c) (-i when not c);
node rec_merge_backfill(bp)->(o) nh = false fby (not nh); c = merge bp (nh when bp) ((post o) when not bp); o = backfill(nh,c);
node two_backfills(x,y,e,g)->(o) a = backfill(x,e); b = backfill(y,g); o = a + b;
node late_backfill(x,e)->(o) o = backfill(post x,e);
node mean_var(shape,x,batch_end)->(mean,var)
  cnt     = 1 + fby_end([],batch_end,0,cnt);
  sum     = x + fby_end(shape,batch_end,zeros(shape),sum);
  mean    = backfill(sum / cnt,batch_end);
  var_sum = (x - mean) * (x - mean) + fby_end(shape,batch_end,zeros(shape),var_sum);
  var     = backfill(var_sum / cnt,batch_end);
node norm(shape,epsilon,mean,var,x,batch_end)->(y)
  gamma = fby_end(shape,batch_end,param(ones(shape)),gamma);
  beta = fby_end(shape,batch_end,param(zeros(shape)),beta);
  y = gamma * (x - mean) / (var + epsilon) + beta;
node batch_norm(shape,epsilon,x,batch_end)->(y)
  mean,var = mean_var(shape,x,batch_end);
  y = norm(shape,epsilon,mean,var,x,batch_end);
node bn(x,batch_end)->(y) y = batch_norm([],1.0,x,batch_end);
node birnn(x,end)->(o) f = x + fby_end([],end,0.0,f); b = x + post_end([],end,0.0,b); o = f * b;
node bir(x)->(o) f = param(0.5) * x + (param(0.25) fby f); b = param(0.5) * x + param(0.125) * (post b); o = f * b;
node rnn(x)->(h) w = param(0.5); h = w * x + hp; hp = param(0.25) fby h;
node rnn_reset(x,end)->(h) h = 0.5 * x + tanh(fby_end([],end,0.0,h));
node r(x)->(h) h = tanh(param(0.5) * x + param(0.75) * (param(0.25) fby h));
node sq(i,gt)->(o) o = (i-gt)*(i-gt);
node sqv(i,gt)->(o) o = sum((i-gt)*(i-gt));
train app_pipe as tp loss sq optim sgd(0.125);
train r as t_sgd loss sq optim sgd(0.125) segment;
train r as t_mom loss sq optim momentum(0.125,0.9) segment;
train r as t_adam loss sq optim adam(0.125,0.9,0.99,0.001) segment;
train l as t_lstm loss sqv optim sgd(0.125) segment;
train bir as t_bir loss sq optim adam(0.125,0.9,0.99,0.001) segment;
train r as t_cut loss sq optim sgd(0.125) truncate;
train r as t_both loss sq optim sgd(0.125) segment truncate;
";

/// A node of a program, with written or inferred shapes.
pub fn prepared(text: &str, node: &str) -> Prepared {
    let mut sources = Sources::alone(SourceFile::new("golden.eddy", text));
    let prepared = resolve(&mut sources).accepted().and_then(|program| {
        let callable = program.find(node, sources.main().end())?;
        prepare(&program, &callable, &ElaborationOptions::default(), |_| Hints::default(), Checks::On)
    });
    prepared.unwrap_or_else(|diagnostics| panic!("{node}: {}", diagnostics[0].title))
}

/// Lengths of windows: the smallest, squares and their neighbours, a long one.
pub const LENGTHS: [usize; 14] = [1, 2, 3, 4, 5, 8, 9, 10, 15, 16, 17, 24, 26, 100];

/// Programs with a loop whose values a loop in the other direction reads.
pub const NODES: [&str; 9] =
    ["adj_l_end", "adj_rnn_reset", "t_lstm", "t_sgd", "t_adam", "t_both", "adj_moe", "adj_l", "adj_lb"];

pub fn with_checkpoints() -> Options {
    Options { checkpoints: true, ..options() }
}

/// Two windows of a length, and an open one.
pub fn windows_of(node: &str, length: usize) -> Ready {
    let prepared = prepared(PROGRAMS, node);
    let n_cycles = 2 * length + length.div_ceil(2);
    let row = |input: &eddy_flow::VarId| {
        let var = prepared.flow.var(*input);
        let cell = |cycle: usize| {
            let x = |index: usize| {
                let number = u8::try_from((7 * cycle + 3 * index + 1) % 11).expect("a remainder is below 11");
                f64::from(number) / 8.0 - 0.5
            };
            match var.name.as_deref() {
                Some("end" | "batch_end" | "cut") => Cell::Value(Value::Bool(cycle % length == length - 1)),
                Some("bp") => Cell::Value(Value::Bool(true)),
                _ => {
                    let shape = var.ty.shape.clone();
                    let n = shape.n_elements().expect("shapes are small");
                    Cell::Value(
                        Value::new(shape, Data::Num((0..n).map(x).collect()))
                            .expect("the data fit the shape"),
                    )
                }
            }
        };
        (0..n_cycles).map(cell).collect()
    };
    let inputs = prepared.flow.inputs.iter().map(row).collect();
    Ready { prepared, inputs, n_cycles }
}
