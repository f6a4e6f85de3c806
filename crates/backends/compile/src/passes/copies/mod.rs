//! Removes fields that are always copies of another one.
//!
//! A plan keeps a value for each zone of a window: a held value is copied from its slot to the first cycle,
//! from there to the inner ones, and from there to the last. With a view of the whole program, no copy is
//! needed:
//!
//! ```text
//! for i: size = 0 while (i < 176) by 1 {   │
//!   let e: num = self.p0[i];               │
//!   self.u2[i] = e;                        │
//! }                                        │
//! self.y = self.u2[3];                     │  self.y = self.p0[3];
//! ```
//!
//! A field qualifies if every write copies all of one other field, and if at every read such a write has run
//! and the other field has not been written since ([`events`](mod@events)). Then the field and its copies are
//! removed ([`replace`](mod@replace)).

mod events;
mod replace;

use eddy_imp::{Name, Program, Struct};
use rustc_hash::{FxHashMap, FxHashSet};

use events::{Event, events};
use replace::replace;

/// Replaces reads of copies by reads of their origins. Fields that a host accesses stay.
pub(super) fn share(program: &mut Program, seen_by_host: &FxHashSet<Name>) {
    // A copy of a copy is found in the next round, when its origin has been replaced.
    while let Some(found) = copies(program, seen_by_host) {
        read_instead(program, &found);
    }
}

/// Removes fields from the program; reads of a removed field become reads of the field that equals it.
pub(super) fn read_instead(program: &mut Program, same: &FxHashMap<Name, Name>) {
    for procedure in &mut program.procedures {
        replace(&mut procedure.body, same);
    }
    let mut state = Struct::default();
    for field in program.state.fields.iter().filter(|field| !same.contains_key(&field.name)) {
        state.field(
            &field.name,
            field.ty,
            field.dimensions.clone(),
            field.comment.clone(),
            program.precision,
        );
    }
    program.state = state;
}

/// Fields that are copies, and their origins, which are not copies themselves.
fn copies(program: &Program, seen_by_host: &FxHashSet<Name>) -> Option<FxHashMap<Name, Name>> {
    let by_procedure: Vec<FxHashMap<Name, Vec<Event>>> =
        program.procedures.iter().map(|procedure| events(procedure, program)).collect();
    let mut found: FxHashMap<Name, Name> = FxHashMap::default();
    for field in program.state.fields.iter().filter(|field| !seen_by_host.contains(&field.name)) {
        let of = by_procedure.iter().filter_map(|events| events.get(&field.name)).flatten();
        let mut origins = of.filter(|event| event.is_write()).map(Event::copied);
        let Some(Some(origin)) = origins.next() else { continue };
        let is_same = origins.all(|other| other == Some(origin));
        if !is_same || found.contains_key(origin) || found.values().any(|other| *other == field.name) {
            continue;
        }
        let (copy, whole) = (field, program.state.find(origin.as_str())?);
        let fits = copy.ty == whole.ty && copy.dimensions == whole.dimensions && copy.name != whole.name;
        if fits && by_procedure.iter().all(|events| is_fresh(events, &field.name, origin)) {
            found.insert(field.name.clone(), origin.clone());
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Whether a copy equals its origin wherever a procedure reads it.
fn is_fresh(events: &FxHashMap<Name, Vec<Event>>, copy: &Name, origin: &Name) -> bool {
    let of = |name: &Name| events.get(name).map_or(&[][..], Vec::as_slice);
    let mut reads = of(copy).iter().filter(|event| event.is_read());
    reads.all(|read| {
        let mut copied = of(copy).iter().filter(|event| event.is_write() && event.runs_before(read));
        copied.any(|write| {
            !of(origin).iter().any(|change| change.is_change() && change.comes_between(write, read))
        })
    })
}
