//! The index against the indexes in memory, and against everything that can happen to files.

mod answers;
mod changes;
mod graph;
mod hostile;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::{IndexParams, NewDocument, SearchIndex};
use crate::embedding::{EmbeddingParams, Fitter, WordMoversEmbedding};
use crate::space::UnknownWords;
use crate::vectors::WordVectors;

/// Words `w0` to `w39` in three dimensions, with ties.
pub fn vectors() -> Arc<WordVectors> {
    let words = (0..40).map(|i| format!("w{i}")).collect();
    let matrix = (0..120u32).map(|i| ((i * 7919 + i / 5) % 17) as f32 - 8.0);
    Arc::new(WordVectors::from_rows("toy", words, matrix.collect(), 3).unwrap())
}

/// Texts of a few words each, some of which have no vector; one text is empty.
pub fn texts(n: usize, seed: usize) -> Vec<String> {
    let word = |i: usize| match i % 11 {
        0 => format!("unknown{}", i % 5),
        _ => format!("w{}", i % 40),
    };
    let text = |i: usize| {
        let len = (i * 5 + seed) % 9;
        let words = (0..len).map(|j| word((i + seed) * 31 + j * (7 + i % 13)));
        words.collect::<Vec<_>>().join(" ")
    };
    (0..n).map(text).collect()
}

pub fn numbered(texts: &[String]) -> Vec<NewDocument> {
    texts.iter().map(NewDocument::numbered).collect()
}

pub fn named(texts: &[String], prefix: &str) -> Vec<NewDocument> {
    let with_number = texts.iter().enumerate();
    with_number
        .map(|(i, text)| NewDocument::named(format!("{prefix}{i}"), text))
        .collect()
}

/// Unknown words get vectors of their own, so that both kinds of words are in bags.
pub fn params(unknown: UnknownWords) -> IndexParams {
    let mut embedding = EmbeddingParams::default().n_features(16);
    embedding.documents.unknown = Some(unknown);
    IndexParams::default().embedding(embedding)
}

/// What `build` fits.
pub fn model(texts: &[String], params: &IndexParams) -> WordMoversEmbedding {
    let mut fitter = Fitter::new(params.embedding.clone().check().unwrap(), vectors());
    for text in texts {
        let counts = fitter.word_counts(text);
        fitter.observe(&counts);
    }
    fitter.finish().unwrap()
}

/// A folder for an index.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().join("docs.wmi")
    }

    pub fn build(&self, documents: &[NewDocument]) -> SearchIndex {
        SearchIndex::build(
            &self.path(),
            &params(UnknownWords::Random),
            vectors(),
            documents,
        )
        .unwrap()
    }

    pub fn open(&self) -> SearchIndex {
        SearchIndex::open(&self.path(), None).unwrap()
    }
}

/// Names of the files of an index.
pub fn files(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "lock").collect();
    names.sort();
    names
}
