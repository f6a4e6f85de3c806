//! The types of elements, and the precision of numbers.

use std::fmt;

/// The type of an element, a variable or a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A number of the language, in the precision of the program.
    Num,
    /// An integer of the language.
    Int,
    /// A truth value, of the language or of the code itself.
    Bool,
    /// An index into an array, never negative.
    Size,
    /// A number of cycles, or the index of a cycle.
    Cycle,
    /// A distance between indices, which may be negative.
    Offset,
    /// The result of a procedure: the number of complete outputs, or minus the number of a failed equation.
    Status,
}

impl Type {
    pub const ALL: [Type; 7] =
        [Type::Num, Type::Int, Type::Bool, Type::Size, Type::Cycle, Type::Offset, Type::Status];

    /// The keyword in the text of programs.
    pub fn word(self) -> &'static str {
        match self {
            Type::Num => "num",
            Type::Int => "int",
            Type::Bool => "bool",
            Type::Size => "size",
            Type::Cycle => "cycle",
            Type::Offset => "offset",
            Type::Status => "status",
        }
    }

    /// Whether it counts elements, cycles or outputs, so that its literals are plain integers.
    pub fn is_count(self) -> bool {
        match self {
            Type::Size | Type::Cycle | Type::Offset | Type::Status => true,
            Type::Num | Type::Int | Type::Bool => false,
        }
    }

    /// The size of an element in bytes, which is also its alignment.
    pub fn bytes(self, precision: Precision) -> usize {
        match (self, precision) {
            (Type::Bool, _) => 1,
            (Type::Num, Precision::Single) | (Type::Status, _) => 4,
            (Type::Num, Precision::Double) | (Type::Int | Type::Size | Type::Cycle | Type::Offset, _) => 8,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The precision of `num`: an option of the build, never of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    Double,
    Single,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::Double => "f64",
            Precision::Single => "f32",
        })
    }
}
