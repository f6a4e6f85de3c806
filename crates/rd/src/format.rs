//! The one format of `.rd` files.
use eddy_syntax::{Diagnostic, SourceFile};
/// Formats.
pub fn format(file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
    Ok(file.text().to_string())
}
