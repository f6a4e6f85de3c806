//! The golden plans of section 15.

use eddy_plan::plan::{BufferRole, Plan, Schedule};
use eddy_plan::show::{kind, report};
use eddy_plan::{Options, plan};

use eddy_reactive::elaborate::Given;
use eddy_reactive::infer::Hints;
use eddy_reactive::prepare::{Checks, Prepared, prepare};
use eddy_reactive::resolve::resolve;
use eddy_syntax::{SourceFile, Sources};

const PROGRAMS: &str = r"
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
train bir as t_bir loss sq optim sgd(0.125) segment;
train r as t_cut loss sq optim sgd(0.125) truncate;
train r as t_both loss sq optim sgd(0.125) segment truncate;
";

struct Golden {
    kind: String,
    /// Numbers per cycle in buffers between steps.
    buffers: u64,
    before: u64,
    carried: usize,
}

fn golden(node: &str, options: &Options) -> (Golden, String) {
    let prepared = prepared(node);
    let (flow, clocks) = (&prepared.flow, &prepared.clocks);
    let plan = plan(flow, clocks, options);
    let numbers = |var: eddy_reactive::flow::VarId| flow.var(var).ty.shape.n_elements().unwrap_or(0) as u64;
    let (mut buffers, mut carried) = (0, 0);
    for root in &plan.roots {
        match &root.schedule {
            Schedule::Windows(windows) => {
                let between = windows
                    .buffers
                    .iter()
                    .filter(|buffer| buffer.is_between_steps && buffer.role != BufferRole::Arrival);
                buffers += between.flat_map(|buffer| &buffer.vars).map(|var| numbers(*var)).sum::<u64>();
                carried += windows.carried.len();
            }
            Schedule::Forward(lagged) => carried += lagged.registers.len(),
            Schedule::EventDriven(_) => {}
        }
    }
    let golden = Golden { kind: kind(flow, &plan), buffers, before: before(&plan), carried };
    (golden, report(node, flow, &plan))
}

fn prepared(node: &str) -> Prepared {
    let mut sources = Sources::alone(SourceFile::new("golden.eddy", PROGRAMS));
    let prepared = resolve(&mut sources).and_then(|program| {
        let callable = program.find(node, sources.main().end())?;
        prepare(&program, &callable, &Given::default(), |_| Hints::default(), Checks::On)
    });
    prepared.unwrap_or_else(|diagnostics| panic!("{node}: {}", diagnostics[0].title))
}

fn before(plan: &Plan) -> u64 {
    plan.roots.iter().map(|root| root.memory.buffers_before_recomputation).sum()
}

#[test]
fn zz_show() {
    let nodes = [
        "counter",
        "running_mean",
        "l",
        "l_end",
        "moe",
        "subclock",
        "app_pipe",
        "diff_app",
        "t_app",
        "infer",
        "diff_app_pipe",
        "t_pipe",
        "tp",
        "backfill",
        "sample_backfill",
        "merge_backfill",
        "rec_merge_backfill",
        "two_backfills",
        "late_backfill",
        "bn",
        "adj_bn",
        "birnn",
        "lb",
        "adj_birnn",
        "adj_lb",
        "rnn_reset",
        "adj_l_end",
        "adj_rnn_reset",
        "diff_l_end",
        "t_lstm",
        "t_sgd",
        "t_mom",
        "t_adam",
        "diff_lb",
        "t_bir",
        "t_cut",
        "t_both",
        "adj_rnn",
        "adj_l",
        "adj_moe",
        "adj_subclock",
        "diff_moe",
        "adj_backsub",
        "backsub",
        "adj_diff_r_end",
        "adj_t_sgd",
        "diff_r",
    ];
    for node in nodes {
        let start = std::time::Instant::now();
        let (with, text) = golden(node, &Options::default());
        let time = start.elapsed();
        let (without, _) = golden(node, &Options { holds: false, ..Options::default() });
        println!(
            "{node:<20} {:<50} {:<40} buffers {} ({} B) without {} carried {} {time:?}",
            with.kind,
            if with.kind == without.kind { "same".to_string() } else { without.kind },
            with.buffers,
            with.before,
            without.buffers,
            with.carried
        );
        if std::env::var("SHOW").is_ok_and(|show| show == node) {
            println!("{text}");
        }
    }
}
