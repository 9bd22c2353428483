//! Exact nearest neighbours under the Word Mover's Distance.
//!
//! Comparing a query with every document of a corpus would take one transport
//! problem a document, nearly all of them for documents that are far away. Lower
//! bounds say so first, cheap ones before good ones:
//!
//! 1. Dual values of the words of the query, once a query: those that are best for the mean
//!    of the corpus' documents. The greatest dual that a word of the corpus can have beside
//!    them does not depend on the document it is in, so the bound of a document is a sum over
//!    its words. With zeros for the query's words it would be the relaxed distance of Kusner
//!    et al. (2015), computed as by Atasu and Mittelholzer (2019). Rare words, most of all words
//!    of a large corpus, get their duals only when a document comes close without them: see
//!    `word_duals`.
//! 2. For documents that come close, dual variables of their own transport problem: see
//!    `bounds`.
//! 3. The exact distance.
//!
//! Documents are taken in ascending order of their best bound so far, and the search
//! ends when that exceeds the k-th best distance: no search with these bounds solves
//! fewer problems (Seidl and Kriegel, 1998). A few are solved early all the same, those with
//! the least second bounds of the first documents: a limit for all others saves more.
//! Nothing is approximated: distances have
//! the bits of [`wmd::distance`](crate::wmd::distance), and the documents are those of
//! a comparison with all, ties included.
//!
//! Measured for 19 neighbours on OHSUMED (`bench/run neighbors`), share of the pairs: 5 %
//! pass the first bound and 0.6 % the second, where 0.5 % are neighbours. 25 % pass the
//! relaxed distance, and 2 % three starts of dual variables that are raised once.
//!
//! The distance between mean vectors (WCD), the usual first bound, is left out. It
//! costs more here than a sum over a document's words, and prunes less.

mod bounds;
mod by_embedding;
mod cost_table;
mod frequent_words;
mod pair;
mod query_panels;
mod queue;
mod search;
mod searched;
mod typical_words;
mod word_duals;

use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::document::{Document, Word};
use crate::error::{Error, Result};
use crate::space::{Metric, WordSpace};
pub(crate) use by_embedding::scale_to_unit;
pub(crate) use frequent_words::frequent_words;
pub(crate) use query_panels::squared_lengths;
pub(crate) use search::Search;
pub(crate) use searched::{Loaded, SearchedCorpus};
pub(crate) use typical_words::TypicalWords;
pub(crate) use word_duals::WordDuals;

pub use by_embedding::EmbeddingIndex;

/// Queries a thread answers between two calls of `progress`.
const QUERIES_PER_TASK: usize = 8;

/// Word vectors handed to a thread at once.
const WORDS_PER_TASK: usize = 64;

/// A document of the corpus and how far it is from the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor {
    /// Position of the document in the corpus.
    pub index: usize,
    /// The exact Word Mover's Distance, as [`wmd::distance`](crate::wmd::distance)
    /// gives it.
    pub distance: f64,
}

/// How much work a search took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SearchStatistics {
    /// Queries answered, those without words included.
    pub queries: u64,
    /// Pairs of a query and a document, both with words. All of them got a bound.
    pub pairs: u64,
    /// Pairs that got the second bound as well.
    pub bounded_again: u64,
    /// Pairs whose transport problem was solved.
    pub solved: u64,
}

impl std::ops::AddAssign for SearchStatistics {
    fn add_assign(&mut self, other: Self) {
        self.queries += other.queries;
        self.pairs += other.pairs;
        self.bounded_again += other.bounded_again;
        self.solved += other.solved;
    }
}

