use serde_json::json;
use wordmover::wmd;

use super::support::{TEXTS, model, shared};

#[test]
fn distances_have_the_bits_of_the_library_and_the_plan_adds_up() {
    let body = json!({"first": TEXTS[0], "second": TEXTS[1]});
    let said = shared().post("/v1/distance", &body).json();
    let documents = [TEXTS[0], TEXTS[1]].map(|text| model().documents().document_of(text));
    let due = wmd::distance(model().space(), &documents[0], &documents[1]).unwrap();
    assert_eq!(said["distance"].as_f64().unwrap().to_bits(), due.to_bits());
    let words = said["first"]["words"].as_array().unwrap();
    let names: Vec<&str> = words
        .iter()
        .map(|word| word["word"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["obama", "speaks", "media", "illinois"]);
    let left_out: Vec<_> = said["first"]["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert!(
        left_out.iter().all(|word| word["why"] == "stop-word"),
        "{left_out:?}"
    );
    let moves = said["moves"].as_array().unwrap();
    let sum: f64 = moves
        .iter()
        .map(|step| step["mass"].as_f64().unwrap() * step["cost"].as_f64().unwrap())
        .sum();
    assert!((sum - due).abs() < 1e-12);
    for (at, word) in words.iter().enumerate() {
        let sent: f64 = moves
            .iter()
            .filter(|step| step["from"] == at)
            .map(|step| step["mass"].as_f64().unwrap())
            .sum();
        assert!((sent - word["weight"].as_f64().unwrap()).abs() < 1e-12);
    }
    let short = shared()
        .post(
            "/v1/distance",
            &json!({"first": TEXTS[0], "second": TEXTS[1], "plan": false}),
        )
        .json();
    assert_eq!(short["distance"], said["distance"]);
    assert!(short.get("moves").is_none());
}

#[test]
fn words_are_told_by_kind() {
    let body = json!({"first": "the cat and the flurbelsnatch", "second": "a cat sat"});
    let said = shared().post("/v1/distance", &body).json();
    let words = said["first"]["words"].as_array().unwrap();
    assert_eq!(
        (&words[0]["word"], &words[0]["shared"]),
        (&json!("cat"), &json!(true))
    );
    assert_eq!(
        (&words[1]["word"], &words[1]["kind"]),
        (&json!("flurbelsnatch"), &json!("composed"))
    );
    let left_out: Vec<&str> = said["first"]["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word["word"].as_str().unwrap())
        .collect();
    assert_eq!(left_out, ["the", "and"]);
}

#[test]
fn some_mass_may_stay_unmatched_and_words_be_dropped_or_pinned() {
    let ask = |more: serde_json::Value| {
        let mut body = json!({"first": TEXTS[0], "second": TEXTS[1]});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let answer = shared().post("/v1/distance", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    };
    let distance = |said: &serde_json::Value| said["distance"].as_f64().unwrap();
    let unmatched = |said: &serde_json::Value, side: &str, word: &str| {
        let words = said[side]["words"].as_array().unwrap();
        let found = words.iter().find(|other| other["word"] == word).unwrap();
        found["unmatched"].as_f64().unwrap()
    };
    let full = ask(json!({}));
    let partial = ask(json!({"unmatched": 0.25}));
    assert!(distance(&partial) < distance(&full));
    let words = partial["first"]["words"].as_array().unwrap();
    let left: f64 = words
        .iter()
        .map(|word| word["unmatched"].as_f64().unwrap())
        .sum();
    assert!((left - 0.25).abs() < 1e-12);
    // The word that was left out is matched once it is pinned, and that costs.
    let alone = words
        .iter()
        .find(|word| word["unmatched"].as_f64().unwrap() > 0.1)
        .unwrap();
    let alone = alone["word"].as_str().unwrap();
    let pinned = ask(json!({"unmatched": 0.25, "pin_first": [alone]}));
    assert!(unmatched(&pinned, "first", alone) < 1e-12);
    assert!(distance(&pinned) > distance(&partial));
    let dropped = ask(json!({"drop_first": ["obama"]}));
    let words = dropped["first"]["words"].as_array().unwrap();
    assert_eq!(words.len(), 3);
    assert_eq!(
        dropped["first"]["left_out"][0],
        json!({"word": "obama", "why": "dropped"})
    );
    shared()
        .post(
            "/v1/distance",
            &json!({"first": "cat", "second": "dog", "drop_first": ["cat"]}),
        )
        .error(400);
}

#[test]
fn the_model_is_described() {
    let said = shared().get("/v1/models").json();
    let one = &said["data"][0];
    assert_eq!(
        (&said["object"], &one["id"], &one["object"]),
        (&json!("list"), &json!("small"), &json!("model"))
    );
    assert_eq!(
        (&one["dimensions"], &one["owned_by"]),
        (&json!(32), &json!("wordmover"))
    );
    assert!(one["created"].as_u64().unwrap() > 1_600_000_000);
    assert_eq!(shared().get("/v1/models/small").json(), *one);
    assert_eq!(shared().get("/health").json(), json!({"status": "ok"}));
    assert_eq!(shared().get("/ready").json(), json!({"status": "ready"}));
    assert_eq!(shared().send("HEAD", "/health", &[], b"").body, b"");
}
