use serde_json::json;
use wordmover_serve::{Error, ServeParams, Server};

use super::support::{shared, start};

const KEY: &str = "0123456789abcdefghij";

#[test]
fn the_key_guards_what_the_models_say_and_nothing_else() {
    let server = start(|params, folder| {
        let path = folder.join("key");
        std::fs::write(&path, format!("{KEY}\n")).unwrap();
        params.api_key_file = Some(path);
    });
    let body = json!({"input": "a cat"}).to_string();
    let with = |headers: &[&str]| {
        let mut all = vec!["Content-Type: application/json"];
        all.extend(headers);
        server.send("POST", "/v1/embeddings", &all, body.as_bytes())
    };
    assert_eq!(with(&[&format!("Authorization: Bearer {KEY}")]).status, 200);
    for wrong in [
        "Authorization: Bearer wrong",
        "Authorization: Basic abc",
        "Authorization: Bearer",
        "X: y",
    ] {
        let answer = with(&[wrong]);
        let (_, error) = answer.error(401);
        assert_eq!(error["code"], "invalid_api_key");
        assert_eq!(answer.header("www-authenticate"), Some("bearer"));
        assert!(!answer.text().contains(KEY));
    }
    for path in [
        "/health",
        "/ready",
        "/",
        "/docs",
        "/openapi.json",
        "/page.js",
    ] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    for path in ["/metrics", "/v1/models", "/v1/map"] {
        server.get(path).error(401);
    }
    // Another key is taken up with the files.
    std::fs::write(server.folder.path().join("key"), "another key is no word").unwrap();
    server.reload();
    server.wait_for_line("not reloaded");
    std::fs::write(
        server.folder.path().join("key"),
        "another-key-of-some-length",
    )
    .unwrap();
    server.reload();
    server.wait_for_line("reloaded");
    with(&[&format!("Authorization: Bearer {KEY}")]).error(401);
    assert_eq!(
        with(&["Authorization: Bearer another-key-of-some-length"]).status,
        200
    );
    server.stop();
}

#[test]
fn a_public_address_needs_a_key_or_a_word() {
    let bind = |change: fn(&mut ServeParams)| {
        let mut params = ServeParams::new(([0, 0, 0, 0], 0).into());
        change(&mut params);
        Server::bind(params, Box::new(|_| ())).map(|_| ())
    };
    let refused = bind(|_| ()).unwrap_err();
    assert!(matches!(refused, Error::Public(_)), "{refused}");
    assert!(bind(|params| params.without_key = true).is_ok());
}

#[test]
fn names_of_other_hosts_are_refused_where_there_is_no_key() {
    for (host, status) in [
        ("Host: localhost:8080", 200),
        ("Host: 127.0.0.1:1", 200),
        ("Host: [::1]:8080", 200),
        ("Host: evil.example", 421),
        ("Host: evil.example:8080", 421),
        ("Host: 192.168.0.1", 421),
    ] {
        let answer = shared().send("GET", "/v1/models", &[host], b"");
        assert_eq!(answer.status, status, "{host}");
    }
}
