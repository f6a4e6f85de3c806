//! From terms to code, with a work list.
//!
//! The walk goes from left to right and keeps two stacks: the enclosing binders, and the enclosing contexts.
//! A context becomes a block. A variable that is bound outside of its context is captured by all contexts in
//! between:
//!
//! ```text
//! \g. \x. f (g x)      `g x` is the block of an argument: it captures g and x, locals outside of it
//! ```
//!
//! Each variable stores the open contexts in which it has a slot, the innermost last. All blocks together may
//! capture quadratically many values in the size of the program, so the compiler limits their memory.

use dashu_int::ops::BitTest;
use rustc_hash::FxHashMap;

use super::code::{Binder, Block, BlockId, Code, Form, Make, NodeId, Slot};
use crate::outcome::ExhaustedLimit;
use crate::syntax::{Program, Term, TermId, Terms};

/// Compiles a program. Fails if its blocks capture more values than fit into the memory.
pub fn compile(program: &Program, memory: u64) -> Result<Code, ExhaustedLimit> {
    let mut compiler = Compiler {
        terms: &program.terms,
        code: Code::default(),
        binders: Vec::new(),
        contexts: vec![Context::default()],
        closed: FxHashMap::default(),
        probabilities: FxHashMap::default(),
        work: Vec::new(),
        slots: Vec::new(),
        n_occurrences: 0,
        n_open: 0,
    };
    let start = compiler.node(program.main);
    compiler.code.start = Some(start);
    compiler.work.push(Task::Term(program.main, start));
    while let Some(task) = compiler.work.pop() {
        compiler.perform(task);
        if compiler.bytes() > memory {
            return Err(ExhaustedLimit::Memory(memory));
        }
    }
    compiler.code.largest_block =
        compiler.code.blocks.iter().map(|block| block.captures.1 - block.captures.0).max().unwrap_or(0);
    Ok(compiler.code)
}

/// Pending work.
enum Task {
    /// Make the code of a term.
    Term(TermId, NodeId),
    /// The code is complete: ends its range of occurrences.
    Close(NodeId),
    /// A variable of an abstraction enters the scope, as a local of the innermost context.
    Bind(Binder),
    /// The innermost variable leaves the scope.
    Unbind,
    /// A block begins.
    Begin,
    /// A block ends, and its captures are known.
    End(BlockId),
    /// Like `End`; the second block gets the captures of the first, unchanged.
    EndOfFix(BlockId, BlockId),
    /// A closed term begins: it captures nothing.
    BeginClosed,
    /// A closed term ends.
    EndClosed,
}

/// A context, which will become a block.
#[derive(Default)]
struct Context {
    /// The captured variables, and the places of their values in the enclosing context.
    captures: Vec<(Binder, Slot)>,
    n_locals: u32,
}

struct Compiler<'a> {
    terms: &'a Terms,
    code: Code,
    /// The binders in scope, the innermost last.
    binders: Vec<Binder>,
    contexts: Vec<Context>,
    /// For each binder the open contexts in which its variable has a slot, the innermost last.
    slots: Vec<Vec<(u32, Slot)>>,
    /// The code of closed terms.
    closed: FxHashMap<TermId, NodeId>,
    probabilities: FxHashMap<crate::syntax::ProbId, u32>,
    work: Vec<Task>,
    n_occurrences: u32,
    /// The number of captures of the open contexts.
    n_open: usize,
}

