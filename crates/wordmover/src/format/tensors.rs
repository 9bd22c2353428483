//! The tensors of a model file, each checked for type, shape and values.

use safetensors::Dtype;
use safetensors::tensor::Metadata as TensorsHeader;

use crate::document::WordFrequency;
use crate::embedding::{EmbeddingParams, FittedPostProcessing, PostProcessing};
use crate::random_documents::RandomDocuments;

use super::{ModelError, packed_words};

/// Names of the tensors of a vocabulary with its counts.
pub(super) struct VocabularyNames {
    pub words: &'static str,
    pub ends: &'static str,
    pub documents: &'static str,
    pub occurrences: &'static str,
    /// Not in every file.
    pub factors: &'static str,
}

/// Words of the table.
pub(super) const KNOWN: VocabularyNames = VocabularyNames {
    words: "vocabulary",
    ends: "vocabulary_ends",
    documents: "document_frequencies",
    occurrences: "occurrences",
    factors: "word_factors",
};

/// Words that the table lacks and that have a vector.
pub(super) const UNKNOWN: VocabularyNames = VocabularyNames {
    words: "unknown_words",
    ends: "unknown_ends",
    documents: "unknown_document_frequencies",
    occurrences: "unknown_occurrences",
    factors: "unknown_factors",
};

/// The tensors of a file: their descriptions, and the bytes after the header.
pub(super) struct Tensors<'b> {
    pub header: &'b TensorsHeader,
    pub data: &'b [u8],
}

