//! The classifier file: a model file with a classifier attached.
//!
//! `docs/classifier-format.md` describes it. Whatever reads models reads it too and
//! sees the embedding; word vectors are named by their checksum or bundled as there.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wordmover::atomic_file;
use wordmover::format::Attachment;
use wordmover::{ModelFile, WordVectors};
use wordmover_learn::LinearClassifier;
use wordmover_learn::linear::{Calibration, Sigmoid};

use crate::classifier::{ClassifierInfo, TextClassifier};
use crate::error::{Error, Result};
use crate::machine::{Machine, ascending};
use crate::terms::Terms;

/// Name of the attachment.
const NAME: &str = "classifier";

/// The version of a classifier on meanings alone, which every release reads.
const MEANINGS: u32 = 1;

/// The version of a classifier that looks at words, too.
const WORDS: u32 = 2;

/// The version of a classifier whose documents may have several classes.
const SEVERAL_LABELS: u32 = 3;

/// The attachment's metadata.
#[derive(Serialize, Deserialize)]
struct Metadata {
    version: u32,
    /// Class of each machine (of two classes: the one machine's positive and negative).
    machines: Vec<usize>,
    #[serde(flatten)]
    info: ClassifierInfo,
    /// The terms of the view of words, ascending, with a line break between two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terms: Option<String>,
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
        let version = match (self.info.several_labels, &self.machine.terms) {
            (true, _) => SEVERAL_LABELS,
            (false, Some(_)) => WORDS,
            (false, None) => MEANINGS,
        };
        let mut tensors = tensors(&self.machine);
        tensors.sort_by(|a, b| a.0.cmp(&b.0));
        let metadata = Metadata {
            version,
            machines: self.machine.linear.classes().to_vec(),
            info: self.info.clone(),
            terms: self
                .machine
                .terms
                .as_ref()
                .map(|terms| terms.terms().join("\n")),
        };
        let attachment = Attachment {
            name: NAME.to_owned(),
            metadata: serde_json::to_string(&metadata).expect("plain values"),
            tensors,
        };
        Ok(self
            .embedding
            .to_bytes_with(bundle_vectors, &[attachment])?)
    }

    /// Writes the classifier file, in place of one that exists.
    ///
    /// # Errors
    ///
    /// The file cannot be written, and as [`to_bytes`](Self::to_bytes).
    pub fn save(&self, path: &Path, bundle_vectors: bool) -> Result<()> {
        let bytes = self.to_bytes(bundle_vectors)?;
        atomic_file::write(path, |out| out.write_all(&bytes)).map_err(|source| {
            Error::Text(wordmover::Error::Write {
                path: path.to_owned(),
                source,
            })
        })
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
        let Some((info, machine)) = read(&file, name)? else {
            return Err(Error::InvalidClassifier {
                name: name.to_owned(),
                reason: "a wordmover model, but without a classifier in it".to_owned(),
            });
        };
        Ok(TextClassifier {
            embedding: file.with_vectors(vectors)?,
            machine,
            info,
        })
    }
}

/// The classifier of a model file, checked, if there is one.
fn read(file: &ModelFile, name: &str) -> Result<Option<(ClassifierInfo, Machine)>> {
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
    if !(MEANINGS..=SEVERAL_LABELS).contains(&version.version) {
        return Err(invalid(format!(
            "classifier format {} is not one of {MEANINGS} to {SEVERAL_LABELS}, which this \
             version reads",
            version.version
        )));
    }
    let metadata: Metadata =
        serde_json::from_str(&attachment.metadata).map_err(|e| damaged(e.to_string()))?;
    let n_classes = metadata.info.classes.len();
    let numbers = metadata
        .machines
        .iter()
        .chain([&metadata.info.most_frequent]);
    if let Some(number) = numbers.copied().find(|&number| number >= n_classes) {
        return Err(damaged(format!("class {number} of {n_classes}")));
    }
    let mut machines = metadata.machines.clone();
    machines.sort_unstable();
    if machines.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(damaged("a class has two machines".to_owned()));
    }
    let machine = machine(attachment, &metadata).map_err(damaged)?;
    let info = metadata.info;
    let choice = &info.choice;
    let is_of_model =
        file.gamma() == Some(choice.gamma) && file.params().n_features == choice.n_features;
    if !is_of_model {
        return Err(damaged("it does not fit its embedding".to_owned()));
    }
    Ok(Some((info, machine)))
}

/// Read first: what else there is depends on it.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

type Tensor = (String, Vec<usize>, Vec<f64>);

