use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};
use wordmover_serve::LogFormat;

use super::connections::resident;
use super::support::{Answer, TEXTS, fit, shared, start};

#[test]
fn a_model_replaced_on_disk_is_taken_up_without_dropping_a_request() {
    let server = start(|_, _| ());
    let embed = || server.post("/v1/embeddings", &json!({"input": TEXTS[0]}));
    let old = embed().json()["data"].clone();
    let other = fit(7);
    let z = other.transform(&TEXTS[..1]).unwrap();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut seen = Vec::new();
            for _ in 0..60 {
                let answer = embed();
                assert_eq!(answer.status, 200, "{}", answer.text());
                seen.push(answer.json()["data"].clone());
            }
            seen
        });
        std::thread::sleep(Duration::from_millis(20));
        other.save(&server.model_file(), false).unwrap();
        server.reload();
        server.wait_for_line("reloaded");
        asking.join().unwrap();
    });
    let new = embed().json()["data"].clone();
    assert_ne!(new, old);
    assert_eq!(new[0]["embedding"][3].as_f64().unwrap() as f32, z[3]);
    // A damaged file changes nothing.
    std::fs::write(server.model_file(), b"no model").unwrap();
    server.reload();
    let line = server.wait_for_line("not reloaded, what was served stays");
    assert!(line.contains("small.wme"), "{line}");
    assert_eq!(embed().json()["data"], new);
    assert_eq!(server.metric("wordmover_reloads_total"), 1.0);
    assert_eq!(server.metric("wordmover_failed_reloads_total"), 1.0);
    server.stop();
}

#[test]
fn the_end_waits_for_what_is_under_way() {
    let server = start(|_, _| ());
    let mut stream = server.connect();
    let body = json!({"input": vec![TEXTS.join(" ").repeat(40); 300]}).to_string();
    let head = format!(
        "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let (first, second) = body.as_bytes().split_at(body.len() / 2);
    stream.write_all(first).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    server.begin_to_stop();
    server.wait_for_line("ending");
    stream.write_all(second).unwrap();
    let answer = Answer::read(&mut stream);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["data"].as_array().unwrap().len(), 300);
    server.stop();
}

#[test]
fn requests_have_ids_and_json_lines_on_request() {
    let server = start(|params, _| params.log = LogFormat::Json);
    let answer = server.send("GET", "/health", &["X-Request-Id: my-id.7"], b"");
    assert_eq!(answer.header("x-request-id"), Some("my-id.7"));
    let line: Value = serde_json::from_str(&server.wait_for_line("my-id.7")).unwrap();
    assert_eq!(
        (&line["status"], &line["route"]),
        (&json!(200), &json!("/health"))
    );
    assert!(line["milliseconds"].is_number() && line["error"].is_null());
    // An id that is none is replaced.
    let answer = server.send("GET", "/health", &["X-Request-Id: a b\"c"], b"");
    assert!(answer.header("x-request-id").unwrap().starts_with("req-"));
    server
        .post("/v1/embeddings", &json!({"input": 1}))
        .error(400);
    let line: Value = serde_json::from_str(&server.wait_for_line("/v1/embeddings")).unwrap();
    assert!(line["error"].as_str().unwrap().contains("`input`"));
    server.stop();
}

#[test]
fn metrics_count_and_do_not_grow_with_what_clients_send() {
    let server = start(|_, _| ());
    server.post("/v1/embeddings", &json!({"input": [TEXTS[0], TEXTS[1]]}));
    server.get("/nothing/1").error(404);
    let page = server.get("/metrics").text();
    assert!(page.contains("wordmover_requests_total{route=\"/v1/embeddings\",status=\"2xx\"} 1"));
    assert!(page.contains("wordmover_batch_texts_bucket{le=\"2\"} 1"));
    assert!(page.contains("wordmover_texts_total 2"));
    let n_lines = page.lines().count();
    for number in 0..50 {
        server.get(&format!("/nothing/{number}")).error(404);
    }
    let later = server.get("/metrics").text().lines().count();
    // The page itself has been asked for meanwhile.
    assert!(later <= n_lines + 20, "{n_lines} {later}");
    // What Prometheus' reader asks of the format.
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(
            name.starts_with("wordmover_") && value.parse::<f64>().is_ok(),
            "{line}"
        );
    }
    server.stop();
}

#[test]
fn memory_stays_flat_over_many_requests() {
    let server = shared();
    let ask = |n: usize| {
        std::thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || {
                    for number in 0..n / 8 {
                        let text = format!("{} number{number} of{thread}", TEXTS[number % 4]);
                        let answer = server.post("/v1/embeddings", &json!({"input": text}));
                        assert_eq!(answer.status, 200);
                    }
                });
            }
        });
    };
    ask(800);
    let before = resident();
    ask(2400);
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(
            after < before + before / 20 + (16 << 20),
            "{before} {after}"
        );
    }
}
