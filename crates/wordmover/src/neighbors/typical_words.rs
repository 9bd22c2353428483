//! The words that make up the documents of a corpus, on average.

use super::{Loaded, SearchedCorpus};

/// Documents that stand for the corpus.
const DOCUMENTS: usize = 512;

/// Words of theirs that count. On OHSUMED, where 4.8 % of the documents pass the first bound
/// with 1000 of them, 6 % pass it with 512 and 7 % with 256.
const WORDS: usize = 1000;

/// The mean of some documents of a corpus, cut down to its heaviest words.
#[derive(Debug, Default)]
pub(crate) struct TypicalWords {
    pub numbers: Vec<u32>,
    /// Their weights, which sum to one.
    pub weights: Vec<f64>,
}

impl TypicalWords {
    /// Of documents at even distances. What cannot be read is left out: bounds are worse then,
    /// and whoever comes to the document itself says so.
    pub fn of(index: &impl SearchedCorpus) -> Self {
        let step = index.n_documents().div_ceil(DOCUMENTS).max(1);
        let mut loaded = Loaded::default();
        let mut all: Vec<(u32, f64)> = Vec::new();
        for i in (0..index.n_documents()).step_by(step) {
            if let Ok((document, numbers)) = index.document(i, &mut loaded) {
                let weights = document.weights().iter().copied();
                all.extend(numbers.iter().copied().zip(weights));
            }
        }
        // Stable, so that equal words are summed in one order.
        all.sort_by_key(|&(number, _)| number);
        all.dedup_by(|next, sum| {
            let is_same = next.0 == sum.0;
            if is_same {
                sum.1 += next.1;
            }
            is_same
        });
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(WORDS);
        let total: f64 = all.iter().map(|&(_, weight)| weight).sum();
        let words = all.into_iter();
        let (numbers, weights) = words.map(|(number, sum)| (number, sum / total)).unzip();
        TypicalWords { numbers, weights }
    }
}
