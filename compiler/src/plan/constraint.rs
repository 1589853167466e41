//! A forced plan in text, and which candidates it allows.
//!
//! ```text
//! OP:RxCxK:RRxRC:COLUMNS:MEMORY:ORIENT:REDUCTION:LOCAL[:chunks=N][:tile=N]
//! 0:5x24x12:12x1:48:interleaved:normal:complete:match-remote
//! ```
//! Fields after the grid may be left out from the right, and any but the first may be `*`. COLUMNS
//! are those of the fullest tile. A compute block's result is cut into RR linear pieces of its
//! image, at most K, each summed by one tile; RC is 1. Partial sums arrive `complete`. LOCAL is
//! `match-remote` (operands are uploaded once and exchanged) or `direct` (the host writes every
//! copy). `tile` is the first tile of the grid.

use runtime::package::MemoryClass;

use crate::graph::{Graph, OperationKind};
use crate::layout::LANES;
use crate::options::OperandPolicy;

use super::{GemmPlan, Grid, Orientation, PlanError};

/// A forced plan of one operation; `None` leaves a part free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanConstraint {
    /// Graph operation index.
    pub operation: usize,
    /// The grid.
    pub grid: Option<Grid>,
    /// Owners of a result block.
    pub pieces: Option<u32>,
    /// Columns of the fullest tile.
    pub columns: Option<u32>,
    /// Where coefficients lie.
    pub coefficients: Option<MemoryClass>,
    /// Which operand is streamed.
    pub orientation: Option<Orientation>,
    /// How operands arrive.
    pub policy: Option<OperandPolicy>,
    /// Parts that the contraction is streamed in.
    pub chunks: Option<u32>,
    /// First logical tile of the grid.
    pub first_tile: Option<u16>,
    /// The text it was parsed from, for errors.
    text: String,
}

/// Reads one field after another.
struct Fields<'a> {
    text: &'a str,
    rest: std::str::Split<'a, char>,
}

impl<'a> Fields<'a> {
    fn error(&self, field: &'static str, problem: String) -> PlanError {
        PlanError::Constraint {
            text: self.text.to_owned(),
            field,
            problem,
        }
    }

    /// The next field, `None` where it is free.
    fn next(&mut self) -> Option<&'a str> {
        self.rest.next().filter(|field| *field != "*")
    }

    /// The next field as one of several words.
    fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, PlanError> {
        let Some(field) = self.next() else {
            return Ok(None);
        };
        let found = choices
            .iter()
            .find(|(word, _)| *word == field)
            .map(|(_, choice)| *choice);
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let problem = || format!("expected {}, found `{field}`", words.join(" or "));
        found.map(Some).ok_or_else(|| self.error(name, problem()))
    }

    /// The next field as positive numbers separated by `x`.
    fn numbers(&mut self, name: &'static str, count: usize) -> Result<Option<Vec<u32>>, PlanError> {
        let Some(field) = self.next() else {
            return Ok(None);
        };
        let numbers: Option<Vec<u32>> = field
            .split('x')
            .map(|part| part.parse().ok().filter(|&n| n > 0))
            .collect();
        let problem =
            || format!("expected {count} positive numbers with x between, found `{field}`");
        numbers
            .filter(|numbers| numbers.len() == count)
            .map(Some)
            .ok_or_else(|| self.error(name, problem()))
    }
}

impl Fields<'_> {
    /// The fields at the end that have names: chunks and first tile.
    fn named(&mut self) -> Result<(Option<u32>, Option<u16>), PlanError> {
        let (mut chunks, mut tile) = (None, None);
        while let Some(field) = self.rest.next() {
            if field == "*" {
                continue;
            }
            let given = [("chunks", chunks.is_some()), ("tile", tile.is_some())];
            for (name, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
                if field
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with('='))
                {
                    return Err(self.error(name, format!("given twice, again as `{field}`")));
                }
            }
            if let Some(count) = field.strip_prefix("chunks=") {
                let count = count.parse().ok().filter(|&count: &u32| count > 0);
                let problem = || format!("expected chunks=N, found `{field}`");
                chunks = Some(count.ok_or_else(|| self.error("chunks", problem()))?);
            } else if let Some(first) = field.strip_prefix("tile=") {
                let first = first.parse().ok();
                let problem = || format!("expected tile=N, found `{field}`");
                tile = Some(first.ok_or_else(|| self.error("tile", problem()))?);
            } else {
                let problem = format!("expected chunks=N or tile=N, found `{field}`");
                return Err(self.error("end", problem));
            }
        }
        Ok((chunks, tile))
    }
}

