//! Reverse derivatives, gradients and forward derivatives.

use super::text::Text;
use super::types::Ty;
use super::{Generator, NESTING};

impl Generator<'_> {
    pub(super) fn derivative(&mut self, ty: &Ty, depth: u32) -> Text {
        // A forward derivative is a derivative of a derivative.
        let forward = usize::from(self.nesting + 2 <= NESTING);
        match self.choices.weighted(&[(3, 0), (3, 1), (forward, 2)]) {
            0 => {
                let point = self.term(ty, depth).loose();
                let of = self.abstraction(ty, &Ty::Real, 1, depth);
                Text::atom_of(format!("grad[{point}]{of}"))
            }
            1 => {
                let body_ty = self.any_type();
                let (point, cotangent) = (self.term(ty, depth).loose(), self.term(&body_ty, depth).atom());
                let of = self.abstraction(ty, &body_ty, 1, depth);
                Text::atom_of(format!("{cotangent}.rd[{point}]{of}"))
            }
            _ => {
                let point_ty = self.any_type();
                // The tangent is inside no derivative, the point inside one.
                let tangent = self.term(&point_ty, depth).atom();
                let point = self.inside(1, |generator| generator.term(&point_ty, depth)).loose();
                let of = self.abstraction(&point_ty, ty, 2, depth);
                Text::atom_of(format!("{tangent}.fd[{point}]{of}"))
            }
        }
    }

    /// `(x:T. N)` or `(f)`, inside `derivatives` more derivatives.
    fn abstraction(&mut self, point: &Ty, body: &Ty, derivatives: u32, depth: u32) -> String {
        let fits = |generator: &Self, height: u32| generator.nesting + derivatives + height <= NESTING;
        let functions = self.callable();
        let named = functions.iter().find(|function| {
            function.result == *body && Ty::product(&function.params) == *point && fits(self, function.height)
        });
        if let Some(function) = named
            && self.choices.once_in(3)
        {
            self.height = self.height.max(self.nesting + derivatives + function.height);
            return format!("({})", function.name);
        }
        let name = self.name();
        let annotation = self.annotation(point);
        let mark = self.scope.mark();
        self.scope.bind(name, point.clone());
        let body = self.inside(derivatives, |generator| generator.term(body, depth)).loose();
        self.scope.release(mark);
        format!("({name}{annotation}. {body})")
    }

    /// Generates a term inside `derivatives` more derivatives.
    fn inside(&mut self, derivatives: u32, generate: impl FnOnce(&mut Self) -> Text) -> Text {
        self.nesting += derivatives;
        self.height = self.height.max(self.nesting);
        let text = generate(self);
        self.nesting -= derivatives;
        text
    }
}
