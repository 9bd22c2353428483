//! A model to bytes.

use std::io::Write;
use std::path::Path;

use safetensors::Dtype;

use crate::atomic_file;
use crate::container;
use crate::document::{Weighting, Word};
use crate::embedding::{PostProcessing, WordMoversEmbedding};
use crate::error::{Error, Result};
use crate::random_documents::GENERATOR;
use crate::space::Metric;

use super::tensors::{KNOWN, UNKNOWN, VocabularyNames};
use super::{
    Attachment, FIRST_ROUNDED, FIRST_WITH_METRIC, FIRST_WITH_UNIT, FORMAT, VectorsIdentity,
    checksum, packed_words,
};

impl WordMoversEmbedding {
    /// The bytes of the model file. With `bundle_vectors` it holds the word vectors
    /// too and needs no others; built-in vectors need no bundling.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVectors`] if the vectors to bundle hold a value that is not finite.
    pub fn to_bytes(&self, bundle_vectors: bool) -> Result<Vec<u8>> {
        self.to_bytes_with(bundle_vectors, &[])
    }

    /// [`to_bytes`](Self::to_bytes), with what others keep beside the model. Readers
    /// that know nothing of it read the model.
    ///
    /// # Errors
    ///
    /// As [`to_bytes`](Self::to_bytes).
    ///
    /// # Panics
    ///
    /// If an attached tensor does not have the length of its shape.
    pub fn to_bytes_with(
        &self,
        bundle_vectors: bool,
        attachments: &[Attachment],
    ) -> Result<Vec<u8>> {
        let vectors = self.space().vectors();
        let words = self.corpus().words();
        let known = words.iter().map(|&word| Word::Known(word)).collect();
        let unknown = self.corpus().unknown();
        let unknown = unknown.iter().map(|&word| Word::Unknown(word)).collect();
        let n_features = self.n_features();
        let lengths = (0..n_features).map(|j| self.random_documents.document_len(j) as u32);
        let random_words = self.random_documents.words_of_range(0..n_features);
        let n_random_words = random_words.len() / self.space().dim();

        // Wide values first, so that all are aligned.
        let (mut tensors, vocabulary) = self.vocabulary(&KNOWN, known);
        let (counts, unknown_words) = self.vocabulary(&UNKNOWN, unknown);
        tensors.extend(counts);
        if let Some(center) = self.space().center() {
            let bytes = le(center.iter().copied());
            tensors.push(Tensor::new("center", Dtype::F64, vec![center.len()], bytes));
        }
        for (name, values) in [
            ("feature_means", &self.post_processing.means),
            ("feature_scales", &self.post_processing.scales),
        ] {
            if !values.is_empty() {
                let bytes = le(values.iter().copied());
                tensors.push(Tensor::new(name, Dtype::F64, vec![n_features], bytes));
            }
        }
        if self.params.components.count() > 0 {
            let scales = &self.post_processing.component_scales;
            let shape = vec![scales.len()];
            let bytes = le(scales.iter().copied());
            tensors.push(Tensor::new("component_scales", Dtype::F64, shape, bytes));
            let shape = vec![scales.len(), n_features];
            let bytes = le(self.post_processing.components.iter().copied());
            tensors.push(Tensor::new("components", Dtype::F64, shape, bytes));
        }
        for attachment in attachments {
            for (name, shape, values) in &attachment.tensors {
                let n_values: usize = shape.iter().product();
                assert_eq!(n_values, values.len(), "shape of the attached {name}");
                let name = attachment.tensor_name(name);
                let bytes = le(values.iter().copied());
                tensors.push(Tensor::new(name, Dtype::F64, shape.clone(), bytes));
            }
        }
        let shape = vec![n_random_words, self.space().dim()];
        let random_words = le(random_words.iter().copied());
        tensors.push(Tensor::new(
            "random_lengths",
            Dtype::U32,
            vec![n_features],
            le(lengths),
        ));
        tensors.push(Tensor::new("random_words", Dtype::F32, shape, random_words));
        let probabilities = match self.params.documents.bag.weighting {
            Weighting::Sif => self.corpus().probabilities(),
            _ => None,
        };
        if let Some(probabilities) = probabilities {
            let values = probabilities.values();
            let (shape, bytes) = (vec![values.len()], le(values.iter().copied()));
            tensors.push(Tensor::new("word_probabilities", Dtype::F32, shape, bytes));
        }
        tensors.extend([vocabulary, unknown_words]);
        if bundle_vectors {
            let bytes = vectors.to_native_bytes(vectors.precision())?;
            tensors.push(Tensor::new(
                "bundled_vectors",
                Dtype::U8,
                vec![bytes.len()],
                bytes,
            ));
        }
        let json = |value: serde_json::Result<String>| value.expect("plain values");
        let attached: Vec<String> = attachments.iter().map(Attachment::metadata_key).collect();
        let version = self.format_version();
        let version = version.to_string();
        let parameters = json(serde_json::to_string(&self.params));
        let gamma = json(serde_json::to_string(&self.gamma));
        let n_documents = self.corpus().n_documents().to_string();
        let identity = json(serde_json::to_string(&VectorsIdentity::of(vectors)));
        let mut entries = vec![
            ("format", FORMAT),
            ("version", version.as_str()),
            (
                "written_by",
                concat!("wordmover ", env!("CARGO_PKG_VERSION")),
            ),
            ("generator", GENERATOR),
            (checksum::KEY, checksum::BLANK),
            ("parameters", &parameters),
            ("gamma", &gamma),
            ("n_documents", &n_documents),
            ("vectors", &identity),
        ];
        if let Some(probabilities) = probabilities {
            entries.push(("word_probabilities", probabilities.name()));
        }
        let metadata = attachments.iter().map(|a| a.metadata.as_str());
        entries.extend(attached.iter().map(String::as_str).zip(metadata));
        let described = tensors
            .iter()
            .map(|t| (t.name.as_str(), t.dtype, t.shape.clone()));
        let mut file = container::header(&entries, described);
        for tensor in &tensors {
            file.extend_from_slice(&tensor.bytes);
        }
        checksum::fill_in(&mut file);
        Ok(file)
    }

