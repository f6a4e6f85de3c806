//! Kernels, as plain loops.

use super::memory::Array;
use super::{Frame, InterpreterError, Machine, Run};
use crate::interpret::Value;
use crate::intrinsic::Intrinsic;
use crate::kernel::{Argument, Kernel, KernelCall};

/// An array, starting with an element.
struct Part(Array, usize);

/// The arguments of a kernel: counts and arrays, each in order.
struct Arguments {
    counts: std::vec::IntoIter<i64>,
    arrays: std::vec::IntoIter<Part>,
}

impl Arguments {
    fn count(&mut self) -> Run<i64> {
        self.counts.next().ok_or_else(|| InterpreterError("a kernel lacks an argument".to_string()))
    }

    fn array(&mut self) -> Run<Part> {
        self.arrays.next().ok_or_else(|| InterpreterError("a kernel lacks an array".to_string()))
    }
}

impl<'p> Machine<'p> {
    pub(super) fn kernel(&mut self, call: &'p KernelCall, frame: &mut Frame) -> Run {
        let (mut counts, mut arrays) = (Vec::new(), Vec::new());
        for argument in &call.arguments {
            match argument {
                Argument::Value(value) => counts.push(self.value(value, frame)?.count()),
                Argument::Array(place) => {
                    let (array, at) = self.place(place, frame)?;
                    arrays.push(Part(array, at));
                }
                other => return Err(InterpreterError(format!("`{other}` for a kernel"))),
            }
        }
        let arguments = Arguments { counts: counts.into_iter(), arrays: arrays.into_iter() };
        match call.kernel {
            Kernel::Matmul => self.matmul(arguments, false),
            Kernel::MatmulPlus => self.matmul(arguments, true),
            Kernel::RowSums => self.row_sums(arguments),
            Kernel::Pack => self.pack(arguments),
            Kernel::OuterSums => self.outer_sums(arguments),
            Kernel::EachSums => self.each_sums(arguments),
        }
    }

    fn at(&self, part: &Part, offset: i64) -> Run<Value> {
        self.memory.read(&part.0, moved(part.1, offset)?)
    }

    fn put(&mut self, part: &Part, offset: i64, value: Value) -> Run {
        self.memory.write(&part.0, moved(part.1, offset)?, value)
    }

    fn fma(&self, x: Value, y: Value, z: Value) -> Run<Value> {
        self.function(Intrinsic::Fma, &[x, y, z]).ok_or_else(|| InterpreterError("no sum".to_string()))
    }

    fn matmul(&mut self, mut of: Arguments, is_added: bool) -> Run {
        let (rows, inner, columns) = (of.count()?, of.count()?, of.count()?);
        let (a, a_row, a_term) = (of.array()?, of.count()?, of.count()?);
        let (b, b_term) = (of.array()?, of.count()?);
        let (c, c_row) = (of.array()?, of.count()?);
        let plus = if is_added { Some((of.array()?, of.count()?)) } else { None };
        for i in 0..rows {
            for j in 0..columns {
                let mut sum = self.binary(crate::Binary::Mul, self.at(&a, i * a_row)?, self.at(&b, j)?)?;
                for k in 1..inner {
                    sum =
                        self.fma(self.at(&a, i * a_row + k * a_term)?, self.at(&b, k * b_term + j)?, sum)?;
                }
                if let Some((plus, row)) = &plus {
                    sum = self.binary(crate::Binary::Add, self.at(plus, i * row + j)?, sum)?;
                }
                self.put(&c, i * c_row + j, sum)?;
            }
        }
        Ok(())
    }

    fn row_sums(&mut self, mut of: Arguments) -> Run {
        let (rows, terms) = (of.count()?, of.count()?);
        let (x, row, term, c) = (of.array()?, of.count()?, of.count()?, of.array()?);
        for i in 0..rows {
            let mut sum = self.at(&x, i * row)?;
            for k in 1..terms {
                sum = self.binary(crate::Binary::Add, sum, self.at(&x, i * row + k * term)?)?;
            }
            self.put(&c, i, sum)?;
        }
        Ok(())
    }

    fn pack(&mut self, mut of: Arguments) -> Run {
        let (rows, columns) = (of.count()?, of.count()?);
        let (b, row, column, c) = (of.array()?, of.count()?, of.count()?, of.array()?);
        for i in 0..rows {
            for j in 0..columns {
                let value = self.at(&b, i * row + j * column)?;
                self.put(&c, i * columns + j, value)?;
            }
        }
        Ok(())
    }

    /// Each product is rounded before it is added.
    fn outer_sums(&mut self, mut of: Arguments) -> Run {
        let (rows, columns, terms) = (of.count()?, of.count()?, of.count()?);
        let (x, x_term, y, y_term, c) = (of.array()?, of.count()?, of.array()?, of.count()?, of.array()?);
        for t in 0..terms {
            for i in 0..rows {
                for j in 0..columns {
                    let product = self.binary(
                        crate::Binary::Mul,
                        self.at(&x, t * x_term + i)?,
                        self.at(&y, t * y_term + j)?,
                    )?;
                    let sum = self.binary(crate::Binary::Add, self.at(&c, i * columns + j)?, product)?;
                    self.put(&c, i * columns + j, sum)?;
                }
            }
        }
        Ok(())
    }

    fn each_sums(&mut self, mut of: Arguments) -> Run {
        let [streams, rows, columns, n0, n1, n2] = [(); 6].map(|()| of.count());
        let (streams, rows, columns) = (streams?, rows?, columns?);
        let n = [n0?, n1?, n2?];
        let mut factor = || -> Run<(Part, [i64; 5])> {
            let part = of.array()?;
            let [step, t0, t1, t2, stream] = [(); 5].map(|()| of.count());
            Ok((part, [step?, t0?, t1?, t2?, stream?]))
        };
        let ((a, left), (b, right)) = (factor()?, factor()?);
        let (c, c_row, c_column) = (of.array()?, of.count()?, of.count()?);
        let terms =
            (0..n[0]).flat_map(|t0| (0..n[1]).flat_map(move |t1| (0..n[2]).map(move |t2| [t0, t1, t2])));
        let terms: Vec<[i64; 3]> = terms.collect();
        let offset = |of: &[i64; 5], i: i64, t: &[i64; 3], s: i64| {
            of[0] * i + of[1] * t[0] + of[2] * t[1] + of[3] * t[2] + of[4] * s
        };
        for i in 0..rows {
            for j in 0..columns {
                for s in 0..streams {
                    let mut sum = Value::Num(-0.0);
                    for t in &terms {
                        let (x, y) =
                            (self.at(&a, offset(&left, i, t, s))?, self.at(&b, offset(&right, j, t, s))?);
                        sum = self.fma(x, y, sum)?;
                    }
                    self.put(&c, i * c_row + j * c_column + s, sum)?;
                }
            }
        }
        Ok(())
    }
}

/// An index at an offset from another.
fn moved(start: usize, offset: i64) -> Run<usize> {
    let at = i64::try_from(start).ok().and_then(|start| start.checked_add(offset));
    at.and_then(|at| usize::try_from(at).ok())
        .ok_or_else(|| InterpreterError(format!("{offset} is out of range")))
}
