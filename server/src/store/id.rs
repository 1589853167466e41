//! The name of an artifact: the SHA-256 of its bytes as 64 lower-case hex digits.
//!
//! Text becomes a [`BlobId`] in one place, so that no other text ever reaches the object store as a
//! key.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// SHA-256 of an artifact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct BlobId([u8; 32]);

/// The text is not 64 lower-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an artifact id is 64 lower-case hex digits, the SHA-256 of the file")]
pub struct BadId;

impl BlobId {
    /// The id with this digest.
    #[must_use]
    pub const fn from_digest(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// The id of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        Self(sha2::Sha256::digest(bytes).into())
    }
}

impl FromStr for BlobId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(BadId);
        }
        let mut digest = [0; 32];
        for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Self(digest))
    }
}

fn nibble(digit: u8) -> Result<u8, BadId> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(BadId),
    }
}

impl From<BlobId> for String {
    fn from(id: BlobId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for BlobId {
    type Error = BadId;

    fn try_from(text: String) -> Result<Self, BadId> {
        text.parse()
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_round_trips_through_its_text() {
        let id = BlobId::of(b"");
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(id.to_string(), text);
        assert_eq!(text.parse(), Ok(id));
    }

    #[test]
    fn anything_but_64_lower_case_hex_digits_is_refused() {
        let good = BlobId::of(b"").to_string();
        let upper = good.to_uppercase();
        let long = format!("{good}0");
        let traversal = format!("../{}", &good[3..]);
        for text in [
            "",
            "abc",
            &good[1..],
            &long,
            &upper,
            &traversal,
            &"é".repeat(32),
        ] {
            assert_eq!(text.parse::<BlobId>(), Err(BadId), "{text}");
        }
    }
}
