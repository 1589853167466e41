//! The description of an artifact: what the list shows without opening the file.

use serde::{Deserialize, Serialize};

use super::{BlobId, StoreError};

/// What an artifact is; nothing else is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ArtifactKind {
    /// A profile, row or columnar.
    Profile,
    /// A compiled package.
    Package,
}

/// One published artifact. The JSON names are the field names in camel case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// SHA-256 of the bytes; in JSON 64 lower-case hex digits.
    pub sha256: BlobId,
    /// What it is.
    pub kind: ArtifactKind,
    /// Length in bytes.
    pub bytes: u64,
    /// Publication time in milliseconds since 1970-01-01 UTC.
    pub created_ms: u64,
    /// Workload name where the file tells it, else empty.
    pub workload: String,
    /// Tiles in the file.
    pub tiles: u64,
    /// Samples in a profile; 0 for a package.
    pub samples: u64,
}

impl Artifact {
    /// The JSON text that is stored.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The description stored for `id`.
    ///
    /// # Errors
    /// The text is no description, or describes another artifact.
    pub fn from_json(id: BlobId, text: &[u8]) -> Result<Self, StoreError> {
        let fail = |cause: String| StoreError::Description {
            id: id.to_string(),
            cause,
        };
        let artifact: Self = serde_json::from_slice(text).map_err(|e| fail(e.to_string()))?;
        if artifact.sha256 != id {
            return Err(fail(format!("it describes {}", artifact.sha256)));
        }
        Ok(artifact)
    }
}
