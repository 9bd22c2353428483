//! `POST /v1/search`: documents of the index that are most like a text.

use hyper::StatusCode;
use serde::Serialize;
use serde_json::Value;
use wordmover::index::{Hit, SearchBy, SearchIndex};
use wordmover::names::Named;

use crate::error::{ApiError, ApiResult};
use crate::fields::{Fields, wrong};
use crate::limits::Limits;
use crate::served::Served;
use crate::work::check_words;

/// Documents of one answer, at most.
const MOST_HITS: usize = 1000;

#[derive(Serialize)]
struct Answer {
    object: &'static str,
    by: String,
    data: Vec<Found>,
}

#[derive(Serialize)]
struct Found {
    object: &'static str,
    index: usize,
    id: String,
    text: String,
    score: f64,
    distance: Option<f64>,
    cosine: Option<f64>,
    /// Words of the query that the document has.
    words: Vec<CommonWord>,
}

#[derive(Serialize)]
struct CommonWord {
    word: String,
    shared: bool,
}

pub(crate) fn answer(body: &[u8], served: &Served, limits: &Limits) -> ApiResult<Vec<u8>> {
    let mut fields = Fields::parse(body)?;
    let query = fields.text("query")?;
    let k = fields.count("k", MOST_HITS)?.unwrap_or(10);
    let by = match fields.optional_text("by")? {
        None => SearchBy::default(),
        Some(name) => name.parse().map_err(|_| {
            let ways = ways().join(", ");
            wrong("by", &format!("one of {ways}"), &Value::String(name))
        })?,
    };
    fields.finish()?;
    let index = of(served)?;
    let counts = index.model().documents().word_counts(&query);
    check_words(&counts, limits, || "query".to_owned())?;
    if !index.has_words(&query) {
        let message = "`query` has no word that the index could know";
        return Err(ApiError::field("query", message).code("no_words"));
    }
    let hits = index.search(&query, k, by)?;
    super::json(&Answer {
        object: "list",
        by: by.to_string(),
        data: hits.into_iter().enumerate().map(found).collect(),
    })
}

fn found((index, hit): (usize, Hit)) -> Found {
    let words = hit.words.into_iter();
    Found {
        object: "document",
        index,
        id: hit.id,
        text: hit.text,
        score: hit.score,
        distance: hit.parts.distance,
        cosine: hit.parts.cosine,
        words: words
            .map(|word| CommonWord { word, shared: true })
            .collect(),
    }
}

/// Names of the ways to search.
pub(crate) fn ways() -> Vec<String> {
    SearchBy::ALL.iter().map(ToString::to_string).collect()
}

/// The index, if the service has one.
pub(crate) fn of(served: &Served) -> ApiResult<&SearchIndex> {
    served.index.as_ref().ok_or_else(|| {
        let message = "this service has no index: start it with --index";
        ApiError::invalid(message).status(StatusCode::NOT_FOUND)
    })
}
