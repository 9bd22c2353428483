//! Opening, describing and verifying an index.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::IndexError;
use super::graph::Graph;
use super::manifest::{FileEntry, Ids, MANIFEST, Manifest, invalid};
use super::segment::{self, Found, Segment, damaged};
use crate::document::BagRules;
use crate::embedding::WordMoversEmbedding;
use crate::error::{Error, Result};
use crate::format::ModelFile;
use crate::neighbors::TypicalWords;
use crate::vectors::WordVectors;

/// A reader that meets a writer just when it removes old files begins again.
const ATTEMPTS: usize = 20;

/// An index of documents, open.
///
/// What is open stays as it is, whatever others do to the index; to see their changes, open it
/// again ([`is_current`](Self::is_current) tells). Searching takes `&self` and may run on any
/// number of threads.
#[derive(Debug)]
pub struct SearchIndex {
    pub(super) path: PathBuf,
    pub(super) manifest: Manifest,
    pub(super) segments: Vec<Segment>,
    pub(super) graph: Option<Graph>,
    pub(super) model: WordMoversEmbedding,
    pub(super) typical_words: OnceLock<TypicalWords>,
    pub(super) frequent_words: OnceLock<Vec<u32>>,
}

/// What is in an index.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct IndexInfo {
    /// Documents that can be found.
    pub documents: usize,
    /// Documents that were removed and still take room.
    pub removed: usize,
    /// Segments.
    pub segments: usize,
    /// Distinct words.
    pub words: usize,
    /// Distinct words with a vector.
    pub vectors: usize,
    /// Documents, removed ones included, that are in a graph for approximate search.
    pub in_graph: usize,
    /// Number of features of the embeddings.
    pub n_features: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// Grows by one with every change.
    pub generation: u64,
    /// Whether documents are known by ids that they came with, not by numbers.
    pub has_ids: bool,
    /// The program and version that wrote it first.
    pub written_by: String,
}

/// Whether a path is an index: a folder with a manifest, however damaged.
#[must_use]
pub fn is_index(path: &Path) -> bool {
    path.join(MANIFEST).is_file()
}

impl SearchIndex {
    /// Opens an index. Its word vectors are built in or in the index; others may be given in
    /// their place, if they are the same.
    ///
    /// Files are mapped, and not read to the end: see [`verify`](Self::verify).
    ///
    /// # Errors
    ///
    /// [`Error::Read`]; [`Error::InvalidIndex`] says what is wrong with it;
    /// [`Error::InvalidModel`] if the vectors are others.
    pub fn open(path: &Path, vectors: Option<Arc<WordVectors>>) -> Result<Self> {
        let mut manifest = Manifest::read(path)?;
        for _ in 0..ATTEMPTS {
            let missing = match Self::with_manifest(path, manifest.clone(), vectors.clone()) {
                Err(Error::Read { path, source }) if source.kind() == io::ErrorKind::NotFound => {
                    path
                }
                opened => return opened,
            };
            let newer = Manifest::read(path)?;
            if newer.generation == manifest.generation {
                let file = missing.file_name().unwrap_or_default().to_string_lossy();
                return Err(invalid(path, damaged(&file, "it is missing")));
            }
            manifest = newer;
        }
        Err(invalid(path, IndexError::Locked))
    }

    pub(super) fn with_manifest(
        path: &Path,
        manifest: Manifest,
        vectors: Option<Arc<WordVectors>>,
    ) -> Result<Self> {
        let vectors = match (&manifest.vectors, vectors) {
            (_, Some(given)) => Some(given),
            (None, None) => None,
            (Some(entry), None) => {
                WordVectors::open(&path.join(&entry.file), None).map(|v| Some(Arc::new(v)))?
            }
        };
        let file = ModelFile::open(&path.join(&manifest.model.file))?;
        let model = file.with_vectors(vectors)?;
        if (model.space().dim(), model.n_features()) != (manifest.dim, manifest.n_features) {
            let reason = "it has other sizes than the index";
            return Err(invalid(path, damaged(&manifest.model.file, reason)));
        }
        let segments = open_segments(path, &manifest)?;
        let graph = match &manifest.graph {
            None => None,
            Some(entry) => Some(Graph::new(mapped(path, &entry.data)?, entry.clone())),
        };
        Ok(SearchIndex {
            path: path.to_owned(),
            manifest,
            segments,
            graph,
            model,
            typical_words: OnceLock::new(),
            frequent_words: OnceLock::new(),
        })
    }

