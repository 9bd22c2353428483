//! Accepting connections, and serving each until it ends.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::service::Service;
use crate::timed_io::TimedIo;

/// Bytes of a request's head, at most.
const HEAD_BYTES: usize = 32 << 10;

/// When the system has no more file handles, others must be closed first.
const PAUSE: Duration = Duration::from_millis(50);

/// Accepts for ever.
pub(crate) async fn accept(
    listener: &TcpListener,
    service: &Arc<Service>,
    ending: &watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(service.limits.connections));
    loop {
        // Never closed, so always had in the end.
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (service, ending) = (service.clone(), ending.clone());
                tokio::spawn(async move {
                    let connection = Counted::new(&service);
                    serve(stream, service.clone(), ending).await;
                    drop((connection, place));
                });
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn serve(stream: TcpStream, service: Arc<Service>, mut ending: watch::Receiver<bool>) {
    // Answers are written whole: waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let limits = &service.limits;
    let io = TimedIo::new(stream, limits.request_time);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle_time)
        .max_buf_size(HEAD_BYTES);
    let answer = {
        let service = service.clone();
        service_fn(move |request| service.clone().handle(request))
    };
    let connection = builder.serve_connection(io, answer);
    tokio::pin!(connection);
    // What goes wrong with one connection concerns nobody else.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = ending.wait_for(|ending| *ending) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// One more in the metrics while it lives.
struct Counted(Arc<Service>);

impl Counted {
    fn new(service: &Arc<Service>) -> Self {
        service.metrics.connections.fetch_add(1, Relaxed);
        service.metrics.connections_total.fetch_add(1, Relaxed);
        Counted(service.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.metrics.connections.fetch_sub(1, Relaxed);
    }
}
