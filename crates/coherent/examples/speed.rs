//! tmp
use eddy_coherent::{environment, outcome::Limits, typing};
use eddy_syntax::SourceFile;
fn main() {
    let walk = |n: u32| { let mut t = "pred ".repeat(n as usize - 1); t.push_str("x"); 
      format!("def M : (nat -> nat) -> nat -> nat = fix \\F:(nat -> nat) -> nat -> nat. \\f:nat -> nat. \\x:nat. let y = x in if y then 0 else succ (F f (<f> y)); def dec = \\x:nat. pred x; def T = \\x:nat. if {t} then 0 else 1; deriv M <dec, dec>^T {n}") };
    let progs = [
      ("ack", "def ack = fix \\a:nat -> nat -> nat. \\(m n:nat). let x = m in let y = n in if x then succ y else if y then a (pred x) 1 else a (pred x) (a x (pred y)); ack 2 200".to_string()),
      ("ack3", "def ack = fix \\a:nat -> nat -> nat. \\(m n:nat). let x = m in let y = n in if x then succ y else if y then a (pred x) 1 else a (pred x) (a x (pred y)); ack 3 7".to_string()),
      ("fib", "def add = fix \\a:nat -> nat -> nat. \\(x y:nat). let u = x in if u then y else succ (a (pred u) y); def fib = fix \\f:nat -> nat. \\n:nat. let x = n in if x then 0 else if pred x then 1 else add (f (pred x)) (f (pred (pred x))); fib 20".to_string()),
      ("loop", "def loop = fix \\f:nat -> nat. \\n:nat. let x = n in if x then 7 else f (pred x); loop 1000000".to_string()),
      ("walk200", walk(200)),
      ("walk2000", walk(2000)),
    ];
    for (name, p) in progs {
        let program = typing::check(&SourceFile::new("x.cd", p)).unwrap();
        let code = environment::compile(&program, 1 << 30).unwrap();
        let start = std::time::Instant::now();
        let r = environment::run(&code, &[], Limits { fuel: 1_000_000_000, memory: 1 << 32 });
        let t = start.elapsed();
        println!("{name}: {:?} steps {} cells {} deepest {} time {:?} -> {:.1} M/s", r.outcome, r.steps, r.cells, r.deepest, t, r.steps as f64 / t.as_secs_f64() / 1e6);
    }
}
