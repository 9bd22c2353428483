use serde_json::{Value, json};
use wordmover_serve::alignment::{Alignment, AlignmentOptions};
use wordmover_serve::stand_alone;

use super::support::{TEXTS, model, shared};

#[test]
fn the_page_is_small_needs_no_network_and_has_a_strict_policy() {
    let mut n_bytes = 0;
    for path in [
        "/",
        "/page.css",
        "/page.js",
        "/alignment.js",
        "/icon.svg",
        "/docs",
    ] {
        let answer = shared().get(path);
        assert_eq!(answer.status, 200, "{path}");
        let policy = answer.header("content-security-policy").unwrap().to_owned();
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"));
        assert!(!policy.contains("unsafe"), "{policy}");
        let text = answer.text();
        // The name of SVG, and the example of a call: nothing that is fetched.
        let allowed = ["http://www.w3.org/2000/svg", "http://127.0.0.1:8080/"];
        for (at, _) in text.match_indices("http") {
            let is_address =
                text[at..].starts_with("http://") || text[at..].starts_with("https://");
            assert!(
                !is_address || allowed.iter().any(|prefix| text[at..].starts_with(prefix)),
                "{path}: {at}"
            );
        }
        if path != "/docs" {
            n_bytes += answer.body.len();
        }
    }
    assert!(n_bytes < 80 << 10, "{n_bytes}");
    // Nothing inline, which the policy would forbid.
    let page = shared().get("/").text();
    assert!(!page.contains("style=") && !page.contains("onclick") && !page.contains("<script>"));
}

#[test]
fn the_description_names_every_route_and_field() {
    let said = shared().get("/openapi.json").json();
    let paths: Vec<&String> = said["paths"].as_object().unwrap().keys().collect();
    let docs = shared().get("/docs").text();
    for path in &paths {
        assert!(docs.contains(path.as_str()), "{path}");
        // Every path that is described is there: with the wrong method it says so.
        let answer = shared().send("DELETE", &path.replace("{model}", "small"), &[], b"");
        answer.error(405);
    }
    assert_eq!(paths.len(), 12);
    // Every field that is described is known, and every one that is known is described: the
    // message about an unknown one lists them all.
    for (path, methods) in said["paths"].as_object().unwrap() {
        let content = &methods["post"]["requestBody"]["content"]["application/json"];
        let Some(schema) = content["schema"]["$ref"].as_str() else {
            continue;
        };
        let schema = said.pointer(schema.trim_start_matches('#')).unwrap();
        let mut due: Vec<&str> = schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        due.sort_unstable();
        let mut body: Value = content["example"].clone();
        body["unheard_of"] = json!(1);
        let (message, _) = shared().post(path, &body).error(400);
        let known = message.split_once("; there are ").unwrap().1;
        let mut known: Vec<&str> = known.split(", ").collect();
        known.sort_unstable();
        assert_eq!(known, due, "{path}");
    }
}

#[test]
fn a_page_in_one_file_holds_the_plan_and_nothing_of_the_texts_is_markup() {
    let texts = ["A </script><img src=x onerror=alert(1)> cat", "a dog"];
    let align = |texts| {
        Alignment::new(
            model().documents(),
            texts,
            &AlignmentOptions::default(),
            100,
        )
    };
    let page = stand_alone(&[align(texts).unwrap()]);
    assert!(!page.contains("<img") && !page.contains("{{"));
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("script-src 'sha256-") && !page.contains("unsafe"));
    let page = stand_alone(&[align([TEXTS[0], TEXTS[1]]).unwrap()]);
    assert!(page.len() < 80 << 10 && page.contains("\"obama\""));
}
