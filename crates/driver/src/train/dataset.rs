//! The data of a training run: rows, sequences, and the order in which they come.
//!
//! Rows are kept in memory, or read again in each epoch ([`Stream`]). In memory each epoch has a permutation
//! of all samples or sequences; a stream shuffles them in a buffer: each one that is read takes the place of
//! a random one, which is learnt from.

use std::borrow::Cow;
use std::hash::Hasher;
use std::ops::Range;

use eddy_language::codes;
use eddy_language::prepare::Prepared;
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Value;
use eddy_tensor::init::SplitMix64;
use rustc_hash::FxHasher;

use super::filling::Filling;
use super::skipping::Skipping;
use super::source::{RowReader, Source};
use crate::stream::Stopped;

/// The largest number of cells of data in memory; about two gibibytes.
pub(super) const MAX_CELLS: usize = 1 << 26;

/// All rows of some data.
pub(super) struct Dataset {
    store: Store,
    n_rows: usize,
    n_units: usize,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// A hash of all cells, as they were read.
    pub hash: String,
}

enum Store {
    Memory {
        rows: Vec<Vec<Cell>>,
        /// The rows of each unit that is shuffled as a whole.
        units: Vec<Range<usize>>,
    },
    Stream(Box<Stream>),
}

/// Data that are read in each epoch.
pub(super) struct Stream {
    pub source: Source,
    pub skipping: Option<Skipping>,
    pub filling: Filling,
    pub unit: Unit,
    pub end: Option<usize>,
    /// The number of samples or sequences among which a shuffled one is drawn.
    pub buffer: usize,
    pub fingerprint: Fingerprint,
}

/// The unit of shuffling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Each row is a sample.
    Row,
    /// Rows up to an `end`.
    Sequence,
    /// The whole data: each row depends on the one before.
    Whole,
}

/// The order of an epoch: a function of the seed and the epoch, so that a resumed run continues with the same
/// order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub is_shuffled: bool,
    pub seed: u64,
    pub epoch: u64,
}

impl Order {
    /// The order of the data.
    pub const PLAIN: Order = Order { is_shuffled: false, seed: 0, epoch: 0 };

    fn random(self) -> SplitMix64 {
        SplitMix64::new(&format!("epoch {}", self.epoch), self.seed)
    }
}

/// A sample, a sequence, or rows of a stream that is not shuffled.
#[derive(Clone)]
pub(super) struct UnitRows<'a> {
    /// The number of its first row in the data.
    pub first_row: usize,
    pub rows: Cow<'a, [Vec<Cell>]>,
}

/// The units of an epoch.
pub(super) type Units<'a> = Box<dyn Iterator<Item = Result<UnitRows<'a>, Stopped>> + 'a>;

impl Dataset {
    /// Rows that were read and filled in.
    pub fn in_memory(
        rows: Vec<Vec<Cell>>,
        units: Vec<Range<usize>>,
        notes: Vec<String>,
        hash: String,
    ) -> Dataset {
        let (n_rows, n_units) = (units.iter().map(ExactSizeIterator::len).sum(), units.len());
        Dataset { store: Store::Memory { rows, units }, n_rows, n_units, notes, hash }
    }

    /// Rows that are read in each epoch.
    pub fn stream(
        stream: Stream,
        (n_rows, n_units): (usize, usize),
        notes: Vec<String>,
        hash: String,
    ) -> Dataset {
        Dataset { store: Store::Stream(Box::new(stream)), n_rows, n_units, notes, hash }
    }

    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub fn n_units(&self) -> usize {
        self.n_units
    }

    /// The units in the order of an epoch.
    pub fn units<'a>(&'a self, prepared: &'a Prepared, order: Order) -> Units<'a> {
        match &self.store {
            Store::Memory { rows, units } => {
                let mut numbers: Vec<usize> = (0..units.len()).collect();
                if order.is_shuffled {
                    shuffle(&mut numbers, &mut order.random());
                }
                Box::new(numbers.into_iter().map(move |number| {
                    let range = units[number].clone();
                    Ok(UnitRows { first_row: range.start, rows: Cow::Borrowed(&rows[range]) })
                }))
            }
            Store::Stream(stream) => match stream.units(prepared) {
                Ok(units) if order.is_shuffled => Box::new(Shuffled {
                    units,
                    buffer: Vec::new(),
                    size: stream.buffer,
                    random: order.random(),
                }),
                Ok(units) => Box::new(units),
                Err(stopped) => Box::new(std::iter::once(Err(stopped))),
            },
        }
    }

    /// The rows in the order of the data.
    pub fn rows<'a>(
        &'a self,
        prepared: &'a Prepared,
    ) -> impl Iterator<Item = Result<Cow<'a, [Cell]>, Stopped>> + 'a {
        self.units(prepared, Order::PLAIN).flat_map(rows_of)
    }
}

