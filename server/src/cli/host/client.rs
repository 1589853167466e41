//! The client of an artifact host: requests that are tried again where that can help, and failures
//! in the server's own words.

use std::ffi::OsString;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Deserialize;

use crate::error::CliError;
use crate::store::IdempotencyKey;

/// Tries of a request that fails in passing.
const TRIES: u32 = 5;
/// Wait before the second try; doubled before each further one.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// A server with what is sent to it on every request.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Client {
    http: reqwest::Client,
    server: String,
    token: Option<String>,
}

/// A failed request as the server describes it.
#[derive(Deserialize)]
struct Failure {
    error: String,
    hint: String,
    /// What finds it in the server's log.
    request: Option<String>,
}

impl Client {
    /// A client of `server`, with the token of the environment.
    pub(in crate::cli) fn new(
        server: &str,
        environment: &(dyn Fn(&str) -> Option<OsString> + Sync),
    ) -> Result<Self, CliError> {
        crate::tls::provide();
        let http = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(10))
            .read_timeout(Duration::from_secs(120))
            .user_agent(concat!("ipu-stack/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| CliError::internal(error, "HTTP client"))?;
        let token = environment("IPU_STACK_TOKEN");
        Ok(Self {
            http,
            server: server.trim_end_matches('/').to_owned(),
            token: token.map(|it| it.to_string_lossy().into_owned()),
        })
    }

    pub(in crate::cli) fn server(&self) -> &str {
        &self.server
    }

    /// The token for writing, if there is one.
    pub(in crate::cli) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// A request to an address of the server, with the token for writing.
    pub(in crate::cli) fn request(&self, method: Method, address: &str) -> RequestBuilder {
        let request = self.http.request(method, address);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// A request that publishes: however often it is sent under one key, one publication is made.
    pub(in crate::cli) fn publication(
        &self,
        method: Method,
        address: &str,
        key: IdempotencyKey,
    ) -> RequestBuilder {
        let request = self.request(method, address);
        request.header("idempotency-key", key.to_string())
    }

    /// A deletion by the token of one publication.
    pub(in crate::cli) fn delete(&self, address: &str, token: &str) -> RequestBuilder {
        self.http.delete(address).bearer_auth(token)
    }

    /// A request without the token for writing: it may go to any server.
    pub(in crate::cli) fn read(&self, address: &str) -> RequestBuilder {
        self.http.get(address)
    }

    /// Sends what `request` builds until it is answered with success, or with a failure that
    /// trying again does not mend.
    pub(in crate::cli) async fn send(
        &self,
        request: impl Fn() -> RequestBuilder,
    ) -> Result<Response, CliError> {
        let mut wait = FIRST_WAIT;
        for _ in 1..TRIES {
            match request().send().await {
                Ok(answer) if !passes(answer.status()) => return judged(answer).await,
                Ok(_) => {}
                Err(error) if error.is_builder() => return Err(self.unreachable(&error)),
                Err(error) => tracing::info!(%error, "trying again"),
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
        match request().send().await {
            Ok(answer) => judged(answer).await,
            Err(error) => Err(self.unreachable(&error)),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> CliError {
        let mut what = format!("the server cannot be reached: {error}");
        let mut cause = std::error::Error::source(error);
        while let Some(below) = cause {
            what = format!("{what}: {below}");
            cause = below.source();
        }
        let hint = "check the address, and that `ipu-stack serve` runs there";
        CliError::user(what, &self.server, hint)
    }
}

/// Whether the same request may succeed a little later.
fn passes(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::BAD_GATEWAY
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// The answer, or the failure that it describes. That a range is past the end is an answer.
async fn judged(answer: Response) -> Result<Response, CliError> {
    let (status, place) = (answer.status(), answer.url().clone());
    if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE {
        return Ok(answer);
    }
    let text = answer.text().await.unwrap_or_default();
    let failure = serde_json::from_str(&text).unwrap_or_else(|_no_json| Failure {
        error: text.lines().next().unwrap_or_default().to_owned(),
        hint: String::new(),
        request: None,
    });
    let mut what = format!("{} (status {})", failure.error, status.as_u16());
    if let Some(id) = failure.request {
        what = format!("{what}, request {id}");
    }
    Err(CliError::user(what, place, failure.hint))
}

/// An answer's JSON.
pub(in crate::cli) async fn json<T: serde::de::DeserializeOwned>(
    answer: Response,
) -> Result<T, CliError> {
    let place = answer.url().clone();
    let hint = "check that the address is one of `ipu-stack serve`";
    let bytes = answer.bytes().await;
    let bytes = bytes.map_err(|error| CliError::user(error, &place, hint))?;
    serde_json::from_slice(&bytes).map_err(|error| CliError::user(error, &place, hint))
}
