//! Where everything lies in the object store. Pure: names ⇄ keys.
//!
//! | key | content |
//! |---|---|
//! | `blobs/<sha256>` | bytes of an artifact, whole or absent |
//! | `publications/<id>` | a publication with the hash of its delete token |
//! | `refs/<sha256>/<id>-public-<expires>` | nothing; a public publication needs this blob |
//! | `private/<sha256>/<id>-private-<expires>` | the same of a private one |
//! | `meta/<inverted-ms>-<id>` | a public publication for the list; keys sort newest first |
//! | `claims/<sha256>/<id>` | nothing; an upload under way or a recent deletion keeps this blob |
//! | `parts/<upload>/<number>` | bytes of an upload in parts |
//! | `trash/<sha256>/<id>` | a blob while it is deleted |
//! | `ready` | nothing; shows that the store can be written |
//!
//! Private references lie apart, so that looking for public ones takes the same time whether there
//! are private ones or not.

use object_store::path::Path;

use super::id::{BlobId, PublicationId, UploadId};
use super::publication::Visibility;

/// Folders of the store.
pub(super) const BLOBS: &str = "blobs";
pub(super) const PUBLICATIONS: &str = "publications";
pub(super) const REFS: &str = "refs";
pub(super) const PRIVATE: &str = "private";
pub(super) const META: &str = "meta";
pub(super) const CLAIMS: &str = "claims";
pub(super) const PARTS: &str = "parts";
pub(super) const TRASH: &str = "trash";

/// Written for "never expires".
const NEVER: u64 = u64::MAX;

pub(super) fn blob(id: BlobId) -> Path {
    Path::from(format!("{BLOBS}/{id}"))
}

pub(super) fn record(id: PublicationId) -> Path {
    Path::from(format!("{PUBLICATIONS}/{id}"))
}

pub(super) fn claim(blob: BlobId, id: PublicationId) -> Path {
    Path::from(format!("{CLAIMS}/{blob}/{id}"))
}

/// Where the public references of a blob are.
pub(super) fn refs_of(blob: BlobId) -> Path {
    Path::from(format!("{REFS}/{blob}"))
}

/// Where everything is that keeps a blob.
pub(super) fn keepers_of(blob: BlobId) -> [Path; 3] {
    [CLAIMS, REFS, PRIVATE].map(|folder| Path::from(format!("{folder}/{blob}")))
}

pub(super) fn trash(blob: BlobId, id: PublicationId) -> Path {
    Path::from(format!("{TRASH}/{blob}/{id}"))
}

pub(super) fn ready() -> Path {
    Path::from("ready")
}

pub(super) fn parts_of(upload: UploadId) -> Path {
    Path::from(format!("{PARTS}/{upload}"))
}

pub(super) fn part(upload: UploadId, number: u32) -> Path {
    Path::from(format!("{PARTS}/{upload}/{number:05}"))
}

/// The blob that a key of `blobs/`, `claims/` or `trash/` names.
pub(super) fn blob_of(key: &Path) -> Option<BlobId> {
    key.parts().nth(1)?.as_ref().parse().ok()
}

/// The publication that a key of `publications/` names.
pub(super) fn publication_of(key: &Path) -> Option<PublicationId> {
    key.filename()?.parse().ok()
}

/// The upload that a key of `parts/` names.
pub(super) fn upload_of(key: &Path) -> Option<UploadId> {
    key.parts().nth(1)?.as_ref().parse().ok()
}

/// The number of a part.
pub(super) fn part_of(key: &Path) -> Option<u32> {
    let digits = key.filename()?;
    let valid = digits.len() == 5 && digits.bytes().all(|it| it.is_ascii_digit());
    digits.parse().ok().filter(|_| valid)
}

/// One publication's need of a blob, told by its key alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ref {
    pub(super) blob: BlobId,
    pub(super) id: PublicationId,
    pub(super) visibility: Visibility,
    /// Milliseconds since 1970-01-01 UTC.
    pub(super) expires_ms: Option<u64>,
}

