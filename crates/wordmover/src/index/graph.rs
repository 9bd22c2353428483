//! A graph over the embeddings (HNSW; Malkov and Yashunin, 2016), for approximate search among
//! many documents.
//!
//! The graph is usearch's, behind the cargo feature `hnsw`, because that brings a C++ compiler to
//! the build. It covers the first segments of an index, as many as there were when it was built;
//! documents that came later are compared one by one, and those that were removed are passed
//! over. Its candidates are compared by the embeddings of the segments themselves, so that what
//! it misses is all that it changes. Built by one thread, it has the same bytes each time.
//!
//! A program without the feature compares all embeddings, and cannot build an index with a graph.

#[cfg(feature = "hnsw")]
use std::sync::{Arc, OnceLock};

use memmap2::Mmap;
#[cfg(feature = "hnsw")]
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

#[cfg(feature = "hnsw")]
use super::IndexError;
use super::manifest::{GraphEntry, Writing};
use super::open::SearchIndex;
use super::segment::{self, Found};
use super::write::Progress;
#[cfg(not(feature = "hnsw"))]
use crate::error::Result;
#[cfg(feature = "hnsw")]
use crate::error::{Error, Result};

/// Links of a document.
#[cfg(feature = "hnsw")]
const CONNECTIVITY: usize = 16;

/// Documents looked at to link one ...
#[cfg(feature = "hnsw")]
const EXPANSION: usize = 256;

/// ... and to answer a query, at least. With 256, of 30,000 documents, 0.983 of the 10 nearest
/// of 100 candidates were found.
#[cfg(feature = "hnsw")]
const SEARCH_EXPANSION: usize = 512;

/// The graph is asked where it covers so many documents for each one that is looked for. It looks
/// at some 30 for each; comparing all of a few thousand takes no longer.
#[cfg(feature = "hnsw")]
const LEAST_SHARE: usize = 64;

/// The file of a graph, mapped, and the graph once it was asked for.
#[derive(Debug)]
pub(super) struct Graph {
    pub entry: GraphEntry,
    #[cfg(feature = "hnsw")]
    view: OnceLock<View>,
    map: Shared,
}

#[cfg(feature = "hnsw")]
type Shared = Arc<Mmap>;
#[cfg(not(feature = "hnsw"))]
type Shared = Mmap;

impl Graph {
    pub fn new(map: Mmap, entry: GraphEntry) -> Self {
        Graph {
            entry,
            #[cfg(feature = "hnsw")]
            view: OnceLock::new(),
            #[allow(clippy::useless_conversion)]
            map: map.into(),
        }
    }

    /// The whole file.
    pub fn whole(&self) -> &[u8] {
        &self.map
    }

    /// Compares the file with its checksum.
    pub fn verify(&self) -> Found<()> {
        segment::verify(&self.entry.data, &self.map)
    }
}

/// A graph in a mapped file.
#[cfg(feature = "hnsw")]
struct View {
    /// Points into the mapping, and so comes before it.
    index: Index,
    _map: Arc<Mmap>,
}

#[cfg(feature = "hnsw")]
impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View")
            .field("size", &self.index.size())
            .finish()
    }
}

#[cfg(feature = "hnsw")]
fn failed(error: impl std::fmt::Display) -> IndexError {
    IndexError::Graph {
        reason: error.to_string(),
    }
}

#[cfg(feature = "hnsw")]
fn options(n_features: usize) -> IndexOptions {
    IndexOptions {
        dimensions: n_features,
        // Embeddings have length 1.
        metric: MetricKind::IP,
        quantization: ScalarKind::BF16,
        connectivity: CONNECTIVITY,
        expansion_add: EXPANSION,
        expansion_search: SEARCH_EXPANSION,
        multi: false,
    }
}

