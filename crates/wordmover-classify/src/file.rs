//! The classifier file: a model file with a classifier attached.
//!
//! `docs/classifier-format.md` describes it. Whatever reads models reads it too and
//! sees the embedding; word vectors are named by their checksum or bundled as there.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wordmover::format::Attachment;
use wordmover::{ModelFile, WordVectors};
use wordmover_learn::LinearSvm;

use crate::classifier::{ClassifierInfo, TextClassifier};
use crate::error::{Error, Result};

/// Name of the attachment.
const NAME: &str = "classifier";

/// Version of the attachment this library reads and writes.
const VERSION: u32 = 1;

/// The attachment's metadata.
#[derive(Serialize, Deserialize)]
struct Metadata {
    version: u32,
    /// Class of each machine (of two classes: the one machine's positive and negative).
    machines: Vec<usize>,
    #[serde(flatten)]
    info: ClassifierInfo,
}

impl ClassifierInfo {
    /// What a model file says of the classifier in it, if there is one. This needs no
    /// word vectors.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidClassifier`] if it is damaged, or of another version.
    pub fn of(file: &ModelFile, name: &str) -> Result<Option<Self>> {
        Ok(read(file, name)?.map(|(info, _)| info))
    }
}

impl TextClassifier {
    /// The bytes of the classifier file. With `bundle_vectors` it holds the word vectors
    /// too and needs no others; built-in vectors need no bundling.
    ///
    /// # Errors
    ///
    /// The vectors to bundle hold a value that is not finite.
    pub fn to_bytes(&self, bundle_vectors: bool) -> Result<Vec<u8>> {
        let metadata = Metadata {
            version: VERSION,
            machines: self.svm.classes().to_vec(),
            info: self.info.clone(),
        };
        let (n_machines, n_features) = (self.svm.n_machines(), self.svm.n_features());
        let attachment = Attachment {
            name: NAME.to_owned(),
            metadata: serde_json::to_string(&metadata).expect("plain values"),
            tensors: vec![
                (
                    "intercepts".to_owned(),
                    vec![n_machines],
                    self.svm.intercepts().to_vec(),
                ),
                (
                    "weights".to_owned(),
                    vec![n_machines, n_features],
                    self.svm.weights().to_vec(),
                ),
            ],
        };
        Ok(self
            .embedding
            .to_bytes_with(bundle_vectors, &[attachment])?)
    }

    /// Reads a classifier file; `vectors` are needed if it neither bundles its own nor
    /// was trained with the built-in ones.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is damaged or holds no classifier, or the vectors are
    /// missing or others than it was trained with.
    pub fn load(path: &Path, vectors: Option<Arc<WordVectors>>) -> Result<Self> {
        Self::from_model_file(ModelFile::open(path)?, &path.display().to_string(), vectors)
    }

    /// The classifier in the bytes of a file; `name` is what messages call it.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8], name: &str, vectors: Option<Arc<WordVectors>>) -> Result<Self> {
        Self::from_model_file(ModelFile::from_bytes(bytes, name)?, name, vectors)
    }

    fn from_model_file(
        file: ModelFile,
        name: &str,
        vectors: Option<Arc<WordVectors>>,
    ) -> Result<Self> {
        let Some((info, svm)) = read(&file, name)? else {
            return Err(Error::InvalidClassifier {
                name: name.to_owned(),
                reason: "a wordmover model, but without a classifier in it".to_owned(),
            });
        };
        Ok(TextClassifier {
            embedding: file.with_vectors(vectors)?,
            svm,
            info,
        })
    }
}

/// The classifier of a model file, checked, if there is one.
fn read(file: &ModelFile, name: &str) -> Result<Option<(ClassifierInfo, LinearSvm)>> {
    let Some(attachment) = file.attachment(NAME) else {
        return Ok(None);
    };
    let invalid = |reason: String| Error::InvalidClassifier {
        name: name.to_owned(),
        reason,
    };
    let damaged = |reason: String| invalid(format!("damaged classifier: {reason}"));
    let version: Version =
        serde_json::from_str(&attachment.metadata).map_err(|e| damaged(e.to_string()))?;
    if version.version != VERSION {
        return Err(invalid(format!(
            "classifier format {} is not {VERSION}, the one this version reads",
            version.version
        )));
    }
    let metadata: Metadata =
        serde_json::from_str(&attachment.metadata).map_err(|e| damaged(e.to_string()))?;
    let svm = svm(attachment, &metadata).map_err(damaged)?;
    let Metadata { machines, info, .. } = metadata;
    let n_classes = info.classes.len();
    let numbers = machines.iter().chain([&info.most_frequent]);
    if let Some(number) = numbers.copied().find(|&number| number >= n_classes) {
        return Err(damaged(format!("class {number} of {n_classes}")));
    }
    let mut machines = machines;
    machines.sort_unstable();
    if machines.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(damaged("a class has two machines".to_owned()));
    }
    let choice = &info.choice;
    let is_of_model = file.gamma() == Some(choice.gamma)
        && file.params().n_features == choice.n_features
        && svm.n_features() == choice.n_features;
    if !is_of_model {
        return Err(damaged("it does not fit its embedding".to_owned()));
    }
    Ok(Some((info, svm)))
}

/// Read first: what else there is depends on it.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// The machines, or what is wrong with them.
fn svm(attachment: &Attachment, metadata: &Metadata) -> Result<LinearSvm, String> {
    let tensor = |name: &str| {
        let found = attachment.tensors.iter().find(|tensor| tensor.0 == name);
        found.ok_or_else(|| format!("tensor {name:?} is missing"))
    };
    let (_, shape, weights) = tensor("weights")?;
    let (_, _, intercepts) = tensor("intercepts")?;
    if shape[..] != [intercepts.len(), metadata.info.choice.n_features] {
        return Err(format!("tensor \"weights\" has the shape {shape:?}"));
    }
    let classes = metadata.machines.clone();
    LinearSvm::from_parts(classes, weights.clone(), intercepts.clone())
        .map_err(|error| error.to_string())
}
