//! Bytes of a profile, range by range: `Blob.slice` for files, HTTP `Range` for addresses.
//!
//! Addresses are fetched without credentials. A host that does not answer ranges is read whole.

use analytics::format::ByteRange;
use bytes::Bytes;
use js_sys::{Array, ArrayBuffer, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, DedicatedWorkerGlobalScope, Headers, MessageChannel, MessagePort, Request,
    RequestCredentials, RequestInit, Response,
};

use super::cause::{Cause, Failure};
use crate::timeline::viewport::{rounded, to_float};

/// Bytes of the first request to an address: enough to learn the length and the type of the file.
const FIRST: u64 = 64 * 1024;

/// Where bytes come from.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// A file of this computer.
    File(Blob),
    /// A host that answers ranges, and what its first answer held.
    Ranges {
        /// The address.
        url: String,
        /// The first bytes.
        first: Bytes,
    },
    /// A file that was read whole.
    Whole(Bytes),
}

impl Input {
    /// Reads the bytes of `range`, which ends inside the file.
    ///
    /// # Errors
    /// Where the browser or the host does not give them.
    pub(crate) async fn read(&self, range: ByteRange) -> Result<Bytes, Failure> {
        match self {
            Self::File(blob) => exactly(taken(&slice(blob, range).await?).into(), range),
            Self::Ranges { first, .. } if range.end <= first.len() as u64 => copy(first, range),
            Self::Ranges { url, .. } => {
                let response = fetch(url, Some(range)).await?;
                if response.status() != 206 {
                    return Err(refused(url, &response).await);
                }
                exactly(body(&response, url).await?.into(), range)
            }
            Self::Whole(bytes) => copy(bytes, range),
        }
    }

    /// The file of `bytes` bytes as a handle whose content the browser keeps.
    ///
    /// # Errors
    /// Where the browser or the host does not give it.
    pub(crate) async fn blob(&self, bytes: u64) -> Result<Blob, Failure> {
        let held = match self {
            Self::File(blob) => return Ok(blob.clone()),
            Self::Whole(bytes) => bytes.clone(),
            Self::Ranges { .. } => self.read(ByteRange::new(0, bytes)).await?,
        };
        let parts = Array::of1(&Uint8Array::from(&held[..]));
        Blob::new_with_u8_array_sequence(&parts).map_err(|error| {
            let what = describe(&error);
            Failure::new(
                Cause::Unreadable,
                format!("the browser keeps no copy: {what}"),
            )
        })
    }
}

/// Reads the bytes of `range` to the end of `file`, without another copy of a local file's.
///
/// # Errors
/// As [`Input::read`].
pub(crate) async fn append(
    input: &Input,
    range: ByteRange,
    file: &mut Vec<u8>,
) -> Result<(), Failure> {
    let Input::File(blob) = input else {
        file.extend_from_slice(&input.read(range).await?);
        return Ok(());
    };
    let part = slice(blob, range).await?;
    let at = file.len();
    file.resize(at + part.length() as usize, 0);
    part.copy_to(&mut file[at..]);
    let length = part.length();
    release(&part.buffer());
    exact(length.into(), range)
}

/// Asks an address for its first bytes; gives the input and the length of the file.
///
/// # Errors
/// Where the host does not answer with the file.
pub(crate) async fn from_address(url: &str) -> Result<(Input, u64), Failure> {
    let response = fetch(url, Some(ByteRange::new(0, FIRST))).await?;
    match response.status() {
        206 => {
            let range = response.headers().get("content-range").ok().flatten();
            match range.as_deref().and_then(total_of) {
                Some(total) => {
                    let first = body(&response, url).await?.into();
                    Ok((
                        Input::Ranges {
                            url: url.to_owned(),
                            first,
                        },
                        total,
                    ))
                }
                // A foreign host may hide the header from us.
                None => whole(fetch(url, None).await?, url).await,
            }
        }
        200 => whole(response, url).await,
        416 => Ok((Input::Whole(Bytes::new()), 0)),
        _ => Err(refused(url, &response).await),
    }
}

async fn whole(response: Response, url: &str) -> Result<(Input, u64), Failure> {
    if !response.ok() {
        return Err(refused(url, &response).await);
    }
    let bytes = body(&response, url).await?;
    let total = bytes.len() as u64;
    Ok((Input::Whole(bytes.into()), total))
}

/// The total of `bytes a-b/total`.
fn total_of(content_range: &str) -> Option<u64> {
    content_range.rsplit_once('/')?.1.trim().parse().ok()
}

async fn slice(blob: &Blob, range: ByteRange) -> Result<Uint8Array, Failure> {
    let unreadable = |error: JsValue| {
        let what = describe(&error);
        Failure::new(
            Cause::Unreadable,
            format!("the browser refused to read the file: {what}"),
        )
    };
    let (start, end) = (to_float(range.start), to_float(range.end));
    let part = blob
        .slice_with_f64_and_f64(start, end)
        .map_err(unreadable)?;
    let buffer = JsFuture::from(part.array_buffer())
        .await
        .map_err(unreadable)?;
    Ok(Uint8Array::new(&buffer))
}

