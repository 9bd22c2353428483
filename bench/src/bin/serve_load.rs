//! Load for a running service: `serve_load HOST:PORT TEXTS CONNECTIONS REQUESTS`.
//!
//! Every line of TEXTS is a text. Connections are kept open and each sends one text after
//! the other to `/v1/embeddings`, in base64 as OpenAI's client does; printed, as JSON, are
//! the requests a second, the quantiles of the time a request takes, and the failures.

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, texts, n_connections, n_requests] = &arguments[..] else {
        return Err("serve_load HOST:PORT TEXTS CONNECTIONS REQUESTS".into());
    };
    let texts = std::fs::read_to_string(texts)?;
    let texts: Vec<&str> = texts.lines().filter(|text| !text.is_empty()).collect();
    let (n_connections, n_requests): (usize, usize) = (n_connections.parse()?, n_requests.parse()?);
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let parts: Vec<Result<Vec<Duration>, Failure>> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..n_connections)
            .map(|_| scope.spawn(|| client(address, &texts, &next, n_requests)))
            .collect();
        let joined = clients.into_iter().map(|client| client.join());
        joined
            .map(|part| part.unwrap_or_else(|_| Err("a client failed".into())))
            .collect()
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

/// One connection until all requests are sent; an answer that is not 200 ends it.
fn client(
    address: &str,
    texts: &[&str],
    next: &AtomicUsize,
    n_requests: usize,
) -> Result<Vec<Duration>, Failure> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let (mut writer, mut reader) = (stream.try_clone()?, BufReader::new(stream));
    let mut times = Vec::new();
    loop {
        let number = next.fetch_add(1, Relaxed);
        if number >= n_requests {
            return Ok(times);
        }
        let text = texts[number % texts.len()];
        let body = serde_json::json!({ "input": text, "encoding_format": "base64" }).to_string();
        let request = format!(
            "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let start = Instant::now();
        writer.write_all(request.as_bytes())?;
        read_answer(&mut reader)?;
        times.push(start.elapsed());
    }
}

fn read_answer(reader: &mut BufReader<TcpStream>) -> Result<(), Failure> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    if !line.starts_with("HTTP/1.1 200 ") {
        return Err(line.into());
    }
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        match line
            .trim_end()
            .to_ascii_lowercase()
            .strip_prefix("content-length: ")
        {
            Some(given) => length = given.parse()?,
            None if line.trim_end().is_empty() => break,
            None => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(())
}
