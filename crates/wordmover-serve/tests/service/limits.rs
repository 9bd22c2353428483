use std::io::Write;
use std::time::Duration;

use serde_json::json;

use super::support::{Answer, TEXTS, shared, start};

#[test]
fn limits_are_named_and_the_same_for_one_text_and_many() {
    let server = start(|params, _| {
        params.limits.texts = 2;
        params.limits.words = 5;
        params.limits.body_bytes = 1000;
        params.limits.plan_words = 2;
    });
    let embed = |input: serde_json::Value| server.post("/v1/embeddings", &json!({"input": input}));
    let (message, _) = embed(json!(["a", "b", "c"])).error(400);
    assert_eq!(message, "`input` holds 3 texts; a request may have 2");
    let long = "cat dog bird fish mouse horse";
    let (message, error) = embed(json!(long)).error(400);
    assert_eq!(message, "`input` has 6 words; a text may have 5");
    assert_eq!(error["param"], "input");
    let (message, error) = embed(json!(["cat", long])).error(400);
    assert_eq!(message, "`input[1]` has 6 words; a text may have 5");
    assert_eq!(error["param"], "input[1]");
    let body = json!({"first": "cat dog bird", "second": "cat"});
    let (message, _) = server.post("/v1/distance", &body).error(400);
    assert_eq!(message, "`first` has 3 distinct words; a plan may have 2");
    let (message, _) = embed(json!("x ".repeat(1000))).error(413);
    assert_eq!(
        message,
        "the body is larger than 1000 bytes, the most a request may have"
    );
    assert_eq!(embed(json!(["cat", "dog"])).status, 200);
    server.stop();
}

#[test]
fn a_hundred_megabytes_are_refused_whether_announced_or_not() {
    let server = shared();
    let block = vec![b' '; 1 << 20];
    for is_chunked in [false, true] {
        let mut stream = server.connect();
        let kind = match is_chunked {
            false => format!("Content-Length: {}", 100 << 20),
            true => "Transfer-Encoding: chunked".to_owned(),
        };
        let head = format!(
            "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{kind}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        for _ in 0..100 {
            let mut bytes = Vec::new();
            if is_chunked {
                bytes.extend_from_slice(format!("{:x}\r\n", block.len()).as_bytes());
            }
            bytes.extend_from_slice(&block);
            if is_chunked {
                bytes.extend_from_slice(b"\r\n");
            }
            // The server need not read it all.
            if stream.write_all(&bytes).is_err() {
                break;
            }
        }
        if is_chunked {
            let _ = stream.write_all(b"0\r\n\r\n");
        }
        let answer = Answer::read(&mut stream);
        let (message, _) = answer.error(413);
        assert!(message.contains("8388608 bytes"), "{message}");
        assert_eq!(answer.header("connection"), Some("close"));
    }
    assert!(server.metric("wordmover_memory_bytes") < 1e6);
}

#[test]
fn who_asks_before_sending_too_much_is_told_before_sending() {
    let mut stream = shared().connect();
    let head = "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: 104857600\r\nExpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    Answer::read(&mut stream).error(413);
}

#[test]
fn a_full_queue_is_429_with_retry_after_and_then_all_goes_on() {
    let server = start(|params, _| params.limits.queue = 1);
    let text = TEXTS.join(" ").repeat(60);
    let body = json!({"input": vec![text; 400]});
    let (mut n_done, mut n_refused) = (0, 0);
    std::thread::scope(|scope| {
        let asks: Vec<_> = (0..12)
            .map(|_| scope.spawn(|| server.post("/v1/embeddings", &body)))
            .collect();
        for ask in asks {
            let answer = ask.join().unwrap();
            match answer.status {
                200 => n_done += 1,
                _ => {
                    let (message, error) = answer.error(429);
                    assert_eq!(message, "1 requests wait already, the most there may be");
                    assert_eq!(error["code"], "rate_limit_exceeded");
                    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
                    assert!((1..=60).contains(&seconds));
                    n_refused += 1;
                }
            }
        }
    });
    assert!(n_done >= 1 && n_refused >= 1, "{n_done} {n_refused}");
    assert_eq!(
        server.metric("wordmover_refused_total"),
        f64::from(n_refused)
    );
    assert_eq!(
        server
            .post("/v1/embeddings", &json!({"input": "cat"}))
            .status,
        200
    );
    assert_eq!(server.metric("wordmover_queue_requests"), 0.0);
    server.stop();
}

#[test]
fn bodies_beyond_the_memory_of_all_requests_are_429() {
    let server = start(|params, _| params.limits.memory_bytes = 10_000);
    let body = json!({"input": "cat ".repeat(4000)});
    let answer = server.post("/v1/embeddings", &body);
    let (message, _) = answer.error(429);
    assert_eq!(message, "all requests together hold more than 10000 bytes");
    assert!(answer.header("retry-after").is_some());
    server.stop();
}

#[test]
fn a_request_that_takes_too_long_is_503() {
    let server = start(|params, _| params.limits.request_time = Duration::from_millis(300));
    let mut stream = server.connect();
    let head = "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: 100\r\n\r\n{\"input\"";
    stream.write_all(head.as_bytes()).unwrap();
    // The rest never comes.
    let (message, error) = Answer::read(&mut stream).error(503);
    assert_eq!(message, "the request took more than 0.3 seconds");
    assert_eq!(error["code"], "timeout");
    server.stop();
}
