//! Training documents as an embedding sees them.

use wordmover::{Document, EmbeddingParams, Fitter, Weighting, WordCounts, WordMoversEmbedding};

use crate::cache::KeyBuilder;
use crate::corpus::LabeledCorpus;
use crate::error::{Error, Result};

/// An embedding of the training documents, and their bags under it.
///
/// A document without a word to stand on has no distance to anything: nothing can be
/// learnt from it, and it is left out.
pub(crate) struct Bags {
    pub model: WordMoversEmbedding,
    /// Positions in the corpus of those that have words.
    pub rows: Vec<usize>,
    pub documents: Vec<Document>,
}

impl Bags {
    pub fn new(params: &EmbeddingParams, train: &LabeledCorpus) -> Result<Self> {
        let model = fit(params, train)?;
        let bags = bags(&model, train.documents());
        let rows: Vec<usize> = (0..bags.len())
            .filter(|&row| !bags[row].is_empty())
            .collect();
        if rows.is_empty() {
            return Err(Error::NoKnownWords {
                n_documents: bags.len(),
            });
        }
        let documents = bags.into_iter().filter(|bag| !bag.is_empty()).collect();
        Ok(Bags {
            model,
            rows,
            documents,
        })
    }

    /// Classes of the documents that have words.
    pub fn labels(&self, train: &LabeledCorpus) -> Vec<usize> {
        self.rows.iter().map(|&row| train.labels()[row]).collect()
    }
}

/// The embedding of a corpus, with the corpus' tokenizer. Its features are raw: what is
/// to be done to them is the machine's.
pub(crate) fn fit(params: &EmbeddingParams, train: &LabeledCorpus) -> Result<WordMoversEmbedding> {
    let params = params.clone().raw();
    let params = params.tokenizer(train.tokenizer().clone());
    let mut fitter = Fitter::new(params.check()?, train.vectors().clone());
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

pub(crate) fn bags(model: &WordMoversEmbedding, counts: &[WordCounts]) -> Vec<Document> {
    counts.iter().map(|counts| model.document(counts)).collect()
}

/// The space and the documents: all that distances between them depend on.
pub(crate) fn hash_documents(
    key: KeyBuilder,
    model: &WordMoversEmbedding,
    documents: &[Document],
) -> KeyBuilder {
    let space = model.space();
    let center = space.center().unwrap_or(&[]);
    let mut key = key
        .bytes(space.vectors().checksum().as_bytes())
        .bytes(format!("{:?}", space.normalization()).as_bytes())
        .numbers(center.iter().map(|x| x.to_bits()))
        .numbers([documents.len() as u64].into_iter());
    for document in documents {
        key = key
            .numbers(document.words().iter().map(|&word| u64::from(word)))
            .numbers(document.weights().iter().map(|weight| weight.to_bits()));
    }
    key
}

/// The name a weighting has in messages and on the command line.
#[must_use]
pub fn name_of(weighting: Weighting) -> &'static str {
    match weighting {
        Weighting::Nbow => "nbow",
        Weighting::Tfidf => "tfidf",
        Weighting::Sif => "sif",
        _ => "other weights",
    }
}