/// A corpus to search for nearest neighbours.
///
/// A document without words has no distance to anything: it keeps its index and is
/// nobody's neighbour.
///
/// Memory: the documents, and a vector for each of their distinct words. A thread that
/// searches needs some bytes for each of these words and documents, and a row of
/// ground costs for each word of the documents that come close.
///
/// ```
/// use std::sync::Arc;
/// use wordmover::text::Tokenizer;
/// use wordmover::{Document, WmdIndex, WordVectors, space::{Normalization, WordSpace}, document::WordCounts};
///
/// let space = WordSpace::new(Arc::new(WordVectors::builtin()), Normalization::Unit, &[])?;
/// let bag = |text| {
///     let counts = WordCounts::from_text(text, &Tokenizer::default(), space.vectors());
///     Document::nbow(&counts)
/// };
/// let corpus = vec![bag("The band gave a concert in Japan"),
///                   bag("The president greets the press in Chicago")];
/// let index = WmdIndex::new(space.clone(), corpus)?;
/// let nearest = index.search(&bag("Obama speaks to the media in Illinois"), 1)?;
/// assert_eq!(nearest[0].index, 1);
/// # Ok::<(), wordmover::Error>(())
/// ```
#[derive(Debug)]
pub struct WmdIndex {
    space: WordSpace,
    documents: Vec<Document>,
    /// The corpus' distinct words are numbered in order of occurrence: by word id, and by
    /// the letters of words that the table lacks.
    known: HashMap<u32, u32>,
    unknown: HashMap<Box<str>, u32>,
    /// Numbers of the words of document `i`: `words[starts[i]..starts[i + 1]]`.
    words: Vec<u32>,
    starts: Vec<usize>,
    /// Vectors of the distinct words, by number, and their squared lengths.
    vectors: Vec<f32>,
    squared_lengths: Vec<f32>,
    /// Greatest length of one of these vectors.
    radius: f64,
    typical_words: OnceLock<TypicalWords>,
    frequent_words: OnceLock<Vec<u32>>,
}

impl WmdIndex {
    /// Gathers the vectors of the documents' words.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidVectors`] if one of them holds NaN or infinity;
    /// [`Error::InvalidParameter`] if the space's metric is not Euclidean.
    ///
    /// # Panics
    ///
    /// If a document has a word that the space lacks.
    pub fn new(space: WordSpace, documents: Vec<Document>) -> Result<Self> {
        if space.metric() != Metric::Euclidean {
            return Err(Error::InvalidParameter {
                name: "metric",
                value: space.metric().to_string(),
                requirement: "euclidean: the bounds of the search hold for it alone",
            });
        }
        let mut numbers = HashMap::new();
        let mut distinct: Vec<Word> = Vec::new();
        let mut words = Vec::new();
        let mut starts = vec![0];
        for document in &documents {
            words.extend(document.words().map(|word| {
                *numbers.entry(word).or_insert_with(|| {
                    distinct.push(word);
                    distinct.len() as u32 - 1
                })
            }));
            starts.push(words.len());
        }
        let dim = space.dim();
        let mut vectors = vec![0.0; distinct.len() * dim];
        vectors
            .par_chunks_exact_mut(dim)
            .zip(&distinct)
            .with_min_len(WORDS_PER_TASK)
            .try_for_each(|(vector, &word)| space.copy_vector(word, vector))?;
        let (mut known, mut unknown) = (HashMap::new(), HashMap::new());
        for (word, number) in numbers {
            match word {
                Word::Known(id) => known.insert(id, number),
                Word::Unknown(word) => unknown.insert(Box::from(word), number),
            };
        }
        Ok(WmdIndex {
            radius: radius(&vectors, dim),
            squared_lengths: squared_lengths(&vectors, dim),
            space,
            documents,
            known,
            unknown,
            words,
            starts,
            vectors,
            typical_words: OnceLock::new(),
            frequent_words: OnceLock::new(),
        })
    }

    /// The `k` documents nearest to `query`, the nearest first and equally near ones
    /// in their order in the corpus; all that have words if there are fewer.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyDocument`] if the query has no word; [`Error::InvalidParameter`] if
    /// `k` is 0; [`Error::InvalidVectors`].
    ///
    /// # Panics
    ///
    /// If the query has a word that the space lacks.
    pub fn search(&self, query: &Document, k: usize) -> Result<Vec<Neighbor>> {
        check_k(k)?;
        if query.is_empty() {
            return Err(Error::EmptyDocument);
        }
        Ok(Search::default().run(self, query, k, |_| true)?.0)
    }

    /// The nearest documents of every query, as [`search`](Self::search) finds them,
    /// on all threads. A query without words has no neighbours: its list is empty.
    ///
    /// Now and then `progress` hears what was done since the last time, and may break
    /// off; the sum of what it hears are the statistics of the whole.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] if `k` is 0; [`Error::InvalidVectors`];
    /// [`Error::Interrupted`].
    ///
    /// # Panics
    ///
    /// If a query has a word that the space lacks.
    pub fn search_batch(
        &self,
        queries: &[Document],
        k: usize,
        progress: &mut dyn FnMut(&SearchStatistics) -> ControlFlow<()>,
    ) -> Result<Vec<Vec<Neighbor>>> {
        self.search_batch_among(queries, k, &|_, _| true, progress)
    }

