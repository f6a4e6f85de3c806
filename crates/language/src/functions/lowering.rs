//! Lowers trees to bodies: the loop that visits expressions.
//!
//! A function is lowered once for each combination of kinds and ranks of its arguments. Expressions, calls
//! and instances may be nested to any depth, so nothing here recurses natively: the remaining work is a stack
//! of [`Task`]s, computed values are a stack of [`Val`]s, and each function that is being lowered is an
//! [`Activation`].

use std::rc::Rc;

use eddy_body::ir::{BodyId, Elem, Module};
use eddy_syntax::Span;
use rustc_hash::FxHashMap;

use super::activation::Activation;
use super::control::LoopTask;
use super::errors::Refused;
use super::groups::Groups;
use super::instances::{Instance, Progress};
use super::key::{FnKey, Key, Ty};
use super::value::{Code, FnValue, Val};
use crate::program::{FunctionId, Program, TypeDefId};
use crate::tree::{ExprId, ExprKind, Exprs, Form, PatternId, TypeId};

/// A step of lowering. It takes its values from the operand stack, and pushes its results there.
pub enum Task {
    Expr(ExprId),
    /// Lower an operator or another form, whose parts were computed.
    Combine(ExprId),
    /// Lower a call whose arguments were computed.
    Call(ExprId),
    /// Call this function with this many operands.
    Apply {
        function: FnValue,
        n_args: usize,
        span: Span,
    },
    /// Lower a derivative operator whose operands were computed.
    Derive {
        operator: super::derivatives::Operator,
        span: Span,
    },
    /// Bind the last operand to a name or a pattern.
    Bind(PatternId),
    /// End the scope of all names but the first of this number.
    Unbind(usize),
    /// Check that the last operand has a written type.
    Annotate(TypeId),
    /// Lower the branches of an `if`, `and` or `or`, whose condition was computed.
    Branch(ExprId),
    /// Close the region of a branch that was computed.
    EndBranch,
    OpenRegion,
    /// Emit an `if` with this condition, whose branches were computed.
    If {
        condition: eddy_body::ir::Var,
        span: Span,
    },
    /// Lower the next case of a `match`.
    Match {
        expr: ExprId,
        at: usize,
    },
    Loop(LoopTask),
    /// A task for the sizes of an instance's parameters.
    Param(super::entering::ParamTask),
    /// End an instance whose body was computed.
    Finish,
    /// Complete the body of the innermost activation: all instances that it calls exist.
    Seal,
}

pub struct Lowering<'p> {
    pub program: &'p Program,
    pub module: Module,
    pub tasks: Vec<Task>,
    pub operands: Vec<Val>,
    pub activations: Vec<Activation>,
    pub instances: FxHashMap<Key, Rc<Instance>>,
    /// Instances whose results depend on unknown results.
    pub provisional: FxHashMap<Key, Rc<Instance>>,
    pub in_progress: FxHashMap<Key, Progress>,
    pub ids: FxHashMap<Key, BodyId>,
    pub constants: super::constants::Constants,
    /// The types of names, by the spans where they are bound; recorded only for editors.
    pub bound: Option<FxHashMap<Span, String>>,
    /// Custom derivatives at some arguments, and the required types of their results.
    pub custom_results: Vec<(FunctionId, Key, Ty)>,
    pub groups: Groups,
}

