use serde_json::{Value, json};

use super::support::shared;

#[test]
fn every_bad_body_is_one_error_that_names_the_field() {
    let server = shared();
    let cases: [(&str, Value, &str, Option<&str>); 16] = [
        (
            "/v1/embeddings",
            json!({}),
            "`input` is missing",
            Some("input"),
        ),
        (
            "/v1/embeddings",
            json!({"input": null}),
            "`input` is missing",
            Some("input"),
        ),
        (
            "/v1/embeddings",
            json!({"input": 3}),
            "`input` must be a string or a list of strings, not 3",
            Some("input"),
        ),
        (
            "/v1/embeddings",
            json!({"input": []}),
            "`input` holds no text",
            Some("input"),
        ),
        (
            "/v1/embeddings",
            json!({"input": ""}),
            "`input` is an empty string",
            Some("input"),
        ),
        (
            "/v1/embeddings",
            json!({"input": ["a", ""]}),
            "`input[1]` is an empty string",
            Some("input[1]"),
        ),
        (
            "/v1/embeddings",
            json!({"input": ["a", {}]}),
            "`input[1]` must be a string, not an object",
            Some("input[1]"),
        ),
        (
            "/v1/embeddings",
            json!({"input": "a", "encoding_format": "hex"}),
            "`encoding_format` must be `float` or `base64`, not the string \"hex\"",
            Some("encoding_format"),
        ),
        (
            "/v1/embeddings",
            json!({"input": "a", "dimensions": "3"}),
            "`dimensions` must be a whole number between 1 and 32, not the string \"3\"",
            Some("dimensions"),
        ),
        (
            "/v1/embeddings",
            json!({"input": "a", "dimensions": 1.5}),
            "`dimensions` must be a whole number between 1 and 32, not 1.5",
            Some("dimensions"),
        ),
        (
            "/v1/embeddings",
            json!({"input": "a", "truncate": true}),
            "unknown field `truncate`; there are input, model, encoding_format, dimensions, user",
            Some("truncate"),
        ),
        (
            "/v1/distance",
            json!({"first": "a cat"}),
            "`second` is missing",
            Some("second"),
        ),
        (
            "/v1/distance",
            json!({"first": "a cat", "second": "?"}),
            "`second` has no word that has a vector, apart from words left out",
            Some("second"),
        ),
        (
            "/v1/distance",
            json!({"first": "cat", "second": "dog", "unmatched": 1}),
            "`unmatched` must be a number of at least 0 and less than 1, not 1",
            Some("unmatched"),
        ),
        (
            "/v1/distance",
            json!({"first": "cat", "second": "dog", "drop_first": "cat"}),
            "`drop_first` must be a list of strings, not the string \"cat\"",
            Some("drop_first"),
        ),
        (
            "/v1/similarity",
            json!({"pairs": []}),
            "`pairs` holds no text",
            Some("pairs"),
        ),
    ];
    for (path, body, due, param) in cases {
        let (message, error) = server.post(path, &body).error(400);
        assert_eq!(message, due, "{body}");
        assert_eq!(error["param"].as_str(), param);
        assert_eq!(error["type"], "invalid_request_error");
    }
}

#[test]
fn bytes_that_are_no_json_are_refused() {
    let server = shared();
    for (body, due) in [
        (&b"\xff\xfe{}"[..], "the body is not UTF-8"),
        (
            b"{\"input\": \"\xc3\x28\"}",
            "the body is not UTF-8 from byte 11 on",
        ),
        (b"", "the body is not valid JSON"),
        (b"{\"input\": \"a\"", "the body is not valid JSON"),
        (b"[]", "the body must be a JSON object"),
        (b"{\"input\": \"\\ud800\"}", "the body is not valid JSON"),
    ] {
        let (message, _) = server.post_bytes("/v1/embeddings", body).error(400);
        assert!(message.starts_with(due), "{message}");
    }
    let deep = "[".repeat(200_000);
    server
        .post_bytes("/v1/embeddings", format!("{{\"input\": {deep}").as_bytes())
        .error(400);
}

#[test]
fn what_a_request_holds_is_never_markup() {
    let script = "<script>alert(1)</script>";
    let answer = shared().post("/v1/embeddings", &json!({"input": "a", script: 1}));
    answer.error(400);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert!(
        answer
            .header("content-security-policy")
            .unwrap()
            .contains("default-src 'none'")
    );
    let answer = shared().get("/%3Cscript%3E");
    answer.error(404);
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[test]
fn unknown_paths_methods_types_and_models() {
    let server = shared();
    server.get("/v1/nothing").error(404);
    server.get("/../../etc/passwd").error(404);
    let answer = server.get("/v1/embeddings");
    answer.error(405);
    assert_eq!(answer.header("allow"), Some("post"));
    let answer = server.send(
        "OPTIONS",
        "/v1/embeddings",
        &["Origin: http://evil.example"],
        b"",
    );
    answer.error(405);
    assert!(!answer.head.contains("access-control"));
    let answer = server.send(
        "POST",
        "/v1/embeddings",
        &["Content-Type: text/plain"],
        b"{}",
    );
    let (message, _) = answer.error(415);
    assert!(message.contains("application/json"));
    let (message, error) = server
        .post(
            "/v1/embeddings",
            &json!({"input": "a", "model": "text-embedding-3-small"}),
        )
        .error(404);
    assert_eq!(
        message,
        "the model `text-embedding-3-small` does not exist; there is `small`"
    );
    assert_eq!(
        (&error["code"], &error["param"]),
        (&json!("model_not_found"), &json!("model"))
    );
    server.get("/v1/models/other").error(404);
    server
        .post("/v1/classify", &json!({"input": "a"}))
        .error(404);
}
