//! The manifest: which files are the index.
//!
//! Files are never changed once they have their name. Whoever changes an index writes new
//! files, then a new manifest in place of the old one, then removes the files that no manifest
//! names: whatever happens in between, one of the two manifests is there with all its files.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::IndexError;
use crate::atomic_file;
use crate::content_hash::hex;
use crate::error::{Error, Result};

/// The one file whose content changes.
pub(super) const MANIFEST: &str = "index.json";

/// Locked by whoever writes.
const LOCK: &str = "lock";

const FORMAT: &str = "wordmover-index";

/// The version that is written, the newest that is read.
pub(super) const VERSION: u32 = 1;

/// Longer manifests are not ours: this one would be of ten billion documents.
const MAX_BYTES: u64 = 1 << 26;

/// What documents are known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Ids {
    /// The ids they came with.
    Given,
    /// Their number, from 0 on, in the order in which they came.
    Numbers,
}

/// A file of the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileEntry {
    pub file: String,
    pub bytes: u64,
    pub sha256: String,
}

/// Documents removed from a segment: a bit each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RemovedEntry {
    pub bits: FileEntry,
    pub documents: usize,
    /// Words they have together, for the mean length of documents.
    pub tokens: u64,
}

/// A segment and what is known of it without opening it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SegmentEntry {
    pub data: FileEntry,
    pub documents: usize,
    /// Words that no segment before has, by kind.
    pub known_words: usize,
    pub composed_words: usize,
    pub other_words: usize,
    pub tokens: u64,
    /// Greatest length of one of its word vectors.
    pub radius: f64,
    pub removed: Option<RemovedEntry>,
}

impl SegmentEntry {
    pub fn words(&self) -> usize {
        self.known_words + self.composed_words + self.other_words
    }

    pub fn live(&self) -> usize {
        self.documents - self.removed.as_ref().map_or(0, |removed| removed.documents)
    }

    pub fn live_tokens(&self) -> u64 {
        self.tokens - self.removed.as_ref().map_or(0, |removed| removed.tokens)
    }
}

/// The graph over the embeddings of the first segments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphEntry {
    pub data: FileEntry,
    pub segments: usize,
}

/// What the file says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub format: String,
    pub version: u32,
    pub written_by: String,
    /// Grows with every change.
    pub generation: u64,
    pub ids: Ids,
    /// The number of the next document, where documents are numbered.
    pub next_number: u64,
    /// Distinct words of a document that count.
    pub max_words: usize,
    pub n_features: usize,
    pub dim: usize,
    pub model: FileEntry,
    /// Word vectors, unless they are built in.
    pub vectors: Option<FileEntry>,
    pub segments: Vec<SegmentEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphEntry>,
}

