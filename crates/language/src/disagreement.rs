//! Two engines that give different results for one program, and the files that show it again.

use eddy_syntax::Diagnostic;

/// A difference between two engines.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// What the user is told.
    pub warning: Diagnostic,
    /// What a folder must hold to show it again.
    pub reproduction: Reproduction,
}

/// The contents of a folder that shows a difference again.
#[derive(Clone, Debug, Default)]
pub struct Reproduction {
    /// What was run.
    pub node: String,
    /// What differs, and which compiler made the code, in lines.
    pub notes: String,
    /// The files of the program: the paths under which they were read, and their texts. The main file comes first.
    pub programs: Vec<(String, String)>,
    /// Data, parameters and C text: paths in the folder and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// Variables that must be set.
    pub environment: Vec<(String, String)>,
    /// The command, without `eddy` and the program, which comes after the first word.
    pub command: Vec<String>,
}

/// What a trainer found out about its compiled code.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Where it is wrong; the trainer then uses the simulator.
    pub disagreements: Vec<Disagreement>,
    /// What the user should know.
    pub notes: Vec<String>,
}
