//! The training documents that can be learnt from.

use std::sync::Arc;

use rayon::prelude::*;
use wordmover::document_model::{DocumentFitter, DocumentParams};
use wordmover::{Document, DocumentModel, Weighting};

use crate::corpus::LabeledCorpus;
use crate::counted_text::keeping_stop_words;
use crate::error::{Error, Result};
use crate::label_weights::FoldedFactors;

/// How the texts of the training documents become weighted documents, with the corpus'
/// tokenizer or with one that keeps stop words. The corpus is counted here once, whatever is
/// chosen later: other weights are [`weighted`](TrainingDocuments::weighted) from the same
/// counts.
pub(crate) fn fit(
    params: &DocumentParams,
    train: &LabeledCorpus,
    keeps_stop_words: bool,
) -> Result<DocumentModel> {
    let tokenizer = match keeps_stop_words {
        true => keeping_stop_words(train.tokenizer()),
        false => train.tokenizer().clone(),
    };
    let params = params.clone().tokenizer(tokenizer);
    let mut fitter = DocumentFitter::new(params.check()?, train.vectors().clone())
        .accelerator(train.accelerator().cloned());
    let counts = train.counts(keeps_stop_words);
    for counts in &counts {
        fitter.observe(counts);
    }
    let model = fitter.finish().map_err(|error| match error {
        wordmover::Error::EmptyCorpus { n_documents } => Error::NoKnownWords {
            n_documents: n_documents as usize,
        },
        other => other.into(),
    })?;
    Ok(model.with_landmarks(counts))
}

/// The weighted training documents.
///
/// A document without a word to stand on has no distance to anything: nothing can be
/// learnt from it, and it is left out.
pub(crate) struct TrainingDocuments {
    pub model: Arc<DocumentModel>,
    /// Positions in the corpus of those that have words.
    pub rows: Vec<usize>,
    pub documents: Vec<Document>,
}

impl TrainingDocuments {
    /// `factors` multiply the weights: each document's without its own label, the model's
    /// with all of them.
    pub fn weighted(
        model: &DocumentModel,
        weighting: Weighting,
        factors: Option<&FoldedFactors>,
        keeps_stop_words: bool,
        train: &LabeledCorpus,
    ) -> Result<Self> {
        let model = model.clone().with_weighting(weighting);
        let counts = train.counts(keeps_stop_words);
        let (model, mut documents) = match factors {
            None => {
                let documents = model.documents(&counts);
                (model, documents)
            }
            Some(factors) => {
                let of_fold = factors.by_fold.iter();
                let of_fold = of_fold.map(|f| model.clone().with_factors(Some(f.clone())));
                let of_fold: Vec<DocumentModel> = of_fold.collect();
                let counts = counts.par_iter().zip(&factors.fold_of);
                let documents = counts.map(|(counts, &fold)| of_fold[fold].document(counts));
                let documents = documents.collect();
                (model.with_factors(Some(factors.all.clone())), documents)
            }
        };
        let rows: Vec<usize> = (0..documents.len())
            .filter(|&row| !documents[row].is_empty())
            .collect();
        if rows.is_empty() {
            return Err(Error::NoKnownWords {
                n_documents: documents.len(),
            });
        }
        documents.retain(|document| !document.is_empty());
        Ok(TrainingDocuments {
            model: Arc::new(model),
            rows,
            documents,
        })
    }

    /// Those of the documents at these positions of the corpus, which ascend; all of them
    /// must have words.
    pub fn select(&self, rows: &[usize]) -> Self {
        let positions = rows
            .iter()
            .map(|row| self.rows.partition_point(|r| r < row));
        TrainingDocuments {
            model: self.model.clone(),
            rows: rows.to_vec(),
            documents: positions.map(|at| self.documents[at].clone()).collect(),
        }
    }

    /// Classes of the documents that have words.
    pub fn labels(&self, train: &LabeledCorpus) -> Vec<usize> {
        self.rows.iter().map(|&row| train.labels()[row]).collect()
    }
}
