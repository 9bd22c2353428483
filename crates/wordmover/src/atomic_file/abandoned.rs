//! Unfinished files of programs that were killed.
//!
//! A program that is killed cannot remove the file it is writing. Every unfinished file
//! is locked by its writer, and the system drops the lock when the writer ends, however
//! it ends. An unfinished file that can be locked therefore belongs to nobody, and the
//! next program that writes the same target removes it. Process ids would not do: they
//! are reused, and differ between containers that share a folder.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

/// The end of the name of an unfinished file.
pub(super) const SUFFIX: &str = ".part";

/// Random characters between the target's name and the suffix.
pub(super) const RANDOM_CHARACTERS: usize = 6;

/// Marks a file as being written. False if another program is just removing it.
pub(super) fn lock(file: &NamedTempFile) -> bool {
    match file.as_file().try_lock() {
        // It may have been removed between its creation and the lock.
        Ok(()) => fs::symlink_metadata(file.path()).is_ok(),
        Err(TryLockError::WouldBlock) => false,
        // Where files cannot be locked, none is ever removed either.
        Err(TryLockError::Error(_)) => true,
    }
}

/// Removes the unfinished files in a folder whose writers have ended.
///
/// Only names that [`AtomicFile`](super::AtomicFile) gives are looked at. A file that
/// cannot be locked is left alone: its writer lives, or the file system has no locks.
///
/// # Errors
///
/// The folder cannot be read.
pub fn remove_abandoned(folder: &Path) -> io::Result<()> {
    remove_matching(folder, |name| name.starts_with('.'))
}

/// Removes abandoned files whose names begin with this, random characters aside.
pub(super) fn remove_of(folder: &Path, prefix: &OsStr) -> io::Result<()> {
    // A name that is not Unicode has abandoned files that stay: rare, and harmless.
    let Some(prefix) = prefix.to_str() else {
        return Ok(());
    };
    remove_matching(folder, |name| name == prefix)
}

fn remove_matching(folder: &Path, is_meant: impl Fn(&str) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(prefix) = name.to_str().and_then(prefix_of_unfinished) else {
            continue;
        };
        if is_meant(prefix) && entry.file_type()?.is_file() {
            remove_if_abandoned(&entry.path());
        }
    }
    Ok(())
}

/// The part before the random characters, if this is the name of an unfinished file.
fn prefix_of_unfinished(name: &str) -> Option<&str> {
    let name = name.strip_suffix(SUFFIX)?;
    let (prefix, random) = name.split_at_checked(name.len().checked_sub(RANDOM_CHARACTERS)?)?;
    let is_random = random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_random && prefix.ends_with('.')).then_some(prefix)
}

fn remove_if_abandoned(path: &Path) {
    // Whatever fails here, the file stays as it was.
    let Ok(file) = File::options().write(true).open(path) else {
        return;
    };
    if file.try_lock().is_ok() {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_unfinished_files_are_recognised() {
        for (name, prefix) in [
            (".docs.npy.aB3xYz.part", Some(".docs.npy.")),
            (".aB3xYz.part", Some(".")),
            (".docs.npy.backup-1.part", None),
            (".docs.npyaB3xYz.part", None),
            (".docs.npy.aB3xYz", None),
            (".part", None),
            ("é.part", None),
        ] {
            assert_eq!(prefix_of_unfinished(name), prefix, "{name}");
        }
    }

    #[test]
    fn a_file_is_removed_once_its_writer_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in [".a.npy.111111.part", ".b.npy.222222.part", "notes.part"] {
            fs::write(path(name), "x").unwrap();
        }
        let living = File::options()
            .write(true)
            .open(path(".a.npy.111111.part"))
            .unwrap();
        living.lock().unwrap();
        let names = || {
            let entries = fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<String> = entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        remove_of(folder.path(), OsStr::new(".a.npy.")).unwrap();
        assert_eq!(names().len(), 3, "neither a living nor another file");
        remove_abandoned(folder.path()).unwrap();
        assert_eq!(names(), [".a.npy.111111.part", "notes.part"]);
        drop(living);
        remove_of(folder.path(), OsStr::new(".a.npy.")).unwrap();
        assert_eq!(names(), ["notes.part"]);
    }
}
