//! The distances that fitting computes, kept for other gammas.

use std::ops::ControlFlow;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

use super::fit::Fitter;
use super::model::WordMoversEmbedding;
use super::params::Gamma;
use super::statistics::EmbeddingStatistics;

/// What [`Fitter::distances`] computes: all that fitting takes time for, and nothing that
/// gamma has a part in.
#[derive(Debug, Clone)]
pub struct FitDistances {
    key: String,
    auto_gamma: f64,
    finish: Vec<f64>,
}

impl FitDistances {
    /// The [key](Fitter::distances_key) of the fitters that can use them.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Memory they take, in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.finish.as_slice()) + self.key.len()
    }
}

impl Fitter {
    /// Names the distances that fitting computes, by the content they belong to: a SHA-256 of
    /// word vectors, counts and parameters. Gamma is not among these.
    #[must_use]
    pub fn distances_key(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(self.vectors.checksum().as_bytes());
        let params = self.params.get().clone().gamma(Gamma::None);
        add(format!("{params:?}").as_bytes());
        add(&self.corpus.n_documents().to_le_bytes());
        for word in self.corpus.words() {
            let frequency = self.corpus.frequency(word);
            add(&word.to_le_bytes());
            add(&frequency.documents.to_le_bytes());
            add(&frequency.occurrences.to_le_bytes());
        }
        if let Some(probabilities) = self.corpus.probabilities() {
            let values = probabilities.values().iter();
            add(&values.flat_map(|p| p.to_le_bytes()).collect::<Vec<u8>>());
        }
        for sample in [&self.gamma_sample, &self.finish_sample] {
            add(&(sample.documents.len() as u64).to_le_bytes());
            for counts in &sample.documents {
                let words = counts.words.iter();
                let bytes = words.flat_map(|&(word, count)| [word, count].map(u32::to_le_bytes));
                add(bytes.collect::<Vec<_>>().as_flattened());
            }
        }
        let digest = hash.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Computes all distances that fitting needs, for
    /// [`finish_with`](Self::finish_with). `progress` hears what was done since the last
    /// time and may break off.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish), and [`Error::Interrupted`].
    pub fn distances(
        &self,
        progress: &mut dyn FnMut(&EmbeddingStatistics) -> ControlFlow<()>,
    ) -> Result<FitDistances> {
        let drawn = self.clone().draw()?;
        Ok(FitDistances {
            key: self.distances_key(),
            auto_gamma: drawn.auto_gamma()?,
            finish: drawn.finish_distances(progress)?,
        })
    }

    /// The model of [`finish`](Self::finish), to the bit, without computing a distance.
    /// They may be those of another fitter that has seen the same documents in the same order
    /// and whose parameters differ in gamma alone.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::sync::Arc;
    /// use wordmover::{EmbeddingParams, Fitter, Gamma, WordVectors};
    ///
    /// let vectors = Arc::new(WordVectors::builtin());
    /// let fitter = |gamma| -> wordmover::Result<Fitter> {
    ///     let params = EmbeddingParams::default().n_features(16).gamma(gamma).check()?;
    ///     let mut fitter = Fitter::new(params, vectors.clone());
    ///     for text in ["Obama speaks to the media in Illinois", "A cat sat on the mat"] {
    ///         let counts = fitter.word_counts(text);
    ///         fitter.observe(&counts);
    ///     }
    ///     Ok(fitter)
    /// };
    /// let distances = fitter(Gamma::None)?.distances(&mut |_| ControlFlow::Continue(()))?;
    /// for gamma in [Gamma::Auto, Gamma::Value(0.5)] {
    ///     let model = fitter(gamma)?.finish_with(&distances)?;
    ///     assert_eq!(model.to_bytes(false)?, fitter(gamma)?.finish()?.to_bytes(false)?);
    /// }
    /// # Ok::<(), wordmover::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish), and [`Error::InvalidParameter`] if the distances are
    /// those of anything else.
    pub fn finish_with(self, distances: &FitDistances) -> Result<WordMoversEmbedding> {
        let key = self.distances_key();
        if distances.key != key {
            return Err(Error::InvalidParameter {
                name: "distances",
                value: format!("those of {}", distances.key),
                requirement: "those of the same documents and parameters, gamma apart",
            });
        }
        let drawn = self.draw()?;
        let gamma = match drawn.model.params.gamma {
            Gamma::Value(gamma) => Some(gamma),
            Gamma::None => None,
            Gamma::Auto => Some(distances.auto_gamma),
        };
        Ok(drawn.scaled(gamma, distances.finish.clone()))
    }
}
