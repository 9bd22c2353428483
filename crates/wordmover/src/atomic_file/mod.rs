//! Files that are there whole or not at all.
//!
//! An [`AtomicFile`] is written under a hidden name in the folder of its target
//! (`.NAME.XXXXXX.part`) and renamed when it is complete. Readers never see half of it,
//! a failure leaves what was there before, and an unfinished file is removed: when it is
//! dropped, by [`remove_unfinished`] in a program that is interrupted, or by the next
//! program that writes the same target if its writer was killed.

mod abandoned;
mod unfinished;

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, PersistError};

pub use abandoned::remove_abandoned;
pub use unfinished::remove_unfinished;

use abandoned::{RANDOM_CHARACTERS, SUFFIX};
use unfinished::{Entry, Unfinished};

/// Longer names are replaced in the unfinished file's: the random part must still fit
/// in the system's 255 bytes.
const MAX_NAME_BYTES: usize = 200;

/// A program that removes abandoned files may take a new one for abandoned, once.
const ATTEMPTS: usize = 16;

/// A file being written under a hidden name beside its target. Buffered.
///
/// [`commit`](Self::commit) gives it its name; dropping it removes it.
#[derive(Debug)]
pub struct AtomicFile {
    // Dropped in this order: the file is removed before it is forgotten.
    writer: BufWriter<NamedTempFile>,
    entry: Entry,
    /// Where it goes: the path given, or what that links to.
    target: PathBuf,
    replace: bool,
}

impl AtomicFile {
    /// Starts a file that will be `path`, and removes those that were abandoned there.
    /// With `replace`, it may take the place of a file that exists; otherwise
    /// [`commit`](Self::commit) fails where one does.
    ///
    /// # Errors
    ///
    /// The folder does not exist or cannot be written.
    pub fn create(path: &Path, replace: bool) -> io::Result<AtomicFile> {
        AtomicFile::create_in(Unfinished::of_this_process(), path, replace)
    }

    fn create_in(
        unfinished: &'static Unfinished,
        path: &Path,
        replace: bool,
    ) -> io::Result<AtomicFile> {
        let target = follow_link(path);
        let (file, entry) = unfinished.make(|| make_beside(&target))?;
        Ok(AtomicFile {
            writer: BufWriter::with_capacity(1 << 16, file),
            entry,
            target,
            replace,
        })
    }

    /// Puts the whole file on the disk and gives it its name.
    ///
    /// # Errors
    ///
    /// [`CommitError::Exists`] if there is a file that must not be replaced, and
    /// [`CommitError::Failed`] for whatever the system refuses.
    pub fn commit(self) -> Result<(), CommitError> {
        self.finish(true)
    }

    /// As [`commit`](Self::commit), without waiting for the disk: after a power failure
    /// the file may be damaged. For content that carries a checksum and can be made again.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit).
    pub fn commit_unsynced(self) -> Result<(), CommitError> {
        self.finish(false)
    }

    fn finish(self, sync: bool) -> Result<(), CommitError> {
        let AtomicFile {
            mut writer,
            entry,
            target,
            replace,
        } = self;
        let mut written = writer.flush();
        if sync && written.is_ok() {
            written = writer.get_ref().as_file().sync_all();
        }
        // Not `into_inner`, which would write again what could not be written.
        let (file, _) = writer.into_parts();
        written.map_err(CommitError::Failed)?;
        if replace {
            keep_permissions(&file, &target).map_err(CommitError::Failed)?;
        }
        let renamed = entry
            .finish(|| rename(file, &target, replace))
            .map_err(CommitError::Failed)?;
        renamed.map_err(|PersistError { error, file }| match error.kind() {
            io::ErrorKind::AlreadyExists => CommitError::Exists {
                kept: keep(file, &target),
            },
            _ => CommitError::Failed(error),
        })
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.writer.seek(position)
    }
}

