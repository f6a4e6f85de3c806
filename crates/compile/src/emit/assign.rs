//! Assignments.

use std::collections::BTreeSet;

use eddy_tensor::Type;
use rustc_hash::FxHashSet;

use super::Emitter;
use super::reads::memory;
use crate::lines::Lines;
use crate::nest::Nest;
use crate::view::{Root, View};

/// `to = view;`, element by element.
pub(super) fn copy(view: &View, to: &str, ty: &Type, lines: &mut Lines) {
    let element = |place: &str| match &view.root {
        Root::One(text) => text.clone(),
        Root::Memory(text) => format!("{text}[{place}]"),
        Root::Var(_) => unreachable!("it has a place by now"),
    };
    if ty.shape.is_scalar() {
        lines.line(format!("{to} = {};", element(&view.offset.to_string())));
        return;
    }
    let target = View::whole(Root::Memory(to.to_string()), ty);
    let nest = Nest::new(&view.shape, &[view, &target]);
    nest.write(lines, |lines| lines.line(format!("{to}[{}] = {};", nest.place(1), element(&nest.place(0)))));
}

/// An assignment that happens together with others.
pub(super) struct Write {
    /// Where the value goes.
    pub to: String,
    /// Where it is now.
    pub view: View,
    /// Its type.
    pub ty: Type,
    /// What must hold for it to happen.
    pub conditions: Vec<String>,
    /// A flag that says that it happened.
    pub flag: Option<String>,
}

impl Write {
    /// Whether the value is where it goes already.
    fn is_there(&self) -> bool {
        let own = |text: &String| *text == self.to && self.view.offset == 0;
        matches!(&self.view.root, Root::One(text) | Root::Memory(text) if own(text))
    }
}

/// Places in the state.
struct Places {
    places: FxHashSet<String>,
    /// How long they are.
    lengths: BTreeSet<usize>,
}

impl Places {
    /// What all of them begin with.
    const BEGINNING: &'static str = "self->";

    fn new(places: impl Iterator<Item = String>) -> Places {
        let places: FxHashSet<String> = places.collect();
        assert!(
            places.iter().all(|place| place.starts_with(Places::BEGINNING)),
            "it is the state that is written"
        );
        Places { lengths: places.iter().map(String::len).collect(), places }
    }

    /// Those that a text contains. There are few lengths, but perhaps many places.
    fn within<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let begun = text.match_indices(Places::BEGINNING).map(|(start, _)| &text[start..]);
        let parts = begun.flat_map(|rest| self.lengths.iter().filter_map(|length| rest.get(..*length)));
        parts.filter(|part| self.places.contains(*part))
    }
}

/// Assignments that happen at once: what is overwritten and still read is put aside first.
pub(super) fn write_at_once(mut writes: Vec<Write>, emitter: &Emitter<'_>, lines: &mut Lines) {
    let written = Places::new(writes.iter().map(|write| write.to.clone()));
    for (number, write) in writes.iter_mut().enumerate() {
        let is_overwritten = match &write.view.root {
            // A pointer may point to anything.
            Root::Memory(text) if !text.contains("->") => true,
            Root::One(text) | Root::Memory(text) => {
                *text != write.to && written.within(text).any(|other| other != write.to)
            }
            Root::Var(_) => false,
        };
        if is_overwritten {
            let name = format!("aside{number}");
            let size = write.ty.shape.iter().product::<usize>();
            let dimension = if write.ty.shape.is_scalar() { String::new() } else { format!("[{size}]") };
            lines.line(format!("{} {name}{dimension};", emitter.precision.c_type(write.ty.scalar)));
            copy(&write.view, &name, &write.ty, lines);
            write.view = memory(name, &write.ty);
        }
    }
    // What an assignment depends on is asked before the first one changes it.
    for (number, write) in writes.iter_mut().enumerate() {
        if write.conditions.iter().any(|condition| written.within(condition).next().is_some()) {
            lines.line(format!("const bool happens{number} = {};", write.conditions.join(" && ")));
            write.conditions = vec![format!("happens{number}")];
        }
    }
    for write in &writes {
        let is_there = write.is_there();
        if is_there && write.flag.is_none() {
            continue;
        }
        lines.guarded(&write.conditions, |lines| {
            if !is_there {
                copy(&write.view, &write.to, &write.ty, lines);
            }
            if let Some(flag) = &write.flag {
                lines.line(format!("{flag} = true;"));
            }
        });
    }
}
