//! A file written aside and renamed when it is whole.

use std::fs;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow, bail};
use tempfile::{NamedTempFile, PersistError};

use super::unfinished::{Entry, Unfinished};
use crate::usage::usage_error;

/// Longer names get a fixed one aside: the random part must still fit in the system's 255 bytes.
const MAX_NAME_BYTES: usize = 200;

/// Checks that a file can be put at `path`: its directory exists and can be written, it
/// is no directory itself, and no file is there unless `force` allows to replace it.
///
/// Call it before a long computation; [`AsideFile::create`] checks again.
pub fn check_target(path: &Path, force: bool) -> Result<()> {
    let name = path.display();
    if path == Path::new("-") {
        return Err(usage_error(
            "this cannot be written to standard output; name a file instead of -",
        ));
    }
    if path.file_name().is_none() {
        bail!("cannot write {name}: it is not the name of a file");
    }
    let directory = directory_of(path);
    if !directory.is_dir() {
        bail!(
            "cannot write {name}: there is no directory {}",
            directory.display()
        );
    }
    // Of a link itself first: one that leads nowhere is still in the way.
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(cannot_write(path, error)),
        Ok(_) => match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => bail!("cannot write {name}: it is a directory"),
            Ok(metadata) if !metadata.is_file() => {
                bail!("cannot write {name}: it is not a regular file")
            }
            _ if !force => return Err(exists(path)),
            _ => {}
        },
    }
    // Whether files can be made there shows by making one.
    let tried = Unfinished::of_this_process().make(|| make_beside(&follow_link(path)));
    tried.map(drop).map_err(|error| cannot_write(path, error))
}

/// Whether two names stand for one file, which need not exist yet.
pub fn is_same_target(a: &Path, b: &Path) -> bool {
    let directory = |path| fs::canonicalize(directory_of(path)).ok();
    a.file_name() == b.file_name() && directory(a) == directory(b)
}

/// A file being written under a hidden name beside its target. Buffered.
///
/// [`AsideFile::commit`] gives it its name; dropping it removes it.
pub struct AsideFile {
    // Dropped in this order: the file is removed before it is forgotten.
    writer: BufWriter<NamedTempFile>,
    entry: Entry,
    /// What the user called it.
    path: PathBuf,
    /// Where it goes: `path`, or what that links to.
    target: PathBuf,
    force: bool,
}

impl AsideFile {
    /// Starts a file that will be `path`. With `force`, it may replace one that exists.
    pub fn create(path: &Path, force: bool) -> Result<AsideFile> {
        AsideFile::create_in(Unfinished::of_this_process(), path, force)
    }

    fn create_in(unfinished: &'static Unfinished, path: &Path, force: bool) -> Result<AsideFile> {
        check_target(path, force)?;
        let target = follow_link(path);
        let (file, entry) = unfinished
            .make(|| make_beside(&target))
            .map_err(|error| cannot_write(path, error))?;
        let writer = BufWriter::with_capacity(1 << 16, file);
        Ok(AsideFile {
            writer,
            entry,
            path: path.to_path_buf(),
            target,
            force,
        })
    }

    /// Starts a file and writes all of it; it has its name only after [`AsideFile::commit`].
    pub fn holding(bytes: &[u8], path: &Path, force: bool) -> Result<AsideFile> {
        let mut file = AsideFile::create(path, force)?;
        file.write_all(bytes)
            .map_err(|error| cannot_write(path, error))?;
        Ok(file)
    }

    /// The final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the whole file on the disk and gives it its name.
    pub fn commit(self) -> Result<()> {
        let AsideFile {
            mut writer,
            entry,
            path,
            target,
            force,
        } = self;
        let written = writer
            .flush()
            .and_then(|()| writer.get_ref().as_file().sync_all());
        let (file, _) = writer.into_parts();
        written.map_err(|error| cannot_write(&path, error))?;

        if force {
            keep_permissions(&file, &target).map_err(|error| cannot_write(&path, error))?;
        }
        entry
            .finish(|| rename(file, &target, force))
            .map_err(|error| cannot_write(&path, error))?
            .map_err(|PersistError { error, file }| {
                if error.kind() == io::ErrorKind::AlreadyExists {
                    keep_aside(file, &path)
                } else {
                    cannot_write(&path, error)
                }
            })
    }
}

