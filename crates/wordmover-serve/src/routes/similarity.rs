//! `POST /v1/similarity`: cosines of the embeddings of pairs of texts.

use serde::Serialize;
use serde_json::Value;
use wordmover::similarity::cosine;

use super::embeddings::{check_texts, warnings};
use super::{Usage, Warning};
use crate::error::ApiResult;
use crate::fields::{Fields, strings, wrong};
use crate::limits::Limits;
use crate::served::Served;
use crate::work::{Embedded, EmbeddingRequest};

pub(crate) fn read(body: &[u8], served: &Served, limits: &Limits) -> ApiResult<EmbeddingRequest> {
    let mut fields = Fields::parse(body)?;
    let pairs = fields.required("pairs")?;
    let model = fields.optional_text("model")?;
    fields.finish()?;
    served.check_name(model.as_deref())?;
    let Value::Array(pairs) = pairs else {
        return Err(wrong("pairs", "a list of pairs of strings", &pairs));
    };
    let mut texts = Vec::with_capacity(2 * pairs.len());
    for (index, pair) in pairs.into_iter().enumerate() {
        let name = format!("pairs[{index}]");
        match &pair {
            Value::Array(two) if two.len() == 2 => texts.extend(strings(&name, pair)?),
            other => return Err(wrong(&name, "a list of two strings", other)),
        }
    }
    let name = |index| format!("pairs[{}][{}]", index / 2, index % 2);
    check_texts("pairs", &texts, name, limits)?;
    Ok(EmbeddingRequest {
        texts,
        name,
        finish: Box::new(write),
    })
}

#[derive(Serialize)]
struct Answer<'a> {
    object: &'static str,
    data: Vec<Similarity>,
    model: &'a str,
    usage: Usage,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

#[derive(Serialize)]
struct Similarity {
    object: &'static str,
    index: usize,
    similarity: f64,
}

fn write(embedded: &Embedded) -> Vec<u8> {
    let width = embedded.served.embedding.n_features();
    let pairs = embedded.rows.chunks_exact(2 * width).enumerate();
    let data = pairs.map(|(index, pair)| Similarity {
        object: "similarity",
        index,
        similarity: cosine(&pair[..width], &pair[width..]),
    });
    let warnings = warnings(embedded).into_iter().map(|warning| Warning {
        index: warning.index / 2,
        message: warning
            .message
            .replace("its embedding is all zeros", "its similarity is 0"),
    });
    let answer = Answer {
        object: "list",
        data: data.collect(),
        model: &embedded.served.name,
        usage: Usage::of(embedded.n_words()),
        warnings: warnings.collect(),
    };
    super::json(&answer).unwrap_or_default()
}
