//! The training documents that can be learnt from.

use std::sync::Arc;

use wordmover::{
    Document, DocumentModel, Weighting,
    document_model::{DocumentFitter, DocumentParams},
};

use crate::corpus::LabeledCorpus;
use crate::error::{Error, Result};

/// How the texts of the training documents become weighted documents, with the corpus'
/// tokenizer. The corpus is counted here once, whatever is chosen later: other weights are
/// [`weighted`](TrainingDocuments::weighted) from the same counts.
pub(crate) fn fit(params: &DocumentParams, train: &LabeledCorpus) -> Result<DocumentModel> {
    let params = params.clone().tokenizer(train.tokenizer().clone());
    let mut fitter = DocumentFitter::new(params.check()?, train.vectors().clone())
        .accelerator(train.accelerator().cloned());
    for counts in train.documents() {
        fitter.observe(counts);
    }
    fitter.finish().map_err(|error| match error {
        wordmover::Error::EmptyCorpus { n_documents } => Error::NoKnownWords {
            n_documents: n_documents as usize,
        },
        other => other.into(),
    })
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
    pub fn weighted(
        model: &DocumentModel,
        weighting: Weighting,
        train: &LabeledCorpus,
    ) -> Result<Self> {
        let model = model.clone().with_weighting(weighting);
        let mut documents = model.documents(train.documents());
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

    /// Classes of the documents that have words.
    pub fn labels(&self, train: &LabeledCorpus) -> Vec<usize> {
        self.rows.iter().map(|&row| train.labels()[row]).collect()
    }
}
