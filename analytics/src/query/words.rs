//! A question in words: names of flags and their values in, a [`Query`] out.
//!
//! The page, the server and scripts ask with the same words as the command line.

use super::names::{clock_from_name, kind_from_name, sort_key_from_name, unknown};
use super::{GroupBy, MetadataFilter, Query, QueryError};
use crate::units::PhysicalTile;

/// The words that a question may have, those of `profile-query` without dashes in front.
pub const WORDS: [&str; 14] = [
    "group-by",
    "metadata-key",
    "sort-by",
    "kind",
    "kernel",
    "operation-contains",
    "tile",
    "phase",
    "metadata",
    "at",
    "at-offset",
    "clock",
    "limit",
    "samples",
];

impl Query {
    /// The question that pairs of word and value ask. `tile`, `phase` and `metadata` may repeat; of
    /// others the last counts. What is not said is as in [`Query::default`].
    ///
    /// # Errors
    /// Where a word or the name that it has as its value is unknown, a number cannot be read, or
    /// the grouping lacks its metadata name.
    pub fn from_words<'w>(
        words: impl IntoIterator<Item = (&'w str, &'w str)>,
    ) -> Result<Self, QueryError> {
        let mut query = Self::default();
        let (mut group_by, mut metadata_key) = ("kernel", None);
        for (word, value) in words {
            let filter = &mut query.filter;
            match word {
                "group-by" => group_by = value,
                "metadata-key" => metadata_key = Some(value),
                "sort-by" => query.sort_by = sort_key_from_name(value)?,
                "kind" => filter.kind = Some(kind_from_name(value)?),
                "kernel" => filter.kernel = Some(value.to_owned()),
                "operation-contains" => filter.operation_contains = Some(value.to_owned()),
                "tile" => filter.tiles.push(PhysicalTile::new(number(word, value)?)),
                "phase" => filter.phases.push(number(word, value)?),
                "metadata" => filter.metadata.push(MetadataFilter::parse(value)),
                "at" => filter.at = Some(number(word, value)?),
                "at-offset" => filter.at_offset = Some(number(word, value)?),
                "clock" => query.clock = clock_from_name(value)?,
                "limit" => query.limit = number(word, value)?,
                "samples" => query.samples = number(word, value)?,
                other => return Err(unknown("word", other, &WORDS)),
            }
        }
        query.group_by = GroupBy::from_name(group_by, metadata_key)?;
        Ok(query)
    }
}

fn number<N: std::str::FromStr>(word: &str, value: &str) -> Result<N, QueryError> {
    value
        .parse()
        .map_err(|_error: N::Err| QueryError::NotANumber {
            word: word.to_owned(),
            found: value.to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ClockKind;
    use crate::profile::SampleKind;
    use crate::query::SortKey;

    #[test]
    fn every_word_reaches_the_question() {
        let words = [
            ("group-by", "metadata"),
            ("metadata-key", "block"),
            ("sort-by", "p95"),
            ("kind", "sync"),
            ("kernel", "k"),
            ("operation-contains", "up"),
            ("tile", "3"),
            ("tile", "4"),
            ("phase", "7"),
            ("metadata", "a=b=c"),
            ("at", "5"),
            ("at-offset", "6"),
            ("clock", "shared"),
            ("limit", "0"),
            ("samples", "2"),
        ];
        let asked = Query::from_words(words).expect("all are known");
        let said: std::collections::BTreeSet<_> = words.iter().map(|it| it.0).collect();
        assert_eq!(said, WORDS.into_iter().collect());
        assert_eq!(asked.group_by, GroupBy::Metadata("block".to_owned()));
        assert_eq!(
            (asked.sort_by, asked.clock),
            (SortKey::P95Cycles, ClockKind::Shared)
        );
        assert_eq!((asked.limit, asked.samples), (0, 2));
        let filter = &asked.filter;
        assert_eq!(filter.kind, Some(SampleKind::Synchronization));
        assert_eq!(filter.tiles, [3, 4].map(PhysicalTile::new));
        assert_eq!((filter.at, filter.at_offset), (Some(5), Some(6)));
        assert_eq!(filter.metadata, [MetadataFilter::parse("a=b=c")]);
        assert_eq!(
            (filter.kernel.as_deref(), &filter.phases[..]),
            (Some("k"), &[7][..])
        );
        assert_eq!(Query::from_words([]), Ok(Query::default()));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for (word, value, part) in [
            ("colour", "red", "unknown word `colour`"),
            ("tile", "x", "`x` is no number for tile"),
            ("tile", "-1", "`-1` is no number for tile"),
            ("group-by", "metadata", "--metadata-key"),
            ("clock", "wall", "tile, cropped, shared"),
        ] {
            let error = Query::from_words([(word, value)]).expect_err("it is refused");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
