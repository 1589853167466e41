//! What a file is, from its first bytes: names and extensions of profiles are not reliable.

use std::fmt;

use super::record;
use super::row::Framing;

/// Packages have a dozen lists in their root, profiles one.
const PACKAGE_POINTERS_MIN: u16 = 4;

/// What the first bytes of a file say it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A columnar profile: what we write.
    Columnar,
    /// A row profile: one Cap'n Proto message.
    RowProfile,
    /// A compiled package, `.ipuexe`.
    Package,
    /// A memory profile of the July generation, which has the root of a row profile.
    MemoryProfile,
    /// Anything compressed with gzip.
    Gzip,
    /// Anything compressed with zstd.
    Zstd,
    /// None of these.
    Unknown,
}

impl FileKind {
    /// What a person who wanted a profile should do instead.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Columnar | Self::RowProfile => "open it as a profile",
            Self::Package => "run it with `ipu-stack run` to get a profile",
            Self::MemoryProfile => "it holds memory regions and has no samples",
            Self::Gzip => "unpack it with gzip -d first",
            Self::Zstd => "unpack it with zstd -d first",
            Self::Unknown => "profiles are written by `ipu-stack run` as .ipuprofile",
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Columnar => "a columnar profile",
            Self::RowProfile => "a row profile",
            Self::Package => "a compiled package",
            Self::MemoryProfile => "a memory profile",
            Self::Gzip => "a gzip file",
            Self::Zstd => "a zstd file",
            Self::Unknown => "a file of an unknown type",
        })
    }
}

/// What a file is, from its first bytes: 64 KiB are enough for files we know, the whole file is
/// best.
#[must_use]
pub fn sniff(prefix: &[u8]) -> FileKind {
    if record::peek(prefix).is_some() {
        return FileKind::Columnar;
    }
    match prefix {
        [0x1f, 0x8b, ..] => FileKind::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => FileKind::Zstd,
        _ => sniff_message(prefix),
    }
}

/// Messages are told apart by the sizes of their structs: they carry no name.
fn sniff_message(prefix: &[u8]) -> FileKind {
    let Some(framing) = Framing::read(prefix) else {
        return FileKind::Unknown;
    };
    match framing.root(prefix) {
        // Two words of version and clock, one list of tiles. A sample has one word and one pointer,
        // a memory region five and two.
        Some((2, 1)) => match framing.inner_elements(prefix) {
            Some((5, 2)) => FileKind::MemoryProfile,
            Some((1, 1)) | None => FileKind::RowProfile,
            Some(_) => FileKind::Unknown,
        },
        Some((_, PACKAGE_POINTERS_MIN..)) => FileKind::Package,
        _ => FileKind::Unknown,
    }
}
