//! The service from its start to its end.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot, watch};
use wordmover::error_message;

use crate::connection;
use crate::error::Error;
use crate::key::ApiKey;
use crate::limits::Limits;
use crate::log::{Log, LogFormat, LogSink};
use crate::memory::Memory;
use crate::metrics::Metrics;
use crate::served::{Current, Sources};
use crate::service::Service;
use crate::work::Work;

/// What the service is to be.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServeParams {
    /// Where to listen; port 0 is any that is free.
    pub address: SocketAddr,
    /// What to serve.
    pub sources: Sources,
    /// How much clients may ask for.
    pub limits: Limits,
    /// A file with the key that clients must send.
    pub api_key_file: Option<PathBuf>,
    /// Whether to serve other machines without a key.
    pub without_key: bool,
    /// What is logged.
    pub log: LogFormat,
    /// Whether SIGTERM and SIGINT end the service and SIGHUP reloads its files.
    pub signals: bool,
}

impl ServeParams {
    /// The built-in model at an address, with the default limits.
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        ServeParams {
            address,
            sources: Sources::default(),
            limits: Limits::default(),
            api_key_file: None,
            without_key: false,
            log: LogFormat::default(),
            signals: false,
        }
    }
}

/// A service that listens and has yet to [run](Self::run).
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    params: ServeParams,
    service: Arc<Service>,
    orders: (mpsc::Sender<Order>, mpsc::Receiver<Order>),
}

enum Order {
    Stop,
    Reload,
}

/// Ends a running service, or makes it reload its files, from another thread.
#[derive(Clone)]
pub struct Stop(mpsc::Sender<Order>);

impl Stop {
    /// No new requests; those under way are finished.
    pub fn stop(&self) {
        let _ = self.0.try_send(Order::Stop);
    }

    /// The files are read again and replace what is served, unless that fails.
    pub fn reload(&self) {
        let _ = self.0.try_send(Order::Reload);
    }
}