impl<'p> Lowering<'p> {
    pub fn new(program: &'p Program) -> Lowering<'p> {
        let mut lowering = Lowering {
            program,
            module: Module::default(),
            tasks: Vec::new(),
            operands: Vec::new(),
            activations: Vec::new(),
            instances: FxHashMap::default(),
            provisional: FxHashMap::default(),
            in_progress: FxHashMap::default(),
            ids: FxHashMap::default(),
            constants: super::constants::Constants::default(),
            bound: None,
            custom_results: Vec::new(),
            groups: Groups::new(program),
        };
        lowering.declare_enumerations();
        lowering
    }

    /// Runs all tasks; after an error, drops the remaining ones.
    pub fn finish_tasks(&mut self) -> Result<(), Refused> {
        while let Some(task) = self.tasks.pop() {
            if let Err(refused) = self.step(task) {
                self.tasks.clear();
                self.operands.clear();
                self.activations.clear();
                self.provisional.clear();
                self.in_progress.clear();
                return Err(refused);
            }
        }
        Ok(())
    }

    fn step(&mut self, task: Task) -> Result<(), Refused> {
        match task {
            Task::Expr(expr) => self.expr(expr),
            Task::Combine(expr) => self.combine(expr),
            Task::Call(expr) => self.call(expr),
            Task::Apply { function, n_args, span } => self.apply(function, n_args, span),
            Task::Derive { operator, span } => self.derive(operator, span),
            Task::Bind(pattern) => self.bind(pattern),
            Task::Unbind(n_names) => {
                self.here().env.truncate(n_names);
                Ok(())
            }
            Task::Annotate(ty) => self.annotate(ty),
            Task::Branch(expr) => self.branch(expr),
            Task::EndBranch => {
                let vars = self.top().vars();
                let region = self.here().close_region(vars);
                self.here().done.push(region);
                Ok(())
            }
            Task::OpenRegion => {
                self.here().open_region();
                Ok(())
            }
            Task::If { condition, span } => self.end_if(condition, span),
            Task::Match { expr, at } => self.match_case(expr, at),
            Task::Loop(task) => self.loop_task(task),
            Task::Param(task) => self.param_task(task),
            Task::Finish => self.finish_instance(),
            Task::Seal => self.seal(),
        }
    }

    /// Begins to lower an expression outside of functions, as a function without parameters.
    pub fn begin_item(&mut self, module: usize, value: ExprId) {
        let key = item_key(module, value);
        let id = self.body_id(&key);
        let span = self.program.modules[module].tree.exprs.at(value);
        self.activations.push(Activation::new(key.clone(), module, id, span));
        self.in_progress.insert(key, Progress { assumed: None, was_needed: false, depth: 0 });
    }

    /// The body of an expression outside of functions, and the type of its value.
    pub fn end_item(&mut self, module: usize, value: ExprId) -> (BodyId, Ty) {
        let instance = &self.instances[&item_key(module, value)];
        (instance.id, instance.result.ty(&instance.kinds, &mut Vec::new()))
    }

    /// Removes the body of an expression outside of functions that was evaluated, or that needs another
    /// constant first. Each evaluation processes all bodies, so if all were kept, evaluating n constants
    /// would take time O(n²).
    pub fn forget_item(&mut self, module: usize, value: ExprId) {
        let key = item_key(module, value);
        let Some(id) = self.ids.get(&key).copied() else { return };
        if id.index() + 1 == self.module.bodies.len() {
            self.module.bodies.pop();
            self.ids.remove(&key);
            self.instances.remove(&key);
        }
    }

    /// The function that is being lowered.
    pub fn here(&mut self) -> &mut Activation {
        self.activations.last_mut().expect("a function is being lowered")
    }

    pub fn pop(&mut self) -> Val {
        self.operands.pop().expect("an operand was computed")
    }

    pub fn pop_n(&mut self, n: usize) -> Vec<Val> {
        let start = self.operands.len() - n;
        self.operands.split_off(start)
    }

    pub fn push(&mut self, val: Val) {
        self.operands.push(val);
    }

    fn top(&self) -> &Val {
        self.operands.last().expect("an operand was computed")
    }

    /// Pushes tasks such that they run in this order.
    pub fn then(&mut self, tasks: Vec<Task>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    pub fn exprs(&self) -> &'p Exprs {
        let module = self.activations.last().expect("a function is being lowered").module;
        &self.program.modules[module].tree.exprs
    }

    pub fn text(&self, name: crate::names::Name) -> &'p str {
        let module = self.activations.last().expect("a function is being lowered").module;
        self.program.modules[module].names.text(name)
    }

    pub fn form_of(&self, expr: ExprId) -> Option<(&'p Form, &'p [ExprId])> {
        match self.exprs().kind(expr) {
            ExprKind::Form(form, parts) => Some((self.exprs().form(form), self.exprs().items(parts))),
            _ => None,
        }
    }

    /// The name of a kind of elements.
    pub fn kind_name(&self, elem: Elem) -> String {
        match elem {
            Elem::Bool => "bool".to_string(),
            Elem::Int => "int".to_string(),
            Elem::Num => "num".to_string(),
            Elem::Enum(id) => self.module.enums[id.index()].name.clone(),
            Elem::Tape => "a tape".to_string(),
        }
    }

    /// The element kind of an enumeration: bodies number enumerations as the program numbers types.
    pub fn enumeration(definition: TypeDefId) -> Elem {
        Elem::Enum(eddy_body::ir::EnumId::new(definition.index()))
    }

    fn declare_enumerations(&mut self) {
        for at in 0..self.program.types.len() {
            let (module, tree) = self.program.type_def(TypeDefId::new(at));
            let names = &self.program.modules[module].names;
            let cases = match &tree.definition {
                crate::tree::Definition::Enumeration(cases, _) => {
                    cases.iter().map(|case| names.text(case.name).to_string()).collect()
                }
                crate::tree::Definition::Alias(_) => Vec::new(),
            };
            let name = names.text(tree.ident.name).to_string();
            self.module.enums.push(eddy_body::ir::Enumeration { name, cases });
        }
    }
}

fn item_key(module: usize, value: ExprId) -> Key {
    let function = FnKey { code: Code::Item { module, expr: value }, captured: Vec::new() };
    Key { function, args: Vec::new() }
}
