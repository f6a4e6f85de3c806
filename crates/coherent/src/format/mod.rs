//! Format.
use eddy_syntax::{Diagnostic, SourceFile};
/// Format.
pub fn format(file: &SourceFile) -> Result<String, Vec<Diagnostic>> { Ok(file.text().to_string()) }
