//! The input language: a structured single-assignment graph of tensors and operations.
//!
//! Shapes are semantic: no layout, no tile. Operations are listed in execution order, each defines
//! one new value, and a value is defined before it is used; the builder methods enforce it, so
//! every [`Graph`] is well formed.

pub mod check;
mod operation;
pub mod parse;
mod print;
mod product;
pub mod reference;
mod repeat;
mod siglip;
pub mod workload;

use runtime::package::{DType, Fill};

pub use operation::{AttentionExtents, GemmExtents, Operation, OperationKind, Scale};
pub use repeat::{Carried, Repeat};

/// Largest element count of one tensor: 2^36, far above a device's memory.
const ELEMENTS_MAX: u64 = 1 << 36;
/// Largest rank of a tensor.
const RANK_MAX: usize = 6;

/// Index of a value in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(u32);

impl ValueId {
    /// The id as an index into [`Graph::values`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueKind {
    /// Written by the host before each call.
    Input(Fill),
    /// Written by the host once.
    Parameter(Fill),
    /// Computed by an operation.
    Result,
}

/// A tensor of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Unique name.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Extent of each axis, outermost first; at least one axis, each at least one.
    pub shape: Vec<u64>,
    /// Where it comes from.
    pub kind: ValueKind,
}

impl Value {
    /// Number of elements.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Rows and columns with all leading axes folded into the rows.
    #[must_use]
    pub fn matrix(&self) -> (u64, u64) {
        let columns = self.shape.last().copied().unwrap_or(1);
        (self.elements() / columns, columns)
    }

    /// What the host fills it with; `None` for results.
    #[must_use]
    pub const fn fill(&self) -> Option<Fill> {
        match self.kind {
            ValueKind::Input(fill) | ValueKind::Parameter(fill) => Some(fill),
            ValueKind::Result => None,
        }
    }
}

/// A graph in execution order. See the module for what holds of every graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    values: Vec<Value>,
    operations: Vec<Operation>,
    outputs: Vec<ValueId>,
    repeat: Option<Repeat>,
}

/// Which rule of the IR a graph breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Two values have one name.
    #[error("value {name} is defined twice")]
    Redefined {
        /// The name.
        name: String,
    },
    /// A shape has no axis, too many axes, an empty axis, or too many elements.
    #[error(
        "value {name}: shape {shape:?} needs 1..=6 axes of at least 1 and at most 2^36 elements"
    )]
    Shape {
        /// The value.
        name: String,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// Operands do not fit the operation.
    #[error("operation {name}: {problem}")]
    Operands {
        /// The operation.
        name: String,
        /// What does not fit, with both shapes.
        problem: String,
    },
    /// Nothing is computed or nothing is read back.
    #[error("the graph has no {missing}; add one")]
    Empty {
        /// `operation` or `output`.
        missing: &'static str,
    },
    /// A host value or a value twice among the outputs.
    #[error("output {name} must be the result of an operation, named once")]
    Output {
        /// The value.
        name: String,
    },
    /// A text form that does not parse.
    #[error("line {line}, column {column}: {problem}")]
    Parse {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What was expected.
        problem: String,
    },
}

impl Graph {
    /// The values in order of definition.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The operations in execution order.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The values that the host reads back.
    #[must_use]
    pub fn outputs(&self) -> &[ValueId] {
        &self.outputs
    }

    /// The value with this id.
    #[must_use]
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// The ids of all values in order of definition.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ValueId> + use<> {
        (0..).map(ValueId).take(self.values.len())
    }

    /// The value with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<ValueId> {
        let index = self.values.iter().position(|value| value.name == name)?;
        u32::try_from(index).ok().map(ValueId)
    }

    /// The operation that defines a value; `None` for host values.
    #[must_use]
    pub fn producer(&self, id: ValueId) -> Option<usize> {
        self.operations
            .iter()
            .position(|operation| operation.output == id)
    }

    /// Adds a host value.
    ///
    /// # Errors
    /// [`GraphError::Redefined`] and [`GraphError::Shape`].
    pub fn add_host(
        &mut self,
        name: &str,
        dtype: DType,
        shape: &[u64],
        kind: ValueKind,
    ) -> Result<ValueId, GraphError> {
        self.add_value(Value {
            name: name.to_owned(),
            dtype,
            shape: shape.to_vec(),
            kind,
        })
    }

    /// Names the operation that defines `result` and puts it into a region (empty: none).
    /// Does nothing for host values.
    pub fn label(&mut self, result: ValueId, name: &str, region: &str) {
        for operation in &mut self.operations {
            if operation.output == result {
                name.clone_into(&mut operation.name);
                region.clone_into(&mut operation.region);
            }
        }
    }

    /// Has the host read a result back.
    ///
    /// # Errors
    /// [`GraphError::Output`] for a host value or a value named before.
    pub fn add_output(&mut self, id: ValueId) -> Result<(), GraphError> {
        let value = self.value(id);
        if value.kind != ValueKind::Result || self.outputs.contains(&id) {
            return Err(GraphError::Output {
                name: value.name.clone(),
            });
        }
        self.outputs.push(id);
        Ok(())
    }

    /// Checks that something is computed and read back.
    ///
    /// # Errors
    /// [`GraphError::Empty`].
    pub fn validate(&self) -> Result<(), GraphError> {
        if self.operations.is_empty() {
            return Err(GraphError::Empty {
                missing: "operation",
            });
        }
        if self.outputs.is_empty() {
            return Err(GraphError::Empty { missing: "output" });
        }
        Ok(())
    }

    fn add_value(&mut self, value: Value) -> Result<ValueId, GraphError> {
        if self.find(&value.name).is_some() {
            return Err(GraphError::Redefined { name: value.name });
        }
        let elements = value
            .shape
            .iter()
            .try_fold(1_u64, |product, &extent| product.checked_mul(extent));
        let legal = elements.is_some_and(|count| (1..=ELEMENTS_MAX).contains(&count));
        if !legal || !(1..=RANK_MAX).contains(&value.shape.len()) {
            return Err(GraphError::Shape {
                name: value.name,
                shape: value.shape,
            });
        }
        let id = u32::try_from(self.values.len()).map_err(|_too_many| GraphError::Operands {
            name: value.name.clone(),
            problem: "the graph has too many values".to_owned(),
        })?;
        self.values.push(value);
        Ok(ValueId(id))
    }
}