impl PlanConstraint {
    /// Parses the text form.
    ///
    /// # Errors
    /// [`PlanError::Constraint`] naming the field.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let mut fields = Fields {
            text,
            rest: text.split(':'),
        };
        let operation = fields.next().and_then(|field| field.parse().ok());
        let Some(operation) = operation else {
            return Err(fields.error("operation", "expected its number in the graph".to_owned()));
        };
        let grid = fields.numbers("grid", 3)?;
        let grid = grid.map(|n| Grid {
            rows: n[0],
            columns: n[1],
            inner: n[2],
        });
        let pieces = fields.numbers("result", 2)?;
        if let Some(pieces) = &pieces
            && (grid.is_some_and(|grid| pieces[0] > grid.inner) || pieces[1] != 1)
        {
            let most = grid.map_or_else(|| "K".to_owned(), |grid| grid.inner.to_string());
            let problem = format!("expected 1x1 to {most}x1: pieces of a block, K at most");
            return Err(fields.error("result", problem));
        }
        let columns = fields.numbers("columns", 1)?.map(|n| n[0]);
        let classes = [
            ("interleaved", MemoryClass::Interleaved),
            ("standard", MemoryClass::Standard),
        ];
        let coefficients = fields.choice("memory", &classes)?;
        let orientations = [
            ("normal", Orientation::Normal),
            ("swapped", Orientation::Swapped),
        ];
        let orientation = fields.choice("orientation", &orientations)?;
        fields.choice("reduction", &[("complete", ())])?;
        let policies = [
            ("match-remote", OperandPolicy::Sharded),
            ("direct", OperandPolicy::Replicated),
        ];
        let policy = fields.choice("local", &policies)?;
        let (chunks, first_tile) = fields.named()?;
        let text = text.to_owned();
        Ok(Self {
            operation,
            grid,
            pieces: pieces.map(|pieces| pieces[0]),
            columns,
            coefficients,
            orientation,
            policy,
            chunks,
            first_tile,
            text,
        })
    }

    /// Whether a candidate obeys; the grid is obeyed by enumerating only it.
    pub(crate) fn allows(&self, plan: &GemmPlan) -> bool {
        fn free<T: PartialEq + Copy>(wanted: Option<T>, found: T) -> bool {
            wanted.is_none_or(|wanted| wanted == found)
        }
        free(self.grid, plan.grid)
            && free(self.pieces, plan.pieces)
            && free(self.columns, plan.groups * LANES)
            && free(self.coefficients, plan.coefficients)
            && free(self.orientation, plan.orientation)
            && free(self.policy, plan.policy)
            && free(self.chunks, plan.chunks)
            && free(self.first_tile, plan.first_tile)
    }

    /// The text it was parsed from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The error that names this constraint.
    pub(super) fn refused(&self, field: &'static str, problem: String) -> PlanError {
        let text = self.text.clone();
        PlanError::Constraint {
            text,
            field,
            problem,
        }
    }
}

/// Refuses what no plan could obey: the plan of an operation that the graph does not have or that
/// is no product, and a second plan of one operation.
pub(super) fn check(constraints: &[PlanConstraint], graph: &Graph) -> Result<(), PlanError> {
    let operations = graph.operations();
    for (position, constraint) in constraints.iter().enumerate() {
        let refused = |problem| Err(constraint.refused("operation", problem));
        let Some(operation) = operations.get(constraint.operation) else {
            return refused(format!("the graph has operations 0..{}", operations.len()));
        };
        let (name, kind) = (&operation.name, operation.kind);
        if kind != OperationKind::Gemm {
            let kind = kind.name();
            return refused(format!("{name} is {kind}; only gemm has a grid to force"));
        }
        let mut before = constraints[..position].iter();
        if let Some(first) = before.find(|each| each.operation == constraint.operation) {
            return refused(format!("{name} is forced already, by {}", first.text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::HeadLayout;
    use super::*;

    #[test]
    fn the_plan_text_reads_back_as_a_constraint_that_allows_the_plan() {
        let plan = GemmPlan {
            operation: 2,
            orientation: Orientation::Swapped,
            grid: Grid {
                rows: 10,
                columns: 46,
                inner: 3,
            },
            groups: 1,
            coefficients: MemoryClass::Standard,
            policy: OperandPolicy::Replicated,
            chunks: 4,
            pieces: 2,
            first_tile: 7,
            heads: HeadLayout::Padded,
        };
        let text = plan.to_string();
        assert_eq!(
            text,
            "2:10x46x3:2x1:16:standard:swapped:complete:direct:chunks=4:tile=7"
        );
        let constraint = PlanConstraint::parse(&text).unwrap();
        assert!(constraint.allows(&plan));
        assert!(!constraint.allows(&GemmPlan { groups: 2, ..plan }));
        let free = PlanConstraint::parse("2:*:*:16").unwrap();
        assert!(free.allows(&plan) && free.grid.is_none());
    }

    #[test]
    fn mistakes_name_the_field() {
        let cases = [
            (
                "",
                "constraint : field operation: expected its number in the graph",
            ),
            (
                "0:5x24",
                "field grid: expected 3 positive numbers with x between, found `5x24`",
            ),
            ("0:5x0x1", "field grid: expected 3 positive"),
            (
                "0:5x24x12:13x1",
                "field result: expected 1x1 to 12x1: pieces of a block, K at most",
            ),
            ("0:*:2x3", "field result: expected 1x1 to Kx1"),
            (
                "0:*:*:*:*:*:*:*:tile=1:chunks=2:tile=1",
                "field tile: given twice, again as `tile=1`",
            ),
            (
                "0:*:*:*:fast",
                "field memory: expected interleaved or standard, found `fast`",
            ),
            (
                "0:*:*:*:*:*:streamed",
                "field reduction: expected complete, found `streamed`",
            ),
            (
                "0:*:*:*:*:*:*:*:chunks=0",
                "field chunks: expected chunks=N, found `chunks=0`",
            ),
            (
                "0:*:*:*:*:*:*:*:*:9",
                "field end: expected chunks=N or tile=N, found `9`",
            ),
        ];
        for (text, message) in cases {
            let error = PlanConstraint::parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text:?} gave {error:?}");
        }
    }
}
