//! The Word Mover's Kernel of documents: exact where all random documents can be enumerated,
//! estimated with a standard error elsewhere (sections 3.1 and 3.2 of the paper).

use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::document::Document;
use crate::document_model::DocumentModel;
use crate::error::{Error, Result};
use crate::float_environment::IeeeArithmetic;
use crate::random_documents::{RandomDocuments, RandomWords};
use crate::space::WordSpace;

use super::model::WordMoversEmbedding;
use super::statistics::EmbeddingStatistics;
use super::transform;

/// Random documents that are enumerated, at most.
const MOST_ENUMERATED: usize = 1 << 14;

/// The Word Mover's Kernel `k(x, y) = E[exp(-gamma (WMD(x, omega) + WMD(y, omega)))]` of a model.
///
/// Read otherwise, `-ln k(x, y) / gamma` is a soft minimum over `omega` of
/// `WMD(x, omega) + WMD(omega, y)`: the shortest way from `x` to `y` over a random document
/// ([`KernelMatrix::soft_minimum`]).
#[derive(Debug, Clone)]
pub struct WordMoversKernel {
    space: WordSpace,
    gamma: f64,
    random_documents: RandomDocuments,
    /// The probability of each random document, where these are all there are.
    probabilities: Option<Vec<f64>>,
}

/// Values of a kernel, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelMatrix {
    /// Number of columns.
    pub n_columns: usize,
    /// The values.
    pub values: Vec<f64>,
    /// The standard error of each value; 0 where the values are exact.
    pub errors: Vec<f64>,
    /// Whether they are exact.
    pub is_exact: bool,
    /// The scale of the kernel.
    pub gamma: f64,
}

impl KernelMatrix {
    /// `-ln k / gamma` of each value: never below the Word Mover's Distance of the two documents.
    #[must_use]
    pub fn soft_minimum(&self) -> Vec<f64> {
        let values = self.values.iter();
        values.map(|&k| -libm::log(k) / self.gamma).collect()
    }
}

impl WordMoversKernel {
    /// The kernel that a model's raw features estimate. It is exact if the model draws its
    /// random words from the vocabulary and there are at most 16,384 random documents in all,
    /// orders of their words apart; otherwise it is estimated from the model's own.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] if the model has no gamma.
    pub fn new(model: &WordMoversEmbedding) -> Result<Self> {
        let Some(gamma) = model.gamma() else {
            return Err(Error::InvalidParameter {
                name: "gamma",
                value: "none".to_owned(),
                requirement: "a number for a kernel",
            });
        };
        let params = model.params();
        let enumerated = match params.random_words {
            RandomWords::Vocabulary => enumerate(model.documents(), params.d_max)?,
            _ => None,
        };
        let (random_documents, probabilities) = match enumerated {
            Some((documents, probabilities)) => (documents, Some(probabilities)),
            None => (model.random_documents().clone(), None),
        };
        Ok(WordMoversKernel {
            space: model.space().clone(),
            gamma,
            random_documents,
            probabilities,
        })
    }

    /// Whether its values are exact.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.probabilities.is_some()
    }

    /// The kernel of every first with every second document. A document without words has the
    /// kernel 0 with all.
    ///
    /// # Errors
    ///
    /// A word vector holds a value that is not finite.
    pub fn matrix(&self, first: &[Document], second: &[Document]) -> Result<KernelMatrix> {
        let features = |documents: &[Document]| -> Result<Vec<f64>> {
            let never = &mut |_: &EmbeddingStatistics| ControlFlow::Continue(());
            let mut distances =
                transform::distances(&self.space, &self.random_documents, documents, never)?;
            distances
                .par_iter_mut()
                .for_each_init(IeeeArithmetic::enter, |_, d| {
                    *d = libm::exp(-self.gamma * *d);
                });
            Ok(distances)
        };
        let (x, y) = (features(first)?, features(second)?);
        let n = self.random_documents.len();
        let pairs = (0..first.len() * second.len()).into_par_iter();
        let estimates: Vec<(f64, f64)> = pairs
            .map(|pair| {
                let _ieee = IeeeArithmetic::enter();
                let (i, j) = (pair / second.len(), pair % second.len());
                self.estimate(&x[i * n..][..n], &y[j * n..][..n])
            })
            .collect();
        let (values, errors) = estimates.into_iter().unzip();
        Ok(KernelMatrix {
            n_columns: second.len(),
            values,
            errors,
            is_exact: self.is_exact(),
            gamma: self.gamma,
        })
    }

    /// The mean of products, and its standard error.
    fn estimate(&self, x: &[f64], y: &[f64]) -> (f64, f64) {
        let products = x.iter().zip(y).map(|(x, y)| x * y);
        if let Some(probabilities) = &self.probabilities {
            let value = products.zip(probabilities).map(|(product, p)| product * p);
            return (value.sum(), 0.0);
        }
        let n = x.len() as f64;
        let mean = products.clone().sum::<f64>() / n;
        let squares = products.map(|product| (product - mean) * (product - mean));
        // One product says nothing of its error.
        let variance = squares.sum::<f64>() / (n - 1.0).max(1.0);
        let error = if n > 1.0 {
            (variance / n).sqrt()
        } else {
            f64::INFINITY
        };
        (mean, error)
    }
}

/// All random documents of words of the corpus, each set of words once, and how likely each is;
/// nothing if they are too many.
fn enumerate(
    documents: &DocumentModel,
    d_max: usize,
) -> Result<Option<(RandomDocuments, Vec<f64>)>> {
    let words = documents.words();
    let n_words = words.len();
    // Sets of D words with repetition: one more word in each of them at a time.
    let mut n_sets = 1usize;
    let mut total = 0usize;
    for length in 1..=d_max {
        n_sets = match n_sets.checked_mul(n_words + length - 1) {
            Some(product) => product / length,
            None => return Ok(None),
        };
        total = total.saturating_add(n_sets);
        if total > MOST_ENUMERATED {
            return Ok(None);
        }
    }
    let space = documents.space();
    let known = words.iter().map(|&word| crate::document::Word::Known(word));
    let vectors = space.gather(known)?;
    let dim = space.dim();
    let (mut lengths, mut points, mut probabilities) = (Vec::new(), Vec::new(), Vec::new());
    for length in 1..=d_max {
        // Ascending numbers of words.
        let mut set = vec![0usize; length];
        loop {
            lengths.push(length as u32);
            for &word in &set {
                points.extend_from_slice(&vectors[word * dim..][..dim]);
            }
            probabilities.push(orders(&set) / (n_words as f64).powi(length as i32) / d_max as f64);
            // The last number that can grow does; those after it start from there.
            let Some(at) = set.iter().rposition(|&word| word + 1 < n_words) else {
                break;
            };
            let next = set[at] + 1;
            set[at..].fill(next);
        }
    }
    let documents = RandomDocuments::from_parts(dim, &lengths, points);
    Ok(Some((documents, probabilities)))
}

/// In how many orders a set of words, ascending, can be drawn.
fn orders(set: &[usize]) -> f64 {
    let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
    let repeats = set.chunk_by(|a, b| a == b).map(|run| factorial(run.len()));
    factorial(set.len()) / repeats.product::<f64>()
}
