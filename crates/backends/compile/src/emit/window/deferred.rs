//! Defers sums of outer products over a sweep until its loop has run for some cycles.
//!
//! The gradient of a matrix that multiplies vectors is such a sum: each cycle adds `outer(x, y)` to the sum
//! of the previous cycle. Reading and writing the whole matrix in each cycle would take longer than
//! everything else. So the loop keeps the vectors of a block of cycles, and then each element of the matrix
//! accumulates its terms in a register, in the order of the loop: the bits are the same.

use eddy_flow::VarId;
use eddy_imp::{Argument, Block, Expr, Kernel, Place as ImpPlace, Type as ElementType};
use eddy_plan::plan::{
    Body, Direction, Immediate, Instruction, Place, Read, Region, Right as Planned, Sweep, Zone,
};
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::Emitter;
use super::super::assign::copy;
use super::super::iteration::t;
use super::n;
use crate::precision::{element_type, uniform};
use crate::runtime::LARGE;
use crate::view::View;

/// A deferred sum.
pub(super) struct Sum {
    /// The stream whose register holds it.
    pub register: VarId,
    /// Streams that the loop need not compute.
    pub skipped: FxHashSet<VarId>,
    /// The vectors.
    sides: [Side; 2],
    /// The initial value, if it differs from the value of the register.
    start: Option<View>,
}

/// A vector at each cycle.
struct Side {
    var: VarId,
    /// The array of vectors.
    array: ImpPlace,
    /// The distance between vectors.
    stride: usize,
    /// Whether the loop must store the vectors.
    is_put: bool,
    /// Whether the array covers only the cycles of one block.
    is_of_block: bool,
}

impl Side {
    /// The vector of a cycle.
    fn at(&self, cycle: Expr) -> ImpPlace {
        self.array.index(if self.is_of_block { cycle - Expr::var("before") } else { cycle })
    }
}

/// The number of cycles in a block: memory for the vectors does not grow with the window, and reading and
/// writing the matrix takes a small share of the time.
pub(super) const MAX_BLOCK: usize = 256;

impl Sum {
    /// The streams that the loop must store, and where.
    pub fn kept(&self) -> impl Iterator<Item = (VarId, ImpPlace)> {
        let put = self.sides.iter().filter(|side| side.is_put);
        put.map(|side| (side.var, side.at(t())))
    }
}

