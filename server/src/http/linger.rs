//! Bodies that were not read to their end: a little more of them is read while the answer goes out.
//!
//! A connection that is closed while its client still writes is reset, and the client never hears
//! why it was refused.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::{HeaderMap, header};
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;

/// Bytes that are still read, at most.
const BYTES_MAX: usize = 64 << 20;
/// How long they are read, at most.
const TIME_MAX: Duration = Duration::from_secs(10);

/// The body of a request on a socket.
#[derive(Debug)]
pub(super) struct Lingering {
    /// None once it has ended.
    body: Option<Incoming>,
    /// Whether the client sends nothing until the body is asked for.
    is_waiting: bool,
}

impl Lingering {
    pub(super) fn new(body: Incoming, headers: &HeaderMap) -> Self {
        Self {
            body: Some(body),
            is_waiting: headers.contains_key(header::EXPECT),
        }
    }
}

impl Body for Lingering {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        self.is_waiting = false;
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(body).poll_frame(context);
        if let Poll::Ready(None | Some(Err(_))) = &polled {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let none = || SizeHint::with_exact(0);
        self.body.as_ref().map_or_else(none, Body::size_hint)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        let rest = self.body.take().filter(|body| !body.is_end_stream());
        if let Some(rest) = rest.filter(|_| !self.is_waiting)
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(tokio::time::timeout(TIME_MAX, read_on(rest)));
        }
    }
}

async fn read_on(mut body: Incoming) {
    let mut left = BYTES_MAX;
    while let Some(Ok(frame)) =
        std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await
    {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        if left == 0 {
            break;
        }
    }
}
