//! Who may write: everyone on a laptop, whoever has the token on a shared server.
//!
//! The server knows the token's argon2 hash only. Verifying one takes tens of megabytes and
//! milliseconds by design, so it happens one at a time, and a token that was right is known by
//! its SHA-256 afterwards.

use std::sync::Arc;

use argon2::{Argon2, PasswordHash, PasswordHasher as _, PasswordVerifier as _};
use axum::http::{HeaderMap, StatusCode, header};
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::error::AppError;
use crate::store::TokenHash;

/// Longest token in bytes.
const TOKEN_BYTES_MAX: usize = 512;

/// Who may write to a server.
#[derive(Clone, Debug, Default)]
pub enum WritePolicy {
    /// Everyone who reaches it.
    #[default]
    Everyone,
    /// Whoever sends the token with this hash.
    Token(WriteToken),
}

/// The hash of the token for writing, as a PHC string of argon2.
#[derive(Clone, Debug)]
pub struct WriteToken(String);

/// The text is no hash of a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no argon2 hash of a token: {0}")]
pub struct BadHash(String);

impl WriteToken {
    /// The hash as `ipu-stack serve-token` prints it.
    ///
    /// # Errors
    /// It is none of argon2.
    pub fn parse(text: &str) -> Result<Self, BadHash> {
        let text = text.trim();
        match PasswordHash::new(text) {
            Ok(hash) if hash.algorithm.as_str().starts_with("argon2") => Ok(Self(text.to_owned())),
            Ok(hash) => Err(BadHash(format!("it is one of {}", hash.algorithm))),
            Err(error) => Err(BadHash(error.to_string())),
        }
    }

    /// The hash of a token, with a new salt.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn hash(token: &str) -> Result<Self, BadHash> {
        let hash = Argon2::default().hash_password(token.as_bytes());
        let hash = hash.map_err(|error| BadHash(error.to_string()))?;
        Ok(Self(hash.to_string()))
    }

    /// The text of the hash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn verify(&self, token: &str) -> bool {
        PasswordHash::new(&self.0).is_ok_and(|hash| {
            let verified = Argon2::default().verify_password(token.as_bytes(), &hash);
            verified.is_ok()
        })
    }
}

/// Decides on each request that writes.
#[derive(Debug)]
pub(super) struct Writers {
    policy: WritePolicy,
    known: Mutex<Option<TokenHash>>,
    verifying: Semaphore,
}

impl Writers {
    pub(super) fn new(policy: WritePolicy) -> Self {
        Self {
            policy,
            known: Mutex::default(),
            verifying: Semaphore::new(1),
        }
    }

    /// Whether the request may write.
    ///
    /// # Errors
    /// 401 without a token, 403 with a wrong one.
    pub(super) async fn check(self: &Arc<Self>, headers: &HeaderMap) -> Result<(), AppError> {
        let WritePolicy::Token(right) = &self.policy else {
            return Ok(());
        };
        let hint = "send `Authorization: Bearer TOKEN`, or set IPU_STACK_TOKEN for \
            `ipu-stack publish`";
        let Some(token) = bearer(headers) else {
            let error = "writing to this server needs a token";
            return Err(AppError::new(StatusCode::UNAUTHORIZED, error, hint));
        };
        let hash = TokenHash::of(token);
        let is_known = || self.known.lock().is_some_and(|known| known.matches(&hash));
        if is_known() {
            return Ok(());
        }
        let _turn = self.verifying.acquire().await.ok();
        if is_known() {
            return Ok(());
        }
        let (right, token) = (right.clone(), token.to_owned());
        let verified = tokio::task::spawn_blocking(move || right.verify(&token)).await;
        if verified.unwrap_or(false) {
            *self.known.lock() = Some(hash);
            return Ok(());
        }
        let error = "the token is not the one of this server";
        Err(AppError::new(StatusCode::FORBIDDEN, error, hint))
    }
}

/// The token of `Authorization: Bearer TOKEN`.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    let fits = !token.is_empty() && token.len() <= TOKEN_BYTES_MAX;
    (scheme.eq_ignore_ascii_case("bearer") && fits).then_some(token)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_str(value).expect("a header value");
        headers.insert(header::AUTHORIZATION, value);
        headers
    }

    #[tokio::test]
    async fn only_the_token_of_the_hash_may_write() {
        let hash = WriteToken::hash("right").expect("a hash");
        assert!(hash.as_str().starts_with("$argon2id$"));
        let parsed = WriteToken::parse(&format!("{}\n", hash.as_str())).expect("a hash");
        let writers = Arc::new(Writers::new(WritePolicy::Token(parsed)));
        for _ in 0..2 {
            assert_eq!(writers.check(&headers("Bearer right")).await, Ok(()));
            for wrong in ["Bearer wrong", "Bearer  ", "Basic right", "right"] {
                assert!(writers.check(&headers(wrong)).await.is_err(), "{wrong}");
            }
            assert!(writers.check(&HeaderMap::new()).await.is_err());
        }
        let long = format!("Bearer {}", "x".repeat(TOKEN_BYTES_MAX + 1));
        assert_eq!(bearer(&headers(&long)), None);
    }

    #[test]
    fn what_is_no_argon2_hash_is_refused() {
        for text in ["", "right", "$2b$10$abc", "$argon2id$"] {
            assert!(WriteToken::parse(text).is_err(), "{text}");
        }
    }
}
