//! `GET /v1/map`: the documents of the index on a plane.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use serde::Serialize;

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

/// What is known of the map.
#[derive(Default)]
pub(crate) enum MapState {
    #[default]
    NotAskedFor,
    BeingDrawn,
    Drawn(Result<Bytes, String>),
}

/// The map. It is drawn when it is first asked for, and kept with what is served; until it is
/// there, clients are told to come again. On a thread of its own: a task of the pool that
/// waits for other tasks may be given another request for the map meanwhile, and would wait
/// for itself.
pub(crate) fn answer(served: &Arc<Served>) -> ApiResult<Bytes> {
    search::of(served)?;
    let mut state = served.map.lock().unwrap_or_else(PoisonError::into_inner);
    match &*state {
        MapState::Drawn(map) => return map.clone().map_err(ApiError::internal),
        MapState::BeingDrawn => {}
        MapState::NotAskedFor => {
            let served = served.clone();
            std::thread::Builder::new()
                .name("map".to_owned())
                .spawn(move || {
                    let drawn = catch_unwind(AssertUnwindSafe(|| draw(&served)));
                    let drawn = drawn.unwrap_or_else(|_| Err("the map cannot be drawn".to_owned()));
                    let mut state = served.map.lock().unwrap_or_else(PoisonError::into_inner);
                    *state = MapState::Drawn(drawn);
                })
                .map_err(|error| ApiError::internal(error.to_string()))?;
            *state = MapState::BeingDrawn;
        }
    }
    Err(ApiError::unavailable("the map is being drawn").code("being_drawn"))
}

fn draw(served: &Served) -> Result<Bytes, String> {
    let index = search::of(served).map_err(|error| error.message)?;
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
            Some(
                predicted
                    .iter()
                    .map(|one| classes[one.class].clone())
                    .collect(),
            )
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
    let written = serde_json::to_vec(&map).map_err(|error| error.to_string());
    written.map(Bytes::from)
}