    /// Whether nobody has changed the index since it was opened.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn is_current(&self) -> Result<bool> {
        Ok(Manifest::read(&self.path)?.generation == self.manifest.generation)
    }

    /// Reads every file to its end and compares it with its checksum.
    ///
    /// # Errors
    ///
    /// [`Error::Read`]; [`Error::InvalidIndex`] names the first file that differs.
    pub fn verify(&self) -> Result<()> {
        for segment in &self.segments {
            self.found(segment.verify())?;
        }
        if let Some(graph) = &self.graph {
            self.found(graph.verify())?;
        }
        // Bits of removed documents and the model were verified when they were opened.
        if let Some(entry) = &self.manifest.vectors {
            let map = mapped(&self.path, entry)?;
            self.found(segment::verify(entry, &map))?;
        }
        Ok(())
    }

    /// What is in it.
    #[must_use]
    pub fn info(&self) -> IndexInfo {
        let segments = &self.manifest.segments;
        let sum = |of: fn(&Segment) -> usize| self.segments.iter().map(of).sum();
        IndexInfo {
            documents: self.n_live(),
            removed: sum(|segment| segment.entry.documents - segment.entry.live()),
            segments: segments.len(),
            words: sum(|segment| segment.entry.words()),
            vectors: sum(Segment::n_vectors),
            in_graph: self.n_in_graph(),
            n_features: self.manifest.n_features,
            bytes: self.manifest.files().iter().map(|entry| entry.bytes).sum(),
            generation: self.manifest.generation,
            has_ids: self.manifest.ids == Ids::Given,
            written_by: self.manifest.written_by.clone(),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What embeds its documents, and how texts become words.
    #[must_use]
    pub fn model(&self) -> &WordMoversEmbedding {
        &self.model
    }

    /// How words become weights.
    #[must_use]
    pub fn rules(&self) -> BagRules {
        BagRules {
            max_words: self.manifest.max_words,
            ..*self.model.documents().rules()
        }
    }

    /// The text of the document with this id, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidIndex`] if the index is damaged.
    pub fn text(&self, id: &str) -> Result<Option<&str>> {
        for segment in self.segments.iter().rev() {
            if let Some(i) = self.found(segment.find(id))? {
                return self.found(segment.text(i)).map(Some);
            }
        }
        Ok(None)
    }

    /// Adds the name of the index to what is wrong with it.
    pub(super) fn found<T>(&self, found: Found<T>) -> Result<T> {
        found.map_err(|problem| invalid(&self.path, problem))
    }

    /// Documents that can be found, those without words included.
    pub(super) fn n_live(&self) -> usize {
        let live = self.manifest.segments.iter();
        live.map(super::manifest::SegmentEntry::live).sum()
    }
}

pub(super) fn open_segments(path: &Path, manifest: &Manifest) -> Result<Vec<Segment>> {
    let (mut first_word, mut first_document) = (0, 0);
    let mut segments = Vec::with_capacity(manifest.segments.len());
    for entry in &manifest.segments {
        let removed = match &entry.removed {
            None => vec![0; entry.documents.div_ceil(8)],
            Some(removed) => {
                let map = mapped(path, &removed.bits)?;
                segment::verify(&removed.bits, &map).map_err(|problem| invalid(path, problem))?;
                map.to_vec()
            }
        };
        let map = mapped(path, &entry.data)?;
        let sizes = (manifest.dim, manifest.n_features);
        let segment = Segment::new(
            map,
            entry.clone(),
            removed,
            first_word,
            first_document,
            sizes,
        );
        segments.push(segment.map_err(|problem| invalid(path, problem))?);
        first_word += entry.words();
        first_document += entry.documents;
    }
    Ok(segments)
}

fn mapped(folder: &Path, entry: &FileEntry) -> Result<memmap2::Mmap> {
    let mapped = segment::map(folder, entry).map_err(|source| Error::Read {
        path: folder.join(&entry.file),
        source,
    })?;
    mapped.map_err(|problem| invalid(folder, problem))
}