    /// The earliest version whose readers compute the same features.
    fn format_version(&self) -> u32 {
        if self.params.post_processing == PostProcessing::Unit {
            return FIRST_WITH_UNIT;
        }
        let is_euclidean = self.space().metric() == Metric::Euclidean;
        match is_euclidean && self.corpus().factors().is_none() {
            true => FIRST_ROUNDED,
            false => FIRST_WITH_METRIC,
        }
    }

    /// Counts of words, and the words themselves, which are narrow and so come last.
    fn vocabulary(&self, names: &VocabularyNames, words: Vec<Word>) -> (Vec<Tensor>, Tensor) {
        let vectors = self.space().vectors();
        let (bytes, ends) = packed_words::pack(words.iter().map(|word| word.text(vectors)));
        let frequencies = words.iter().map(|&word| self.corpus().frequency(word));
        let shape = || vec![words.len()];
        let documents = le(frequencies.clone().map(|frequency| frequency.documents));
        let occurrences = le(frequencies.map(|frequency| frequency.occurrences));
        let mut counts = vec![
            Tensor::new(names.ends, Dtype::U64, shape(), le(ends)),
            Tensor::new(names.documents, Dtype::U64, shape(), documents),
            Tensor::new(names.occurrences, Dtype::U64, shape(), occurrences),
        ];
        if self.corpus().factors().is_some() {
            let factors = le(words.iter().map(|&word| self.corpus().factor(word)));
            counts.push(Tensor::new(names.factors, Dtype::F64, shape(), factors));
        }
        let packed = Tensor::new(names.words, Dtype::U8, vec![bytes.len()], bytes);
        (counts, packed)
    }

    /// Writes the model file, in place of one that exists.
    ///
    /// # Errors
    ///
    /// [`Error::Write`], and as [`to_bytes`](Self::to_bytes).
    pub fn save(&self, path: &Path, bundle_vectors: bool) -> Result<()> {
        let bytes = self.to_bytes(bundle_vectors)?;
        atomic_file::write(path, |out| out.write_all(&bytes)).map_err(|source| Error::Write {
            path: path.to_owned(),
            source,
        })
    }
}

struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    fn new(name: impl Into<String>, dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>) -> Self {
        Tensor {
            name: name.into(),
            dtype,
            shape,
            bytes,
        }
    }
}

/// Little-endian bytes of numbers.
fn le<T: LittleEndian>(values: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        value.append_to(&mut bytes);
    }
    bytes
}

trait LittleEndian {
    fn append_to(self, bytes: &mut Vec<u8>);
}

macro_rules! little_endian {
    ($($number:ty),*) => {
        $(impl LittleEndian for $number {
            fn append_to(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        })*
    };
}
little_endian!(u32, u64, f32, f64);
