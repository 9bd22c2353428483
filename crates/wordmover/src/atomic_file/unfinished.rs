//! The files that are being written, so that an interrupt can remove them.
//!
//! Dropping an unfinished file removes it, but a signal ends the program without
//! dropping anything. A signal handler's thread calls [`remove_unfinished`] instead.
//!
//! One lock covers making, renaming and removing. So at an interrupt a file is either
//! renamed already, and stays, or will never be; and none is made afterwards.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

static UNFINISHED: Unfinished = Unfinished::new();

/// Removes every [`AtomicFile`](super::AtomicFile) this process has not finished; from
/// now on none can be made or finished.
///
/// For the last moments of the process, on any thread.
pub fn remove_unfinished() {
    UNFINISHED.remove_all();
}

/// A set of files being written.
#[derive(Debug)]
pub(super) struct Unfinished {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    paths: BTreeSet<PathBuf>,
    is_closed: bool,
}

impl Unfinished {
    pub const fn new() -> Unfinished {
        Unfinished {
            state: Mutex::new(State {
                paths: BTreeSet::new(),
                is_closed: false,
            }),
        }
    }

    /// The set that [`remove_unfinished`] removes.
    pub fn of_this_process() -> &'static Unfinished {
        &UNFINISHED
    }

    /// Makes a file and keeps its name for as long as the entry lives.
    pub fn make(
        &'static self,
        make: impl FnOnce() -> io::Result<NamedTempFile>,
    ) -> io::Result<(NamedTempFile, Entry)> {
        let mut state = self.open_state()?;
        let file = make()?;
        let path = file.path().to_path_buf();
        state.paths.insert(path.clone());
        Ok((file, Entry { set: self, path }))
    }

    pub fn remove_all(&self) {
        let mut state = self.state();
        state.is_closed = true;
        for path in std::mem::take(&mut state.paths) {
            // Nobody is left to tell, and the file may just have been dropped.
            let _ = std::fs::remove_file(path);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves the set as good as it was.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_state(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state();
        if state.is_closed {
            Err(io::Error::other("the program was interrupted"))
        } else {
            Ok(state)
        }
    }
}

/// A file's place in the set; dropping it forgets the file.
#[derive(Debug)]
pub(super) struct Entry {
    set: &'static Unfinished,
    path: PathBuf,
}

impl Entry {
    /// Does what gives the file its final name, unless the program was interrupted.
    pub fn finish<T>(self, rename: impl FnOnce() -> T) -> io::Result<T> {
        let mut state = self.set.open_state()?;
        let renamed = rename();
        state.paths.remove(&self.path);
        drop(state);
        Ok(renamed)
    }

    #[cfg(test)]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let path: &Path = &self.path;
        self.set.state().paths.remove(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A set of the test's own: closing the process's would fail other tests.
    fn own_set() -> &'static Unfinished {
        Box::leak(Box::new(Unfinished::new()))
    }

    #[test]
    fn an_interrupt_removes_what_is_unfinished_and_nothing_else() {
        let set = own_set();
        let directory = tempfile::tempdir().unwrap();
        let make = || NamedTempFile::new_in(directory.path());
        let final_path = directory.path().join("finished");

        let (unfinished, _entry) = set.make(make).unwrap();
        let (finished, entry) = set.make(make).unwrap();
        entry
            .finish(|| finished.persist(&final_path))
            .unwrap()
            .unwrap();
        assert!(unfinished.path().exists());

        set.remove_all();
        assert!(!unfinished.path().exists());
        assert!(final_path.exists());
    }

    #[test]
    fn after_an_interrupt_nothing_is_made_or_finished() {
        let set = own_set();
        let directory = tempfile::tempdir().unwrap();
        let make = || NamedTempFile::new_in(directory.path());
        let (_file, entry) = set.make(make).unwrap();
        set.remove_all();

        let mut was_renamed = false;
        let error = entry.finish(|| was_renamed = true).unwrap_err();
        assert_eq!(error.to_string(), "the program was interrupted");
        assert!(!was_renamed);
        assert!(set.make(make).is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_dropped_entry_is_forgotten() {
        let set = own_set();
        let (file, entry) = set.make(NamedTempFile::new).unwrap();
        assert!(set.state().paths.contains(entry.path()));
        drop((file, entry));
        assert!(set.state().paths.is_empty());
    }
}
