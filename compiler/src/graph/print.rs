//! The text form of a graph: what [`Graph`]'s `Display` writes and [`super::parse`] reads.

use std::fmt;

use runtime::package::Fill;

use super::{Graph, Operation, OperationKind, Value, ValueKind};

impl fmt::Display for Graph {
    /// Values in order of definition, so that reading the text gives the same graph.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut operations = self.operations.iter();
        for value in &self.values {
            match value.kind {
                ValueKind::Input(fill) => host_line(f, "input", value, fill)?,
                ValueKind::Parameter(fill) => host_line(f, "parameter", value, fill)?,
                ValueKind::Result => {
                    if let Some(operation) = operations.next() {
                        operation_line(f, self, operation)?;
                    }
                }
            }
        }
        for output in &self.outputs {
            writeln!(f, "output {}", self.value(*output).name)?;
        }
        Ok(())
    }
}

fn operation_line(f: &mut fmt::Formatter<'_>, graph: &Graph, operation: &Operation) -> fmt::Result {
    let output = &graph.value(operation.output).name;
    write!(f, "{output} = {}(", operation.kind.name())?;
    for (index, input) in operation.inputs.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(f, "{comma}{}", graph.value(*input).name)?;
    }
    match operation.kind {
        OperationKind::SplitHeads { heads } | OperationKind::MergeHeads { heads } => {
            write!(f, ", {heads}")?;
        }
        OperationKind::Attention { scale: Some(scale) } => write!(f, ", {}", scale.get())?,
        OperationKind::Attention { scale: None }
        | OperationKind::Gemm
        | OperationKind::Gelu
        | OperationKind::Add
        | OperationKind::LayerNorm => {}
    }
    write!(f, ")")?;
    if operation.name != *output {
        write!(f, " as {}", operation.name)?;
    }
    if !operation.region.is_empty() {
        write!(f, " in {}", operation.region)?;
    }
    writeln!(f)
}

fn host_line(f: &mut fmt::Formatter<'_>, word: &str, value: &Value, fill: Fill) -> fmt::Result {
    write!(
        f,
        "{word} {}: {}{:?} = ",
        value.name,
        value.dtype.name(),
        value.shape
    )?;
    match fill {
        Fill::Constant(constant) => writeln!(f, "constant({constant})"),
        Fill::Gaussian { seed, sigma } => writeln!(f, "gaussian({seed}, {sigma})"),
        Fill::OneHot { batch_step } => writeln!(f, "one_hot({batch_step})"),
        Fill::Cycle { row_step } => writeln!(f, "cycle({row_step})"),
    }
}
