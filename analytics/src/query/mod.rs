//! One question to a profile: [`ProfileReport`] and [`Query`] in, [`QueryResult`] out.

mod error;
mod model;
mod sort;

pub use error::QueryError;
pub use model::{
    Filter, Group, GroupBy, GroupKey, MetadataFilter, Query, QueryResult, SampleDetail,
};
pub use sort::SortKey;

use crate::profile::ProfileReport;

/// Answers `query` from `report`.
///
/// A filter that matches nothing is no error: the answer is empty and warns with near names.
///
/// # Errors
/// Where a sample chunk cannot be decoded.
pub fn query(report: &ProfileReport, query: &Query) -> Result<QueryResult, QueryError> {
    let _ = (report, query);
    Err(QueryError::MetadataKeyMissing)
}
