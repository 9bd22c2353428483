//! Bodies: read within limits of size, time and memory; answered with memory counted.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_LENGTH, EXPECT, HeaderMap};
use tokio::time::timeout;

use crate::error::{ApiError, ApiResult};
use crate::memory::{Held, Memory};
use crate::work::Body;

/// What is too large is still read for so long, and thrown away: a client that is in the
/// middle of sending would not see the answer otherwise.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// Reads the whole body.
pub(crate) async fn read(
    headers: &HeaderMap,
    mut incoming: Incoming,
    most: usize,
    memory: &Memory,
) -> ApiResult<Body> {
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok());
    let announced = announced.and_then(|length| length.parse::<u64>().ok());
    if announced.is_some_and(|length| length > most as u64) {
        // Who asks before sending is told before sending.
        if !headers.contains_key(EXPECT) {
            drain(incoming).await;
        }
        return Err(too_large(most));
    }
    let mut held = memory.nothing();
    let mut bytes = BytesMut::new();
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(|_| {
            ApiError::invalid("the body ended before its announced length").closing()
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > most {
            drop((bytes, held));
            drain(incoming).await;
            return Err(too_large(most));
        }
        if !held.grow(data.len()) {
            let limit = memory.limit();
            let message = format!("all requests together hold more than {limit} bytes");
            return Err(ApiError::busy(message, 1).closing());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Body {
        bytes: bytes.freeze(),
        held,
    })
}

fn too_large(most: usize) -> ApiError {
    let message = format!("the body is larger than {most} bytes, the most a request may have");
    ApiError::invalid(message)
        .status(StatusCode::PAYLOAD_TOO_LARGE)
        .closing()
}

async fn drain(mut incoming: Incoming) {
    let all = async { while let Some(Ok(_)) = incoming.frame().await {} };
    let _ = timeout(DRAIN_TIME, all).await;
}

/// An answer whose bytes count until they are sent.
pub(crate) struct Answer {
    bytes: Option<Bytes>,
    _held: Held,
}

impl Answer {
    pub fn new(bytes: impl Into<Bytes>, memory: &Memory) -> Self {
        let bytes = bytes.into();
        Answer {
            _held: memory.holding(bytes.len()),
            bytes: Some(bytes),
        }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = self.get_mut().bytes.take();
        Poll::Ready(
            bytes
                .filter(|bytes| !bytes.is_empty())
                .map(|bytes| Ok(Frame::data(bytes))),
        )
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.as_ref().is_none_or(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}
