//! The features of the view of words: TF-IDF of words and of pairs of neighbouring words.

use std::collections::HashMap;

use rayon::prelude::*;
use wordmover_learn::{SparseRows, TfIdf};

use crate::error::Result;

/// Terms kept at most, those of the most documents: a classifier of 20 classes has 42 MB of
/// weights then.
const MAX_TERMS: usize = 1 << 18;

/// A pair of words is kept if so many documents have it: most pairs are in one, and say
/// nothing about others.
const MIN_DOCUMENTS_OF_PAIR: u32 = 2;

/// Words and pairs of words (`new york`), each a column, with inverse document frequencies.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    /// Ascending.
    terms: Vec<Box<str>>,
    columns: HashMap<Box<str>, u32>,
    tf_idf: TfIdf,
}

impl Terms {
    /// The terms of the training documents, which are words with a space between two;
    /// nothing if they have none.
    pub fn fit(documents: &[&str]) -> Result<Option<Self>> {
        // Documents that have a term, and the last of them.
        let mut found: HashMap<&str, (u32, usize)> = HashMap::new();
        for (i, words) in documents.iter().enumerate() {
            for_each_term(words, |term| {
                let (n_documents, last) = found.entry(term).or_insert((0, usize::MAX));
                *n_documents += u32::from(*last != i);
                *last = i;
            });
        }
        let found = found.into_iter().map(|(term, (n, _))| (n, term));
        let is_kept = |&(n, term): &(u32, &str)| n >= MIN_DOCUMENTS_OF_PAIR || !is_pair(term);
        let mut found: Vec<(u32, &str)> = found.filter(is_kept).collect();
        if found.is_empty() {
            return Ok(None);
        }
        found.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        found.truncate(MAX_TERMS);
        let mut terms: Vec<Box<str>> = found.into_iter().map(|(_, term)| term.into()).collect();
        terms.sort_unstable();
        let columns = columns(&terms);
        let tf_idf = TfIdf::fit(&counts(&columns, documents)?)?;
        Ok(Some(Terms {
            terms,
            columns,
            tf_idf,
        }))
    }

    /// What a file keeps. The terms must ascend, and there must be as many frequencies.
    pub fn from_parts(terms: Vec<Box<str>>, idf: Vec<f64>) -> Result<Self, String> {
        if terms.len() != idf.len() {
            let (n, m) = (terms.len(), idf.len());
            return Err(format!("{n} terms with {m} document frequencies"));
        }
        if !terms.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err("the terms do not ascend".to_owned());
        }
        let tf_idf = TfIdf::from_parts(idf).map_err(|error| error.to_string())?;
        Ok(Terms {
            columns: columns(&terms),
            terms,
            tf_idf,
        })
    }

    /// All terms, by column.
    pub fn terms(&self) -> &[Box<str>] {
        &self.terms
    }

    pub fn idf(&self) -> &[f64] {
        self.tf_idf.idf()
    }

    /// One row for each document, of length 1; without a value if it has none of the terms.
    pub fn features(&self, documents: &[&str]) -> Result<SparseRows> {
        Ok(self.tf_idf.transform(&counts(&self.columns, documents)?)?)
    }
}

fn columns(terms: &[Box<str>]) -> HashMap<Box<str>, u32> {
    terms.iter().cloned().zip(0..).collect()
}

fn counts(columns: &HashMap<Box<str>, u32>, documents: &[&str]) -> Result<SparseRows> {
    let rows = documents.par_iter().map(|words| {
        let mut found = Vec::new();
        for_each_term(words, |term| found.extend(columns.get(term)));
        found.sort_unstable();
        let runs = found.chunk_by(|a, b| a == b);
        runs.map(|run| (run[0], run.len() as f64)).collect()
    });
    let rows: Vec<Vec<(u32, f64)>> = rows.collect();
    Ok(SparseRows::from_rows(columns.len(), rows)?)
}

fn is_pair(term: &str) -> bool {
    term.contains(' ')
}

/// Hands over every word and every pair of neighbours: slices of `words`, in which a space
/// stands between two.
fn for_each_term<'t>(words: &'t str, mut term: impl FnMut(&'t str)) {
    let mut previous = None;
    let mut start = 0;
    for word in words.split(' ') {
        let end = start + word.len();
        if !word.is_empty() {
            term(word);
            if let Some(previous) = previous {
                term(&words[previous..end]);
            }
            previous = Some(start);
        }
        start = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_pairs_of_neighbours_are_terms() {
        let mut found = Vec::new();
        for_each_term("to be or", |term| found.push(term));
        assert_eq!(found, ["to", "be", "to be", "or", "be or"]);
        for_each_term("", |term| panic!("{term}"));
    }

    #[test]
    fn a_pair_needs_two_documents_and_a_word_one() {
        let documents = ["new york is", "is new york", "york"];
        let terms = Terms::fit(&documents).unwrap().unwrap();
        let names: Vec<&str> = terms.terms().iter().map(|term| &**term).collect();
        assert_eq!(names, ["is", "new", "new york", "york"]);
        let features = terms.features(&["new york new york", "paris"]).unwrap();
        let (columns, values) = features.row(0);
        assert_eq!(columns, [1, 2, 3]);
        let length: f64 = values.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-12);
        assert_eq!(features.row(1).0, [0u32; 0]);
        assert!(Terms::fit(&["", ""]).unwrap().is_none());
    }

    #[test]
    fn what_a_file_keeps_gives_the_same_features() {
        let documents = ["new york is", "is new york", "york"];
        let terms = Terms::fit(&documents).unwrap().unwrap();
        let kept = Terms::from_parts(terms.terms().to_vec(), terms.idf().to_vec()).unwrap();
        let features = |terms: &Terms| terms.features(&documents).unwrap();
        assert_eq!(features(&kept), features(&terms));
        let reversed: Vec<_> = terms.terms().iter().rev().cloned().collect();
        assert!(Terms::from_parts(reversed, terms.idf().to_vec()).is_err());
        assert!(Terms::from_parts(terms.terms().to_vec(), vec![1.0]).is_err());
    }
}
