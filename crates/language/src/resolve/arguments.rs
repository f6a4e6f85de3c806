//! Binds the arguments of a call to the inputs of its callee (composition.md, section 4).
//!
//! ```text
//! node dense(units, inputs, x, rate = 0.0) -> (o) … dense(units = 8, inputs = 4, x)        units ← argument
//! 0, inputs ← argument 1, x ← argument 2, rate ← default
//! ```
//!
//! Named arguments bind their inputs. The others bind, from left to right, the inputs that are left, except
//! those that are *by name only*: an input with a default that stands before one without a default.

/// An input of the callee.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Formal<'a> {
    pub name: &'a str,
    pub has_default: bool,
}

/// What an input is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// An argument, by its number in the text.
    Argument(usize),
    Default,
    /// Nothing: the input of a partial application.
    Missing,
}

/// Why arguments do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misbound {
    /// No input has the name of this argument.
    NoInput(usize),
    /// An input is given by this argument and by an earlier one.
    GivenTwice(usize),
    /// There are more arguments without a name than inputs for them.
    TooMany,
}

/// Binds arguments, each with its name if it has one. An input without argument and default is `Missing`.
pub(crate) fn bind(formals: &[Formal<'_>], arguments: &[Option<&str>]) -> Result<Vec<Source>, Misbound> {
    let mut bound = vec![Source::Missing; formals.len()];
    for (number, name) in arguments.iter().enumerate() {
        let Some(name) = name else { continue };
        let input = formals.iter().position(|formal| formal.name == *name);
        let input = input.ok_or(Misbound::NoInput(number))?;
        if bound[input] != Source::Missing {
            return Err(Misbound::GivenTwice(number));
        }
        bound[input] = Source::Argument(number);
    }
    let last_without_default = formals.iter().rposition(|formal| !formal.has_default);
    let is_by_name_only =
        |input: usize| formals[input].has_default && last_without_default.is_some_and(|last| input < last);
    let mut left = (0..formals.len()).filter(|input| !is_by_name_only(*input));
    for (number, name) in arguments.iter().enumerate() {
        if name.is_none() {
            let input = left.by_ref().find(|input| bound[*input] == Source::Missing);
            bound[input.ok_or(Misbound::TooMany)?] = Source::Argument(number);
        }
    }
    for (formal, source) in formals.iter().zip(&mut bound) {
        if *source == Source::Missing && formal.has_default {
            *source = Source::Default;
        }
    }
    Ok(bound)
}

#[cfg(test)]
mod tests {
    use super::Source::{Argument, Default, Missing};
    use super::*;

    fn formals<'a>(inputs: &[&'a str]) -> Vec<Formal<'a>> {
        let formal = |input: &&'a str| match input.strip_suffix('=') {
            Some(name) => Formal { name, has_default: true },
            None => Formal { name: input, has_default: false },
        };
        inputs.iter().map(formal).collect()
    }

    #[test]
    fn names_bind_their_inputs_and_positions_the_rest() {
        let dense = formals(&["units", "inputs", "x"]);
        assert_eq!(
            bind(&dense, &[None, Some("x"), Some("inputs")]),
            Ok(vec![Argument(0), Argument(2), Argument(1)])
        );
        assert_eq!(bind(&dense, &[Some("units"), None]), Ok(vec![Argument(0), Argument(1), Missing]));
    }

    #[test]
    fn an_input_with_a_default_before_one_without_is_by_name_only() {
        let scaled = formals(&["k=", "x", "rate="]);
        assert_eq!(bind(&scaled, &[None]), Ok(vec![Default, Argument(0), Default]));
        assert_eq!(bind(&scaled, &[None, None]), Ok(vec![Default, Argument(0), Argument(1)]));
        assert_eq!(bind(&scaled, &[None, Some("k")]), Ok(vec![Argument(1), Argument(0), Default]));
        assert_eq!(bind(&scaled, &[None, None, None]), Err(Misbound::TooMany));
    }

    #[test]
    fn mistakes_are_told_apart() {
        let f = formals(&["a", "b"]);
        assert_eq!(bind(&f, &[Some("c")]), Err(Misbound::NoInput(0)));
        assert_eq!(bind(&f, &[Some("a"), Some("a")]), Err(Misbound::GivenTwice(1)));
        assert_eq!(bind(&f, &[None, None, None]), Err(Misbound::TooMany));
    }
}
