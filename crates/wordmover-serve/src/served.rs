//! What the service answers with: a model, and perhaps a classifier and an index.
//!
//! All of it is one value that is replaced as a whole when the files are taken up anew;
//! requests under way finish with what they began with.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use wordmover::accelerator::Accelerator;
use wordmover::document_model::DocumentParams;
use wordmover::embedding::GENERAL_PURPOSE;
use wordmover::index::SearchIndex;
use wordmover::{DocumentModel, ModelFile, WordMoversEmbedding, WordVectors};
use wordmover_classify::TextClassifier;

use crate::error::{ApiError, ApiResult, Error};
use crate::routes::map::MapState;

/// Where the models come from.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Sources {
    /// A model of `wordmover fit`; without it, the built-in general-purpose model.
    pub model: Option<PathBuf>,
    /// A classifier of `wordmover train`.
    pub classifier: Option<PathBuf>,
    /// An index of `wordmover index build`.
    pub index: Option<PathBuf>,
    /// The word vectors of these files, where they need others than the built-in ones.
    pub vectors: Option<Arc<WordVectors>>,
    /// What computes distances to random documents, if not the CPU.
    pub accelerator: Option<Arc<dyn Accelerator>>,
    /// What clients call the model; otherwise the name of its file.
    pub name: Option<String>,
}

/// What was loaded from the sources.
pub(crate) struct Served {
    pub name: String,
    /// Seconds since 1970.
    pub loaded: u64,
    pub embedding: WordMoversEmbedding,
    /// How texts become documents where distances are asked for.
    pub documents: Arc<DocumentModel>,
    pub classifier: Option<TextClassifier>,
    pub index: Option<SearchIndex>,
    pub map: Mutex<MapState>,
}

impl Sources {
    pub(crate) fn load(&self) -> Result<Served, Error> {
        let (embedding, documents, name) = match &self.model {
            Some(path) => {
                let file = ModelFile::open(path)?;
                let embedding = file.with_vectors(self.vectors.clone())?;
                let documents = embedding.documents().clone();
                let stem = path.file_stem().unwrap_or_default();
                (embedding, documents, stem.to_string_lossy().into_owned())
            }
            None => {
                let embedding = WordMoversEmbedding::general_purpose()?;
                // As `wordmover distance`: stop words say nothing about where meaning goes.
                let mut params = DocumentParams::default();
                params.bag.max_words = 1 << 24;
                let vectors = embedding.documents().vectors().clone();
                let documents = Arc::new(DocumentModel::without_corpus(params, vectors)?);
                (embedding, documents, GENERAL_PURPOSE.to_owned())
            }
        };
        let classifier = match &self.classifier {
            Some(path) => {
                let classifier = TextClassifier::load(path, self.vectors.clone())?;
                Some(classifier.with_accelerator(self.accelerator.clone()))
            }
            None => None,
        };
        let index = match &self.index {
            Some(path) => Some(SearchIndex::open(path, self.vectors.clone())?),
            None => None,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(Served {
            name: self.name.clone().unwrap_or(name),
            loaded: now.unwrap_or_default().as_secs(),
            embedding: embedding.with_accelerator(self.accelerator.clone()),
            documents,
            classifier,
            index,
            map: Mutex::default(),
        })
    }
}

impl Served {
    /// Refuses a model of another name.
    pub fn check_name(&self, model: Option<&str>) -> ApiResult<()> {
        match model {
            Some(model) if model != self.name => {
                let shown: String = model.chars().take(80).collect();
                let message = format!(
                    "the model `{shown}` does not exist; there is `{}`",
                    self.name
                );
                let error = ApiError::field("model", message).code("model_not_found");
                Err(error.status(hyper::StatusCode::NOT_FOUND))
            }
            _ => Ok(()),
        }
    }
}

/// What is served now; nothing until it is loaded.
#[derive(Default)]
pub(crate) struct Current(RwLock<Option<Arc<Served>>>);

impl Current {
    pub fn get(&self) -> ApiResult<Arc<Served>> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        current
            .clone()
            .ok_or_else(|| ApiError::unavailable("the models are being loaded"))
    }

    pub fn set(&self, served: Served) {
        let served = Some(Arc::new(served));
        let old = {
            let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, served)
        };
        // Outside the lock: freeing a model takes a moment.
        drop(old);
    }
}