impl Ref {
    pub(super) fn key(&self) -> Path {
        let Self {
            blob,
            id,
            visibility,
            expires_ms,
        } = self;
        let (folder, visibility) = match visibility {
            Visibility::Public => (REFS, "public"),
            Visibility::Private => (PRIVATE, "private"),
        };
        let expires = expires_ms.unwrap_or(NEVER);
        Path::from(format!("{folder}/{blob}/{id}-{visibility}-{expires:016x}"))
    }

    pub(super) fn parse(key: &Path) -> Option<Self> {
        let blob = blob_of(key)?;
        let mut words = key.filename()?.split('-');
        let (id, visibility, expires) = (words.next()?, words.next()?, words.next()?);
        let expires = u64::from_str_radix(expires, 16).ok()?;
        Some(Self {
            blob,
            id: id.parse().ok()?,
            visibility: match visibility {
                "public" => Visibility::Public,
                "private" => Visibility::Private,
                _ => return None,
            },
            expires_ms: (expires != NEVER).then_some(expires),
        })
    }

    pub(super) fn is_live(&self, now_ms: u64) -> bool {
        self.expires_ms.is_none_or(|expires| now_ms < expires)
    }
}

/// The place of a public publication in the list; sorts newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ListKey {
    inverted_ms: u64,
    id: PublicationId,
}

impl ListKey {
    pub(super) const fn new(created_ms: u64, id: PublicationId) -> Self {
        let inverted_ms = u64::MAX - created_ms;
        Self { inverted_ms, id }
    }

    /// The last segment of the key, which is also the cursor of a page.
    pub(super) fn name(&self) -> String {
        format!("{:016x}-{}", self.inverted_ms, self.id)
    }

    pub(super) fn key(&self) -> Path {
        Path::from(format!("{META}/{}", self.name()))
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        let (inverted, id) = name.split_once('-')?;
        let digits = |text: &str| text.len() == 16 && !text.starts_with('+');
        Some(Self {
            inverted_ms: u64::from_str_radix(inverted, 16)
                .ok()
                .filter(|_| digits(inverted))?,
            id: id.parse().ok()?,
        })
    }

    pub(super) const fn id(&self) -> PublicationId {
        self.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> PublicationId {
        let text: String = std::iter::repeat_n(digit, 32).collect();
        text.parse().expect("32 hex digits")
    }

    #[test]
    fn list_keys_sort_newest_first_as_text_and_as_values() {
        let keys = [
            ListKey::new(1_700_000_000_001, id('f')),
            ListKey::new(1_700_000_000_000, id('0')),
            ListKey::new(1_700_000_000_000, id('a')),
            ListKey::new(0, id('0')),
        ];
        assert!(keys.is_sorted());
        assert!(keys.map(|key| key.key()).is_sorted());
        for key in keys {
            assert_eq!(ListKey::parse(&key.name()), Some(key));
            assert_eq!(key.key().filename().and_then(ListKey::parse), Some(key));
        }
        assert_eq!(keys[0].id(), id('f'));
        for bad in ["", "x", "0-0", "../../x", "+fffffffffffffff-0"] {
            assert_eq!(ListKey::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn refs_round_trip_and_tell_when_they_end() {
        let blob = BlobId::of(b"x");
        for visibility in [Visibility::Public, Visibility::Private] {
            for expires_ms in [None, Some(0), Some(1_700_000_000_000)] {
                let it = Ref {
                    blob,
                    id: id('7'),
                    visibility,
                    expires_ms,
                };
                assert_eq!(Ref::parse(&it.key()), Some(it));
                assert_eq!(it.is_live(1_700_000_000_000), expires_ms.is_none());
                let is_public = it.key().as_ref().starts_with(refs_of(blob).as_ref());
                assert_eq!(is_public, visibility == Visibility::Public);
            }
        }
        let other = Path::from(format!("{REFS}/{blob}/{}-secret-0", id('7')));
        assert_eq!(Ref::parse(&other), None);
    }

    #[test]
    fn parts_are_numbered_by_five_digits() {
        let upload: UploadId = "0".repeat(32).parse().expect("32 hex digits");
        assert_eq!(part_of(&part(upload, 42)), Some(42));
        assert_eq!(upload_of(&part(upload, 42)), Some(upload));
        assert_eq!(part_of(&Path::from("parts/x/+0042")), None);
    }
}
