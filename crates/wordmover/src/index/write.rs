//! Building, adding, removing and compacting.

use std::borrow::Cow;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use hashbrown::HashSet;
use rayon::prelude::*;

use super::IndexError;
use super::graph;
use super::manifest::{FileEntry, Ids, Manifest, RemovedEntry, SegmentEntry, Writing, invalid};
use super::open::{SearchIndex, is_index};
use super::segment_writer::{self, Entry};
use crate::document::{BagRules, Document, Weighting, Word, WordCounts};
use crate::embedding::{EmbeddingParams, EmbeddingStatistics, Fitter, WordMoversEmbedding};
use crate::error::{Error, Result};
use crate::neighbors::scale_to_unit;
use crate::vectors::WordVectors;

/// Documents of a segment at most: what is in memory while one is written.
const DOCUMENTS_A_SEGMENT: usize = 1 << 16;

/// A document on its way into an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDocument {
    /// What it is known by; `None` where documents are numbered.
    pub id: Option<String>,
    /// Its text.
    pub text: String,
}

impl NewDocument {
    /// A document that gets the next number.
    pub fn numbered(text: impl Into<String>) -> Self {
        NewDocument {
            id: None,
            text: text.into(),
        }
    }

    /// A document with an id.
    pub fn named(id: impl Into<String>, text: impl Into<String>) -> Self {
        NewDocument {
            id: Some(id.into()),
            text: text.into(),
        }
    }
}

/// How an index is made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct IndexParams {
    /// The embedding that is fitted on the documents, and how texts become words and words
    /// weights.
    pub embedding: EmbeddingParams,
    /// Distinct words of a document that count, the most frequent; for distances, and for
    /// embeddings of the documents of the index. Default: all of them.
    pub max_words: usize,
    /// Whether an index that exists is replaced. Default: no.
    pub replace: bool,
    /// Whether a graph is built over the embeddings, for approximate search among very many:
    /// [`SearchBy::Embedding`](super::SearchBy::Embedding) then does not compare them all.
    /// Needs the cargo feature `hnsw`. Default: no.
    pub graph: bool,
}

impl Default for IndexParams {
    fn default() -> Self {
        IndexParams {
            embedding: EmbeddingParams::default(),
            max_words: 1 << 24,
            replace: false,
            graph: false,
        }
    }
}

impl IndexParams {
    /// Sets the embedding.
    #[must_use]
    pub fn embedding(mut self, embedding: EmbeddingParams) -> Self {
        self.embedding = embedding;
        self
    }

    /// Sets how many distinct words of a document count.
    #[must_use]
    pub fn max_words(mut self, max_words: usize) -> Self {
        self.max_words = max_words;
        self
    }

    /// Sets whether a graph is built.
    #[must_use]
    pub fn graph(mut self, graph: bool) -> Self {
        self.graph = graph;
        self
    }

    /// Sets whether an index that exists is replaced.
    #[must_use]
    pub fn replace(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }
}

/// Is called with the documents done since the last call, and may break off: then nothing is
/// changed.
pub type Progress<'p> = &'p mut dyn FnMut(usize) -> ControlFlow<()>;

