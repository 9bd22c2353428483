//! A connection whose client must read its answers.
//!
//! The server cuts off clients that are slow to send a head; nothing in it cuts off those
//! that never read. Here an answer must be taken within a time from the moment it could not
//! be written any further.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

pub(crate) struct TimedIo {
    stream: TokioIo<TcpStream>,
    limit: Duration,
    /// Runs while something waits to be written.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl TimedIo {
    pub fn new(stream: TcpStream, limit: Duration) -> Self {
        TimedIo {
            stream: TokioIo::new(stream),
            limit,
            deadline: None,
        }
    }

    /// `Pending`, or an error once that has lasted too long.
    fn stalled<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        let limit = self.limit;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(limit)));
        match deadline.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Whether the deadline has passed although single bytes are taken now and then.
    fn is_late(&self) -> bool {
        let deadline = self.deadline.as_ref();
        deadline.is_some_and(|deadline| deadline.deadline() <= Instant::now())
    }
}

impl Read for TimedIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for TimedIo {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_late() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Pending => self.stalled(context),
            Poll::Ready(Ok(written)) if written == bytes.len() => {
                // All of it is with the system.
                self.deadline = None;
                Poll::Ready(Ok(written))
            }
            ready => ready,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_flush(context) {
            Poll::Pending => self.stalled(context),
            ready => ready,
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