    /// [`search_batch`](Self::search_batch), where each query finds only the documents it
    /// may: `may_find(query, document)`, both by position. Documents it may not find
    /// cost next to nothing. Cross-validation needs this: a document's neighbours among
    /// those outside its own fold, in one search.
    ///
    /// # Errors
    ///
    /// As for [`search_batch`](Self::search_batch).
    ///
    /// # Panics
    ///
    /// If a query has a word that the space lacks.
    pub fn search_batch_among(
        &self,
        queries: &[Document],
        k: usize,
        may_find: &(dyn Fn(usize, usize) -> bool + Sync),
        progress: &mut dyn FnMut(&SearchStatistics) -> ControlFlow<()>,
    ) -> Result<Vec<Vec<Neighbor>>> {
        check_k(k)?;
        let mut all = Vec::with_capacity(queries.len());
        let n_at_once = QUERIES_PER_TASK * rayon::current_num_threads();
        for queries in queries.chunks(n_at_once) {
            let first = all.len();
            let answers: Vec<_> = queries
                .par_iter()
                .enumerate()
                .map_init(Search::default, |search, (i, query)| {
                    search.run(self, query, k, |document| may_find(first + i, document))
                })
                .collect::<Result<_>>()?;
            let mut done = SearchStatistics::default();
            for (neighbors, statistics) in answers {
                done += statistics;
                all.push(neighbors);
            }
            if progress(&done).is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(all)
    }

    /// The documents, in the order they were given.
    #[must_use]
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// The space in which words are compared.
    #[must_use]
    pub fn space(&self) -> &WordSpace {
        &self.space
    }

    /// Number of distinct words of the documents.
    #[must_use]
    pub fn n_words(&self) -> usize {
        self.known.len() + self.unknown.len()
    }

    /// Where the numbers of a document's words are.
    fn range(&self, document: usize) -> Range<usize> {
        self.starts[document]..self.starts[document + 1]
    }
}

impl SearchedCorpus for WmdIndex {
    fn space(&self) -> &WordSpace {
        &self.space
    }

    fn radius(&self) -> f64 {
        self.radius
    }

    fn n_words(&self) -> usize {
        self.n_words()
    }

    fn append_vector(&self, number: u32, out: &mut Vec<f32>) {
        let dim = self.space.dim();
        out.extend_from_slice(&self.vectors[number as usize * dim..][..dim]);
    }

    fn squared_length(&self, number: u32) -> f32 {
        self.squared_lengths[number as usize]
    }

    fn number(&self, word: Word) -> Option<u32> {
        match word {
            Word::Known(id) => self.known.get(&id).copied(),
            Word::Unknown(word) => self.unknown.get(word).copied(),
        }
    }

    fn n_documents(&self) -> usize {
        self.documents.len()
    }

    fn typical_words(&self) -> &TypicalWords {
        self.typical_words.get_or_init(|| TypicalWords::of(self))
    }

    fn frequent_words(&self) -> &[u32] {
        self.frequent_words.get_or_init(|| {
            let mut counts = vec![0; self.n_words()];
            for &number in &self.words {
                counts[number as usize] += 1;
            }
            frequent_words(&counts)
        })
    }

    fn loose_bound(&self, document: usize, duals: &WordDuals) -> Result<Option<f64>> {
        let bag = &self.documents[document];
        if bag.is_empty() {
            return Ok(None);
        }
        let words = &self.words[self.range(document)];
        let bound = duals.loose(words, bag.weights(), |number| number, |weight| weight);
        Ok(Some(bound))
    }

    fn tight_bound(
        &self,
        document: usize,
        duals: &WordDuals,
        missing: &mut Vec<(u32, f64)>,
    ) -> Result<f64> {
        let words = self.words[self.range(document)].iter().copied();
        let weights = self.documents[document].weights().iter().copied();
        Ok(duals.tight(words.zip(weights), missing))
    }

    fn document<'s>(
        &'s self,
        document: usize,
        _loaded: &'s mut Loaded,
    ) -> Result<(&'s Document, &'s [u32])> {
        Ok((&self.documents[document], &self.words[self.range(document)]))
    }
}

/// Greatest length of a vector.
pub(crate) fn radius(vectors: &[f32], dim: usize) -> f64 {
    let squared = |vector: &[f32]| vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    vectors
        .chunks_exact(dim)
        .map(squared)
        .fold(0.0, f64::max)
        .sqrt()
}

pub(crate) fn check_k(k: usize) -> Result<()> {
    if k == 0 {
        return Err(Error::InvalidParameter {
            name: "k",
            value: k.to_string(),
            requirement: "at least 1",
        });
    }
    Ok(())
}
