//! Words of flags and links as values.

use crate::clock::ClockKind;
use crate::profile::SampleKind;
use crate::query::{GroupBy, MetadataFilter, QueryError, SortKey};

/// Names of [`GroupBy`], in the order of help texts.
pub const GROUP_BY_NAMES: [&str; 6] = ["kind", "kernel", "operation", "phase", "tile", "metadata"];
/// Names of the kinds that can be filtered for; `sync` is short for `synchronization`.
pub const KIND_NAMES: [&str; 4] = ["exchange", "compute", "synchronization", "idle"];

impl GroupBy {
    /// The grouping with this name.
    ///
    /// # Errors
    /// Where the name is unknown, or is `metadata` and no metadata name is given.
    pub fn from_name(name: &str, metadata_key: Option<&str>) -> Result<Self, QueryError> {
        match name {
            "kernel" => Ok(Self::Kernel),
            "operation" => Ok(Self::Operation),
            "phase" => Ok(Self::Phase),
            "tile" => Ok(Self::Tile),
            "kind" => Ok(Self::Kind),
            "metadata" => metadata_key
                .map(|key| Self::Metadata(key.to_owned()))
                .ok_or(QueryError::MetadataKeyMissing),
            _ => Err(unknown("grouping", name, &GROUP_BY_NAMES)),
        }
    }

    /// The name in flags, links and JSON.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Operation => "operation",
            Self::Phase => "phase",
            Self::Tile => "tile",
            Self::Kind => "kind",
            Self::Metadata(_) => "metadata",
        }
    }
}

impl MetadataFilter {
    /// The condition written as `NAME` or `NAME=VALUE`; the value may hold `=`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.split_once('=') {
            Some((name, value)) => Self {
                name: name.to_owned(),
                value: Some(value.to_owned()),
            },
            None => Self {
                name: text.to_owned(),
                value: None,
            },
        }
    }
}

/// The sample kind with this name.
///
/// # Errors
/// Where the name is unknown.
pub fn kind_from_name(name: &str) -> Result<SampleKind, QueryError> {
    match name {
        "exchange" => Ok(SampleKind::Exchange),
        "compute" => Ok(SampleKind::Compute),
        "synchronization" | "sync" => Ok(SampleKind::Synchronization),
        "idle" => Ok(SampleKind::Idle),
        _ => Err(unknown("kind", name, &KIND_NAMES)),
    }
}

/// The clock with this name.
///
/// # Errors
/// Where the name is unknown.
pub fn clock_from_name(name: &str) -> Result<ClockKind, QueryError> {
    let known = ClockKind::ALL.map(ClockKind::name);
    ClockKind::from_name(name).ok_or_else(|| unknown("clock", name, &known))
}

/// The sort key with this name.
///
/// # Errors
/// Where the name is unknown.
pub fn sort_key_from_name(name: &str) -> Result<SortKey, QueryError> {
    let known: Vec<&str> = SortKey::ALL.iter().map(|key| key.name()).collect();
    SortKey::from_name(name).ok_or_else(|| unknown("sort key", name, &known))
}

/// A word that means nothing, with those that would.
pub(super) fn unknown(what: &'static str, found: &str, known: &[&str]) -> QueryError {
    QueryError::UnknownName {
        what,
        found: found.to_owned(),
        known: known.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for name in GROUP_BY_NAMES {
            assert_eq!(
                GroupBy::from_name(name, Some("k")).map(|it| it.name()),
                Ok(name)
            );
        }
        for name in KIND_NAMES {
            assert_eq!(kind_from_name(name).map(SampleKind::name), Ok(name));
        }
        for &key in SortKey::ALL {
            assert_eq!(sort_key_from_name(key.name()), Ok(key));
        }
        for clock in ClockKind::ALL {
            assert_eq!(clock_from_name(clock.name()), Ok(clock));
        }
        assert_eq!(kind_from_name("sync"), Ok(SampleKind::Synchronization));
        assert_eq!(sort_key_from_name("p95"), Ok(SortKey::P95Cycles));
        assert_eq!(sort_key_from_name("maximum"), Ok(SortKey::MaximumCycles));
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        let error = clock_from_name("wall").expect_err("no such clock");
        assert_eq!(
            error.to_string(),
            "unknown clock `wall`: use one of tile, cropped, shared"
        );
        let error = GroupBy::from_name("metadata", None).expect_err("no key");
        assert!(error.to_string().contains("--metadata-key"), "{error}");
    }

    #[test]
    fn metadata_conditions_split_at_the_first_equals_sign() {
        let parse = |text| {
            let it = MetadataFilter::parse(text);
            (it.name, it.value)
        };
        assert_eq!(parse("a"), ("a".to_owned(), None));
        assert_eq!(parse("a=b=c"), ("a".to_owned(), Some("b=c".to_owned())));
        assert_eq!(parse("a="), ("a".to_owned(), Some(String::new())));
    }
}