impl Server {
    /// Listens. Nothing is loaded yet, so that an address in use is said at once.
    ///
    /// # Errors
    ///
    /// The address is public and there is no key; the key cannot be read; the address
    /// cannot be had.
    pub fn bind(params: ServeParams, sink: LogSink) -> Result<Self, Error> {
        let key = params
            .api_key_file
            .as_deref()
            .map(ApiKey::read)
            .transpose()?;
        let is_local = params.address.ip().is_loopback();
        if !is_local && key.is_none() && !params.without_key {
            return Err(Error::Public(params.address));
        }
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(Error::Start)?;
        let listening = runtime.block_on(TcpListener::bind(params.address));
        let bound = listening.and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = bound.map_err(|source| Error::Listen {
            address: params.address.to_string(),
            source,
        })?;
        let metrics = Arc::new(Metrics::default());
        let current = Arc::new(Current::default());
        let log = Log::start(params.log, sink, metrics.clone()).map_err(Error::Start)?;
        let limits = params.limits.clone();
        let work = Work::start(limits.clone(), current.clone(), metrics.clone());
        let service = Service {
            key: RwLock::new(key.clone()),
            local_only: key.is_none() && !params.without_key,
            current,
            work: work.map_err(Error::Start)?,
            memory: Memory::new(limits.memory_bytes),
            limits,
            metrics,
            log,
            start: Instant::now(),
            is_ending: AtomicBool::new(false),
            instance: instance(),
            next_id: AtomicU64::new(1),
        };
        Ok(Server {
            runtime,
            listener,
            address,
            params,
            service: Arc::new(service),
            orders: mpsc::channel(16),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What ends it.
    #[must_use]
    pub fn stopper(&self) -> Stop {
        Stop(self.orders.0.clone())
    }

    /// Loads the models and answers until it is told to end.
    ///
    /// # Errors
    ///
    /// A model cannot be loaded.
    pub fn run(self) -> Result<(), Error> {
        let Server {
            runtime,
            listener,
            address,
            params,
            service,
            orders: (sender, mut orders),
        } = self;
        let ended = runtime.block_on(async {
            if params.signals {
                listen_for_signals(sender.clone()).map_err(Error::Start)?;
            }
            let (ending, is_ending) = watch::channel(false);
            let (loaded, mut is_loaded) = oneshot::channel();
            let loader = Loader {
                service: service.clone(),
                params: params.clone(),
            };
            loader.in_background(move |result| drop(loaded.send(result)));
            let mut waits_for_load = true;
            let accepting = connection::accept(&listener, &service, &is_ending);
            tokio::pin!(accepting);
            loop {
                tokio::select! {
                    () = accepting.as_mut() => break,
                    result = &mut is_loaded, if waits_for_load => {
                        waits_for_load = false;
                        if let Ok(result) = result {
                            result?;
                            // Not before: a file that cannot be used is all there is to say.
                            let event = format!("listening on http://{address}, ready");
                            service.log.event(&event);
                        }
                    }
                    order = orders.recv() => match order {
                        Some(Order::Reload) => {
                            let loader = Loader { service: service.clone(), params: params.clone() };
                            let service = service.clone();
                            loader.in_background(move |result| service.reloaded(result));
                        }
                        _ => break,
                    },
                }
            }
            service.is_ending.store(true, Relaxed);
            service.log.event("ending: no new requests");
            let _ = ending.send(true);
            service.all_answered(params.limits.shutdown_time).await;
            Ok(())
        });
        // New connections are refused from here on.
        drop(listener);
        service.work.close();
        if ended.is_ok() {
            service.log.event("ended");
        }
        service.log.flush();
        ended
    }
}

impl Service {
    fn reloaded(&self, result: Result<(), Error>) {
        match result {
            Ok(()) => {
                self.metrics.reloads.fetch_add(1, Relaxed);
                self.log.event("reloaded");
            }
            Err(error) => {
                self.metrics.failed_reloads.fetch_add(1, Relaxed);
                let reason = error_message::of(&error);
                self.log
                    .event(&format!("not reloaded, what was served stays: {reason}"));
            }
        }
    }

    /// Waits until every connection has ended, or the time is over.
    async fn all_answered(&self, limit: Duration) {
        let start = Instant::now();
        while self.metrics.connections.load(Relaxed) > 0 && start.elapsed() < limit {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Loads files on a thread of its own: requests go on meanwhile.
struct Loader {
    service: Arc<Service>,
    params: ServeParams,
}

impl Loader {
    fn in_background(self, done: impl FnOnce(Result<(), Error>) + Send + 'static) {
        std::thread::spawn(move || {
            let loaded = self.load();
            done(loaded);
        });
    }

    fn load(&self) -> Result<(), Error> {
        let key = self
            .params
            .api_key_file
            .as_deref()
            .map(ApiKey::read)
            .transpose()?;
        let served = self.params.sources.load()?;
        let mut current = self
            .service
            .key
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *current = key;
        drop(current);
        self.service.current.set(served);
        Ok(())
    }
}

#[cfg(unix)]
fn listen_for_signals(orders: mpsc::Sender<Order>) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [
        (SignalKind::terminate(), false),
        (SignalKind::interrupt(), false),
        (SignalKind::hangup(), true),
    ];
    for (kind, reloads) in kinds {
        let mut signals = signal(kind)?;
        let orders = orders.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                let order = if reloads { Order::Reload } else { Order::Stop };
                let _ = orders.try_send(order);
            }
        });
    }
    Ok(())
}

#[cfg(not(unix))]
fn listen_for_signals(orders: mpsc::Sender<Order>) -> std::io::Result<()> {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            let _ = orders.try_send(Order::Stop);
        }
    });
    Ok(())
}

/// Tells the request ids of one start from those of another.
fn instance() -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    (now.as_nanos() as u64) ^ (u64::from(std::process::id()) << 48)
}