impl<'a> Emitter<'a> {
    /// The sums of a sweep that can be deferred; `entries` vectors are kept for each.
    pub(super) fn deferred(
        &mut self,
        region: &'a Region,
        number: usize,
        sweep: &'a Sweep,
        entries: usize,
    ) -> Vec<Sum> {
        if sweep.is_straight {
            return Vec::new();
        }
        let Some(zone) = region.zone_id(Zone::Inner) else { return Vec::new() };
        let body = &sweep.bodies[zone.index()];
        let uses = Uses::new(body);
        let chains = sweep.neighbours.iter().filter_map(|register| self.chain(&uses, sweep, *register));
        let chains: Vec<Chain<'a>> = chains.collect();
        let sum = |chain: Chain<'a>| {
            let [one, other] = chain.vectors;
            let sides = [self.side(number, body, one, entries)?, self.side(number, body, other, entries)?];
            let start = match chain.start {
                None => None,
                Some(immediate) => Some(self.immediate(chain.register, immediate)),
            };
            Some(Sum { register: chain.register, skipped: chain.skipped, sides, start })
        };
        chains.into_iter().filter_map(sum).collect()
    }

    /// Matches `sum = outer(x, y) + neighbour`, `register = sum`, without other readers in the loop.
    fn chain(&self, uses: &Uses<'a>, sweep: &'a Sweep, register: VarId) -> Option<Chain<'a>> {
        let instruction = |var: VarId| uses.instructions.get(&var).copied();
        let is_private = |instruction: &Instruction| {
            let var = instruction.var;
            instruction.clock.is_empty()
                && instruction.store.is_empty()
                && sweep.latches.iter().all(|latch| latch.var != var)
                && (var == register || !sweep.neighbours.contains(&var))
                && uses.local(var) == usize::from(var != register)
        };
        let mut skipped = FxHashSet::default();
        // Follows copies without other readers.
        let mut origin = |read: &'a Read| {
            let mut at = read;
            while let Read::Here(var, Place::Local) = at {
                match instruction(*var) {
                    Some(copy) if is_private(copy) => match &copy.right {
                        // Inside a closed window there is always a next cycle.
                        Planned::Copy(next) | Planned::Ahead { next: Some(next), .. } => {
                            skipped.insert(*var);
                            at = next;
                        }
                        _ => break,
                    },
                    _ => break,
                }
            }
            at
        };
        let own = instruction(register)?;
        let sum = match &own.right {
            Planned::Copy(read) if is_private(own) => match origin(read) {
                Read::Here(sum, Place::Local) => instruction(*sum)?,
                _ => return None,
            },
            _ => own,
        };
        let Planned::Apply(reads) = &sum.right else { return None };
        if !is_private(sum) || self.operation(sum.var) != Op::Add || uses.neighbour(register) != 1 {
            return None;
        }
        let [one, other] = &**reads else { return None };
        let (product, neighbour) = match (origin(one), origin(other)) {
            (Read::Here(product, Place::Local), neighbour)
            | (neighbour, Read::Here(product, Place::Local)) => (instruction(*product)?, neighbour),
            _ => return None,
        };
        let start = start(neighbour, register)?;
        if !is_private(product) || self.operation_of(product) != Some(Op::Outer) {
            return None;
        }
        skipped.extend([own.var, sum.var, product.var]);
        let Planned::Apply(vectors) = &product.right else { return None };
        let [x, y] = &**vectors else { return None };
        Some(Chain { register, skipped, vectors: [x, y], start })
    }

    fn operation_of(&self, instruction: &Instruction) -> Option<Op> {
        matches!(instruction.right, Planned::Apply(_)).then(|| self.operation(instruction.var))
    }

    /// Where a vector is at each cycle.
    fn side(&mut self, number: usize, body: &Body, read: &Read, entries: usize) -> Option<Side> {
        match read {
            Read::Here(var, Place::Local) if body.code.iter().any(|instruction| instruction.var == *var) => {
                let name = format!("d{number}_{}", self.names.of(*var));
                let ty = self.ty(*var);
                let size: usize = ty.shape.iter().product();
                if self.state.find(&name).is_none() {
                    let (dimensions, comment) = (vec![entries, size], self.label(*var));
                    let ty = element_type(ty.scalar);
                    self.state.field(name.as_str(), ty, dimensions, comment, self.precision);
                }
                let array = ImpPlace::state(name);
                Some(Side { var: *var, array, stride: size, is_put: true, is_of_block: true })
            }
            Read::Here(var, Place::Buffer(buffer)) => {
                let name = self.buffer_name(*buffer);
                let stride = *self.state.find(&name)?.dimensions.get(1)?;
                let (array, is_of_block) = (ImpPlace::state(name), self.chunked.contains(&buffer.index()));
                Some(Side { var: *var, array, stride, is_put: false, is_of_block })
            }
            _ => None,
        }
    }

    /// Computes the sums after the loop has run from `low` to `high`; they continue from one block to the
    /// next.
    pub(super) fn write_sums(
        &mut self,
        number: usize,
        direction: Direction,
        sums: &[Sum],
        block: &mut Block,
    ) {
        let (low, high) = (|| Expr::var("low"), || Expr::var("high"));
        let (first, sign, is_first) = match direction {
            Direction::Forward => (low(), 1, low().equals(1)),
            Direction::Backward => (high() - 1, -1, high().equals(n() - 1)),
        };
        for sum in sums {
            let (register, ty) = (self.register(number, sum.register), self.ty(sum.register).clone());
            let (rows, columns) = (ty.shape[0], ty.shape[1]);
            let is_large = rows * columns * MAX_BLOCK >= LARGE;
            let mut arguments: Vec<Argument> =
                vec![rows.into(), columns.into(), (high() - low()).cast(ElementType::Size).into()];
            for side in &sum.sides {
                let stride = i64::try_from(side.stride).expect("a size of memory is far below 2^63");
                arguments.extend([side.at(first.clone()).index(0).into(), (sign * stride).into()]);
            }
            arguments.push(register.index(0).into());
            block.when(high().gt(low()), |block| {
                if let Some(start) = &sum.start {
                    block.when(is_first.clone(), |block| copy(start, &register, &ty, block));
                }
                block.kernel(Kernel::OuterSums, is_large, arguments);
            });
        }
    }
}

/// The equations of a sum.
struct Chain<'p> {
    register: VarId,
    skipped: FxHashSet<VarId>,
    vectors: [&'p Read; 2],
    start: Option<&'p Immediate>,
}

/// The initial value of a sum at the start of the loop, if the neighbour is the register: the register, or
/// zeros.
#[allow(clippy::option_option, reason = "the outer one says whether there is such a sum")]
fn start(neighbour: &Read, register: VarId) -> Option<Option<&Immediate>> {
    let (var, inner, edge): (_, _, &[Place]) = match neighbour {
        Read::After { var, inner, last } => (*var, inner, last),
        Read::Before { var, inner, first } => (*var, inner, std::slice::from_ref(first)),
        Read::Here(..) => return None,
    };
    if var != register || *inner != Place::Neighbour {
        return None;
    }
    match edge {
        [] => Some(None),
        [first, rest @ ..] if rest.iter().all(|place| place == first) => match first {
            Place::Neighbour => Some(None),
            Place::Immediate(immediate @ Immediate::Value(value)) if uniform(value).is_some() => {
                Some(Some(immediate))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The instructions of a body, and how often it reads each stream.
struct Uses<'p> {
    instructions: FxHashMap<VarId, &'p Instruction>,
    local: FxHashMap<VarId, usize>,
    neighbour: FxHashMap<VarId, usize>,
}

impl<'p> Uses<'p> {
    fn new(body: &'p Body) -> Uses<'p> {
        let instructions = body.code.iter().map(|instruction| (instruction.var, instruction)).collect();
        let mut uses = Uses { instructions, local: FxHashMap::default(), neighbour: FxHashMap::default() };
        for read in body.code.iter().flat_map(Region::reads) {
            match read {
                Read::Here(var, Place::Local) => *uses.local.entry(*var).or_default() += 1,
                Read::Before { var, inner: Place::Neighbour, .. }
                | Read::After { var, inner: Place::Neighbour, .. } => {
                    *uses.neighbour.entry(*var).or_default() += 1;
                }
                _ => {}
            }
        }
        uses
    }

    fn local(&self, var: VarId) -> usize {
        self.local.get(&var).copied().unwrap_or(0)
    }

    fn neighbour(&self, var: VarId) -> usize {
        self.neighbour.get(&var).copied().unwrap_or(0)
    }
}
