//! What needs a classifier or an index.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::json;
use wordmover::WordVectors;
use wordmover::index::{IndexParams, NewDocument, SearchBy, SearchIndex};
use wordmover_classify::{Protocol, TextClassifier, Views, WmeParams};

use super::support::{Running, TEXTS, model, start};

const LABELED: [(&str, &str); 6] = [
    ("sport", "The striker scored a goal in the final match"),
    ("sport", "Her team won the tennis championship"),
    ("sport", "The coach praised the players after the game"),
    ("politics", "The senate debates the budget"),
    ("politics", "Voters elected a new president"),
    ("politics", "The minister resigned after the vote"),
];

fn classifier() -> &'static TextClassifier {
    static CLASSIFIER: OnceLock<TextClassifier> = OnceLock::new();
    CLASSIFIER.get_or_init(|| {
        let mut params = WmeParams::new(Protocol::Fast);
        params.embedding.n_features = 16;
        params.views = vec![Views::Words];
        TextClassifier::fit(&params, LABELED, Arc::new(WordVectors::builtin())).unwrap()
    })
}

fn with_files() -> Running {
    start(|params, folder| {
        let (labels, index) = (folder.join("topics.wmc"), folder.join("docs.wmi"));
        classifier().save(&labels, false).unwrap();
        let documents = TEXTS.map(NewDocument::numbered);
        let params_of = IndexParams::default();
        let silent = &mut |_| std::ops::ControlFlow::Continue(());
        SearchIndex::build_with(&index, &params_of, model().clone(), &documents, silent).unwrap();
        params.sources.classifier = Some(labels);
        params.sources.index = Some(index);
    })
}

#[test]
fn an_index_is_searched_as_the_library_does_and_drawn_on_a_map() {
    let server = with_files();
    let index = SearchIndex::open(&server.folder.path().join("docs.wmi"), None).unwrap();
    for by in [SearchBy::Hybrid, SearchBy::Wmd, SearchBy::Embedding] {
        let body = json!({"query": TEXTS[1], "k": 3, "by": by.to_string()});
        let said = server.post("/v1/search", &body).json();
        let due = index.search(TEXTS[1], 3, by).unwrap();
        let data = said["data"].as_array().unwrap();
        assert_eq!(data.len(), due.len());
        for (hit, due) in data.iter().zip(&due) {
            assert_eq!(
                (hit["id"].as_str(), hit["text"].as_str()),
                (Some(&*due.id), Some(&*due.text))
            );
            assert_eq!(
                hit["score"].as_f64().unwrap().to_bits(),
                due.score.to_bits()
            );
            assert_eq!(hit["distance"].as_f64(), due.parts.distance);
        }
    }
    let (message, error) = server
        .post("/v1/search", &json!({"query": "a", "by": "magic"}))
        .error(400);
    assert_eq!(
        message,
        "`by` must be one of hybrid, wmd, embedding, not the string \"magic\""
    );
    assert_eq!(error["param"], "by");
    server
        .post("/v1/search", &json!({"query": "cat", "k": 1001}))
        .error(400);
    server
        .post("/v1/search", &json!({"query": "!?"}))
        .error(400);
    let described = server.get("/v1/models").json()["data"][0]["index"].clone();
    assert_eq!(
        described,
        json!({"documents": 4, "by": ["hybrid", "wmd", "embedding"]})
    );

    let map = loop {
        let answer = server.get("/v1/map");
        if answer.status == 200 {
            break answer.json();
        }
        assert_eq!(answer.error(503).1["code"], "being_drawn");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(
        (&map["ids"], &map["documents"]),
        (&json!(["0", "1", "2", "3"]), &json!(4))
    );
    assert_eq!(map["texts"][3], TEXTS[3]);
    assert_eq!(map["labels"].as_array().unwrap().len(), 4);
    for place in map["x"].as_array().unwrap() {
        assert!((0.0..=1.0).contains(&place.as_f64().unwrap()));
    }
    server.stop();
}

#[test]
fn classes_are_those_of_the_library_with_the_words_that_decided() {
    let server = with_files();
    let texts = [
        "The striker scored in the final match",
        "Voters elected the minister",
        "?!",
    ];
    let said = server.post("/v1/classify", &json!({"input": texts})).json();
    let due = classifier().predict(&texts).unwrap();
    for (index, due) in due.iter().enumerate() {
        let got = &said["data"][index];
        assert_eq!(got["label"], classifier().classes()[due.class]);
        let classes = got["classes"].as_array().unwrap();
        let Some(values) = &due.decision_values else {
            assert!(got["warning"].is_string() && classes.is_empty());
            continue;
        };
        assert_eq!(classes[0]["label"], got["label"]);
        assert_eq!(
            classes[0]["decision_value"].as_f64(),
            Some(values[due.class])
        );
    }
    let said = server
        .post("/v1/classify", &json!({"input": texts[0], "explain": true}))
        .json();
    let words = said["data"][0]["words"].as_array().unwrap();
    assert!(words[0]["effect"].as_f64().unwrap() > 0.0);
    assert!(words.iter().any(|word| word["word"] == "striker"));
    let (message, _) = server
        .post("/v1/classify", &json!({"input": texts, "explain": true}))
        .error(400);
    assert_eq!(message, "`explain` takes one text at a time");
    server.stop();
}