#[cfg(feature = "hnsw")]
impl Graph {
    /// The graph, opened when it is first asked for. The file is compared with its checksum then:
    /// usearch follows the numbers in it.
    fn view(&self, n_features: usize) -> Found<&View> {
        if let Some(view) = self.view.get() {
            return Ok(view);
        }
        let bad = |reason: String| segment::damaged(&self.entry.data.file, reason);
        self.verify()?;
        let index = Index::new(&options(n_features)).map_err(|error| bad(error.to_string()))?;
        // Said before, since a view cannot be changed.
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.max(rayon::current_num_threads()) + 1;
        let reserved = index.reserve_capacity_and_threads(0, threads);
        // SAFETY: the view keeps the mapping alive, and drops the graph before it. Files of an
        // index are never changed once they have their name, and this one is what its writer
        // wrote, as the checksum says.
        let viewed = reserved.and_then(|()| unsafe { index.view_from_buffer(&self.map) });
        viewed.map_err(|error| bad(error.to_string()))?;
        if index.dimensions() != n_features {
            return Err(bad("it has other sizes than the index".to_owned()));
        }
        let map = Arc::clone(&self.map);
        Ok(self.view.get_or_init(|| View { index, _map: map }))
    }
}

#[cfg(feature = "hnsw")]
impl SearchIndex {
    /// Documents that the graph covers.
    pub(super) fn n_in_graph(&self) -> usize {
        let covered = self.graph.as_ref().map_or(0, |graph| graph.entry.segments);
        let covered = self.segments[..covered].iter();
        covered.map(|segment| segment.entry.documents).sum()
    }

    /// Likely the documents with the `n` greatest cosines to a row among those that the graph
    /// covers, and some more. `None` if there is no graph, or all documents are compared as fast.
    pub(super) fn nearest_in_graph(&self, row: &[f32], n: usize) -> Result<Option<Vec<usize>>> {
        let n_covered = self.n_in_graph();
        let Some(graph) = &self.graph else {
            return Ok(None);
        };
        if n.saturating_mul(LEAST_SHARE) > n_covered {
            return Ok(None);
        }
        let view = self.found(graph.view(self.manifest.n_features))?;
        let can_be_found = |document: u64| {
            (document as usize) < n_covered && {
                let (segment, i) = self.place(document as usize);
                !segment.is_removed(i)
            }
        };
        let found = view
            .index
            .filtered_search(row, n.saturating_mul(2), can_be_found);
        // More threads at once than were foreseen: that is no reason not to answer.
        let Ok(found) = found else {
            return Ok(None);
        };
        let documents = found.keys.iter().map(|&document| document as usize);
        let documents: Vec<usize> = documents.filter(|&document| document < n_covered).collect();
        // Among many that were removed, a graph loses its way.
        Ok((documents.len() >= n).then_some(documents))
    }

    /// Writes a graph over all segments.
    pub(super) fn write_graph(&mut self, writing: &mut Writing, progress: Progress) -> Result<()> {
        let n_features = self.manifest.n_features;
        let graph = self.found(Index::new(&options(n_features)).map_err(failed))?;
        let n_documents: usize = self.segments.iter().map(|s| s.entry.documents).sum();
        let reserved = graph.reserve_capacity_and_threads(n_documents, 1);
        self.found(reserved.map_err(failed))?;
        let mut row = Vec::with_capacity(n_features);
        for segment in &self.segments {
            for i in 0..segment.entry.documents {
                if i % 256 == 0 && progress(0).is_break() {
                    return Err(Error::Interrupted);
                }
                // Those without words have no cosine.
                if self.found(segment.bag_bytes(i))?.0.is_empty() {
                    continue;
                }
                row.clear();
                let numbers = segment.embedding(i).iter();
                row.extend(numbers.map(|&x| f32::from_le_bytes(x)));
                let added = graph.add((segment.first_document + i) as u64, &row);
                self.found(added.map_err(failed))?;
            }
        }
        let mut bytes = vec![0; graph.serialized_length()];
        self.found(graph.save_to_buffer(&mut bytes).map_err(failed))?;
        self.manifest.graph = Some(GraphEntry {
            data: writing.write("graph", "usearch", &[&bytes])?,
            segments: self.segments.len(),
        });
        Ok(())
    }
}

#[cfg(not(feature = "hnsw"))]
impl SearchIndex {
    pub(super) fn nearest_in_graph(&self, _row: &[f32], _n: usize) -> Result<Option<Vec<usize>>> {
        Ok(None)
    }

    pub(super) fn n_in_graph(&self) -> usize {
        0
    }

    pub(super) fn write_graph(&mut self, _: &mut Writing, _: Progress) -> Result<()> {
        self.found(can_build())
    }
}

/// Whether this program can build graphs.
pub(super) fn can_build() -> Found<()> {
    match cfg!(feature = "hnsw") {
        true => Ok(()),
        false => Err(super::IndexError::NoGraphs),
    }
}