async fn fetch(url: &str, range: Option<ByteRange>) -> Result<Response, Failure> {
    let failed = |error: JsValue| {
        let what = describe(&error);
        Failure::new(
            Cause::Network,
            format!("{what}; is the address right and reachable? {url}"),
        )
    };
    let options = RequestInit::new();
    options.set_credentials(RequestCredentials::Omit);
    let request = Request::new_with_str_and_init(url, &options).map_err(failed)?;
    if let Some(range) = range {
        let headers: Headers = request.headers();
        let value = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
        headers.set("range", &value).map_err(failed)?;
    }
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let response = JsFuture::from(scope.fetch_with_request(&request))
        .await
        .map_err(failed)?;
    response.dyn_into().map_err(failed)
}

async fn body(response: &Response, url: &str) -> Result<Vec<u8>, Failure> {
    let broken = |error: JsValue| {
        let what = describe(&error);
        Failure::new(
            Cause::Network,
            format!("the answer broke off: {what}; try again: {url}"),
        )
    };
    let promise: Promise = response.array_buffer().map_err(broken)?;
    let buffer: ArrayBuffer = JsFuture::from(promise)
        .await
        .map_err(broken)?
        .unchecked_into();
    Ok(taken(&Uint8Array::new(&buffer)))
}

/// A copy of bytes that nobody else needs; their own memory is given back.
pub(super) fn taken(bytes: &Uint8Array) -> Vec<u8> {
    let copy = bytes.to_vec();
    release(&bytes.buffer());
    copy
}

/// Gives back the memory of a buffer at once: the next collection of garbage may be far, and a
/// file is read in many pieces. It is moved to an end of a channel that nobody holds,
/// because one that is moved inside the thread stays with the browser until it collects. That is so
/// in Chromium; WebKit kept what such a channel was sent, and others do without.
pub(super) fn release(buffer: &ArrayBuffer) {
    thread_local!(static NOWHERE: Option<MessagePort> = nowhere());
    NOWHERE.with(|port| {
        if let Some(port) = port {
            // What cannot be moved waits for the collection.
            let _ = port.post_message_with_transferable(&JsValue::NULL, &Array::of1(buffer));
        }
    });
}

/// An end of a channel whose other end is closed, in Chromium.
fn nowhere() -> Option<MessagePort> {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into()).ok()?;
    let agent = Reflect::get(&navigator, &"userAgent".into()).ok()?;
    if !agent.as_string()?.contains("Chrome/") {
        return None;
    }
    let channel = MessageChannel::new().ok()?;
    channel.port2().close();
    Some(channel.port1())
}

/// What a host says; of JSON with an `error` that.
fn in_words(said: &str) -> String {
    let json = js_sys::JSON::parse(said).ok();
    let error = json.and_then(|it| Reflect::get(&it, &"error".into()).ok());
    error
        .and_then(|it| it.as_string())
        .unwrap_or_else(|| said.to_owned())
}

/// The host's own words where they are short, else its status.
async fn refused(url: &str, response: &Response) -> Failure {
    let text = match response.text() {
        Ok(promise) => JsFuture::from(promise)
            .await
            .ok()
            .and_then(|it| it.as_string()),
        Err(_) => None,
    };
    let said = text
        .map(|it| in_words(it.trim()))
        .filter(|it| !it.is_empty() && it.len() < 300);
    let status = response.status();
    let what = match said.filter(|it| !it.starts_with('<')) {
        Some(said) => format!("the host answered {status}: {said}"),
        None if status == 404 => "there is no such file on the host (404)".to_owned(),
        None => format!("the host answered {status}"),
    };
    Failure::new(Cause::Network, format!("{what}: {url}"))
}

fn copy(bytes: &Bytes, range: ByteRange) -> Result<Bytes, Failure> {
    let end = usize::try_from(range.end)
        .unwrap_or(usize::MAX)
        .min(bytes.len());
    let start = usize::try_from(range.start).unwrap_or(usize::MAX).min(end);
    exactly(bytes.slice(start..end), range)
}

fn exactly(bytes: Bytes, range: ByteRange) -> Result<Bytes, Failure> {
    exact(bytes.len() as u64, range)?;
    Ok(bytes)
}

fn exact(found: u64, range: ByteRange) -> Result<(), Failure> {
    if found == range.len() {
        return Ok(());
    }
    let message = format!("bytes {range} were asked for and {found} bytes came; open it again");
    Err(Failure::new(Cause::Unreadable, message))
}

/// What a thrown value says.
pub(crate) fn describe(error: &JsValue) -> String {
    error
        .dyn_ref::<js_sys::Error>()
        .map(|it| String::from(it.message()))
        .or_else(|| error.as_string())
        .unwrap_or_else(|| "unknown error".to_owned())
}

/// Length of a file in bytes.
pub(crate) fn length(blob: &Blob) -> u64 {
    rounded(blob.size())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_the_file_is_read_from_the_range() {
        assert_eq!(
            total_of("bytes 0-65535/1234567890123"),
            Some(1_234_567_890_123)
        );
        assert_eq!(total_of("bytes 0-65535/*"), None);
        assert_eq!(total_of("bytes"), None);
    }

    #[test]
    fn a_short_answer_is_told() {
        let bytes = Bytes::from_static(b"abc");
        assert!(copy(&bytes, ByteRange::new(1, 3)).is_ok_and(|it| it == b"bc"[..]));
        let short = copy(&bytes, ByteRange::new(1, 9)).expect_err("eight bytes are not there");
        assert_eq!(short.cause, Cause::Unreadable);
    }
}
