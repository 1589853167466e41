//! A plan of one operation with its price and its memory.

use crate::options::PredictedCycles;

use super::OperationPlan;
use super::candidate::{Candidate, Memory};

/// A plan of one operation with what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pick {
    pub(crate) plan: OperationPlan,
    pub(crate) predicted: PredictedCycles,
    /// Bytes of the fullest tile that are live before the operation starts.
    pub(crate) early_bytes: u64,
    /// Bytes of the fullest tile at the operation's fullest moment.
    pub(crate) bytes: u64,
}

impl Pick {
    pub(crate) fn new(plan: OperationPlan, predicted: PredictedCycles, memory: &Memory) -> Self {
        Self {
            plan,
            predicted,
            early_bytes: memory.live_at(0),
            bytes: memory.fullest(),
        }
    }

    /// An operation that needs no memory of its own.
    pub(crate) const fn light(plan: OperationPlan, predicted: PredictedCycles) -> Self {
        Self {
            plan,
            predicted,
            early_bytes: 0,
            bytes: 0,
        }
    }
}

impl From<Candidate> for Pick {
    fn from(candidate: Candidate) -> Self {
        Self {
            plan: OperationPlan::Gemm(candidate.plan),
            predicted: candidate.predicted,
            early_bytes: candidate.early_bytes,
            bytes: candidate.bytes,
        }
    }
}
