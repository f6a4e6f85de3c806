//! Typed ids: indices into tables, with a separate type for each kind of table.
//!
//! An id has 32 bits, which halves the tables of trees and graphs. A table never has more entries, because
//! another limit, on source files or on memory, applies first. Each kind of id names that limit, which is
//! the panic message if it fails.
//!
//! ```
//! eddy_index::id! {
//!     /// A stream.
//!     pub struct VarId, "elaboration stops before 2^32 streams";
//! }
//!
//! let names = ["x", "y"];
//! let var = VarId::new(1);
//! assert_eq!(names[var.index()], "y");
//! assert_eq!(format!("{var:?}"), "VarId(1)");
//! ```
//!
//! Crates such as `index_vec` provide vectors that only an id can index. Here most tables are several
//! parallel vectors, or are also indexed by other numbers, so the id types alone suffice.

/// Declares types of ids: `/// doc`, visibility, name, and the reason why no table is too long.
///
/// Each has `new(index)` and `index()`; `.0` is visible in the declaring module. Ids are ordered by index.
#[macro_export]
macro_rules! id {
    ($($(#[$attribute:meta])* $visibility:vis struct $name:ident, $reason:literal;)+) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            $visibility struct $name(u32);

            // Some types are only compared, or only constructed.
            #[allow(dead_code)]
            impl $name {
                /// Panics if `index` does not fit into 32 bits.
                #[inline]
                #[track_caller]
                $visibility const fn new(index: usize) -> $name {
                    assert!(index <= u32::MAX as usize, $reason);
                    #[allow(clippy::cast_possible_truncation)] // asserted above
                    $name(index as u32)
                }

                /// The index into the table.
                #[inline]
                $visibility const fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )+
    };
}

#[cfg(test)]
mod tests {
    id! {
        struct Place, "places are counted in bytes";
        struct Other, "there are few";
    }

    #[test]
    fn an_id_is_an_index_of_32_bits() {
        let places = [Place::new(0), Place::new(7), Place::new(u32::MAX as usize)];
        assert_eq!(places.map(Place::index), [0, 7, u32::MAX as usize]);
        assert!(places.is_sorted());
        assert_eq!(size_of::<Place>(), 4);
        assert_eq!(Other::new(1).index(), 1);
    }

    #[test]
    #[should_panic(expected = "places are counted in bytes")]
    #[cfg(target_pointer_width = "64")]
    fn a_table_that_is_too_long_panics() {
        let _ = Place::new(1 << 32);
    }
}
