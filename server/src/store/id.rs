//! Names: blobs by the SHA-256 of their bytes, publications and uploads by 128 random bits, tokens
//! by 256.
//!
//! All are lower-case hex. Text becomes an id in one place, so that no other text ever reaches the
//! object store as a key.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

/// The text is not as many lower-case hex digits as the name has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {digits} lower-case hex digits")]
pub struct BadId {
    what: &'static str,
    digits: usize,
}

/// `2 * N` lower-case hex digits.
fn parse<const N: usize>(text: &str, what: &'static str) -> Result<[u8; N], BadId> {
    let bad = BadId {
        what,
        digits: 2 * N,
    };
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return Err(bad);
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let (high, low) = (nibble(pair[0]), nibble(pair[1]));
        *byte = high
            .zip(low)
            .map(|(high, low)| high << 4 | low)
            .ok_or(bad)?;
    }
    Ok(bytes)
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// A name of fixed length with its text form.
macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $bytes:literal, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name([u8; $bytes]);

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                parse(text, $what).map(Self)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadId;

            fn try_from(text: String) -> Result<Self, BadId> {
                text.parse()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

hex_id! {
    /// SHA-256 of an artifact.
    BlobId, 32, "an artifact id, the SHA-256 of the file,"
}

hex_id! {
    /// A publication. Random, so that knowing it is the right to read a private one.
    PublicationId, 16, "a publication id"
}

hex_id! {
    /// An upload in parts, named by the client with 128 bits that others cannot guess.
    UploadId, 16, "an upload id"
}

hex_id! {
    /// What a client draws for one publication, with 128 bits that others cannot guess, so that
    /// asking for it again gives the same one.
    IdempotencyKey, 16, "an idempotency key"
}

hex_id! {
    /// SHA-256 of a token: what is stored instead of it.
    TokenHash, 32, "the hash of a token"
}

impl BlobId {
    /// Digits of its text.
    pub const DIGITS: usize = 64;

    /// The id with this digest.
    #[must_use]
    pub const fn from_digest(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// A number below `count`, the same for the same id.
    #[must_use]
    pub fn below(self, count: usize) -> usize {
        usize::from(self.0[0]) % count.max(1)
    }

    /// The id of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        Self(sha2::Sha256::digest(bytes).into())
    }
}

impl PublicationId {
    /// A new one from the system's random bytes.
    ///
    /// # Errors
    /// The system has none.
    pub fn random() -> Result<Self, getrandom::Error> {
        random().map(Self)
    }
}

impl UploadId {
    /// The first half of a digest.
    #[must_use]
    pub fn from_digest(digest: &BlobId) -> Self {
        Self(half(digest))
    }

    /// A number below `count`, the same for the same id.
    #[must_use]
    pub fn below(self, count: usize) -> usize {
        usize::from(self.0[0]) % count.max(1)
    }
}

impl IdempotencyKey {
    /// A new one from the system's random bytes.
    ///
    /// # Errors
    /// The system has none.
    pub fn random() -> Result<Self, getrandom::Error> {
        random().map(Self)
    }

    /// What the key draws for an artifact; nothing about the key or the other can be told from one.
    fn drawn(self, what: &str, blob: BlobId) -> BlobId {
        BlobId::of(format!("{what}\n{self}\n{blob}").as_bytes())
    }
}

/// The first half of a digest.
fn half(digest: &BlobId) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.0[..16]);
    bytes
}

/// The name of a publication to be made and the right to delete it.
#[derive(Clone, Debug)]
pub struct Ticket {
    pub(super) id: PublicationId,
    pub(super) token: DeleteToken,
    is_drawn: bool,
}

impl Ticket {
    /// One that nobody has had before.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn random() -> Result<Self, getrandom::Error> {
        Ok(Self {
            id: PublicationId::random()?,
            token: DeleteToken::random()?,
            is_drawn: false,
        })
    }

    /// The one that a client's key draws for an artifact, always the same: whoever asks again is
    /// answered as before, by any server and though no server has kept the token.
    #[must_use]
    pub fn drawn(key: IdempotencyKey, blob: BlobId) -> Self {
        Self {
            id: PublicationId(half(&key.drawn("publication", blob))),
            token: DeleteToken(key.drawn("token", blob).0),
            is_drawn: true,
        }
    }

    /// Whether a client's key drew it.
    #[must_use]
    pub const fn is_drawn(&self) -> bool {
        self.is_drawn
    }
}

fn random<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// The right to delete one publication, as text given out once.
#[derive(Clone)]
pub struct DeleteToken([u8; 32]);

impl DeleteToken {
    /// A new one from the system's random bytes.
    ///
    /// # Errors
    /// The system has none.
    pub fn random() -> Result<Self, getrandom::Error> {
        random().map(Self)
    }

    /// What is stored of it.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.to_string())
    }
}

impl fmt::Display for DeleteToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for DeleteToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeleteToken(..)")
    }
}

impl TokenHash {
    /// The hash of the text of a token.
    #[must_use]
    pub fn of(token: &str) -> Self {
        use sha2::Digest as _;
        Self(sha2::Sha256::digest(token.as_bytes()).into())
    }

    /// Whether both are equal, in a time that does not depend on where they differ.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
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
        let id = PublicationId::random().expect("random bytes");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_ne!(PublicationId::random().expect("random bytes"), id);
    }

    #[test]
    fn anything_but_lower_case_hex_digits_of_the_right_number_is_refused() {
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
            assert!(text.parse::<BlobId>().is_err(), "{text}");
            assert!(text.parse::<PublicationId>().is_err(), "{text}");
        }
        let error = "x".parse::<PublicationId>().expect_err("too short");
        assert_eq!(
            error.to_string(),
            "a publication id is 32 lower-case hex digits"
        );
    }

    #[test]
    fn a_key_draws_one_ticket_for_each_artifact() {
        let [key, other] = [0; 2].map(|_| IdempotencyKey::random().expect("random bytes"));
        let [blob, another] = [b"x", b"y"].map(|it| BlobId::of(it));
        let drawn = |key, blob| {
            let it = Ticket::drawn(key, blob);
            (it.id, it.token.to_string())
        };
        let all = [(key, blob), (key, another), (other, blob)].map(|it| drawn(it.0, it.1));
        assert_eq!(drawn(key, blob), all[0]);
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            assert!(all[a].0 != all[b].0 && all[a].1 != all[b].1);
        }
        assert!(!all[0].1.contains(&all[0].0.to_string()));
    }

    #[test]
    fn a_token_is_known_by_its_hash_and_printed_by_no_debugger() {
        let token = DeleteToken::random().expect("random bytes");
        assert!(TokenHash::of(&token.to_string()).matches(&token.hash()));
        assert!(!TokenHash::of("another").matches(&token.hash()));
        assert!(!format!("{token:?}").contains(&token.to_string()[..8]));
    }
}
