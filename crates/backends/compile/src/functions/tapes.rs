//! Tapes: records of words at the high end of the arena.

use eddy_body::{Elem, Type, Var};

use super::body::{Emitter, Repr, Tensor, declared, n_bytes};

impl Emitter<'_, '_> {
    /// A tape: scalars and copies of tensors at the high end, where they stay until the tape is forgotten.
    pub fn pack(&mut self, result: Var, operands: &[Var]) {
        self.uses_high = true;
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
                    let all = self.n_elements(&name, &tensor.sizes);
                    let bytes = format!("(size_t)({all}) * {}", n_bytes(ty.elem));
                    self.line(&format!("{name}[{at}].data = eddy_high(a, {bytes});"));
                    self.fail(&format!("!{name}[{at}].data"), "EDDY_MEMORY");
                    self.line(&format!("__builtin_memcpy({name}[{at}].data, {}, {bytes});", tensor.data));
                    for (k, size) in tensor.sizes.iter().enumerate() {
                        self.line(&format!("{name}[{}].integer = {size};", at + 1 + k));
                    }
                }
            }
            at += 1 + ty.rank;
        }
        self.set(result, Repr::Scalar(name));
    }

    pub fn unpack(&mut self, results: &[Var], types: &[Type], tape: Var) {
        let tape = self.scalar(tape);
        let mut at = 0;
        for (result, ty) in results.iter().zip(types) {
            if ty.rank == 0 {
                self.define(*result, &format!("{tape}[{at}].{}", word_field(ty.elem, false)));
            } else {
                let name = self.name(*result);
                self.line(&format!("{} = {tape}[{at}].data;", declared(ty.elem, "*const ", &name)));
                let sizes = (0..ty.rank).map(|k| {
                    self.local_int(&format!("{name}_n{k}"), &format!("{tape}[{}].integer", at + 1 + k))
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