fn tensors(machine: &Machine) -> Vec<Tensor> {
    let linear = &machine.linear;
    let (n_machines, n_terms) = (linear.n_machines(), linear.n_sparse());
    let columns = |columns: Range<usize>| -> Vec<f64> {
        let weights = columns.flat_map(|column| linear.column_weights(column));
        weights.copied().collect()
    };
    let intercepts = linear.intercepts().to_vec();
    let mut tensors = vec![tensor("intercepts", &[n_machines], intercepts)];
    if let Some(terms) = &machine.terms {
        tensors.push(tensor("idf", &[n_terms], terms.idf().to_vec()));
        let weights = columns(0..n_terms);
        tensors.push(tensor("word_weights", &[n_terms, n_machines], weights));
    }
    if machine.has_meanings() {
        let n_features = linear.n_dense();
        let meanings = columns(n_terms..n_terms + n_features);
        let weights = transposed(&meanings, n_machines);
        tensors.push(tensor("weights", &[n_machines, n_features], weights));
    }
    if machine.has_meanings() && machine.terms.is_some() {
        let intercepts = machine.intercepts_without_meanings.clone();
        tensors.push(tensor(WITHOUT_MEANINGS, &[n_machines], intercepts));
    }
    if let Some(calibration) = &machine.calibration {
        let sigmoids = calibration.sigmoids().iter();
        let values = sigmoids.flat_map(|sigmoid| [sigmoid.slope, sigmoid.offset]);
        tensors.push(tensor(SIGMOIDS, &[n_machines, 2], values.collect()));
    }
    tensors
}

const SIGMOIDS: &str = "sigmoids";
const WITHOUT_MEANINGS: &str = "intercepts_without_meanings";

fn tensor(name: &str, shape: &[usize], values: Vec<f64>) -> Tensor {
    (name.to_owned(), shape.to_vec(), values)
}

/// The columns of a matrix, given row by row, one after the other.
fn transposed(values: &[f64], n_columns: usize) -> Vec<f64> {
    let columns = 0..n_columns;
    columns
        .flat_map(|column| values.iter().skip(column).step_by(n_columns).copied())
        .collect()
}

/// The machines, or what is wrong with them.
fn machine(attachment: &Attachment, metadata: &Metadata) -> Result<Machine, String> {
    // Shape and values of a tensor, which must have the shape given.
    let tensor = |name: &str, due: &[usize]| {
        let found = attachment.tensors.iter().find(|tensor| tensor.0 == name);
        let (_, shape, values) = found.ok_or_else(|| format!("tensor {name:?} is missing"))?;
        if shape != due {
            return Err(format!("tensor {name:?} has the shape {shape:?}"));
        }
        Ok(values.clone())
    };
    let classes = metadata.machines.clone();
    let choice = &metadata.info.choice;
    let intercepts = attachment.tensors.iter().find(|t| t.0 == "intercepts");
    let n_machines = intercepts.map_or(0, |(_, _, values)| values.len());
    let intercepts = tensor("intercepts", &[n_machines])?;
    let weights = || tensor("weights", &[n_machines, choice.n_features]);
    let several_labels = metadata.version == SEVERAL_LABELS;
    let fits = match metadata.version {
        MEANINGS => !choice.views.have_words(),
        WORDS => choice.views.have_words(),
        _ => true,
    };
    if !fits || metadata.info.several_labels != several_labels {
        let (version, views) = (metadata.version, choice.views);
        return Err(format!("format {version} with the view {views}"));
    }
    let mut terms = None;
    let mut all = Vec::new();
    if choice.views.have_words() {
        let words = metadata.terms.as_deref().unwrap_or_default();
        let words: Vec<Box<str>> = words.split('\n').map(Into::into).collect();
        let n_terms = words.len();
        terms = Some(Terms::from_parts(words, tensor("idf", &[n_terms])?)?);
        all = tensor("word_weights", &[n_terms, n_machines])?;
    }
    let n_terms = terms.as_ref().map_or(0, |terms| terms.terms().len());
    let mut n_dense = 0;
    let mut without = intercepts.clone();
    if choice.views.have_meanings() {
        all.extend(transposed(&weights()?, choice.n_features));
        n_dense = choice.n_features;
        if terms.is_some() {
            without = tensor(WITHOUT_MEANINGS, &[n_machines])?;
        }
    }
    if without.iter().any(|value| !value.is_finite()) {
        return Err(format!(
            "tensor {WITHOUT_MEANINGS:?} holds a value that is not finite"
        ));
    }
    let one_each = !several_labels;
    let (n_classes, shape) = (classes.len(), (n_terms, n_dense));
    let (classes, all, intercepts) = ascending(classes, all, intercepts);
    let linear = LinearClassifier::from_parts(classes, one_each, shape, all, intercepts);
    let mut calibration = None;
    if attachment.tensors.iter().any(|tensor| tensor.0 == SIGMOIDS) {
        let values = tensor(SIGMOIDS, &[n_machines, 2])?;
        let sigmoids = values.chunks_exact(2).map(|pair| Sigmoid {
            slope: pair[0],
            offset: pair[1],
        });
        let found = Calibration::from_parts(n_classes, one_each, sigmoids.collect());
        calibration = Some(found.map_err(|error| error.to_string())?);
    }
    Ok(Machine {
        terms,
        linear: linear.map_err(|error| error.to_string())?,
        intercepts_without_meanings: without,
        calibration,
    })
}
