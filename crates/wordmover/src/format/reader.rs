//! Bytes to a model, trusting nothing.

use std::path::Path;
use std::sync::Arc;

use hashbrown::HashMap;
use serde::de::DeserializeOwned;

use crate::checked::Checked;
use crate::container::{self, ContainerError};
use crate::document::{
    CorpusCounts, Weighting, Word, WordFactors, WordFrequency, WordProbabilities,
};
use crate::document_model::DocumentModel;
use crate::embedding::{EmbeddingParams, FittedPostProcessing, Gamma, WordMoversEmbedding};
use crate::error::{Error, Result};
use crate::random_documents::{GENERATOR, RandomDocuments};
use crate::space::WordSpace;
use crate::vectors::WordVectors;

use super::tensors::{KNOWN, Tensors, UNKNOWN};
use super::{
    Attachment, FIRST_ROUNDED, FIRST_WITH_CHECKSUM, FIRST_WITH_METRIC, FIRST_WITH_UNKNOWN, FORMAT,
    ModelError, VERSION, VectorsIdentity, checksum,
};

/// A model file that was read and found sound, before it meets its word vectors.
#[derive(Debug, Clone)]
pub struct ModelFile {
    name: String,
    params: Checked<EmbeddingParams>,
    rounds_distances: bool,
    gamma: Option<f64>,
    written_by: String,
    vectors: VectorsIdentity,
    n_documents: u64,
    vocabulary: Vec<(String, WordFrequency)>,
    unknown_words: Vec<(String, WordFrequency)>,
    /// Factors of the words of either vocabulary, if weights have any.
    factors: [Option<Vec<f64>>; 2],
    center: Option<Vec<f64>>,
    random_documents: RandomDocuments,
    post_processing: FittedPostProcessing,
    probabilities: Option<WordProbabilities>,
    bundled_vectors: Option<Vec<u8>>,
    attachments: Vec<Attachment>,
}

impl ModelFile {
    /// Reads and checks a model file.
    ///
    /// # Errors
    ///
    /// [`Error::Read`]; [`Error::InvalidModel`] says what is wrong with it.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::from_bytes(&bytes, &path.display().to_string())
    }

    /// Checks the bytes of a model file; `name` is what messages call it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidModel`].
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self> {
        parse(bytes, name).map_err(|problem| Error::InvalidModel {
            name: name.to_owned(),
            problem,
        })
    }

    /// The vectors it was fitted with.
    #[must_use]
    pub fn vectors(&self) -> &VectorsIdentity {
        &self.vectors
    }

    /// Whether it holds them itself.
    #[must_use]
    pub fn has_bundled_vectors(&self) -> bool {
        self.bundled_vectors.is_some()
    }

    /// Parameters it was fitted with.
    #[must_use]
    pub fn params(&self) -> &EmbeddingParams {
        &self.params
    }

    /// The settled gamma; `None` if the features are raw distances.
    #[must_use]
    pub fn gamma(&self) -> Option<f64> {
        self.gamma
    }

    /// Documents it was fitted on.
    #[must_use]
    pub fn n_documents(&self) -> u64 {
        self.n_documents
    }

    /// Distinct known words of those documents.
    #[must_use]
    pub fn n_words(&self) -> usize {
        self.vocabulary.len()
    }

    /// Where the probabilities of words for SIF weights come from; `None` for other
    /// weights, and if they are those of the documents it was fitted on.
    #[must_use]
    pub fn word_probabilities(&self) -> Option<&WordProbabilities> {
        self.probabilities.as_ref()
    }

    /// Its random documents.
    #[must_use]
    pub fn random_documents(&self) -> &RandomDocuments {
        &self.random_documents
    }

    /// The program and version that wrote it.
    #[must_use]
    pub fn written_by(&self) -> &str {
        &self.written_by
    }

    /// What is kept beside the model under this name.
    #[must_use]
    pub fn attachment(&self, name: &str) -> Option<&Attachment> {
        self.attachments.iter().find(|kept| kept.name == name)
    }

    /// Joins the model with its word vectors: those it bundles, or those given, or
    /// else the built-in ones if it was fitted with them.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidModel`] if they are missing or others than it was fitted with.
    pub fn with_vectors(self, given: Option<Arc<WordVectors>>) -> Result<WordMoversEmbedding> {
        let name = self.name.clone();
        let invalid = |problem| Error::InvalidModel {
            name: name.clone(),
            problem,
        };
        let vectors = match (given, self.bundled_vectors) {
            (Some(given), _) => given,
            (None, Some(bytes)) => Arc::new(WordVectors::from_bytes(bytes, &self.vectors.name)?),
            (None, None) => builtin_if(&self.vectors).ok_or_else(|| {
                invalid(ModelError::VectorsNeeded {
                    needed: Box::new(self.vectors.clone()),
                })
            })?,
        };
        let identity = VectorsIdentity::of(&vectors);
        let is_other = |identity: &VectorsIdentity| {
            let pieces = self.vectors.pieces_checksum.as_ref();
            identity.checksum != self.vectors.checksum
                || identity.dim != self.vectors.dim
                || pieces.is_some_and(|sum| identity.pieces_checksum.as_ref() != Some(sum))
        };
        if is_other(&identity) {
            return Err(invalid(ModelError::WrongVectors {
                needed: Box::new(self.vectors),
                given: Box::new(identity),
            }));
        }
        let bad = |name, reason: &str| {
            let reason = reason.to_owned();
            invalid(ModelError::BadValue { name, reason })
        };
        let words = [&self.vocabulary, &self.unknown_words];
        let factors = word_factors(words, &self.factors, &vectors);
        let mut known = HashMap::with_capacity(self.vocabulary.len());
        for (word, frequency) in self.vocabulary {
            let Some(id) = vectors.id(&word) else {
                return Err(invalid(ModelError::UnknownWord { word }));
            };
            if known.insert(id, frequency).is_some() {
                return Err(bad("vocabulary", "holds a word twice"));
            }
        }
        let mut unknown = HashMap::with_capacity(self.unknown_words.len());
        for (word, frequency) in self.unknown_words {
            if vectors.id(&word).is_some() {
                return Err(bad("unknown_words", "holds a word that the vectors know"));
            }
            if unknown.insert(word.into_boxed_str(), frequency).is_some() {
                return Err(bad("unknown_words", "holds a word twice"));
            }
        }
        let mut corpus = CorpusCounts::from_parts(self.n_documents, known, unknown);
        corpus.set_probabilities(self.probabilities);
        corpus.set_factors(factors);
        let params = self.params.into_inner();
        let normalization = params.documents.normalization;
        let unknown_words = params.documents.unknown.unwrap_or_default();
        let documents = DocumentModel::from_parts(
            WordSpace::with_center(vectors, normalization, self.center)
                .with_unknown(unknown_words)?
                .with_metric(params.documents.metric),
            params.documents.tokenizer.clone(),
            corpus,
            params.documents.bag,
        );
        Ok(WordMoversEmbedding {
            gamma: self.gamma,
            documents: Arc::new(documents),
            random_documents: self.random_documents,
            post_processing: self.post_processing,
            rounds_distances: self.rounds_distances,
            sample: Default::default(),
            prepared: Default::default(),
            params,
        })
    }
}