impl Write for AsideFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Seek for AsideFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.writer.seek(position)
    }
}

/// `cannot write FILE`, with the system's reason as the cause.
pub fn cannot_write(path: &Path, error: io::Error) -> Error {
    let context = match path == Path::new("-") {
        true => "cannot write standard output".to_owned(),
        false => format!("cannot write {}", path.display()),
    };
    Error::new(error).context(context)
}

fn exists(path: &Path) -> Error {
    anyhow!("{} exists; pass --force to replace it", path.display())
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// What a link leads to: renaming over the link would replace it, and leave the file it names as it was.
fn follow_link(path: &Path) -> PathBuf {
    if path.is_symlink() {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
    } else {
        path.to_path_buf()
    }
}

fn make_beside(target: &Path) -> io::Result<NamedTempFile> {
    let mut prefix = std::ffi::OsString::from(".");
    match target.file_name() {
        Some(name) if name.len() <= MAX_NAME_BYTES => prefix.push(name),
        _ => prefix.push("wordmover"),
    }
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".part");
    // Temporary files are private by default. This one becomes an ordinary file: the
    // system takes the umask from these bits, as it does for every file that is created.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory_of(target))
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

fn rename(file: NamedTempFile, target: &Path, force: bool) -> Result<(), PersistError> {
    if force {
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

/// The target appeared after it was checked. The finished work is not thrown away.
fn keep_aside(file: NamedTempFile, path: &Path) -> Error {
    match file.keep() {
        Ok((_, kept)) => anyhow!(
            "{} was made by another program in the meantime; the output was kept in {}",
            path.display(),
            kept.display()
        ),
        Err(_) => exists(path),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn names_in(directory: &TempDir) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn write(path: &Path, force: bool, text: &str) -> Result<()> {
        let mut file = AsideFile::create(path, force)?;
        file.write_all(text.as_bytes())?;
        file.commit()
    }

    fn error<T>(result: Result<T>) -> String {
        format!("{:#}", result.map(|_| ()).unwrap_err())
    }

    #[test]
    fn a_file_appears_under_its_name_only_when_committed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model.wme");
        let mut file = AsideFile::create(&path, false).unwrap();
        assert_eq!(file.path(), path);
        file.write_all(b"xxxxx, world").unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(b"hello").unwrap();

        let names = names_in(&directory);
        assert_eq!(names.len(), 1);
        assert!(
            names[0].starts_with(".model.wme.") && names[0].ends_with(".part"),
            "{names:?}"
        );

        file.commit().unwrap();
        assert_eq!(names_in(&directory), ["model.wme"]);
        assert_eq!(fs::read(&path).unwrap(), b"hello, world");
    }

    #[test]
    fn a_dropped_file_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = AsideFile::create(&directory.path().join("model.wme"), false).unwrap();
        file.write_all(&[0; 1 << 20]).unwrap();
        drop(file);
        assert!(names_in(&directory).is_empty());
    }

    #[test]
    fn a_file_that_exists_is_replaced_only_with_force() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("docs.npy");
        write(&path, false, "old").unwrap();

        let message = format!("{} exists; pass --force to replace it", path.display());
        assert_eq!(error(check_target(&path, false)), message);
        assert_eq!(error(AsideFile::create(&path, false)), message);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");

        write(&path, true, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names_in(&directory), ["docs.npy"]);
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_left_alone_and_the_work_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("docs.npy");
        let mut file = AsideFile::create(&path, false).unwrap();
        file.write_all(b"ours").unwrap();
        fs::write(&path, "theirs").unwrap();

        let message = error(file.commit());
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        let kept = directory.path().join(&names_in(&directory)[0]);
        assert_eq!(
            message,
            format!(
                "{} was made by another program in the meantime; the output was kept in {}",
                path.display(),
                kept.display()
            )
        );
        assert_eq!(fs::read_to_string(kept).unwrap(), "ours");
    }

    #[test]
    fn an_impossible_target_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("missing").join("docs.npy");
        assert_eq!(
            error(check_target(&path, true)),
            format!(
                "cannot write {}: there is no directory {}",
                path.display(),
                directory.path().join("missing").display()
            )
        );
        for force in [false, true] {
            assert_eq!(
                error(check_target(directory.path(), force)),
                format!(
                    "cannot write {}: it is a directory",
                    directory.path().display()
                )
            );
        }
        assert_eq!(
            error(check_target(Path::new(""), true)),
            "cannot write : it is not the name of a file"
        );
        check_target(Path::new("no such file in the working directory"), false).unwrap();
    }

    #[test]
    fn an_interrupt_removes_the_file_and_forbids_to_commit_it() {
        let unfinished: &'static Unfinished = Box::leak(Box::new(Unfinished::new()));
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("docs.npy");
        let file = AsideFile::create_in(unfinished, &path, true).unwrap();
        unfinished.remove_all();
        assert!(names_in(&directory).is_empty());
        assert_eq!(
            error(file.commit()),
            format!(
                "cannot write {}: the program was interrupted",
                path.display()
            )
        );
        assert!(names_in(&directory).is_empty());
    }

    #[cfg(unix)]
    mod on_unix {
        use std::os::unix::fs::{PermissionsExt, symlink};

        use super::*;

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o7777
        }

        #[test]
        fn a_new_file_has_the_permissions_of_any_other_new_file() {
            let directory = tempfile::tempdir().unwrap();
            let ordinary = directory.path().join("ordinary");
            fs::write(&ordinary, "x").unwrap();
            for force in [false, true] {
                let path = directory.path().join(format!("{force}.npy"));
                write(&path, force, "x").unwrap();
                assert_eq!(mode(&path), mode(&ordinary));
            }
        }

        #[test]
        fn a_replaced_file_keeps_its_permissions() {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("docs.npy");
            write(&path, false, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            write(&path, true, "new").unwrap();
            assert_eq!(mode(&path), 0o640);
        }

        #[test]
        fn a_link_is_written_through() {
            let directory = tempfile::tempdir().unwrap();
            let elsewhere = tempfile::tempdir().unwrap();
            let real = elsewhere.path().join("real.npy");
            fs::write(&real, "old").unwrap();
            let link = directory.path().join("docs.npy");
            symlink(&real, &link).unwrap();

            write(&link, true, "new").unwrap();
            assert!(link.is_symlink());
            assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        }

        #[test]
        fn a_link_to_nothing_is_in_the_way() {
            let directory = tempfile::tempdir().unwrap();
            let link = directory.path().join("docs.npy");
            symlink("nowhere", &link).unwrap();
            assert_eq!(
                error(check_target(&link, false)),
                format!("{} exists; pass --force to replace it", link.display())
            );
            write(&link, true, "new").unwrap();
            assert_eq!(fs::read_to_string(&link).unwrap(), "new");
        }

        #[test]
        fn a_name_of_the_greatest_length_can_be_written() {
            let directory = tempfile::tempdir().unwrap();
            let name = format!("{}.npy", "n".repeat(251));
            write(&directory.path().join(&name), false, "x").unwrap();
            assert_eq!(names_in(&directory), [name]);
        }

        #[test]
        fn a_device_is_not_replaced() {
            assert_eq!(
                error(check_target(Path::new("/dev/null"), true)),
                "cannot write /dev/null: it is not a regular file"
            );
        }
    }
}