/// The rows of a unit.
pub(super) fn rows_of(
    unit: Result<UnitRows<'_>, Stopped>,
) -> impl Iterator<Item = Result<Cow<'_, [Cell]>, Stopped>> {
    let (borrowed, owned, stopped) = match unit {
        Ok(UnitRows { rows: Cow::Borrowed(rows), .. }) => (rows, Vec::new(), None),
        Ok(UnitRows { rows: Cow::Owned(rows), .. }) => (&[][..], rows, None),
        Err(stopped) => (&[][..], Vec::new(), Some(stopped)),
    };
    let borrowed = borrowed.iter().map(|row| Ok(Cow::Borrowed(row.as_slice())));
    borrowed.chain(owned.into_iter().map(|row| Ok(Cow::Owned(row)))).chain(stopped.map(Err))
}

/// Shuffles by the method of Fisher and Yates.
pub(super) fn shuffle(order: &mut [usize], random: &mut SplitMix64) {
    for last in (1..order.len()).rev() {
        order.swap(last, below(random, last + 1));
    }
}

/// A random number below `n`.
fn below(random: &mut SplitMix64, n: usize) -> usize {
    let number = (u128::from(random.bits()) * n as u128) >> 64;
    usize::try_from(number).expect("below a length")
}

impl Stream {
    fn units<'a>(&'a self, prepared: &'a Prepared) -> Result<StreamUnits<'a>, Stopped> {
        let n_inputs = self.source.names.len();
        let reader = RowReader::new(self.source.open()?, prepared, n_inputs, self.skipping.clone());
        Ok(StreamUnits {
            stream: self,
            reader,
            n_rows: 0,
            fingerprint: Fingerprint::default(),
            is_ended: false,
        })
    }
}

/// The units of a stream in the order of the data.
struct StreamUnits<'a> {
    stream: &'a Stream,
    reader: RowReader<'a>,
    n_rows: usize,
    fingerprint: Fingerprint,
    is_ended: bool,
}

impl<'a> Iterator for StreamUnits<'a> {
    type Item = Result<UnitRows<'a>, Stopped>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_ended {
            return None;
        }
        let unit = self.read();
        self.is_ended = !matches!(unit, Ok(Some(_)));
        unit.transpose()
    }
}

impl<'a> StreamUnits<'a> {
    fn read(&mut self) -> Result<Option<UnitRows<'a>>, Stopped> {
        let (first_row, mut rows) = (self.n_rows, Vec::new());
        while let Some((mut row, _)) = self.reader.next_row()? {
            self.fingerprint.add(&row);
            self.stream.filling.apply(&mut row, self.n_rows);
            self.n_rows += 1;
            let is_end = |end: usize| row[end] == Cell::Value(Value::Bool(true));
            let ends = self.stream.unit != Unit::Sequence || self.stream.end.is_none_or(is_end);
            rows.push(row);
            if ends {
                break;
            }
        }
        if !rows.is_empty() {
            return Ok(Some(UnitRows { first_row, rows: Cow::Owned(rows) }));
        }
        if self.fingerprint == self.stream.fingerprint { Ok(None) } else { Err(changed()) }
    }
}

/// The error for data that differ from those that were checked before the first epoch.
fn changed() -> Stopped {
    let title = "the data have changed since this training began";
    let help = "run it again, with `--resume` to go on after the last epoch";
    Stopped::Program(vec![Diagnostic::error(codes::DATA, Span::default(), title).help(help)])
}

/// A quick hash of rows, to notice changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    pub fn add(&mut self, row: &[Cell]) {
        let mut hasher = FxHasher::default();
        hasher.write_u64(self.0);
        for cell in row {
            hasher.write_u8(u8::from(*cell == Cell::Absent));
            for element in cell.value().into_iter().flat_map(Value::elements) {
                match element {
                    Value::Num(x) => hasher.write_u64(x.to_bits()),
                    Value::Num32(x) => hasher.write_u32(x.to_bits()),
                    Value::Int(n) => hasher.write_i64(n),
                    Value::Bool(truth) => hasher.write_u8(u8::from(truth)),
                    Value::Tensor(_) => unreachable!("elements are scalars"),
                }
            }
        }
        self.0 = hasher.finish();
    }
}

/// Units in a random order, drawn from a buffer.
struct Shuffled<'a> {
    units: StreamUnits<'a>,
    buffer: Vec<UnitRows<'a>>,
    size: usize,
    random: SplitMix64,
}

impl<'a> Iterator for Shuffled<'a> {
    type Item = Result<UnitRows<'a>, Stopped>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.units.next() {
                Some(Ok(unit)) if self.buffer.len() < self.size => self.buffer.push(unit),
                Some(Ok(unit)) => {
                    let at = below(&mut self.random, self.buffer.len());
                    return Some(Ok(std::mem::replace(&mut self.buffer[at], unit)));
                }
                Some(Err(stopped)) => return Some(Err(stopped)),
                None if self.buffer.is_empty() => return None,
                None => {
                    let at = below(&mut self.random, self.buffer.len());
                    return Some(Ok(self.buffer.swap_remove(at)));
                }
            }
        }
    }
}