impl Manifest {
    pub fn new(
        ids: Ids,
        max_words: usize,
        n_features: usize,
        dim: usize,
        model: FileEntry,
    ) -> Self {
        Manifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            written_by: concat!("wordmover ", env!("CARGO_PKG_VERSION")).to_owned(),
            generation: 0,
            ids,
            next_number: 0,
            max_words,
            n_features,
            dim,
            model,
            vectors: None,
            segments: Vec::new(),
            graph: None,
        }
    }

    /// Reads and checks the manifest of a folder.
    pub fn read(folder: &Path) -> Result<Self> {
        let invalid = |problem| invalid(folder, problem);
        let path = folder.join(MANIFEST);
        let bytes = match fs::metadata(&path) {
            Ok(metadata) if metadata.len() <= MAX_BYTES => fs::read(&path),
            Ok(_) => return Err(invalid(IndexError::NotAnIndex)),
            Err(error) => Err(error),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error)
                if folder.exists() && error.kind() != std::io::ErrorKind::PermissionDenied =>
            {
                return Err(invalid(IndexError::NotAnIndex));
            }
            Err(source) => {
                let path = if folder.exists() {
                    path
                } else {
                    folder.to_owned()
                };
                return Err(Error::Read { path, source });
            }
        };
        Self::parse(&bytes).map_err(invalid)
    }

    fn parse(bytes: &[u8]) -> Result<Self, IndexError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Whole {
            checksum: String,
            index: serde_json::Value,
        }

        let damaged = |reason: String| IndexError::Damaged {
            file: MANIFEST.to_owned(),
            reason,
        };
        let whole: Whole = match serde_json::from_slice(bytes) {
            Ok(whole) => whole,
            // A manifest that was cut short or flipped still begins as ours do.
            Err(error) if bytes.starts_with(START.as_bytes()) => {
                return Err(damaged(error.to_string()));
            }
            Err(_) => return Err(IndexError::NotAnIndex),
        };
        if whole.index.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
            return Err(IndexError::NotAnIndex);
        }
        match whole
            .index
            .get("version")
            .and_then(serde_json::Value::as_u64)
        {
            Some(found) if found > u64::from(VERSION) => {
                let supported = VERSION;
                return Err(IndexError::NewerVersion { found, supported });
            }
            Some(1..) => {}
            _ => return Err(damaged("it has no version".to_owned())),
        }
        let index = inner(bytes).ok_or_else(|| damaged("it is not framed".to_owned()))?;
        if hex(&Sha256::digest(index)) != whole.checksum {
            return Err(damaged("its checksum differs".to_owned()));
        }
        let manifest: Manifest =
            serde_json::from_value(whole.index).map_err(|error| damaged(error.to_string()))?;
        manifest.check().map_err(damaged)?;
        Ok(manifest)
    }

    /// What no checksum proves: somebody may have written it with one.
    fn check(&self) -> Result<(), String> {
        let files = self.files();
        if let Some(entry) = files.iter().find(|entry| !is_plain_name(&entry.file)) {
            return Err(format!(
                "{:?} is not the name of a file of an index",
                entry.file
            ));
        }
        let limit = u32::MAX as usize;
        let mut counts = self.segments.iter().flat_map(|segment| {
            [
                segment.documents,
                segment.known_words,
                segment.composed_words,
                segment.other_words,
            ]
        });
        let sum = counts.try_fold(0usize, |sum, n| sum.checked_add(n));
        if sum.is_none_or(|sum| sum >= limit) {
            return Err("it counts more than an index can hold".to_owned());
        }
        for segment in &self.segments {
            let removed = segment.removed.as_ref();
            let fits = removed.is_none_or(|removed| {
                removed.documents <= segment.documents && removed.tokens <= segment.tokens
            });
            // Eight bytes of a document are in the file at least: nothing is allocated for more.
            let fits = fits && segment.data.bytes / 8 >= segment.documents as u64;
            if !(fits && segment.radius.is_finite() && segment.radius >= 0.0) {
                return Err(format!("what it says of {} cannot be", segment.data.file));
            }
        }
        let graph = self.graph.as_ref();
        if graph.is_some_and(|graph| graph.segments > self.segments.len()) {
            return Err("its graph covers more segments than there are".to_owned());
        }
        if self.dim == 0 || self.n_features == 0 || self.max_words == 0 {
            return Err("it has a size of 0".to_owned());
        }
        Ok(())
    }

    /// The bytes of the file.
    fn to_bytes(&self) -> Vec<u8> {
        let index = serde_json::to_string(self).expect("plain values");
        let checksum = hex(&Sha256::digest(index.as_bytes()));
        format!("{START}\"{checksum}\",\"index\":{index}}}").into_bytes()
    }

    /// All files that it names.
    pub fn files(&self) -> Vec<&FileEntry> {
        let removed = |segment: &'_ SegmentEntry| segment.removed.is_some();
        let segments = self.segments.iter().map(|segment| &segment.data);
        let bits = self.segments.iter().filter(|segment| removed(segment));
        let bits = bits.filter_map(|segment| segment.removed.as_ref().map(|removed| &removed.bits));
        let first = std::iter::once(&self.model).chain(&self.vectors);
        let graph = self.graph.as_ref().map(|graph| &graph.data);
        first.chain(segments).chain(bits).chain(graph).collect()
    }
}

const START: &str = "{\"checksum\":";

/// The bytes of the member `index`, as they stand.
fn inner(bytes: &[u8]) -> Option<&[u8]> {
    let bytes = bytes.trim_ascii_end();
    // START, a quoted hash of 64 digits, and the name of the member.
    let (frame, index) = bytes.split_at_checked(START.len() + 66 + ",\"index\":".len())?;
    if !frame.starts_with(START.as_bytes()) || !frame.ends_with(b",\"index\":") {
        return None;
    }
    index.strip_suffix(b"}")
}

