//! What was computed before, by the hash of everything it depends on.
//!
//! An entry is one file, named for its key: `wmcache1`, the SHA-256 of the payload, the
//! payload. It is written aside and renamed, so it is there whole or not at all, and a
//! damaged one counts as missing. Nothing is ever out of date: other input has another
//! key. Entries can be deleted at any time, at the price of computing them again.
//!
//! A program that is killed can leave an entry half written under its hidden name. No
//! key leads there, and the folder is rid of it when it is opened again.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use wordmover::content_hash::{ContentHash, hex};

use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"wmcache1";

/// How the name of an entry being written begins and ends.
const UNFINISHED: (&str, &str) = (".", ".part");

/// An entry takes a moment to write: one this old that is unfinished has lost its writer.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A folder of results, or none.
#[derive(Debug, Clone, Default)]
pub struct Cache {
    folder: Option<PathBuf>,
    /// Held while an entry is being written; true: nothing is kept any more.
    closed: Arc<Mutex<bool>>,
}

impl Cache {
    /// Keeps nothing.
    #[must_use]
    pub fn none() -> Self {
        Cache::default()
    }

    /// Keeps results in a folder, which is made if need be. Several programs may use
    /// one folder at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Cache`] if it cannot be made, or nothing can be written in it.
    pub fn open(folder: &Path) -> Result<Self> {
        let open = || -> std::io::Result<()> {
            if folder.exists() && !folder.is_dir() {
                return Err(std::io::ErrorKind::NotADirectory.into());
            }
            std::fs::create_dir_all(folder)?;
            remove_abandoned(folder)?;
            // Refused now rather than after the first hour of work.
            unfinished(folder).map(drop)
        };
        open().map_err(|source| failed(folder, source))?;
        Ok(Cache {
            folder: Some(folder.to_owned()),
            ..Cache::default()
        })
    }

    /// Waits until no entry is being written and lets no other begin, here and in all
    /// clones. A program that is about to exit in the middle of its work calls this so
    /// as to leave nothing half written.
    pub fn close(&self) {
        *self.lock() = true;
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        // A panic elsewhere has removed its unfinished entry.
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The payload kept under a key, if it is there and whole.
    pub(crate) fn get(&self, key: &Key) -> Result<Option<Vec<u8>>> {
        let Some(folder) = &self.folder else {
            return Ok(None);
        };
        let path = folder.join(key.file_name());
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(failed(&path, source)),
        };
        let payload = bytes.strip_prefix(MAGIC).and_then(|rest| {
            let (hash, payload) = rest.split_at_checked(32)?;
            (hash == Sha256::digest(payload).as_slice()).then(|| payload.to_vec())
        });
        Ok(payload)
    }

    /// Keeps a payload.
    pub(crate) fn put(&self, key: &Key, payload: &[u8]) -> Result<()> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let path = folder.join(key.file_name());
        let closed = self.lock();
        if *closed {
            return Err(Error::Interrupted);
        }
        let write = || -> std::io::Result<()> {
            let mut aside = unfinished(folder)?;
            aside.write_all(MAGIC)?;
            aside.write_all(&Sha256::digest(payload))?;
            aside.write_all(payload)?;
            aside.persist(&path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(|source| failed(&path, source))
    }
}

fn unfinished(folder: &Path) -> std::io::Result<NamedTempFile> {
    let (prefix, suffix) = UNFINISHED;
    let mut name = tempfile::Builder::new();
    name.prefix(prefix).suffix(suffix).tempfile_in(folder)
}

/// Removes what programs that were killed left unfinished.
fn remove_abandoned(folder: &Path) -> std::io::Result<()> {
    let (prefix, suffix) = UNFINISHED;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_unfinished = name.starts_with(prefix) && name.ends_with(suffix);
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if is_unfinished && age().is_some_and(|age| age > ABANDONED) {
            // Another program may have removed it just now.
            let _ = std::fs::remove_file(entry.path());
        }
    }
    Ok(())
}

fn failed(path: &Path, source: std::io::Error) -> Error {
    Error::Cache {
        path: path.to_owned(),
        source,
    }
}

/// What a result depends on, hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    kind: &'static str,
    hash: [u8; 32],
}

impl Key {
    fn file_name(&self) -> String {
        format!("{}-{}", self.kind, hex(&self.hash))
    }

    pub fn hash(&self) -> &[u8; 32] {
        &self.hash
    }
}

/// Hashes what a result depends on.
pub(crate) struct KeyBuilder {
    kind: &'static str,
    hash: ContentHash,
}