fn no_progress(_: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

impl SearchIndex {
    /// Fits an embedding on the documents and makes their index.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidIndex`] if something is there that is not to be replaced, two documents
    /// have one id, or some have ids and others have none; [`Error::Write`]; and what fitting
    /// and embedding return.
    pub fn build(
        path: &Path,
        params: &IndexParams,
        vectors: Arc<WordVectors>,
        documents: &[NewDocument],
    ) -> Result<Self> {
        if documents.is_empty() {
            return Err(invalid(path, IndexError::Empty));
        }
        let mut fitter = Fitter::new(params.embedding.clone().check()?, vectors);
        if params.embedding.documents.bag.weighting == Weighting::Sif {
            // As `wordmover search` has it: probabilities of the documents themselves.
            fitter = fitter.word_probabilities(None);
        }
        let texts = documents.par_iter();
        let counts: Vec<WordCounts> = texts.map(|new| fitter.word_counts(&new.text)).collect();
        counts.iter().for_each(|counts| fitter.observe(counts));
        drop(counts);
        Self::build_with(path, params, fitter.finish()?, documents, &mut no_progress)
    }

    /// Makes an index of documents with an embedding that was fitted before; the parameters'
    /// own embedding is not used.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), and [`Error::Interrupted`].
    pub fn build_with(
        path: &Path,
        params: &IndexParams,
        model: WordMoversEmbedding,
        documents: &[NewDocument],
        progress: Progress,
    ) -> Result<Self> {
        let ids = match documents {
            [] => return Err(invalid(path, IndexError::Empty)),
            [first, ..] if first.id.is_some() => Ids::Given,
            _ => Ids::Numbers,
        };
        check_ids(path, ids, documents)?;
        if params.graph {
            graph::can_build().map_err(|problem| invalid(path, problem))?;
        }
        in_folder(path, params.replace, || {
            Self::build_in(path, params, model, documents, ids, progress)
        })
    }

    fn build_in(
        path: &Path,
        params: &IndexParams,
        model: WordMoversEmbedding,
        documents: &[NewDocument],
        ids: Ids,
        progress: Progress,
    ) -> Result<Self> {
        let mut writing = Writing::begin(path)?;
        // An index that is replaced goes on counting, so that readers see the change.
        let generation = Manifest::read(path).map_or(0, |replaced| replaced.generation);
        let model_file = write_model(&mut writing, &model)?;
        let (n_features, dim) = (model.n_features(), model.space().dim());
        let mut manifest = Manifest::new(ids, params.max_words, n_features, dim, model_file);
        manifest.generation = generation;
        manifest.vectors = write_vectors(&mut writing, &model)?;
        let mut index = SearchIndex {
            path: path.to_owned(),
            manifest,
            segments: Vec::new(),
            graph: None,
            model,
            typical_words: OnceLock::new(),
            frequent_words: OnceLock::new(),
        };
        index.append(&mut writing, documents, progress)?;
        if params.graph {
            index.write_graph(&mut writing, progress)?;
        }
        writing.commit(&mut index.manifest)?;
        index.reopened()
    }

    /// Adds documents.
    ///
    /// The embedding stays the one that the index was built with. Changes that others made since
    /// the index was opened are taken up first.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidIndex`] if an id is in the index already or twice in the documents, ids
    /// are missing or superfluous, or another program is writing; [`Error::Write`]. The index
    /// is then as it was.
    pub fn add(&mut self, documents: &[NewDocument]) -> Result<()> {
        self.add_with(documents, false, &mut no_progress)
    }

    /// [`add`](Self::add), where documents with an id of the index may take the place of those
    /// that have it, and the work can be followed and broken off.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add), and [`Error::Interrupted`].
    pub fn add_with(
        &mut self,
        documents: &[NewDocument],
        replace: bool,
        progress: Progress,
    ) -> Result<()> {
        check_ids(&self.path, self.manifest.ids, documents)?;
        self.change(|index, writing| {
            let mut replaced = Vec::new();
            for id in documents.iter().filter_map(|new| new.id.as_deref()) {
                if let Some(found) = index.find(id)? {
                    if !replace {
                        let id = id.to_owned();
                        return Err(invalid(&index.path, IndexError::DuplicateId { id }));
                    }
                    replaced.push(found);
                }
            }
            index.mark_removed(writing, &replaced)?;
            index.append(writing, documents, progress)
        })
    }

    /// Removes the documents with these ids; where documents are numbered, those are their
    /// numbers.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidIndex`] if there is no such document, or another program is writing;
    /// [`Error::Write`]. The index is then as it was.
    pub fn remove(&mut self, ids: &[impl AsRef<str>]) -> Result<()> {
        self.change(|index, writing| {
            let mut removed = Vec::with_capacity(ids.len());
            for id in ids.iter().map(AsRef::as_ref) {
                match index.find(id)? {
                    Some(found) => removed.push(found),
                    None => {
                        let id = id.to_owned();
                        return Err(invalid(&index.path, IndexError::UnknownId { id }));
                    }
                }
            }
            index.mark_removed(writing, &removed)
        })
    }

    /// Writes all documents anew, in as few segments as can be and without those that were
    /// removed; its graph, too, if it has one. Answers stay what they are.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidIndex`] if the index is damaged or another program is writing, or it has a
    /// graph and this program has none; [`Error::Write`]. The index is then as it was.
    pub fn compact(&mut self) -> Result<()> {
        self.compact_to(false)
    }

    /// [`compact`](Self::compact), and builds a graph if there was none.
    ///
    /// # Errors
    ///
    /// As [`compact`](Self::compact).
    pub fn compact_with_graph(&mut self) -> Result<()> {
        self.compact_to(true)
    }

    fn compact_to(&mut self, graph: bool) -> Result<()> {
        let mut writing = self.begin()?;
        let graph = graph || self.manifest.graph.is_some();
        if graph {
            self.found(graph::can_build())?;
        }
        let mut compacted = SearchIndex {
            path: self.path.clone(),
            manifest: Manifest {
                segments: Vec::new(),
                graph: None,
                ..self.manifest.clone()
            },
            segments: Vec::new(),
            graph: None,
            model: self.model.clone(),
            typical_words: OnceLock::new(),
            frequent_words: OnceLock::new(),
        };
        let live: Vec<(usize, usize)> = (0..self.segments.len())
            .flat_map(|s| (0..self.segments[s].entry.documents).map(move |i| (s, i)))
            .filter(|&(s, i)| !self.segments[s].is_removed(i))
            .collect();
        for part in live.chunks(DOCUMENTS_A_SEGMENT) {
            let (mut entries, mut rows) = (Vec::with_capacity(part.len()), Vec::new());
            for &(s, i) in part {
                let segment = &self.segments[s];
                let (id, text) = (self.found(segment.id(i))?, self.found(segment.text(i))?);
                entries.push((Cow::Borrowed(id), text));
                let row = segment.embedding(i).iter();
                rows.extend(row.map(|&x| f32::from_le_bytes(x)));
            }
            let entries = compacted.entries(entries);
            compacted.write_segment(&mut writing, &entries, &rows)?;
        }
        if graph {
            compacted.write_graph(&mut writing, &mut no_progress)?;
        }
        writing.commit(&mut compacted.manifest)?;
        *self = compacted.reopened()?;
        Ok(())
    }

    /// Becomes the one writer, of the index as it is now.
    fn begin(&mut self) -> Result<Writing> {
        let writing = Writing::begin(&self.path)?;
        if !self.is_current()? {
            let vectors = self.model.space().vectors().clone();
            *self = Self::open(&self.path, Some(vectors))?;
        }
        Ok(writing)
    }

    /// Changes the index as a whole; where that fails, it is what it was.
    fn change(&mut self, work: impl FnOnce(&mut Self, &mut Writing) -> Result<()>) -> Result<()> {
        let mut writing = self.begin()?;
        let before = self.manifest.clone();
        let done = work(self, &mut writing).and_then(|()| writing.commit(&mut self.manifest));
        match done {
            Ok(()) => *self = self.reopened()?,
            Err(error) => {
                self.segments = super::open::open_segments(&self.path, &before)?;
                self.manifest = before;
                return Err(error);
            }
        }
        Ok(())
    }

    /// The index of its manifest.
    fn reopened(&self) -> Result<Self> {
        let vectors = self.model.space().vectors().clone();
        Self::open(&self.path, Some(vectors))
    }

    /// The segment and place of a document.
    fn find(&self, id: &str) -> Result<Option<(usize, usize)>> {
        for (s, segment) in self.segments.iter().enumerate() {
            if let Some(i) = self.found(segment.find(id))? {
                return Ok(Some((s, i)));
            }
        }
        Ok(None)
    }

    /// Writes new bits for segments that lose documents.
    fn mark_removed(&mut self, writing: &mut Writing, documents: &[(usize, usize)]) -> Result<()> {
        for (s, segment) in self.segments.iter().enumerate() {
            let mut bits = segment.removed().to_vec();
            let of_segment = documents.iter().filter(|(other, _)| *other == s);
            for &(_, i) in of_segment {
                bits[i / 8] |= 1 << (i % 8);
            }
            if bits == segment.removed() {
                continue;
            }
            let is_set = |i: &usize| bits[i / 8] >> (i % 8) & 1 == 1;
            let removed = (0..segment.entry.documents).filter(is_set);
            let n_documents = removed.clone().count();
            let tokens = removed.map(|i| u64::from(segment.tokens(i))).sum();
            self.manifest.segments[s].removed = Some(RemovedEntry {
                documents: n_documents,
                tokens,
                bits: writing.write("removed", "bits", &[&bits])?,
            });
        }
        Ok(())
    }

    /// Embeds documents and writes them in new segments.
    fn append(
        &mut self,
        writing: &mut Writing,
        documents: &[NewDocument],
        progress: Progress,
    ) -> Result<()> {
        for part in documents.chunks(DOCUMENTS_A_SEGMENT) {
            let mut entries = Vec::with_capacity(part.len());
            for new in part {
                let id = match &new.id {
                    Some(id) => Cow::Borrowed(id.as_str()),
                    None => {
                        self.manifest.next_number += 1;
                        Cow::Owned((self.manifest.next_number - 1).to_string())
                    }
                };
                entries.push((id, new.text.as_str()));
            }
            let entries = self.entries(entries);
            let rows = self.embeddings(&entries, progress)?;
            self.write_segment(writing, &entries, &rows)?;
        }
        Ok(())
    }

    /// Counts and weighs words.
    fn entries(&self, documents: Vec<(Cow<str>, &str)>) -> Vec<Entry> {
        let (model, rules) = (self.model.documents(), self.rules());
        let documents = documents.into_par_iter();
        let entries = documents.map(|(id, text)| {
            let counts = model.word_counts(text);
            Entry {
                id: id.into_owned(),
                text: text.to_owned(),
                bag: model.document_by(&counts, &rules),
                counts,
            }
        });
        entries.collect()
    }

    /// Embeddings scaled to length 1.
    fn embeddings(&self, entries: &[Entry], progress: Progress) -> Result<Vec<f32>> {
        let n_features = self.model.n_features();
        let mut rows = vec![0.0; entries.len() * n_features];
        let bags: Vec<Document> = entries.iter().map(|entry| entry.bag.clone()).collect();
        let (mut done, mut told) = (0, 0);
        self.model
            .embed_into(&bags, &mut rows, &mut |work: &EmbeddingStatistics| {
                done += work.distances as usize;
                let new = done / n_features - told;
                told += new;
                progress(new)
            })?;
        rows.par_chunks_exact_mut(n_features)
            .for_each(scale_to_unit);
        Ok(rows)
    }

    fn write_segment(
        &mut self,
        writing: &mut Writing,
        entries: &[Entry],
        rows: &[f32],
    ) -> Result<()> {
        let segments = &self.manifest.segments;
        let first_word = segments.iter().map(SegmentEntry::words).sum();
        let number = |word: Word| self.find_number(word);
        let space = self.model.space();
        let entry = segment_writer::write(writing, space, entries, rows, first_word, number)?;
        self.manifest.segments.push(entry);
        // Words of this segment are not new in the next.
        self.segments = super::open::open_segments(&self.path, &self.manifest)?;
        Ok(())
    }
}

/// Makes an index in a folder, which is gone again if that fails and it was not there before.
pub(super) fn in_folder<T>(
    path: &Path,
    replace: bool,
    make: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let is_new = make_folder(path, replace)?;
    let made = make();
    if made.is_err() && is_new && !is_index(path) {
        // Nothing but our own files is in it.
        let _ = fs::remove_dir_all(path);
    }
    made
}

/// How frequent words are stays out where no weight asks for it: it would be nearly all of the
/// file, and of the time that it takes to open an index.
pub(super) fn write_model(writing: &mut Writing, model: &WordMoversEmbedding) -> Result<FileEntry> {
    let documents = model.documents();
    let asks_for_frequencies = documents.rules().weighting != Weighting::Nbow
        || documents.rules().min_count > 1
        || documents.corpus().factors().is_some();
    let bytes = match asks_for_frequencies {
        true => model.to_bytes(false)?,
        false => model.without_word_counts().to_bytes(false)?,
    };
    writing.write("model", "wme", &[&bytes])
}

/// Vectors that are not built in go into the index, so that it needs no others.
pub(super) fn write_vectors(
    writing: &mut Writing,
    model: &WordMoversEmbedding,
) -> Result<Option<FileEntry>> {
    let vectors = model.space().vectors();
    if crate::format::is_builtin(vectors) {
        return Ok(None);
    }
    let bytes = vectors.to_native_bytes(vectors.precision())?;
    writing.write("vectors", "safetensors", &[&bytes]).map(Some)
}

/// Refuses ids that are missing, superfluous or given twice.
fn check_ids(path: &Path, ids: Ids, documents: &[NewDocument]) -> Result<()> {
    let needed = ids == Ids::Given;
    if documents.iter().any(|new| new.id.is_some() != needed) {
        return Err(invalid(path, IndexError::Ids { needed }));
    }
    let mut seen = HashSet::with_capacity(documents.len());
    for id in documents.iter().filter_map(|new| new.id.as_deref()) {
        if !seen.insert(id) {
            let id = id.to_owned();
            return Err(invalid(path, IndexError::DuplicateId { id }));
        }
    }
    Ok(())
}

/// The folder of a new index; true if it was not there before. One that exists must be empty,
/// the rest of a build that was killed, or an index that is to be replaced.
fn make_folder(path: &Path, replace: bool) -> Result<bool> {
    match fs::create_dir(path) {
        Ok(()) => return Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(source) => {
            let path = path.to_owned();
            return Err(Error::Write { path, source });
        }
    }
    check_place(path, replace)?;
    Ok(false)
}

/// Whether an index can be built at a path: nothing is there, or what a build left that was
/// killed, or an index that is to be replaced.
///
/// # Errors
///
/// [`Error::InvalidIndex`] if something else is there.
pub fn check_place(path: &Path, replace: bool) -> Result<()> {
    match path.symlink_metadata().is_err() {
        true => Ok(()),
        false if is_index(path) && replace => Ok(()),
        false if is_index(path) => Err(invalid(path, IndexError::Exists)),
        false if super::manifest::is_abandoned(path) => Ok(()),
        false => Err(invalid(path, IndexError::Foreign)),
    }
}

impl crate::document_model::DocumentModel {
    /// Weighs counted words by other rules than its own.
    pub(crate) fn document_by(&self, counts: &WordCounts, rules: &BagRules) -> Document {
        let has_vector = |word: Word| self.space().has_vector(word);
        Document::from_counts(counts, self.corpus(), rules, has_vector)
    }
}