fn word_factors(
    words: [&Vec<(String, WordFrequency)>; 2],
    values: &[Option<Vec<f64>>; 2],
    vectors: &WordVectors,
) -> Option<WordFactors> {
    if values.iter().all(Option::is_none) {
        return None;
    }
    let mut factors = WordFactors::default();
    for (words, values) in words.into_iter().zip(values) {
        for ((word, _), &factor) in words.iter().zip(values.iter().flatten()) {
            let known = vectors.id(word);
            factors.insert(known.map_or(Word::Unknown(word), Word::Known), factor);
        }
    }
    Some(factors)
}

impl WordMoversEmbedding {
    /// Loads a model with its word vectors; see [`ModelFile::with_vectors`].
    ///
    /// # Errors
    ///
    /// As [`ModelFile::open`] and [`ModelFile::with_vectors`].
    pub fn load(path: &Path, vectors: Option<Arc<WordVectors>>) -> Result<Self> {
        ModelFile::open(path)?.with_vectors(vectors)
    }
}

/// Whether these are the vectors of the library itself, which a model need not bring.
pub(crate) fn is_builtin(vectors: &WordVectors) -> bool {
    builtin_if(&VectorsIdentity::of(vectors)).is_some()
}

#[cfg(feature = "builtin-vectors")]
fn builtin_if(needed: &VectorsIdentity) -> Option<Arc<WordVectors>> {
    let builtin = WordVectors::builtin();
    (needed.checksum == builtin.checksum()).then(|| Arc::new(builtin))
}

#[cfg(not(feature = "builtin-vectors"))]
fn builtin_if(_needed: &VectorsIdentity) -> Option<Arc<WordVectors>> {
    None
}

