//! All values of a size over given integers: the inputs of `enum`, and samples of laws.

use super::{Entry, Value, Values};
use crate::dialect::Dialect;
use crate::integer::Int;

/// The maximal length of a list of values.
pub const MAX_VALUES: usize = 1 << 20;

/// There are more values than [`MAX_VALUES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// The values over some integers, by size; sizes are added on demand.
#[derive(Clone, Debug)]
pub struct Universe {
    dialect: Dialect,
    ints: Vec<Int>,
    /// The values of size 1, 2, …, each list in the canonical order.
    by_size: Vec<Vec<Value>>,
}

impl Universe {
    /// The integers and tables over `ints`, and in `.sysf` thunks; never `wrong`, addresses or pairs.
    pub fn new(dialect: Dialect, ints: &[Int]) -> Self {
        let mut ints = ints.to_vec();
        ints.sort();
        ints.dedup();
        Universe { dialect, ints, by_size: Vec::new() }
    }

    /// The values of exactly this size.
    pub fn of_size(&mut self, size: usize, values: &mut Values) -> Result<&[Value], TooMany> {
        while self.by_size.len() < size {
            let next = self.make(self.by_size.len() + 1, values)?;
            self.by_size.push(next);
        }
        Ok(if size == 0 { &[] } else { &self.by_size[size - 1] })
    }

    /// The values of this size, made from all smaller ones.
    fn make(&self, size: usize, values: &mut Values) -> Result<Vec<Value>, TooMany> {
        let mut all = Vec::new();
        if size == 1 {
            all.extend(self.ints.iter().map(|int| values.int(int.clone())));
            if self.dialect == Dialect::SystemF {
                all.push(values.thunk_none());
            }
        } else if self.dialect == Dialect::SystemF {
            all.extend(self.by_size[size - 2].iter().map(|content| values.thunk_some(*content)));
        }
        let lists = |cost: usize| {
            (1..cost).map(move |input| (&self.by_size[input - 1], &self.by_size[cost - input - 1]))
        };
        let n_pairs = (0..size).flat_map(lists).map(|(inputs, outputs)| inputs.len() * outputs.len());
        if n_pairs.sum::<usize>() > MAX_VALUES {
            return Err(TooMany);
        }
        let entries = |cost: usize| -> Vec<Entry> {
            let sides = lists(cost);
            let pairs = sides.flat_map(|(inputs, outputs)| {
                inputs
                    .iter()
                    .flat_map(move |input| outputs.iter().map(move |output| Entry::new(*input, *output)))
            });
            pairs.collect()
        };
        let by_cost: Vec<Vec<Entry>> = (0..size).map(entries).collect();
        all.extend(tables_of_size(size, &by_cost, values)?);
        all.sort_unstable_by(|a, b| values.compare(*a, *b));
        Ok(all)
    }
}

/// All tables of this size made of entries; `by_cost[c]` are those that add `c` to the size of a table.
pub fn tables_of_size(
    size: usize,
    by_cost: &[Vec<Entry>],
    values: &mut Values,
) -> Result<Vec<Value>, TooMany> {
    let entries: Vec<(usize, Entry)> = by_cost
        .iter()
        .enumerate()
        .flat_map(|(cost, entries)| entries.iter().map(move |entry| (cost, *entry)))
        .collect();
    let mut all = Vec::new();
    // Sets of entries, at ascending positions; each set is extended by later entries.
    let mut work: Vec<(Vec<Entry>, usize, usize)> = vec![(Vec::new(), 0, size.saturating_sub(1))];
    while let Some((chosen, from, left)) = work.pop() {
        if left == 0 {
            all.push(values.table(chosen));
            continue;
        }
        if all.len() + work.len() > MAX_VALUES {
            return Err(TooMany);
        }
        for (at, (cost, entry)) in entries.iter().enumerate().skip(from) {
            // Costs ascend: later entries are not cheaper.
            if *cost > left {
                break;
            }
            // The entry uses up the rest, or leaves enough for a later entry, which costs at least as much.
            if *cost == left || left - cost >= *cost {
                let mut more = chosen.clone();
                more.push(*entry);
                work.push((more, at + 1, left - cost));
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_values_as_the_specification_counts() {
        let (mut values, ints) = (Values::default(), [Int::ZERO, Int::ONE]);
        let mut universe = Universe::new(Dialect::Lambda, &ints);
        let counts: Vec<usize> =
            (1..=5).map(|size| universe.of_size(size, &mut values).map_or(0, <[Value]>::len)).collect();
        assert_eq!(counts.iter().sum::<usize>(), 102, "section 11, P8: {counts:?}");
    }
}