/// Why a complete file did not get its name.
#[derive(Debug)]
#[non_exhaustive]
pub enum CommitError {
    /// The target appeared while the file was written, and must not be replaced. The
    /// finished work is kept under this name where the system allows it.
    Exists {
        /// What the file is called instead.
        kept: Option<PathBuf>,
    },
    /// The system's reason.
    Failed(io::Error),
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommitError::Exists { .. } => f.write_str("the file exists"),
            CommitError::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CommitError {}

impl From<CommitError> for io::Error {
    fn from(error: CommitError) -> io::Error {
        match error {
            CommitError::Exists { .. } => io::ErrorKind::AlreadyExists.into(),
            CommitError::Failed(error) => error,
        }
    }
}

/// Writes a whole file, in place of one that exists.
///
/// # Errors
///
/// What `write` returns, and as [`AtomicFile::create`] and [`AtomicFile::commit`].
pub fn write(path: &Path, write: impl FnOnce(&mut AtomicFile) -> io::Result<()>) -> io::Result<()> {
    let mut file = AtomicFile::create(path, true)?;
    write(&mut file)?;
    Ok(file.commit()?)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// What a link leads to: renaming over the link would replace it, and leave the file it
/// names as it was.
fn follow_link(path: &Path) -> PathBuf {
    if path.is_symlink() {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
    } else {
        path.to_path_buf()
    }
}

fn make_beside(target: &Path) -> io::Result<NamedTempFile> {
    let folder = folder_of(target);
    let mut prefix = OsString::from(".");
    match target.file_name() {
        Some(name) if name.len() <= MAX_NAME_BYTES => prefix.push(name),
        _ => prefix.push("wordmover"),
    }
    prefix.push(".");
    // Housekeeping: where it fails, the file can be written all the same.
    let _ = abandoned::remove_of(folder, &prefix);
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(&prefix)
        .rand_bytes(RANDOM_CHARACTERS)
        .suffix(SUFFIX);
    // Temporary files are private by default. This one becomes an ordinary file: the
    // system takes the umask from these bits, as it does for every file that is created.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    for _ in 0..ATTEMPTS {
        let file = builder.tempfile_in(folder)?;
        if abandoned::lock(&file) {
            return Ok(file);
        }
    }
    Err(io::Error::other(
        "another program keeps removing the unfinished file",
    ))
}

/// A file that is replaced keeps its permissions, as if it had been written over.
#[cfg(unix)]
fn keep_permissions(file: &NamedTempFile, target: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    match fs::metadata(target) {
        Ok(metadata) => {
            let mode = metadata.permissions().mode() & 0o777;
            file.as_file()
                .set_permissions(fs::Permissions::from_mode(mode))
        }
        Err(_) => Ok(()),
    }
}

#[cfg(not(unix))]
fn keep_permissions(_: &NamedTempFile, _: &Path) -> io::Result<()> {
    Ok(())
}

fn rename(file: NamedTempFile, target: &Path, replace: bool) -> Result<(), PersistError> {
    if replace {
        return file.persist(target).map(|_| ());
    }
    match file.persist_noclobber(target) {
        Ok(_) => Ok(()),
        // Some file systems can neither rename without replacing nor link. Looking first
        // leaves a moment for another program, but losing the work of hours is worse.
        Err(PersistError { error, file })
            if error.kind() != io::ErrorKind::AlreadyExists
                && fs::symlink_metadata(target).is_err() =>
        {
            file.persist(target).map(|_| ())
        }
        Err(error) => Err(error),
    }
}

/// The target appeared after it was checked. The finished work gets a name that nobody
/// takes for unfinished.
fn keep(file: NamedTempFile, target: &Path) -> Option<PathBuf> {
    let unfinished = file.path().file_stem()?.to_str()?;
    let random = unfinished.rsplit('.').next()?;
    let mut name = target.file_name()?.to_os_string();
    if name.len() > MAX_NAME_BYTES {
        name = OsString::from("wordmover");
    }
    name.push(format!(".{random}.kept"));
    let path = folder_of(target).join(name);
    file.persist_noclobber(&path).ok()?;
    Some(path)
}

#[cfg(test)]
mod tests;