impl KeyBuilder {
    /// The kind names the computation and its version, and begins the name of the file.
    pub fn new(kind: &'static str) -> Self {
        KeyBuilder {
            kind,
            hash: ContentHash::new(kind),
        }
    }

    /// Adds to the hash.
    pub fn with(self, add: impl FnOnce(ContentHash) -> ContentHash) -> Self {
        KeyBuilder {
            hash: add(self.hash),
            ..self
        }
    }

    pub fn bytes(self, bytes: &[u8]) -> Self {
        self.with(|hash| hash.bytes(bytes))
    }

    pub fn numbers(self, numbers: impl ExactSizeIterator<Item = u64>) -> Self {
        self.with(|hash| hash.numbers(numbers))
    }

    pub fn finish(self) -> Key {
        Key {
            kind: self.kind,
            hash: self.hash.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(part: &[u8]) -> Key {
        KeyBuilder::new("test-1").bytes(part).finish()
    }

    #[test]
    fn what_was_kept_is_found_under_its_key_alone() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("a/b")).unwrap();
        assert_eq!(cache.get(&key(b"x")).unwrap(), None);
        cache.put(&key(b"x"), b"payload").unwrap();
        cache.put(&key(b"empty"), b"").unwrap();
        assert_eq!(cache.get(&key(b"x")).unwrap().unwrap(), b"payload");
        assert_eq!(cache.get(&key(b"empty")).unwrap().unwrap(), b"");
        assert_eq!(cache.get(&key(b"y")).unwrap(), None);
        let none = Cache::none();
        none.put(&key(b"x"), b"payload").unwrap();
        assert_eq!(none.get(&key(b"x")).unwrap(), None);
    }

    #[test]
    fn a_damaged_entry_counts_as_missing_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        cache.put(&key(b"x"), b"payload").unwrap();
        let path = folder.path().join(key(b"x").file_name());
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(cache.get(&key(b"x")).unwrap(), None, "{length} bytes");
        }
        let mut changed = whole.clone();
        *changed.last_mut().unwrap() ^= 1;
        std::fs::write(&path, changed).unwrap();
        assert_eq!(cache.get(&key(b"x")).unwrap(), None);
        cache.put(&key(b"x"), b"payload").unwrap();
        assert_eq!(cache.get(&key(b"x")).unwrap().unwrap(), b"payload");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = Cache::open(&file.join("cache")).unwrap_err();
        let path = file.join("cache");
        assert_eq!(
            error.to_string(),
            format!("cannot use the cache {}", path.display())
        );
    }

    #[test]
    fn a_closed_cache_keeps_nothing_more_and_leaves_nothing_unfinished() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let writer = cache.clone();
        let large = vec![7; 1 << 20];
        let writing = std::thread::spawn(move || {
            let mut n_kept = 0u64;
            while writer.put(&key(&n_kept.to_le_bytes()), &large).is_ok() {
                n_kept += 1;
            }
            n_kept
        });
        while std::fs::read_dir(folder.path()).unwrap().count() < 3 {
            std::thread::yield_now();
        }
        cache.close();
        let names = || -> Vec<String> {
            let entries = std::fs::read_dir(folder.path()).unwrap();
            let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
            entries.map(|e| name(e).into_string().unwrap()).collect()
        };
        let kept = names();
        assert!(
            kept.iter().all(|name| name.starts_with("test-1-")),
            "{kept:?}"
        );
        assert_eq!(writing.join().unwrap(), kept.len() as u64);
        assert_eq!(names().len(), kept.len());
        // What is there can still be read.
        assert!(cache.get(&key(&0u64.to_le_bytes())).unwrap().is_some());
        assert!(matches!(
            cache.put(&key(b"x"), b"y"),
            Err(Error::Interrupted)
        ));
    }

    #[test]
    fn what_a_killed_program_left_is_passed_over_and_removed_when_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (
            folder.path().join(".old.part"),
            folder.path().join(".new.part"),
        );
        let notes = folder.path().join("notes.part");
        for path in [&old, &new, &notes] {
            std::fs::write(path, b"wmcache1 and not much more").unwrap();
        }
        for path in [&old, &notes] {
            let file = std::fs::File::options().write(true).open(path).unwrap();
            let long_ago = std::time::SystemTime::now() - 2 * ABANDONED;
            file.set_modified(long_ago).unwrap();
        }
        let cache = Cache::open(folder.path()).unwrap();
        // The new one may be another program's, at work.
        assert_eq!(
            (old.exists(), new.exists(), notes.exists()),
            (false, true, true)
        );
        cache.put(&key(b"x"), b"payload").unwrap();
        assert_eq!(cache.get(&key(b"x")).unwrap().unwrap(), b"payload");
    }
}
