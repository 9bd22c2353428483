//! `POST /v1/classify`: classes of texts, and the words that decided.

use hyper::StatusCode;
use serde::Serialize;
use wordmover_classify::{Prediction, TextClassifier};

use super::embeddings::texts;
use crate::error::{ApiError, ApiResult};
use crate::fields::Fields;
use crate::limits::Limits;
use crate::served::Served;
use crate::work::check_words;

/// Distinct words whose influence is looked at: each takes a prediction.
const EXPLAINED: usize = 200;

#[derive(Serialize)]
struct Answer<'a> {
    object: &'static str,
    data: Vec<Classification<'a>>,
}

#[derive(Serialize)]
struct Classification<'a> {
    object: &'static str,
    index: usize,
    label: &'a str,
    /// The most likely first.
    classes: Vec<Class<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<Influence>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
}

#[derive(Serialize)]
struct Class<'a> {
    label: &'a str,
    decision_value: f64,
}

/// How much the decision value of the class predicted falls without a word.
#[derive(Serialize)]
struct Influence {
    word: String,
    influence: f64,
}

pub(crate) fn answer(body: &[u8], served: &Served, limits: &Limits) -> ApiResult<Vec<u8>> {
    let mut fields = Fields::parse(body)?;
    let input = fields.required("input")?;
    let explain = fields.flag("explain", false)?;
    fields.finish()?;
    let Some(classifier) = &served.classifier else {
        let message = "this service has no classifier: start it with --classifier";
        return Err(ApiError::invalid(message).status(StatusCode::NOT_FOUND));
    };
    let name = match input.is_array() {
        true => |index| format!("input[{index}]"),
        false => |_| "input".to_owned(),
    };
    let texts = texts("input", input, name, limits)?;
    if explain && texts.len() > 1 {
        let message = "`explain` takes one text at a time";
        return Err(ApiError::field("explain", message));
    }
    let model = classifier.embedding().documents();
    for (index, text) in texts.iter().enumerate() {
        check_words(&model.word_counts(text), limits, || name(index))?;
    }
    let predictions = classifier.predict(&texts)?;
    let mut data = Vec::with_capacity(texts.len());
    for (index, (text, prediction)) in texts.iter().zip(&predictions).enumerate() {
        let words = match explain {
            true => Some(influences(classifier, text, prediction)?),
            false => None,
        };
        data.push(classification(classifier, index, prediction, words));
    }
    super::json(&Answer {
        object: "list",
        data,
    })
}

fn classification<'a>(
    classifier: &'a TextClassifier,
    index: usize,
    prediction: &Prediction,
    words: Option<Vec<Influence>>,
) -> Classification<'a> {
    let names = classifier.classes();
    let values = prediction.decision_values.as_deref().unwrap_or_default();
    let mut classes: Vec<Class> = names
        .iter()
        .zip(values)
        .map(|(label, &decision_value)| Class {
            label,
            decision_value,
        })
        .collect();
    classes.sort_by(|a, b| b.decision_value.total_cmp(&a.decision_value));
    let nothing_known =
        "no word of this text is known: the label is the class most frequent in training";
    Classification {
        object: "classification",
        index,
        label: &names[prediction.class],
        classes,
        words,
        warning: prediction
            .decision_values
            .is_none()
            .then_some(nothing_known),
    }
}

/// Each word is left out in turn.
fn influences(
    classifier: &TextClassifier,
    text: &str,
    prediction: &Prediction,
) -> ApiResult<Vec<Influence>> {
    let Some(values) = &prediction.decision_values else {
        return Ok(Vec::new());
    };
    let model = classifier.embedding().documents();
    let is_known = |word: &str| model.vectors().id(word).is_some();
    let mut words: Vec<String> = Vec::new();
    let pieces: Vec<(&str, Vec<usize>)> = text
        .split_whitespace()
        .map(|piece| {
            let mut of_piece = Vec::new();
            model.tokenizer().for_each(piece, is_known, |word| {
                let at = words.iter().position(|other| other == word);
                of_piece.push(at.unwrap_or_else(|| {
                    words.push(word.to_owned());
                    words.len() - 1
                }));
            });
            (piece, of_piece)
        })
        .collect();
    words.truncate(EXPLAINED);
    let without: Vec<String> = (0..words.len())
        .map(|word| {
            let kept = pieces
                .iter()
                .filter(|(_, of_piece)| !of_piece.contains(&word));
            kept.map(|(piece, _)| *piece).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let class = prediction.class;
    let predictions = classifier.predict(&without)?;
    let influence = |prediction: &Prediction| match &prediction.decision_values {
        Some(others) => values[class] - others[class],
        None => values[class],
    };
    let pairs = words.into_iter().zip(&predictions);
    let mut influences: Vec<Influence> = pairs
        .map(|(word, prediction)| Influence {
            word,
            influence: influence(prediction),
        })
        .collect();
    influences.sort_by(|a, b| b.influence.abs().total_cmp(&a.influence.abs()));
    Ok(influences)
}
