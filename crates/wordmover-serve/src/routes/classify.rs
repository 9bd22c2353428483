//! `POST /v1/classify`: classes of texts, and the words that decided.

use hyper::StatusCode;
use serde::Serialize;
use wordmover_classify::{Prediction, TextClassifier, WordEffect};

use super::embeddings::texts;
use crate::error::{ApiError, ApiResult};
use crate::fields::Fields;
use crate::limits::Limits;
use crate::served::Served;
use crate::work::check_words;

#[derive(Serialize)]
struct Answer<'a> {
    object: &'static str,
    data: Vec<Classification<'a>>,
}

#[derive(Serialize)]
struct Classification<'a> {
    object: &'static str,
    index: usize,
    /// The likeliest class.
    label: &'a str,
    /// The classes given: that one, or where a text may have several, any number.
    labels: Vec<&'a str>,
    /// The most likely first.
    classes: Vec<Class<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<WordEffect>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
}

#[derive(Serialize)]
struct Class<'a> {
    label: &'a str,
    decision_value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
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
            true if prediction.decision_values.is_none() => Some(Vec::new()),
            true => Some(classifier.explain(text, None, 0)?.words),
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
    words: Option<Vec<WordEffect>>,
) -> Classification<'a> {
    let names = classifier.classes();
    let values = prediction.decision_values.as_deref().unwrap_or_default();
    let probabilities = prediction.probabilities.as_deref();
    let ranked = prediction.ranked().into_iter().map(|class| Class {
        label: &names[class],
        decision_value: values[class],
        probability: probabilities.map(|probabilities| probabilities[class]),
    });
    let labels = prediction
        .classes
        .iter()
        .map(|&class| names[class].as_str());
    let nothing_known =
        "no word of this text is known: the label is the class most frequent in training";
    Classification {
        object: "classification",
        index,
        label: &names[prediction.class],
        labels: labels.collect(),
        classes: ranked.collect(),
        words,
        warning: prediction
            .decision_values
            .is_none()
            .then_some(nothing_known),
    }
}
