//! Expands sampling by constructors, `x when s is a` and `merge s { a: e, b: e }`, into sampling by truth
//! values (composition.md, section 7).
//!
//! ```text
//! c₀ = s == low;   c₁ = (s == mid) when not c₀;         once for each stream s
//! x when s is mid                                       (x when not c₀) when c₁
//! x when s is top                                       (x when not c₀) when not c₁
//! merge s { low: e₀, mid: e₁, top: e₂ }                 merge c₀ e₀ (merge c₁ e₁ e₂)
//! ```

use eddy_flow::cases::test_name;

use super::Composer;
use super::expand::Scope;
use crate::program::{Entity, Equation, Reference, Role, Slot, SlotId, TypeDefId};
use crate::tree::{BinaryOp, Case, ExprId, ExprKind, Form, Ident, Polarity};

impl Composer<'_> {
    /// An expression with these operands.
    pub fn built(&mut self, scope: &mut Scope, expr: ExprId, operands: &[ExprId]) -> Option<ExprId> {
        let exprs = &self.program.modules[scope.module].tree.exprs;
        let ExprKind::Form(form, _) = exprs.kind(expr) else {
            return Some(self.rebuilt(scope.module, expr, operands));
        };
        match exprs.form(form).clone() {
            Form::WhenIs(constructor) => {
                let (of, number) = self.constructor(scope, constructor)?;
                let conditions = self.conditions(scope, operands[1], of);
                Some(self.sampled(scope, operands[0], &conditions, number, expr))
            }
            Form::Merge(cases) => {
                let mut branches = Vec::with_capacity(cases.len());
                let mut of = None;
                for (case, value) in cases.iter().zip(&operands[1..]) {
                    let Case::Enumerator(ident) = case else { return None };
                    let (enumeration, number) = self.constructor(scope, *ident)?;
                    of = Some(enumeration);
                    branches.push((number, *value));
                }
                branches.sort_by_key(|(number, _)| *number);
                let conditions = self.conditions(scope, operands[0], of?);
                let (_, mut merged) = branches.pop()?;
                for ((_, value), condition) in branches.into_iter().zip(&conditions).rev() {
                    let condition = self.read(scope, *condition, expr);
                    merged = self.add(scope, ExprKind::Merge(condition, value, merged), expr);
                }
                Some(merged)
            }
            Form::Reset => Some(self.restarted(scope, operands[0], operands[1])),
            _ => Some(self.rebuilt(scope.module, expr, operands)),
        }
    }

    fn constructor(&self, scope: &Scope, ident: Ident) -> Option<(TypeDefId, usize)> {
        let module = &self.program.modules[scope.module];
        match module.entities.get(module.names.text(ident.name)) {
            Some(Entity::Enumerator(of, number)) => Some((*of, *number as usize)),
            _ => None,
        }
    }

    /// The streams that test which constructor a stream has: all but the last one.
    fn conditions(&mut self, scope: &mut Scope, stream: ExprId, of: TypeDefId) -> Vec<SlotId> {
        let module = &self.program.modules[scope.module];
        let slot = match module.references[stream.index()] {
            Reference::Slot(slot) => slot,
            _ => self.local(scope, "condition".to_string(), stream),
        };
        if let Some(known) = scope.conditions.get(&(slot, of)) {
            return known.clone();
        }
        let constructors = self.program.enumerators(of);
        // The state of a machine has a path, `automaton#1/state`.
        let name = scope.new_slots[slot.index()].name.replace('/', ":");
        let mut conditions = Vec::new();
        for number in 0..constructors.len().saturating_sub(1) {
            let tested = self.read(scope, slot, stream);
            let constructor = self.enumerator(scope, of, number, &constructors[number], stream);
            let test = ExprKind::Binary(BinaryOp::Equal, tested, constructor);
            let mut test = self.add(scope, test, stream);
            let label = test_name(&name, &constructors, number);
            if number > 0 {
                let test_slot = self.local(scope, format!("{label}:?"), test);
                test = self.read(scope, test_slot, stream);
            }
            for condition in &conditions {
                test = self.when(scope, test, *condition, Polarity::OnNot, stream);
            }
            conditions.push(self.local(scope, label, test));
        }
        scope.conditions.insert((slot, of), conditions.clone());
        conditions
    }

    /// The value where a stream has a constructor.
    pub fn sampled(
        &mut self,
        scope: &mut Scope,
        value: ExprId,
        conditions: &[SlotId],
        constructor: usize,
        place: ExprId,
    ) -> ExprId {
        let mut value = value;
        for (number, condition) in conditions.iter().enumerate().take(constructor + 1) {
            let polarity = if number == constructor { Polarity::On } else { Polarity::OnNot };
            value = self.when(scope, value, *condition, polarity, place);
        }
        value
    }

    fn when(
        &mut self,
        scope: &Scope,
        value: ExprId,
        condition: SlotId,
        polarity: Polarity,
        place: ExprId,
    ) -> ExprId {
        let condition = self.read(scope, condition, place);
        self.add(scope, ExprKind::When(polarity, value, condition), place)
    }

    fn enumerator(
        &mut self,
        scope: &Scope,
        of: TypeDefId,
        number: usize,
        name: &str,
        place: ExprId,
    ) -> ExprId {
        let module = &mut self.program.modules[scope.module];
        let (span, at) = (module.tree.exprs.span(place), module.tree.exprs.at(place));
        let name = module.names.intern(name);
        let number = u32::try_from(number).expect("fewer constructors than source bytes");
        module.add(ExprKind::Variable(name), span, at, Reference::Enumerator(of, number))
    }

    /// Adds an expression in the place of another.
    pub fn add(&mut self, scope: &Scope, kind: ExprKind, place: ExprId) -> ExprId {
        let module = &mut self.program.modules[scope.module];
        let (span, at) = (module.tree.exprs.span(place), module.tree.exprs.at(place));
        module.add(kind, span, at, Reference::Nothing)
    }

    /// A further stream of the node with this value.
    pub fn local(&mut self, scope: &mut Scope, name: String, value: ExprId) -> SlotId {
        let slot = SlotId::new(scope.new_slots.len());
        let span = self.program.modules[scope.module].tree.exprs.span(value);
        scope.new_slots.push(Slot::new(name, span, Role::Local));
        let equation = Equation { targets: vec![Some(slot)], value, is_broken: false };
        scope.new_equations.push((usize::MAX, equation));
        slot
    }
}