impl<'b> Tensors<'b> {
    /// The data of a tensor of this type and shape, where `None` stands for any
    /// length.
    fn data(
        &self,
        name: &'static str,
        dtype: Dtype,
        shape: &[Option<usize>],
    ) -> Result<&'b [u8], ModelError> {
        let tensor = self
            .header
            .info(name)
            .ok_or(ModelError::MissingTensor { name })?;
        let fits = tensor.dtype == dtype
            && tensor.shape.len() == shape.len()
            && tensor
                .shape
                .iter()
                .zip(shape)
                .all(|(n, due)| due.is_none_or(|due| due == *n));
        if fits {
            let (start, end) = tensor.data_offsets;
            return Ok(&self.data[start..end]);
        }
        let lengths = shape
            .iter()
            .map(|n| n.map_or("any".to_owned(), |n| n.to_string()));
        Err(ModelError::WrongTensor {
            name,
            expected: format!("{dtype:?} [{}]", lengths.collect::<Vec<_>>().join(", ")),
            found: format!("{:?} {:?}", tensor.dtype, tensor.shape),
        })
    }

    pub fn vocabulary(
        &self,
        names: &VocabularyNames,
        n_documents: u64,
    ) -> Result<Vec<(String, WordFrequency)>, ModelError> {
        let bytes = self.data(names.words, Dtype::U8, &[None])?;
        let ends = self.data(names.ends, Dtype::U64, &[None])?;
        let words = packed_words::unpack(names.words, bytes, &numbers(ends, u64::from_le_bytes))?;
        let shape = [Some(words.len())];
        let documents = self.data(names.documents, Dtype::U64, &shape)?;
        let occurrences = self.data(names.occurrences, Dtype::U64, &shape)?;
        let frequencies = numbers(documents, u64::from_le_bytes)
            .into_iter()
            .zip(numbers(occurrences, u64::from_le_bytes))
            .map(|(documents, occurrences)| WordFrequency {
                documents,
                occurrences,
            });
        let mut vocabulary = Vec::with_capacity(words.len());
        for (word, frequency) in words.into_iter().zip(frequencies) {
            if frequency.documents == 0
                || frequency.documents > n_documents
                || frequency.occurrences < frequency.documents
            {
                return Err(ModelError::BadValue {
                    name: names.documents,
                    reason: format!("holds an impossible count for {word:?}"),
                });
            }
            vocabulary.push((word, frequency));
        }
        Ok(vocabulary)
    }

    /// What the weights of a vocabulary's words are multiplied by, if the file says so.
    pub fn factors(
        &self,
        names: &VocabularyNames,
        n_words: usize,
    ) -> Result<Option<Vec<f64>>, ModelError> {
        let name = names.factors;
        let values = match self.finite_f64(name, &[Some(n_words)]) {
            Err(ModelError::MissingTensor { .. }) => return Ok(None),
            values => values?,
        };
        if values.iter().all(|factor| *factor > 0.0) {
            return Ok(Some(values));
        }
        Err(ModelError::BadValue {
            name,
            reason: "holds a value that is not positive".to_owned(),
        })
    }

    /// The mean word vector.
    pub fn center(&self, dim: usize) -> Result<Vec<f64>, ModelError> {
        self.finite_f64("center", &[Some(dim)])
    }

    /// The post-processing that these parameters ask for.
    pub fn post_processing(
        &self,
        params: &EmbeddingParams,
    ) -> Result<FittedPostProcessing, ModelError> {
        let n = params.n_features;
        let mut fitted = FittedPostProcessing {
            unit: params.post_processing == PostProcessing::Unit,
            ..FittedPostProcessing::default()
        };
        if params.post_processing != PostProcessing::Raw {
            fitted.means = self.finite_f64("feature_means", &[Some(n)])?;
        }
        if params.post_processing.has_scales() {
            fitted.scales = self.finite_f64("feature_scales", &[Some(n)])?;
        }
        let most = params.components.count();
        if most > 0 {
            let name = "component_scales";
            fitted.component_scales = self.finite_f64(name, &[None])?;
            let found = fitted.component_scales.len();
            let bad = |reason: String| ModelError::BadValue { name, reason };
            if found > most {
                return Err(bad(format!("holds more than {most} values")));
            }
            if !fitted
                .component_scales
                .iter()
                .all(|s| (0.0..=1.0).contains(s))
            {
                return Err(bad("holds a value that is not between 0 and 1".to_owned()));
            }
            fitted.components = self.finite_f64("components", &[Some(found), Some(n)])?;
        }
        Ok(fitted)
    }

    /// Probabilities of all words of the vectors, if the file holds them.
    pub fn word_probabilities(&self, n_words: usize) -> Result<Option<Vec<f32>>, ModelError> {
        let name = "word_probabilities";
        let values = match self.data(name, Dtype::F32, &[Some(n_words)]) {
            Ok(bytes) => numbers(bytes, f32::from_le_bytes),
            Err(ModelError::MissingTensor { .. }) => return Ok(None),
            Err(problem) => return Err(problem),
        };
        if values.iter().all(|p| (0.0..=1.0).contains(p)) {
            return Ok(Some(values));
        }
        Err(ModelError::BadValue {
            name,
            reason: "holds a value that is not between 0 and 1".to_owned(),
        })
    }

    fn finite_f64(
        &self,
        name: &'static str,
        shape: &[Option<usize>],
    ) -> Result<Vec<f64>, ModelError> {
        let values = numbers(self.data(name, Dtype::F64, shape)?, f64::from_le_bytes);
        if values.iter().all(|x| x.is_finite()) {
            Ok(values)
        } else {
            Err(not_finite(name))
        }
    }

    pub fn random_documents(
        &self,
        params: &EmbeddingParams,
        dim: usize,
    ) -> Result<RandomDocuments, ModelError> {
        let lengths = self.data("random_lengths", Dtype::U32, &[Some(params.n_features)])?;
        let lengths = numbers(lengths, u32::from_le_bytes);
        if !lengths
            .iter()
            .all(|&n| (1..=params.d_max).contains(&(n as usize)))
        {
            return Err(ModelError::BadValue {
                name: "random_lengths",
                reason: format!("holds a length that is not between 1 and {}", params.d_max),
            });
        }
        let n_words: usize = lengths.iter().map(|&n| n as usize).sum();
        let words = self.data("random_words", Dtype::F32, &[Some(n_words), Some(dim)])?;
        let words = numbers(words, f32::from_le_bytes);
        if !words.iter().all(|x| x.is_finite()) {
            return Err(not_finite("random_words"));
        }
        Ok(RandomDocuments::from_parts(dim, &lengths, words))
    }

    pub fn bundled_vectors(&self) -> Result<Option<Vec<u8>>, ModelError> {
        match self.data("bundled_vectors", Dtype::U8, &[None]) {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(ModelError::MissingTensor { .. }) => Ok(None),
            Err(problem) => Err(problem),
        }
    }
}

fn not_finite(name: &'static str) -> ModelError {
    ModelError::BadValue {
        name,
        reason: "holds a value that is not finite".to_owned(),
    }
}

pub(super) fn numbers<T, const N: usize>(bytes: &[u8], from: fn([u8; N]) -> T) -> Vec<T> {
    let whole = bytes.chunks_exact(N);
    whole
        .map(|chunk| from(chunk.try_into().expect("whole chunks")))
        .collect()
}
