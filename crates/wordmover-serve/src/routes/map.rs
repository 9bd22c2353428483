//! `GET /v1/map`: the documents of the index on a plane.

use serde::Serialize;
use wordmover::index::SearchIndex;

use super::search;
use crate::error::{ApiError, ApiResult};
use crate::projection;
use crate::served::Served;

/// Documents on the map; of more, every second or third and so on is shown.
const MOST_POINTS: usize = 20_000;

/// Letters of a text that are shown.
const SHOWN: usize = 120;

#[derive(Serialize)]
struct Map {
    object: &'static str,
    /// Documents of the index.
    documents: usize,
    /// Places between 0 and 1.
    x: Vec<f32>,
    y: Vec<f32>,
    ids: Vec<String>,
    texts: Vec<String>,
    /// Classes by the classifier, if there is one.
    labels: Option<Vec<String>>,
}

/// The map, computed at the first request and kept with what is served.
pub(crate) fn answer(served: &Served) -> ApiResult<Vec<u8>> {
    let index = search::of(served)?;
    let map = served.map.get_or_init(|| draw(index, served));
    map.clone().map_err(ApiError::internal)
}

fn draw(index: &SearchIndex, served: &Served) -> Result<Vec<u8>, String> {
    let failed = |error: wordmover::Error| wordmover::error_message::of(&error);
    let n_documents = index.info().documents;
    let step = n_documents.div_ceil(MOST_POINTS).max(1);
    let (mut ids, mut texts, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    let mut whole: Vec<&str> = Vec::new();
    for document in index.documents().step_by(step) {
        let document = document.map_err(failed)?;
        ids.push(document.id.to_owned());
        texts.push(document.text.chars().take(SHOWN).collect::<String>());
        whole.push(document.text);
        rows.extend(document.embedding);
    }
    let labels = match &served.classifier {
        Some(classifier) => {
            let predicted = classifier.predict(&whole);
            let predicted = predicted.map_err(|error| wordmover::error_message::of(&error))?;
            let classes = classifier.classes();
            Some(predicted.iter().map(|one| classes[one.class].clone()).collect())
        }
        None => None,
    };
    let (x, y) = projection::onto_plane(rows, index.model().n_features());
    let map = Map {
        object: "map",
        documents: n_documents,
        x,
        y,
        ids,
        texts,
        labels,
    };
    serde_json::to_vec(&map).map_err(|error| error.to_string())
}
