//! The programs that laws of derivatives are tried on, each with a trace.

use crate::generated::case::Case;
use crate::generated::harness::Source;

/// A program with everything.
pub fn sample(source: &mut Source<'_>) -> Case {
    let program = source.program.smooth_program();
    Case::smooth(program, source)
}

/// A program whose values do not depend on where it is instantiated.
pub fn sample_without_random(source: &mut Source<'_>) -> Case {
    let program = source.program.smooth_program_without_random();
    Case::smooth(program, source)
}

/// A program to be trained.
pub fn sample_to_train(source: &mut Source<'_>) -> Case {
    let program = source.program.program_to_train();
    Case::to_train(program, source)
}

/// A program to be trained some streams of which are sampled.
pub fn sample_sampled_to_train(source: &mut Source<'_>) -> Case {
    let program = source.program.sampled_program_to_train();
    Case::to_train(program, source)
}

/// A node with one output.
pub fn sample_single(source: &mut Source<'_>) -> Case {
    let program = source.program.smooth_single();
    Case::smooth(program, source)
}

/// A node with one output, to be trained.
pub fn sample_single_to_train(source: &mut Source<'_>) -> Case {
    let program = source.program.single_to_train();
    Case::to_train(program, source)
}

/// A node with one output and without parameters.
pub fn sample_single_without_parameters(source: &mut Source<'_>) -> Case {
    let program = source.program.smooth_single_without_parameters();
    Case::smooth(program, source)
}
