//! The text form of a graph: what [`Graph`]'s `Display` writes and [`super::parse`] reads.

use std::fmt;

use runtime::package::Fill;

use super::{Graph, Value, ValueKind};

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for value in &self.values {
            match value.kind {
                ValueKind::Input(fill) => host_line(f, "input", value, fill)?,
                ValueKind::Parameter(fill) => host_line(f, "parameter", value, fill)?,
                ValueKind::Result => {}
            }
        }
        for operation in &self.operations {
            let output = &self.value(operation.output).name;
            write!(f, "{output} = {}(", operation.kind.name())?;
            for (index, input) in operation.inputs.iter().enumerate() {
                let comma = if index == 0 { "" } else { ", " };
                write!(f, "{comma}{}", self.value(*input).name)?;
            }
            write!(f, ")")?;
            if operation.name != *output {
                write!(f, " as {}", operation.name)?;
            }
            if !operation.region.is_empty() {
                write!(f, " in {}", operation.region)?;
            }
            writeln!(f)?;
        }
        for output in &self.outputs {
            writeln!(f, "output {}", self.value(*output).name)?;
        }
        Ok(())
    }
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
