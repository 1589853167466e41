//! The object store behind a name: a local folder, memory, or a bucket by URL.
//!
//! Buckets take their credentials from the environment, as the tools of their vendors do
//! (`AWS_…`, `GOOGLE_…`, `AZURE_…`).

use std::fs::File;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::prefix::PrefixStore;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};

use super::StoreError;

/// Bytes of a part in a bucket: the least that S3 takes.
const BUCKET_PART_BYTES: usize = 5 << 20;
/// Bytes written to a local file at a time.
const LOCAL_PART_BYTES: usize = 1 << 20;
/// How long a call to a bucket may take, and a connection to it. Other options of the client, such
/// as `AWS_ALLOW_HTTP`, stay as the environment has them.
const TIMES: [(ClientConfigKey, &str); 2] = [
    (ClientConfigKey::Timeout, "60 seconds"),
    (ClientConfigKey::ConnectTimeout, "5 seconds"),
];
/// File that tells servers of one folder about each other.
const LOCK: &str = ".lock";

/// An object store with what differs between kinds.
#[derive(Clone, Debug)]
pub(super) struct Backend {
    pub(super) objects: Arc<dyn ObjectStore>,
    /// Whether lists come in the order of their keys, page by page.
    pub(super) ordered: bool,
    pub(super) part_bytes: usize,
    /// Only for a local folder.
    pub(super) folder: Option<Folder>,
}

/// A local folder in use.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    /// Held while the server lives, shared with other servers of the folder.
    _lock: Arc<File>,
}

impl Backend {
    pub(super) fn over(objects: Arc<dyn ObjectStore>) -> Self {
        Self {
            objects,
            ordered: true,
            part_bytes: BUCKET_PART_BYTES,
            folder: None,
        }
    }

    pub(super) fn in_memory() -> Self {
        Self {
            part_bytes: LOCAL_PART_BYTES,
            ..Self::over(Arc::new(InMemory::new()))
        }
    }

    /// A local folder, which is made if missing. What a killed server left is swept if no other
    /// server uses the folder.
    pub(super) fn local(folder: &FilePath) -> Result<Self, StoreError> {
        let fail = |cause: String| {
            let folder = folder.display().to_string();
            StoreError::Folder { folder, cause }
        };
        std::fs::create_dir_all(folder).map_err(|error| fail(error.to_string()))?;
        let path = folder
            .canonicalize()
            .map_err(|error| fail(error.to_string()))?;
        let lock = File::create(path.join(LOCK)).map_err(|error| fail(error.to_string()))?;
        if lock.try_lock().is_ok() {
            super::sweep::staged_files(&path, Duration::ZERO);
        }
        // Where the system knows no locks, staged files are swept by age alone.
        if let Err(error) = lock.lock_shared() {
            tracing::info!(%error, "no lock on the artifact folder");
        }
        let objects = LocalFileSystem::new_with_prefix(&path).map_err(|e| fail(e.to_string()))?;
        Ok(Self {
            objects: Arc::new(objects.with_fsync(true).with_automatic_cleanup(true)),
            ordered: false,
            part_bytes: LOCAL_PART_BYTES,
            folder: Some(Folder {
                path,
                _lock: Arc::new(lock),
            }),
        })
    }

    /// `s3://`, `gs://` or `az://` with bucket and prefix, or the path of a folder.
    pub(super) fn by_url(url: &str) -> Result<Self, StoreError> {
        let Some((scheme, rest)) = url.split_once("://") else {
            return Self::local(FilePath::new(url));
        };
        let fail = |error: object_store::Error| StoreError::Url {
            url: url.to_owned(),
            cause: error.to_string(),
        };
        crate::tls::provide();
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let root = format!("{scheme}://{bucket}");
        let retry = RetryConfig {
            max_retries: 5,
            retry_timeout: Duration::from_secs(60),
            ..RetryConfig::default()
        };
        let objects: Arc<dyn ObjectStore> = match scheme {
            "s3" | "s3a" => {
                let key = AmazonS3ConfigKey::Client;
                let mut client = AmazonS3Builder::from_env().with_url(root).with_retry(retry);
                for (name, value) in TIMES {
                    client = client.with_config(key(name), value);
                }
                Arc::new(client.build().map_err(fail)?)
            }
            "gs" => {
                let key = GoogleConfigKey::Client;
                let mut client = GoogleCloudStorageBuilder::from_env()
                    .with_url(root)
                    .with_retry(retry);
                for (name, value) in TIMES {
                    client = client.with_config(key(name), value);
                }
                Arc::new(client.build().map_err(fail)?)
            }
            "az" | "abfs" | "abfss" => {
                let key = AzureConfigKey::Client;
                let mut client = MicrosoftAzureBuilder::from_env()
                    .with_url(root)
                    .with_retry(retry);
                for (name, value) in TIMES {
                    client = client.with_config(key(name), value);
                }
                Arc::new(client.build().map_err(fail)?)
            }
            "file" => return Self::local(FilePath::new(rest)),
            other => {
                return Err(StoreError::Url {
                    url: url.to_owned(),
                    cause: format!("{other} is none of s3, gs, az, file"),
                });
            }
        };
        let prefix = prefix.trim_matches('/');
        if prefix.is_empty() {
            return Ok(Self::over(objects));
        }
        Ok(Self::over(Arc::new(PrefixStore::new(objects, prefix))))
    }
}
