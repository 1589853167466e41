//! A publication: who may see an artifact under which title, and until when.

use serde::{Deserialize, Serialize};

use super::id::{BlobId, PublicationId, TokenHash};

/// Longest title in characters.
const TITLE_CHARS_MAX: usize = 200;
/// Longest memo in characters.
const MEMO_CHARS_MAX: usize = 4_000;
/// Milliseconds of a day.
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What an artifact is; nothing else is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ArtifactKind {
    /// A profile, row or columnar.
    Profile,
    /// A compiled package.
    Package,
    /// A rendered page with a profile inside; handed out as a download only.
    Report,
}

/// Who may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Visibility {
    /// Everyone: listed, and readable by its hash.
    #[default]
    Public,
    /// Whoever has the link.
    Private,
}

/// What a checked artifact is. The JSON names are the field names in camel case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// What it is.
    pub kind: ArtifactKind,
    /// Length in bytes.
    pub bytes: u64,
    /// Workload name where the file tells it, else empty.
    pub workload: String,
    /// Tiles in the file; 0 for a report.
    pub tiles: u64,
    /// Samples in a profile; 0 for anything else.
    pub samples: u64,
    /// End of a profile's timeline in cycles on the cropped clock; 0 for anything else.
    pub cycles: u64,
}

/// What a publisher says of an artifact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// One line, may be empty.
    pub title: String,
    /// Any text, may be empty.
    pub memo: String,
    /// Who may read.
    pub visibility: Visibility,
    /// When it ends.
    pub lifetime: Lifetime,
}

/// How long a publication stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// As long as the server says.
    #[default]
    Default,
    /// Until it is deleted.
    Keep,
    /// This many days.
    Days(u32),
}

impl Lifetime {
    /// The end in milliseconds since 1970-01-01 UTC, or none.
    #[must_use]
    pub fn expires_ms(self, now_ms: u64, default_days: Option<u32>) -> Option<u64> {
        let days = match self {
            Self::Default => default_days?,
            Self::Keep => return None,
            Self::Days(days) => days,
        };
        Some(now_ms.saturating_add(u64::from(days) * DAY_MS))
    }
}

/// A text that a publication cannot carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// More characters than fit.
    #[error("the {what} is longer than {limit} characters")]
    TooLong {
        /// Which text.
        what: &'static str,
        /// Most characters.
        limit: usize,
    },
    /// A character that moves the cursor or hides text.
    #[error("the {what} has a control character")]
    Control {
        /// Which text.
        what: &'static str,
    },
}

impl Draft {
    /// Whether title and memo may be stored and shown.
    ///
    /// # Errors
    /// One is too long, or has control characters (a memo may have line ends and tabs).
    pub fn check(&self) -> Result<(), BadText> {
        check("title", &self.title, TITLE_CHARS_MAX, &[])?;
        check("memo", &self.memo, MEMO_CHARS_MAX, &['\n', '\r', '\t'])
    }
}

fn check(what: &'static str, text: &str, limit: usize, allowed: &[char]) -> Result<(), BadText> {
    if text.chars().count() > limit {
        return Err(BadText::TooLong { what, limit });
    }
    // Marks that reorder text would let a title pretend to be another.
    let hides = |it: char| matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if text
        .chars()
        .any(|it| (it.is_control() && !allowed.contains(&it)) || hides(it))
    {
        return Err(BadText::Control { what });
    }
    Ok(())
}

/// One publication. The JSON names are the field names in camel case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Publication {
    /// Its name; knowing it is the right to read it.
    pub id: PublicationId,
    /// The artifact.
    pub sha256: BlobId,
    /// One line, may be empty.
    pub title: String,
    /// Any text, may be empty.
    pub memo: String,
    /// Who may read.
    pub visibility: Visibility,
    /// When it was published, in milliseconds since 1970-01-01 UTC.
    pub created_ms: u64,
    /// When it ends, in milliseconds since 1970-01-01 UTC; `null`: never.
    pub expires_ms: Option<u64>,
    /// What the artifact is.
    #[serde(flatten)]
    pub facts: Facts,
}

impl Publication {
    /// Whether it has not ended.
    #[must_use]
    pub fn is_live(&self, now_ms: u64) -> bool {
        self.expires_ms.is_none_or(|expires| now_ms < expires)
    }
}

/// A publication as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    #[serde(flatten)]
    pub(super) publication: Publication,
    pub(super) delete_token_sha256: TokenHash,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(title: &str, memo: &str) -> Result<(), BadText> {
        let (title, memo) = (title.to_owned(), memo.to_owned());
        Draft {
            title,
            memo,
            ..Draft::default()
        }
        .check()
    }

    #[test]
    fn texts_are_bounded_and_cannot_move_the_cursor() {
        assert_eq!(draft("two words, ü", "lines\nand\ttabs\r\n"), Ok(()));
        let limit = TITLE_CHARS_MAX;
        let what = "title";
        assert_eq!(draft(&"ü".repeat(limit), ""), Ok(()));
        assert_eq!(
            draft(&"x".repeat(limit + 1), ""),
            Err(BadText::TooLong { what, limit })
        );
        for title in [
            "a\nb",
            "a\r\nset-cookie: x",
            "\u{1b}[2J",
            "\0",
            "\u{202e}txt",
        ] {
            assert_eq!(
                draft(title, ""),
                Err(BadText::Control { what }),
                "{title:?}"
            );
        }
        let what = "memo";
        assert_eq!(draft("", "\u{1b}"), Err(BadText::Control { what }));
    }

    #[test]
    fn a_lifetime_is_the_publishers_word_or_else_the_servers() {
        assert_eq!(Lifetime::Default.expires_ms(5, None), None);
        assert_eq!(
            Lifetime::Default.expires_ms(5, Some(2)),
            Some(5 + 2 * DAY_MS)
        );
        assert_eq!(Lifetime::Days(1).expires_ms(5, Some(2)), Some(5 + DAY_MS));
        assert_eq!(Lifetime::Keep.expires_ms(5, Some(2)), None);
    }
}
