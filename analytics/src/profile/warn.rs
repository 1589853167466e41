//! What a reader of any answer from a file should know about the file itself: report in, sentences
//! out.

use super::{Condition, ProfileReport};

/// Name of the note in the provenance of a part that was cut from a truncated file; its value is
/// one past the last whole record of that file.
pub(crate) const CUT_FROM_TRUNCATED: &str = "slice_of_truncated_at";

impl ProfileReport {
    /// What is missing from the file, or from the file that it was cut from. Every answer, export
    /// and report of a file says this.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Condition::Truncated { at } = self.condition() {
            warnings.push(format!(
                "the file is truncated: samples after byte {at} are missing"
            ));
        }
        let notes = self.header().provenance.iter();
        for (_, at) in notes.filter(|(name, _)| name == CUT_FROM_TRUNCATED) {
            warnings.push(format!(
                "this is a part of a truncated file: samples after byte {at} of that are missing"
            ));
        }
        warnings
    }
}
