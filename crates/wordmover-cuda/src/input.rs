//! What goes in, checked, and what is said about the work.

use crate::error::{Error, Result};

/// Weighted bags of words, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Bags<'a> {
    /// Where each begins, and where the last ends.
    pub starts: &'a [usize],
    /// Word ids: rows of the word vectors.
    pub words: &'a [u32],
    /// Their weights: positive, with a sum of one in every bag.
    pub weights: &'a [f64],
}

/// Random documents; all words of one weigh the same.
#[derive(Debug, Clone, Copy)]
pub struct RandomDocuments<'a> {
    /// Where each begins, in words, and where the last ends.
    pub starts: &'a [usize],
    /// Vectors of their words, one after the other.
    pub vectors: &'a [f32],
}

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Distances in all.
    pub distances: u64,
    /// Those of them that the library's solver found on the CPU: documents or random documents
    /// too long for the GPU's shared memory, and distances so much smaller than the longest
    /// vectors that integers of 27 bits do not show six digits of them.
    pub on_host: u64,
    /// Distances of the GPU that were compared with the library's solver.
    pub compared: u64,
}

impl Bags<'_> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Words and weights of one.
    pub(crate) fn bag(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.words[range.clone()], &self.weights[range])
    }

    pub(crate) fn check(&self, n_words: usize) -> Result<()> {
        check_starts("document", self.starts, self.words.len(), true)?;
        expect("weights", self.words.len(), self.weights.len())?;
        for document in 0..self.len() {
            let (words, weights) = self.bag(document);
            if let Some(&word) = words.iter().find(|&&word| word as usize >= n_words) {
                return Err(Error::NoVector {
                    word,
                    document,
                    n_words,
                });
            }
            if let Some(&weight) = weights.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
                return Err(Error::BadWeight { weight, document });
            }
        }
        Ok(())
    }
}

impl RandomDocuments<'_> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of words of one.
    pub(crate) fn n_sinks(&self, j: usize) -> usize {
        self.starts[j + 1] - self.starts[j]
    }

    /// Vectors of one.
    pub(crate) fn words(&self, j: usize, dim: usize) -> &[f32] {
        &self.vectors[self.starts[j] * dim..self.starts[j + 1] * dim]
    }

    pub(crate) fn check(&self, dim: usize) -> Result<()> {
        let n = self.vectors.len().checked_div(dim).unwrap_or(0);
        expect("coordinates of random words", n * dim, self.vectors.len())?;
        check_starts("random document", self.starts, n, false)
    }
}

pub(crate) fn expect(what: &'static str, expected: usize, found: usize) -> Result<()> {
    match expected == found {
        true => Ok(()),
        false => Err(Error::WrongLength {
            what,
            expected,
            found,
        }),
    }
}

fn check_starts(
    what: &'static str,
    starts: &[usize],
    end: usize,
    may_be_empty: bool,
) -> Result<()> {
    let is_in_order = |pair: &[usize]| pair[0] < pair[1] || (may_be_empty && pair[0] == pair[1]);
    if let Some(index) = starts.windows(2).position(|pair| !is_in_order(pair)) {
        return Err(Error::BadStart { what, index });
    }
    expect(
        "words before the first start",
        0,
        starts.first().copied().unwrap_or(0),
    )?;
    expect(
        "words before the last start",
        starts.last().copied().unwrap_or(0),
        end,
    )
}
