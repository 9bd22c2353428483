//! Load for a running service: `serve_load HOST:PORT TEXTS CONNECTIONS REQUESTS`.
//!
//! Every line of TEXTS is a text. Connections are kept open and each sends one text after
//! the other to `/v1/embeddings`, in base64 as OpenAI's client does; printed, as JSON, are
//! the requests a second, the quantiles of the time a request takes, and the failures.
//!
//! All connections are on one thread and requests are written beforehand, since the service
//! that is measured has the rest of the same processor.

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::cell::Cell;
use std::error::Error;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::task::LocalSet;

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, texts, n_connections, n_requests] = &arguments[..] else {
        return Err("serve_load HOST:PORT TEXTS CONNECTIONS REQUESTS".into());
    };
    let texts = std::fs::read_to_string(texts)?;
    let texts = texts.lines().filter(|text| !text.is_empty());
    let requests: &'static [Vec<u8>] = texts.map(request).collect::<Vec<_>>().leak();
    let (n_connections, n_requests): (usize, usize) = (n_connections.parse()?, n_requests.parse()?);
    // The thread of all connections, which share it.
    let next: &'static Cell<usize> = Box::leak(Box::new(Cell::new(0)));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let start = Instant::now();
    let parts: Vec<Result<Vec<Duration>, Failure>> = LocalSet::new().block_on(&runtime, async {
        let client = |_| {
            let address = address.clone();
            tokio::task::spawn_local(client(address, requests, next, n_requests))
        };
        let clients: Vec<_> = (0..n_connections).map(client).collect();
        let mut parts = Vec::new();
        for client in clients {
            let part = client.await;
            parts.push(part.unwrap_or_else(|_| Err("a client failed".into())));
        }
        parts
    });
    let seconds = start.elapsed().as_secs_f64();
    let n_failed = parts.iter().filter(|part| part.is_err()).count();
    let mut times: Vec<Duration> = parts.into_iter().flatten().flatten().collect();
    times.sort_unstable();
    let quantile = |share: f64| {
        let at = (share * times.len() as f64) as usize;
        times
            .get(at.min(times.len().saturating_sub(1)))
            .map(|time| time.as_secs_f64() * 1e3)
    };
    println!(
        "{}",
        serde_json::json!({
            "requests": times.len(),
            "failed_connections": n_failed,
            "seconds": seconds,
            "requests_per_second": times.len() as f64 / seconds,
            "p50_ms": quantile(0.5),
            "p90_ms": quantile(0.9),
            "p99_ms": quantile(0.99),
        })
    );
    Ok(())
}

fn request(text: &str) -> Vec<u8> {
    let body = serde_json::json!({ "input": text, "encoding_format": "base64" }).to_string();
    let head = format!(
        "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    (head + &body).into_bytes()
}

/// One connection until all requests are sent; an answer that is not 200 ends it.
async fn client(
    address: String,
    requests: &[Vec<u8>],
    next: &Cell<usize>,
    n_requests: usize,
) -> Result<Vec<Duration>, Failure> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut times = Vec::new();
    let mut answer = Vec::new();
    loop {
        let number = next.get();
        if number >= n_requests {
            return Ok(times);
        }
        next.set(number + 1);
        let start = Instant::now();
        send(&stream, &requests[number % requests.len()]).await?;
        answer.clear();
        while !is_complete(&answer)? {
            stream.readable().await?;
            let length = answer.len();
            answer.resize(length + (16 << 10), 0);
            let read = stream.try_read(&mut answer[length..]);
            answer.truncate(length + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => return Err("the service has closed a connection".into()),
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
                _ => {}
            }
        }
        times.push(start.elapsed());
    }
}

async fn send(stream: &TcpStream, mut request: &[u8]) -> Result<(), Failure> {
    while !request.is_empty() {
        stream.writable().await?;
        match stream.try_write(request) {
            Ok(written) => request = &request[written..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Whether an answer has been read to its end.
fn is_complete(answer: &[u8]) -> Result<bool, Failure> {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Ok(false);
    };
    let head = std::str::from_utf8(&answer[..end])?;
    if !head.starts_with("HTTP/1.1 200 ") {
        return Err(head.into());
    }
    let mut lines = head.lines();
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>())
    });
    let length = length.ok_or("an answer without a length")??;
    Ok(answer.len() >= end + 4 + length)
}
