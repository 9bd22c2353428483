//! Averaged word vectors: the plain embeddings that Word Mover's Embedding is
//! compared with.
//!
//! A text becomes the weighted mean of the vectors of its words. With SIF weights
//! and the first principal component of the corpus taken out, this is the "simple
//! but tough-to-beat baseline" of Arora et al. (2017).

use std::sync::Arc;

use rayon::prelude::*;

use crate::document::WordCounts;
use crate::document_model::DocumentModel;
use crate::error::Result;
use crate::principal;

/// Averages of word vectors, as a model.
///
/// The vector of a text with `n` known words is `1/n` times the sum of
/// `weight(w) * v_w` over them: weights are not normalised, as in the paper of SIF.
/// A text without a known word becomes a vector of zeros.
///
/// ```
/// use std::sync::Arc;
/// use wordmover::text::{StopWords, Tokenizer};
/// use wordmover::{Weighting, average::AveragedVectors, document_model::{DocumentFitter, DocumentParams}, space::Normalization};
/// use wordmover::{WordVectors, similarity::cosine};
///
/// let tokenizer = Tokenizer { stop_words: StopWords::None, ..Tokenizer::default() };
/// let params = DocumentParams::default()
///     .normalization(Normalization::None)
///     .tokenizer(tokenizer)
///     .weighting(Weighting::Sif);
/// let mut fitter = DocumentFitter::new(params.check()?, Arc::new(WordVectors::builtin()));
/// let texts = ["The president greets the press in Chicago",
///              "Obama speaks to the media in Illinois",
///              "The band gave a concert in Japan"];
/// let counts = texts.map(|text| fitter.word_counts(text));
/// counts.iter().for_each(|counts| fitter.observe(counts));
///
/// let sif = AveragedVectors::fit(Arc::new(fitter.finish()?), 1, &counts)?;
/// let z = sif.embed(&counts)?;
/// let dim = sif.dim();
/// assert!(cosine(&z[..dim], &z[dim..2 * dim]) > cosine(&z[..dim], &z[2 * dim..]));
/// # Ok::<(), wordmover::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AveragedVectors {
    documents: Arc<DocumentModel>,
    components: Vec<f64>,
}

impl AveragedVectors {
    /// Averages weighted as `documents` weighs words. The first `n_components` principal
    /// components of the averages of `texts`, which are not centred, are taken out; SIF
    /// takes out one.
    ///
    /// # Errors
    ///
    /// [`crate::Error::InvalidVectors`] if a word's vector holds NaN or infinity.
    pub fn fit(
        documents: Arc<DocumentModel>,
        n_components: usize,
        texts: &[WordCounts],
    ) -> Result<Self> {
        let mut model = AveragedVectors {
            documents,
            components: Vec::new(),
        };
        if n_components > 0 {
            let dim = model.dim();
            let mut rows = vec![0.0; texts.len() * dim];
            model.average_into(texts, &mut rows)?;
            model.components = principal::components(&rows, dim, n_components).directions;
        }
        Ok(model)
    }

    /// Embeds texts: a row of [`dim`](Self::dim) for each.
    ///
    /// # Errors
    ///
    /// [`crate::Error::InvalidVectors`] if a word's vector holds NaN or infinity.
    pub fn embed(&self, texts: &[WordCounts]) -> Result<Vec<f32>> {
        let mut rows = vec![0.0; texts.len() * self.dim()];
        self.average_into(texts, &mut rows)?;
        rows.par_chunks_exact_mut(self.dim())
            .for_each(|row| principal::remove(&self.components, row));
        Ok(rows.into_iter().map(|x| x as f32).collect())
    }

    /// Length of a row: the dimension of the word vectors.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.documents.space().dim()
    }

    /// The directions taken out, one after the other, of length 1.
    #[must_use]
    pub fn components(&self) -> &[f64] {
        &self.components
    }

    fn average_into(&self, texts: &[WordCounts], rows: &mut [f64]) -> Result<()> {
        let dim = self.dim();
        rows.par_chunks_exact_mut(dim).zip(texts).try_for_each_init(
            || vec![0.0; dim],
            |vector, (row, text)| {
                let space = self.documents.space();
                let words = || text.iter().filter(|&(word, _)| space.has_vector(word));
                let n: f64 = words().map(|(_, count)| f64::from(count)).sum();
                for (word, count) in words() {
                    let weight = f64::from(count) * self.documents.word_weight(word) / n;
                    space.copy_vector(word, vector)?;
                    for (sum, &x) in row.iter_mut().zip(&*vector) {
                        *sum += weight * f64::from(x);
                    }
                }
                Ok(())
            },
        )
    }
}
