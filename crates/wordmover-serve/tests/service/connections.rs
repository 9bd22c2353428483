use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use serde_json::json;

use super::support::{Answer, TEXTS, shared, start};

#[test]
fn slow_and_silent_clients_are_cut_off_and_others_served() {
    let server = start(|params, _| params.limits.idle_time = Duration::from_millis(400));
    let mut silent = server.connect();
    let mut slow = server.connect();
    slow.write_all(b"POST /v1/embeddings HTTP/1.1\r\nHost: loc")
        .unwrap();
    assert_eq!(server.get("/health").status, 200);
    let start = Instant::now();
    let mut left = Vec::new();
    let _ = silent.read_to_end(&mut left);
    let _ = slow.read_to_end(&mut left);
    assert!(start.elapsed() < Duration::from_secs(30));
    server.wait_for_metric("wordmover_connections", |open| open <= 1.0);
    server.stop();
}

#[test]
fn a_client_that_does_not_read_its_answer_is_cut_off() {
    let server = start(|params, _| {
        params.limits.request_time = Duration::from_secs(2);
    });
    // More than the buffers of the system take.
    let body = json!({"input": vec!["cat"; 2048]}).to_string();
    let mut streams: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for stream in &mut streams {
        for _ in 0..8 {
            let head = format!(
                "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            stream
                .set_write_timeout(Some(Duration::from_millis(500)))
                .unwrap();
            if stream.write_all(head.as_bytes()).is_err()
                || stream.write_all(body.as_bytes()).is_err()
            {
                break;
            }
        }
    }
    server.wait_for_metric("wordmover_connections", |open| open <= 1.0);
    // What was held for them is given back.
    server.wait_for_metric("wordmover_memory_bytes", |held| held < 1e5);
    server.stop();
}

#[test]
fn half_a_request_and_a_closed_connection_harm_nobody() {
    let server = shared();
    let full = "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{\"input\": \"a cat\"}  ";
    for end in (0..full.len()).step_by(9) {
        let mut stream = server.connect();
        stream.write_all(&full.as_bytes()[..end]).unwrap();
        stream.shutdown(Shutdown::Both).unwrap();
    }
    for garbage in [
        &b"\0\0\0\0"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
    ] {
        let mut stream = server.connect();
        stream.write_all(garbage).unwrap();
        let _ = stream.shutdown(Shutdown::Write);
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        if let Some(answer) = Answer::parse(&said) {
            assert!(answer.status == 400 || answer.status == 505, "{answer:?}");
        }
    }
    let long = format!("X: {}", "y".repeat(100_000));
    assert_eq!(server.send("GET", "/health", &[&long], b"").status, 431);
    assert_eq!(server.get("/health").status, 200);
}

#[test]
fn a_connection_serves_many_requests() {
    let mut stream = shared().connect();
    let body = json!({"input": "a cat"}).to_string();
    let one = format!(
        "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    for _ in 0..5 {
        stream.write_all(one.as_bytes()).unwrap();
        let mut said = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let n = stream.read(&mut buffer).unwrap();
            assert!(n > 0);
            said.extend_from_slice(&buffer[..n]);
            let Some(answer) = Answer::parse(&said) else {
                continue;
            };
            let length: usize = answer.header("content-length").unwrap().parse().unwrap();
            if answer.body.len() == length {
                assert_eq!(answer.status, 200);
                break;
            }
        }
    }
}

#[test]
fn many_connections_at_once_are_batched_and_right() {
    let server = shared();
    let due = server
        .post("/v1/embeddings", &json!({"input": TEXTS[0]}))
        .json()["data"]
        .clone();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let answer = server.post("/v1/embeddings", &json!({"input": TEXTS[0]}));
                    assert_eq!(answer.json()["data"], due);
                }
            });
        }
    });
}

#[test]
fn idle_connections_take_little_memory_and_leave_room_for_others() {
    let server = shared();
    let before = resident();
    // As many as the usual limit of open files allows, with both ends in this process.
    let idle: Vec<_> = (0..300).map(|_| server.connect()).collect();
    assert_eq!(server.get("/health").status, 200);
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(after < before + (64 << 20), "{before} {after}");
    }
    drop(idle);
}

/// Resident bytes of this process, where the system tells.
pub fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}
