//! Tapes: records of words at the high end of the arena.
//!
//! Outside of `pack` and `unpack`, a tape is one word. What is known about the sizes in it is recorded in its
//! [`Layout`], from where it is packed to where it is unpacked.

use std::rc::Rc;

use eddy_body::{Elem, Type, Var};

use super::body::{Emitter, Repr, Tensor, declared, int_literal, n_bytes};
use super::facts::Interval;

/// What is known about the parts of a tape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Layout(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Part {
    /// The sizes of a tensor.
    sizes: Vec<Option<i64>>,
    /// The value of an integer, or of each element of a tensor of integers.
    value: Option<i64>,
    /// The layout of a tape, or of the tapes in a row.
    inside: Option<Rc<Layout>>,
}

impl Emitter<'_, '_> {
    fn layout_of(&self, operands: &[Var]) -> Layout {
        let part = |var: &Var| Part {
            sizes: self.sizes(*var).iter().map(|size| self.facts.literal(size)).collect(),
            value: match self.ty(*var) {
                Type { elem: Elem::Int, rank: 0 } => self.facts.interval(*var).single(),
                Type { elem: Elem::Int, .. } => self.facts.elements(*var).single(),
                _ => None,
            },
            inside: self.layouts.get(var).cloned(),
        };
        Layout(operands.iter().map(part).collect())
    }

    /// Records that `to` holds what `from` holds, or rows of it.
    pub fn same_layout(&mut self, to: Var, from: Var) {
        match self.layouts.get(&from).cloned() {
            Some(layout) => self.layouts.insert(to, layout),
            None => self.layouts.remove(&to),
        };
    }

    /// Packs a tape: scalars and copies of tensors at the high end, where they stay until the tape is
    /// released.
    pub fn pack(&mut self, result: Var, operands: &[Var]) {
        self.uses_high = true;
        let layout = self.layout_of(operands);
        self.layouts.insert(result, Rc::new(layout));
        let name = self.name(result);
        let n_words: usize = operands.iter().map(|var| 1 + self.ty(*var).rank).sum();
        self.line(&format!("eddy_word *const {name} = eddy_high(a, (size_t){} * 8);", n_words.max(1)));
        self.fail(&format!("!{name}"), "EDDY_MEMORY");
        let mut at = 0;
        for var in operands {
            let ty = self.ty(*var);
            match self.repr(*var).clone() {
                Repr::Scalar(text) => {
                    let field = word_field(ty.elem, false);
                    self.line(&format!("{name}[{at}].{field} = {text};"));
                }
                Repr::Tensor(tensor) => {
                    let sizes = self.sizes(*var);
                    let all = self.n_elements(&name, &sizes);
                    let bytes = format!("(size_t)({all}) * {}", n_bytes(ty.elem));
                    self.line(&format!("{name}[{at}].data = eddy_high(a, {bytes});"));
                    self.fail(&format!("!{name}[{at}].data"), "EDDY_MEMORY");
                    if self.few(&all).is_some() && ty.elem != Elem::Tape {
                        let to = self.names.of("packed");
                        self.line(&format!("{} = {name}[{at}].data;", declared(ty.elem, "*const ", &to)));
                        self.copy_elements(&to, &tensor.data, &all, ty.elem);
                    } else {
                        self.line(&format!("__builtin_memcpy({name}[{at}].data, {}, {bytes});", tensor.data));
                    }
                    for (k, size) in self.sizes(*var).iter().enumerate() {
                        self.line(&format!("{name}[{}].integer = {size};", at + 1 + k));
                    }
                }
            }
            at += 1 + ty.rank;
        }
        self.set(result, Repr::Scalar(name));
    }

    pub fn unpack(&mut self, results: &[Var], types: &[Type], tape: Var) {
        let layout = self.layouts.get(&tape).cloned();
        let tape = self.scalar(tape);
        let mut at = 0;
        for (k, (result, ty)) in results.iter().zip(types).enumerate() {
            let part = layout.as_ref().map(|layout| layout.0[k].clone());
            match part.as_ref().and_then(|part| part.inside.clone()) {
                Some(inside) => self.layouts.insert(*result, inside),
                None => self.layouts.remove(result),
            };
            let value = part.as_ref().and_then(|part| part.value);
            if let Some(value) = value {
                self.facts.set_interval(*result, Interval::of(value));
                self.facts.set_elements(*result, Interval::of(value));
            }
            if let Some(value) = value.filter(|_| ty.rank == 0) {
                self.set(*result, Repr::Scalar(int_literal(value)));
            } else if ty.rank == 0 {
                self.define(*result, &format!("{tape}[{at}].{}", word_field(ty.elem, false)));
            } else {
                let name = self.name(*result);
                self.line(&format!("{} = {tape}[{at}].data;", declared(ty.elem, "*const ", &name)));
                let sizes = (0..ty.rank).map(|k| match part.as_ref().and_then(|part| part.sizes[k]) {
                    Some(size) => int_literal(size),
                    None => {
                        self.local_int(&format!("{name}_n{k}"), &format!("{tape}[{}].integer", at + 1 + k))
                    }
                });
                let sizes = sizes.collect();
                self.share(*result, Tensor { data: name, sizes });
            }
            at += 1 + ty.rank;
        }
    }
}

/// The member of a word that holds a scalar.
pub(super) fn word_field(elem: Elem, is_tensor: bool) -> &'static str {
    match elem {
        _ if is_tensor => "data",
        Elem::Num => "num",
        Elem::Int | Elem::Enum(_) | Elem::Bool => "integer",
        Elem::Tape => "data",
    }
}
