use serde_json::{Value, json};

use super::support::{TEXTS, model, shared};

fn rows(answer: &Value) -> Vec<Vec<f32>> {
    let data = answer["data"].as_array().unwrap();
    data.iter()
        .map(|entry| {
            let numbers = entry["embedding"].as_array().unwrap();
            numbers.iter().map(|x| x.as_f64().unwrap() as f32).collect()
        })
        .collect()
}

fn bits(row: &[f32]) -> Vec<u32> {
    row.iter().map(|x| x.to_bits()).collect()
}

/// As `openai` decodes it.
fn decoded(text: &str) -> Vec<f32> {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text
        .trim_end_matches('=')
        .chars()
        .map(|c| alphabet.find(c).unwrap() as u32);
    let (mut bytes, mut word, mut n_bits) = (Vec::new(), 0u32, 0);
    for digit in digits {
        word = word << 6 | digit;
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((word >> n_bits) as u8);
            word &= (1 << n_bits) - 1;
        }
    }
    bytes
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes(four.try_into().unwrap()))
        .collect()
}

#[test]
fn embeddings_have_the_bits_of_the_library_in_either_encoding() {
    let due = model().transform(&TEXTS).unwrap();
    let answer = shared().post("/v1/embeddings", &json!({"input": TEXTS, "model": "small"}));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let said = answer.json();
    assert_eq!(
        (&said["object"], &said["model"]),
        (&json!("list"), &json!("small"))
    );
    assert!(said.get("warnings").is_none());
    let n_words = said["usage"]["prompt_tokens"].as_u64().unwrap();
    assert!(n_words > 8 && said["usage"]["total_tokens"] == n_words);
    for (index, row) in rows(&said).iter().enumerate() {
        assert_eq!(said["data"][index]["index"], index);
        assert_eq!(said["data"][index]["object"], "embedding");
        assert_eq!(bits(row), bits(&due[index * 32..][..32]));
    }
    let body = json!({"input": TEXTS, "encoding_format": "base64", "user": "me"});
    let said = shared().post("/v1/embeddings", &body).json();
    for (index, entry) in said["data"].as_array().unwrap().iter().enumerate() {
        let row = decoded(entry["embedding"].as_str().unwrap());
        assert_eq!(bits(&row), bits(&due[index * 32..][..32]));
    }
}

#[test]
fn one_text_is_embedded_as_one_among_many() {
    let alone = shared()
        .post("/v1/embeddings", &json!({"input": TEXTS[1]}))
        .json();
    let among = shared()
        .post("/v1/embeddings", &json!({"input": TEXTS}))
        .json();
    assert_eq!(rows(&alone)[0], rows(&among)[1]);
}

#[test]
fn dimensions_are_the_first_features_and_the_native_number_is_allowed() {
    let full = rows(
        &shared()
            .post("/v1/embeddings", &json!({"input": TEXTS[0]}))
            .json(),
    );
    for dimensions in [1, 7, 32] {
        let body = json!({"input": TEXTS[0], "dimensions": dimensions});
        let few = rows(&shared().post("/v1/embeddings", &body).json());
        assert_eq!(few[0], full[0][..dimensions]);
    }
    let (message, error) = shared()
        .post("/v1/embeddings", &json!({"input": "a", "dimensions": 33}))
        .error(400);
    assert_eq!(
        message,
        "`dimensions` must be a whole number between 1 and 32, not 33"
    );
    assert_eq!(error["param"], "dimensions");
}

#[test]
fn token_ids_are_refused_with_the_option_that_helps() {
    for input in [json!([1, 2, 3]), json!([[1, 2], [3]])] {
        let (message, error) = shared()
            .post("/v1/embeddings", &json!({"input": input}))
            .error(400);
        assert!(
            message.contains("check_embedding_ctx_length=False"),
            "{message}"
        );
        assert_eq!(error["param"], "input");
        assert_eq!(error["type"], "invalid_request_error");
    }
}

#[test]
fn a_text_without_words_says_so() {
    let said = shared()
        .post("/v1/embeddings", &json!({"input": [TEXTS[0], "!?", "the"]}))
        .json();
    let warnings = said["warnings"].as_array().unwrap();
    let indexes: Vec<u64> = warnings
        .iter()
        .map(|w| w["index"].as_u64().unwrap())
        .collect();
    assert_eq!(indexes, [1, 2]);
    assert!(
        warnings[0]["message"]
            .as_str()
            .unwrap()
            .contains("all zeros")
    );
    assert!(rows(&said)[1].iter().all(|x| *x == 0.0));
}

#[test]
fn a_text_of_too_many_distinct_words_says_what_was_left_out() {
    let words: Vec<String> = wordmover::WordVectors::builtin()
        .words()
        .filter(|word| word.len() > 4 && word.bytes().all(|b| b.is_ascii_lowercase()))
        .take(700)
        .map(str::to_owned)
        .collect();
    let said = shared()
        .post("/v1/embeddings", &json!({"input": words.join(" ")}))
        .json();
    let message = said["warnings"][0]["message"].as_str().unwrap();
    assert!(message.contains("the 500 most frequent count"), "{message}");
}

#[test]
fn similarities_are_cosines_of_these_embeddings() {
    let pairs = json!([[TEXTS[0], TEXTS[1]], [TEXTS[0], TEXTS[2]], [TEXTS[0], "?"]]);
    let said = shared()
        .post("/v1/similarity", &json!({"pairs": pairs}))
        .json();
    let z = model().transform(&TEXTS).unwrap();
    for other in [1, 2] {
        let due = wordmover::similarity::cosine(&z[..32], &z[other * 32..][..32]);
        let got = said["data"][other - 1]["similarity"].as_f64().unwrap();
        assert_eq!(got.to_bits(), due.to_bits());
    }
    assert_eq!(said["data"][2]["similarity"], 0.0);
    assert_eq!(said["warnings"][0]["index"], 2);
    let (message, _) = shared()
        .post("/v1/similarity", &json!({"pairs": [["a"]]}))
        .error(400);
    assert_eq!(
        message,
        "`pairs[0]` must be a list of two strings, not a list"
    );
}
