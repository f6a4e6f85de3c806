//! x
use eddy_syntax::{Diagnostic, SourceFile};
/// x
pub fn format(file: &SourceFile) -> Result<String, Vec<Diagnostic>> { Ok(file.text().to_string()) }