/// Names that [`Writing::new_file`] gives: nothing that leads out of the folder.
fn is_plain_name(name: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    !name.starts_with('.') && !name.is_empty() && name.len() < 100 && name.bytes().all(plain)
}

pub(super) fn invalid(folder: &Path, problem: IndexError) -> Error {
    Error::InvalidIndex {
        name: folder.display().to_string(),
        problem,
    }
}

/// The right to change an index: one program at a time has it, and loses it when it ends,
/// however it ends.
pub(super) struct Writing {
    folder: PathBuf,
    next_file: u64,
    _lock: File,
}

impl Writing {
    pub fn begin(folder: &Path) -> Result<Self> {
        let path = folder.join(LOCK);
        let failed = |source| Error::Write {
            path: path.clone(),
            source,
        };
        let options = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .to_owned();
        let lock = options.open(&path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(invalid(folder, IndexError::Locked)),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        // Files of a writer that was killed.
        let _ = atomic_file::remove_abandoned(folder);
        let mut next_file = 1;
        for name in names(folder).map_err(failed)? {
            next_file = next_file.max(number_of(&name).unwrap_or(0).saturating_add(1));
        }
        Ok(Writing {
            folder: folder.to_owned(),
            next_file,
            _lock: lock,
        })
    }

    /// A name that no file of the folder ever had, as far as one can see.
    pub fn new_file(&mut self, kind: &str, suffix: &str) -> String {
        let name = format!("{kind}-{:06}.{suffix}", self.next_file);
        self.next_file += 1;
        name
    }

    /// Writes a file of the index.
    pub fn write(&mut self, kind: &str, suffix: &str, parts: &[&[u8]]) -> Result<FileEntry> {
        let file = self.new_file(kind, suffix);
        let path = self.folder.join(&file);
        let (mut sha, mut bytes) = (Sha256::new(), 0);
        let written = atomic_file::write(&path, |out| {
            for part in parts {
                sha.update(part);
                bytes += part.len() as u64;
                out.write_all(part)?;
            }
            Ok(())
        });
        written.map_err(|source| Error::Write { path, source })?;
        let sha256 = hex(&sha.finalize());
        Ok(FileEntry {
            file,
            bytes,
            sha256,
        })
    }

    /// Makes this the index.
    pub fn commit(&self, manifest: &mut Manifest) -> Result<()> {
        manifest.generation += 1;
        let path = self.folder.join(MANIFEST);
        let bytes = manifest.to_bytes();
        // The names of the new files, before the manifest that needs them; then its own.
        sync_folder(&self.folder);
        atomic_file::write(&path, |out| out.write_all(&bytes))
            .map_err(|source| Error::Write { path, source })?;
        sync_folder(&self.folder);
        Ok(())
    }
}

/// Removes what does not belong to the index: the files of the one before, or of a change that
/// failed. Best effort: on some systems a file that a reader has open cannot be removed, and
/// goes with the next change.
impl Drop for Writing {
    fn drop(&mut self) {
        let (Ok(manifest), Ok(names)) = (Manifest::read(&self.folder), names(&self.folder)) else {
            return;
        };
        let named = manifest.files();
        for name in names {
            let is_ours = number_of(&name).is_some();
            if is_ours && !named.iter().any(|entry| entry.file == name) {
                let _ = fs::remove_file(self.folder.join(&name));
            }
        }
    }
}

/// Where folders can be synchronised, their entries survive a power failure, too.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

fn names(folder: &Path) -> std::io::Result<Vec<String>> {
    let names =
        fs::read_dir(folder)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.collect())
}

/// The number in the name of a file of an index.
fn number_of(name: &str) -> Option<u64> {
    let (kind, rest) = name.split_once('-')?;
    let (number, suffix) = rest.split_once('.')?;
    let is_ours = matches!(
        (kind, suffix),
        ("segment" | "vectors", "safetensors")
            | ("model", "wme")
            | ("removed", "bits")
            | ("graph", "usearch")
    );
    number.parse().ok().filter(|_| is_ours)
}

/// Whether a folder holds nothing but files of an index that was never finished.
pub(super) fn is_abandoned(folder: &Path) -> bool {
    let Ok(names) = names(folder) else {
        return false;
    };
    let ours = |name: &String| number_of(name).is_some() || name == LOCK || name.ends_with(".part");
    names.iter().all(ours)
}
