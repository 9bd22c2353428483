//! `POST /v1/distance`: how far two texts are apart, and which word goes where.

use serde::Serialize;
use wordmover::error_message;

use crate::alignment::{Alignment, AlignmentError, AlignmentOptions};
use crate::error::{ApiError, ApiResult};
use crate::fields::Fields;
use crate::limits::Limits;
use crate::served::Served;
use crate::work::check_words;

const NAMES: [&str; 2] = ["first", "second"];

#[derive(Serialize)]
struct Answer<'a> {
    object: &'static str,
    model: &'a str,
    #[serde(flatten)]
    alignment: &'a Alignment,
}

#[derive(Serialize)]
struct ShortAnswer<'a> {
    object: &'static str,
    model: &'a str,
    distance: f64,
    unmatched: f64,
}

pub(crate) fn answer(body: &[u8], served: &Served, limits: &Limits) -> ApiResult<Vec<u8>> {
    let mut fields = Fields::parse(body)?;
    let texts = [fields.text("first")?, fields.text("second")?];
    let with_plan = fields.flag("plan", true)?;
    let options = AlignmentOptions {
        unmatched: fields.share("unmatched")?,
        drop: [fields.texts("drop_first")?, fields.texts("drop_second")?],
        pin: [fields.texts("pin_first")?, fields.texts("pin_second")?],
    };
    let model = fields.optional_text("model")?;
    fields.finish()?;
    served.check_name(model.as_deref())?;
    let documents = &served.documents;
    for (name, text) in NAMES.iter().zip(&texts) {
        check_words(&documents.word_counts(text), limits, || (*name).to_owned())?;
    }
    let texts = texts.each_ref().map(String::as_str);
    let alignment = Alignment::new(documents, texts, &options, limits.plan_words)
        .map_err(|error| refusal(&error))?;
    let (object, model) = ("distance", served.name.as_str());
    match with_plan {
        true => super::json(&Answer {
            object,
            model,
            alignment: &alignment,
        }),
        false => super::json(&ShortAnswer {
            object,
            model,
            distance: alignment.distance,
            unmatched: alignment.unmatched,
        }),
    }
}

fn refusal(error: &AlignmentError) -> ApiError {
    let refused = |text: usize| {
        let name = NAMES[text];
        let message = error
            .to_string()
            .replacen("the text", &format!("`{name}`"), 1);
        ApiError::field(name, message)
    };
    match error {
        AlignmentError::NoWords(text) => refused(*text).code("no_words"),
        AlignmentError::TooManyWords { text, .. } => refused(*text),
        AlignmentError::Model(error) => ApiError::internal(error_message::of(error)),
    }
}
