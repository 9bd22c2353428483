//! An index in another folder.

use std::ops::ControlFlow;
use std::path::Path;

use super::manifest::{FileEntry, Manifest, RemovedEntry, SegmentEntry, Writing};
use super::open::SearchIndex;
use super::segment::damaged;
use super::write::{Progress, in_folder, write_model, write_vectors};
use crate::error::{Error, Result};

impl SearchIndex {
    /// Writes the index, as it was when it was opened, to another folder and opens it there;
    /// an index at that place is replaced only if asked for. `progress` is called with the
    /// documents of each segment.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidIndex`] if something is there that is not to be replaced, or this index
    /// is damaged; [`Error::Write`]; [`Error::Interrupted`]. Nothing is then left behind.
    pub fn copy_to(&self, path: &Path, replace: bool, progress: Progress) -> Result<Self> {
        in_folder(path, replace, || {
            let mut writing = Writing::begin(path)?;
            let mut manifest = self.manifest.clone();
            // An index that is replaced goes on counting, so that readers see the change.
            manifest.generation = Manifest::read(path).map_or(0, |replaced| replaced.generation);
            manifest.model = write_model(&mut writing, &self.model)?;
            manifest.vectors = write_vectors(&mut writing, &self.model)?;
            // What is mapped, not what the folder holds: others may have changed that since.
            for (entry, segment) in manifest.segments.iter_mut().zip(&self.segments) {
                let data = writing.write("segment", "safetensors", &[segment.whole()])?;
                self.same(&entry.data, &data)?;
                let removed = match &entry.removed {
                    None => None,
                    Some(removed) => Some(RemovedEntry {
                        bits: writing.write("removed", "bits", &[segment.removed()])?,
                        ..removed.clone()
                    }),
                };
                *entry = SegmentEntry {
                    data,
                    removed,
                    ..entry.clone()
                };
                if let ControlFlow::Break(()) = progress(entry.documents) {
                    return Err(Error::Interrupted);
                }
            }
            if let (Some(entry), Some(graph)) = (&mut manifest.graph, &self.graph) {
                let data = writing.write("graph", "usearch", &[graph.whole()])?;
                self.same(&entry.data, &data)?;
                entry.data = data;
            }
            writing.commit(&mut manifest)?;
            let vectors = self.model.space().vectors().clone();
            Self::with_manifest(path, manifest, Some(vectors))
        })
    }

    /// Refuses to copy damage.
    fn same(&self, from: &FileEntry, copy: &FileEntry) -> Result<()> {
        self.found(match from.sha256 == copy.sha256 {
            true => Ok(()),
            false => Err(damaged(&from.file, "its checksum differs")),
        })
    }
}