fn parse(bytes: &[u8], name: &str) -> Result<ModelFile, ModelError> {
    let (data_start, header) = container::parse(bytes).map_err(|problem| {
        let reason = match problem {
            ContainerError::Header { detail } => format!("its header: {detail}"),
            ContainerError::Size { expected, found } => {
                format!("{found} bytes where {expected} are due")
            }
        };
        ModelError::NotSafetensors { reason }
    })?;
    let tensors = Tensors {
        header: &header,
        data: &bytes[data_start..],
    };
    let metadata = Metadata(header.metadata().clone().unwrap_or_default());

    if metadata.0.get("format").map(String::as_str) != Some(FORMAT) {
        return Err(ModelError::NotAModel);
    }
    let version: u32 = metadata.json("version")?;
    if version > VERSION {
        return Err(ModelError::NewerVersion {
            found: version,
            supported: VERSION,
        });
    }
    if version == 0 {
        return Err(metadata_problem(
            "version",
            format!("is {version}, which never was"),
        ));
    }
    if version >= FIRST_WITH_CHECKSUM {
        checksum::verify(bytes, metadata.text(checksum::KEY)?)?;
    }
    let generator = metadata.text("generator")?;
    if generator != GENERATOR {
        return Err(metadata_problem(
            "generator",
            format!("names the unknown {generator:?}"),
        ));
    }
    let params = parameters(&metadata, version)?
        .check()
        .map_err(|error| metadata_problem("parameters", error.to_string()))?;
    let gamma: Option<f64> = metadata.json("gamma")?;
    let fits = match params.gamma {
        Gamma::None => gamma.is_none(),
        Gamma::Value(value) => gamma == Some(value),
        Gamma::Auto => gamma.is_some_and(|gamma| gamma.is_finite() && gamma > 0.0),
    };
    if !fits {
        return Err(metadata_problem(
            "gamma",
            "does not fit the parameters".to_owned(),
        ));
    }
    let vectors: VectorsIdentity = metadata.json("vectors")?;
    if vectors.dim == 0 {
        return Err(metadata_problem("vectors", "has dimension 0".to_owned()));
    }
    let n_documents: u64 = metadata.json("n_documents")?;
    let centers = params.documents.normalization.centers();
    let probabilities = match params.documents.bag.weighting {
        Weighting::Sif => tensors.word_probabilities(vectors.words)?,
        _ => None,
    };
    let probabilities = probabilities
        .map(|values| {
            let name = metadata.text("word_probabilities")?;
            Ok(WordProbabilities::from_parts(name, values))
        })
        .transpose()?;
    let attachments = Attachment::read_all(&header, tensors.data);
    let vocabulary = tensors.vocabulary(&KNOWN, n_documents)?;
    let unknown_words = match version >= FIRST_WITH_UNKNOWN {
        true => tensors.vocabulary(&UNKNOWN, n_documents)?,
        false => Vec::new(),
    };
    Ok(ModelFile {
        // Classifiers rounded distances before models did.
        rounds_distances: version >= FIRST_ROUNDED || !attachments.is_empty(),
        name: name.to_owned(),
        written_by: metadata.text("written_by")?.to_owned(),
        n_documents,
        factors: [
            tensors.factors(&KNOWN, vocabulary.len())?,
            tensors.factors(&UNKNOWN, unknown_words.len())?,
        ],
        vocabulary,
        unknown_words,
        center: if centers {
            Some(tensors.center(vectors.dim)?)
        } else {
            None
        },
        random_documents: tensors.random_documents(&params, vectors.dim)?,
        post_processing: tensors.post_processing(&params)?,
        probabilities,
        bundled_vectors: tensors.bundled_vectors()?,
        attachments,
        vectors,
        gamma,
        params,
    })
}

/// The parameters; those that version 1 did not know yet are what it did.
fn parameters(metadata: &Metadata, version: u32) -> Result<EmbeddingParams, ModelError> {
    let mut json: serde_json::Value = metadata.json("parameters")?;
    if version == 1
        && let Some(known) = json.as_object_mut()
    {
        known.insert("post_processing".to_owned(), "raw".into());
        known.insert("components".to_owned(), "keep".into());
    }
    if version < FIRST_WITH_UNKNOWN
        && let Some(known) = json.as_object_mut()
    {
        known.insert("unknown".to_owned(), "skip".into());
    }
    if version < FIRST_WITH_METRIC
        && let Some(known) = json.as_object_mut()
    {
        // Readers of those versions would not have looked at it.
        known.remove("metric");
    }
    serde_json::from_value(json)
        .map_err(|error| metadata_problem("parameters", format!("cannot be read: {error}")))
}

fn metadata_problem(key: &'static str, reason: String) -> ModelError {
    ModelError::Metadata { key, reason }
}

struct Metadata(std::collections::HashMap<String, String>);

impl Metadata {
    fn text(&self, key: &'static str) -> Result<&str, ModelError> {
        let value = self.0.get(key).map(String::as_str);
        value.ok_or_else(|| metadata_problem(key, "is missing".to_owned()))
    }

    fn json<T: DeserializeOwned>(&self, key: &'static str) -> Result<T, ModelError> {
        serde_json::from_str(self.text(key)?)
            .map_err(|error| metadata_problem(key, format!("cannot be read: {error}")))
    }
}
