//! Values as text (section 3): `{41 -> 42}`, `thunk(some(1))`, `(1, 2)`, `{@0; [@0 = 4] -> @0; [@0 = 5]}`.

use std::fmt::{self, Write};

use super::{Entry, Side, Store, Value, ValueKind, Values};

/// Pending output.
enum Piece {
    Text(&'static str),
    Value(Value),
    Address(u64),
}

impl Values {
    pub fn write(&self, value: Value, out: &mut dyn Write) -> fmt::Result {
        let mut work = vec![Piece::Value(value)];
        while let Some(piece) = work.pop() {
            match piece {
                Piece::Text(text) => out.write_str(text)?,
                Piece::Address(address) => write!(out, "@{address}")?,
                Piece::Value(value) => {
                    let start = work.len();
                    match self.kind(value) {
                        ValueKind::Int(int) => write!(out, "{int}")?,
                        ValueKind::Address(address) => write!(out, "@{address}")?,
                        ValueKind::ThunkNone => out.write_str("thunk(none)")?,
                        ValueKind::Wrong => out.write_str("wrong")?,
                        ValueKind::ThunkSome(content) => {
                            out.write_str("thunk(some(")?;
                            work.extend([Piece::Value(*content), Piece::Text("))")]);
                        }
                        ValueKind::Pair(first, second) => {
                            out.write_str("(")?;
                            let pieces = [
                                Piece::Value(*first),
                                Piece::Text(", "),
                                Piece::Value(*second),
                                Piece::Text(")"),
                            ];
                            work.extend(pieces);
                        }
                        ValueKind::Table(entries) => {
                            out.write_str("{")?;
                            for (i, entry) in entries.iter().enumerate() {
                                work.push(Piece::Text(if i == 0 { "" } else { ", " }));
                                self.pieces_of_entry(*entry, &mut work);
                            }
                            work.push(Piece::Text("}"));
                        }
                    }
                    work[start..].reverse();
                }
            }
        }
        Ok(())
    }

    pub fn show(&self, value: Value) -> String {
        let mut text = String::new();
        self.write(value, &mut text).expect("a string takes all that is written");
        text
    }

    /// Stores are left out if both sides have an empty one.
    fn pieces_of_entry(&self, entry: Entry, work: &mut Vec<Piece>) {
        let has_stores = entry.input.store != Store::EMPTY || entry.output.store != Store::EMPTY;
        self.pieces_of_side(entry.input, has_stores, work);
        work.push(Piece::Text(" -> "));
        self.pieces_of_side(entry.output, has_stores, work);
    }

    fn pieces_of_side(&self, side: Side, has_store: bool, work: &mut Vec<Piece>) {
        work.push(Piece::Value(side.value));
        if has_store {
            work.push(Piece::Text("; ["));
            for (i, (address, value)) in self.cells(side.store).iter().enumerate() {
                work.push(Piece::Text(if i == 0 { "" } else { ", " }));
                work.extend([Piece::Address(*address), Piece::Text(" = "), Piece::Value(*value)]);
            }
            work.push(Piece::Text("]"));
        }
    }
}
