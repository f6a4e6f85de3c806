//! The programs for laws of derivatives, each with a trace.

use crate::generated::case::Case;
use crate::generated::harness::SampleChoices;

/// A program with all features.
pub fn sample(source: &mut SampleChoices<'_>) -> Case {
    let program = source.program.smooth_program();
    Case::smooth(program, source)
}

/// A program whose values do not depend on where it is instantiated.
pub fn sample_without_random(source: &mut SampleChoices<'_>) -> Case {
    let program = source.program.smooth_program_without_random();
    Case::smooth(program, source)
}

/// A program to train.
pub fn sample_to_train(source: &mut SampleChoices<'_>) -> Case {
    let program = source.program.program_to_train();
    Case::to_train(program, source)
}

/// A program to train that has sampled streams.
pub fn sample_sampled_to_train(source: &mut SampleChoices<'_>) -> Case {
    let program = source.program.sampled_program_to_train();
    Case::to_train(program, source)
}

pub fn sample_single(source: &mut SampleChoices<'_>) -> Case {
    let program = source.program.smooth_single();
    Case::smooth(program, source)
}

/// A node with one output, to train.
pub fn sample_single_to_train(source: &mut SampleChoices<'_>) -> Case {
    let program = source.program.single_to_train();
    Case::to_train(program, source)
}

/// A node with one output and without parameters.
pub fn sample_single_without_parameters(source: &mut SampleChoices<'_>) -> Case {
    let program = source.program.smooth_single_without_parameters();
    Case::smooth(program, source)
}