impl Compiler<'_> {
    fn perform(&mut self, task: Task) {
        match task {
            Task::Term(term, node) => self.term(term, node),
            Task::Close(node) => self.code.ranges[node.index()].1 = self.n_occurrences,
            Task::Bind(binder) => {
                let place = self.innermost();
                let context = self.context();
                let slot = Slot::Local(context.n_locals);
                context.n_locals += 1;
                self.slots[binder.index()].push((place, slot));
                self.binders.push(binder);
            }
            Task::Unbind => {
                let binder = self.binders.pop().expect("the variable is in scope");
                self.slots[binder.index()].pop();
                self.context().n_locals -= 1;
            }
            Task::Begin | Task::BeginClosed => self.contexts.push(Context::default()),
            Task::EndClosed => drop(self.contexts.pop()),
            Task::End(block) => {
                self.end(block);
            }
            Task::EndOfFix(block, again) => {
                let n_captures = self.end(block);
                let start = number(self.code.captures.len());
                self.code.captures.extend((0..n_captures).map(Slot::Captured));
                self.code.blocks[again.index()].captures = (start, start + n_captures);
            }
        }
    }

    /// Ends a block, and returns the number of its captures.
    fn end(&mut self, block: BlockId) -> u32 {
        let captures = self.contexts.pop().expect("the block was begun").captures;
        self.n_open -= captures.len();
        let start = number(self.code.captures.len());
        for (binder, slot) in &captures {
            self.slots[binder.index()].pop();
            self.code.captures.push(*slot);
        }
        self.code.blocks[block.index()].captures = (start, number(self.code.captures.len()));
        number(captures.len())
    }

    fn term(&mut self, id: TermId, node: NodeId) {
        self.code.ranges[node.index()].0 = self.n_occurrences;
        self.work.push(Task::Close(node));
        let form = match self.terms.get(id) {
            Term::Var(index) => {
                let binder = self.binder(index);
                self.code.occurrences[binder.index()].push(self.n_occurrences);
                self.n_occurrences += 1;
                Form::Var(self.slot(binder))
            }
            Term::Num(n) => Form::Num(n),
            Term::Coin(probability) => {
                let next = number(self.code.probabilities.len());
                let place = *self.probabilities.entry(probability).or_insert(next);
                if place == next {
                    let probability = self.terms.probability(probability).clone();
                    let length = probability.denominator().bit_len() as u64;
                    self.code.longest_denominator = self.code.longest_denominator.max(length);
                    self.code.probabilities.push(probability);
                }
                Form::Coin(place)
            }
            Term::Lambda(_, body) => {
                let binder = self.new_binder();
                let local = self.context().n_locals;
                let body_node = self.under(body, binder);
                Form::Lambda(binder, local, body_node)
            }
            Term::Apply(m, n) => self.apply(m, n),
            Term::Fix(m) if self.terms.scope(id) == 0 => Form::FixClosed(self.part(m)),
            Term::Fix(m) => self.fix(m),
            Term::Op(op, depth, m) => Form::Op(op, depth, self.part(m)),
            Term::Derive(m) => Form::Derive(self.part(m)),
            Term::Tick(m) => Form::Tick(self.part(m)),
            Term::If(depth, m, p, q) => {
                let starts = [self.node(p), self.node(q)];
                let block = self.block(starts);
                // The last task is done first.
                self.work.push(Task::End(block));
                self.start_unless_closed(q, starts[1]);
                self.start_unless_closed(p, starts[0]);
                self.work.push(Task::Begin);
                Form::If(depth, self.part(m), block)
            }
            Term::Let(depth, m, p) => {
                let binder = self.new_binder();
                let start = self.node(p);
                let block = self.block([start; 2]);
                self.work.extend([Task::End(block), Task::Unbind]);
                self.start_unless_closed(p, start);
                self.work.extend([Task::Bind(binder), Task::Begin]);
                Form::Let(depth, self.part(m), block)
            }
            Term::Zero(_) | Term::Sum(..) => unreachable!("programs are free of sums"),
        };
        self.code.forms[node.index()] = form;
    }

    fn apply(&mut self, m: TermId, n: TermId) -> Form {
        let argument = self.node(n);
        let make = match self.terms.get(n) {
            Term::Num(number) => Make::Number(number),
            Term::Var(index) => {
                let binder = self.binder(index);
                let slot = self.slot(binder);
                self.work.push(Task::Term(n, argument));
                return Form::Apply(self.part(m), argument, Make::Slot(slot));
            }
            _ if self.terms.scope(n) == 0 => Make::Closed,
            _ => {
                let block = self.block([argument; 2]);
                self.work.extend([Task::End(block), Task::Term(n, argument), Task::Begin]);
                return Form::Apply(self.part(m), argument, Make::Closure(block));
            }
        };
        self.start_unless_closed(n, argument);
        Form::Apply(self.part(m), argument, make)
    }

    /// `fix M` with free variables: its closure restarts the same code with the captures it already has.
    fn fix(&mut self, m: TermId) -> Form {
        let again_node = self.fresh_node();
        let (block, again) = (self.block([again_node; 2]), self.block([again_node; 2]));
        let function = self.node(m);
        self.work.extend([Task::Close(again_node), Task::EndOfFix(block, again)]);
        self.start_unless_closed(m, function);
        self.work.push(Task::Begin);
        self.code.ranges[again_node.index()].0 = self.n_occurrences;
        self.code.forms[again_node.index()] = Form::Fix(function, again);
        Form::Fix(function, block)
    }

    /// The code of a part in the same context.
    fn part(&mut self, m: TermId) -> NodeId {
        let node = self.node(m);
        self.start_unless_closed(m, node);
        node
    }

    /// The code of a body, under its variable.
    fn under(&mut self, body: TermId, binder: Binder) -> NodeId {
        let node = self.node(body);
        self.work.push(Task::Unbind);
        self.start_unless_closed(body, node);
        self.work.push(Task::Bind(binder));
        node
    }

    /// Schedules the code of a term, unless the term is closed and was compiled before.
    fn start_unless_closed(&mut self, m: TermId, node: NodeId) {
        if self.terms.scope(m) > 0 {
            self.work.push(Task::Term(m, node));
        } else if self.code.ranges[node.index()] == UNMADE {
            self.code.ranges[node.index()] = (0, 0);
            self.work.extend([Task::EndClosed, Task::Term(m, node), Task::BeginClosed]);
        }
    }

    /// The node for the code of a term; all occurrences of a closed term have the same node.
    fn node(&mut self, m: TermId) -> NodeId {
        if self.terms.scope(m) > 0 {
            return self.fresh_node();
        }
        if let Some(node) = self.closed.get(&m) {
            return *node;
        }
        let node = self.fresh_node();
        self.closed.insert(m, node);
        node
    }

    fn fresh_node(&mut self) -> NodeId {
        self.code.forms.push(Form::Num(0));
        self.code.ranges.push(UNMADE);
        NodeId::new(self.code.forms.len() - 1)
    }

    fn block(&mut self, starts: [NodeId; 2]) -> BlockId {
        self.code.blocks.push(Block { captures: (0, 0), starts });
        BlockId::new(self.code.blocks.len() - 1)
    }

    fn new_binder(&mut self) -> Binder {
        self.code.occurrences.push(Vec::new());
        self.slots.push(Vec::new());
        Binder::new(self.code.occurrences.len() - 1)
    }

    fn binder(&self, index: u32) -> Binder {
        self.binders[self.binders.len() - 1 - index as usize]
    }

    /// The slot of a variable in the innermost context. If needed, this context and all contexts between it
    /// and the binder capture the variable.
    fn slot(&mut self, binder: Binder) -> Slot {
        let innermost = self.innermost();
        let slots = &mut self.slots[binder.index()];
        let (outer, mut slot) = *slots.last().expect("a variable is bound in some context");
        for place in outer + 1..=innermost {
            let context = &mut self.contexts[place as usize];
            let captured = Slot::Captured(number(context.captures.len()));
            context.captures.push((binder, slot));
            slots.push((place, captured));
            slot = captured;
            self.n_open += 1;
        }
        slot
    }

    /// The approximate size of the captures, the only data that can be larger than the program.
    fn bytes(&self) -> u64 {
        const OPEN: usize = size_of::<(Binder, Slot)>() + size_of::<(u32, Slot)>();
        (self.n_open * OPEN + self.code.captures.len() * size_of::<Slot>()) as u64
    }

    fn innermost(&self) -> u32 {
        number(self.contexts.len() - 1)
    }

    fn context(&mut self) -> &mut Context {
        self.contexts.last_mut().expect("there is a context around every term")
    }
}

/// The range of code that is not compiled yet.
const UNMADE: (u32, u32) = (u32::MAX, u32::MAX);

fn number(n: usize) -> u32 {
    u32::try_from(n).expect("code is smaller than 2^32")
}
