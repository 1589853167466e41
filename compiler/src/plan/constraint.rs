//! A forced plan in text, `OP:RxCxK:RRxRC:COLUMNS:MEMORY:ORIENT:REDUCTION:LOCAL`.

use super::PlanError;

/// A forced plan of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanConstraint {
    /// Graph operation index.
    pub operation: usize,
}

impl PlanConstraint {
    /// Parses the text form.
    ///
    /// # Errors
    /// [`PlanError::Constraint`] naming the field.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let operation = text.split(':').next().and_then(|field| field.parse().ok());
        operation
            .map(|operation| Self { operation })
            .ok_or_else(|| PlanError::Constraint {
                text: text.to_owned(),
                field: "operation",
                problem: "expected a number".to_owned(),
            })
    }
}
