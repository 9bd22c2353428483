//! Where a file goes, checked before the work starts, and the messages when it cannot be written.

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow, bail};
use wordmover::atomic_file::{AtomicFile, CommitError};

use crate::usage::usage_error;

/// Checks everything that a command is going to write, each output named by its option,
/// against everything that it reads. Outputs and inputs that were not given are `None`.
///
/// Every output must be possible ([`check_target`]), no input, by whatever name or link,
/// and no other output. An input may be `-`, standard input.
pub fn check_outputs(
    outputs: &[(&str, Option<&Path>)],
    inputs: &[Option<&Path>],
    force: bool,
) -> Result<()> {
    let outputs: Vec<(&str, &Path)> = outputs
        .iter()
        .filter_map(|&(option, path)| Some((option, path?)))
        .collect();
    let inputs: Vec<&Path> = inputs.iter().copied().flatten().collect();
    for (i, &(option, path)) in outputs.iter().enumerate() {
        // First: the message about --force would lead to the loss of the input.
        if let Some(input) = inputs.iter().find(|input| is_same_file(path, input)) {
            return Err(usage_error(format!(
                "{option} {} would replace {}, which is read here",
                path.display(),
                crate::input::shown(input)
            )));
        }
        check_target(path, force)?;
        let others = outputs[..i].iter();
        if let Some((other, _)) = others.into_iter().find(|o| is_same_target(path, o.1)) {
            return Err(usage_error(format!(
                "{other} and {option} name the same file"
            )));
        }
    }
    Ok(())
}

/// Whether two names, or a name and standard input, lead to one file that exists.
/// Neither is opened: opening and closing a named pipe would end its writer.
#[cfg(unix)]
fn is_same_file(output: &Path, input: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let input = match input == Path::new("-") {
        true => Path::new("/dev/stdin"),
        false => input,
    };
    match (fs::metadata(output), fs::metadata(input)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Elsewhere hard links are not recognised.
#[cfg(not(unix))]
fn is_same_file(output: &Path, input: &Path) -> bool {
    match (fs::canonicalize(output), fs::canonicalize(input)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// Whether two names stand for one file, which need not exist yet.
fn is_same_target(a: &Path, b: &Path) -> bool {
    let directory = |path| fs::canonicalize(directory_of(path)).ok();
    let is_one_name = a.file_name() == b.file_name() && directory(a) == directory(b);
    is_one_name || is_same_file(a, b)
}

/// Checks that a file can be put at `path`: its directory exists and can be written, it
/// is no directory itself, and no file is there unless `force` allows to replace it.
fn check_target(path: &Path, force: bool) -> Result<()> {
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
    let tried = AtomicFile::create(path, force);
    tried.map(drop).map_err(|error| cannot_write(path, error))
}

/// A file that appears whole, under the name the user gave, or not at all.
pub struct OutputFile {
    file: AtomicFile,
    /// What the user called it.
    path: PathBuf,
}

impl OutputFile {
    /// Starts a file that will be `path`. With `force`, it may replace one that exists.
    pub fn create(path: &Path, force: bool) -> Result<OutputFile> {
        check_target(path, force)?;
        let file = AtomicFile::create(path, force).map_err(|error| cannot_write(path, error))?;
        let path = path.to_path_buf();
        Ok(OutputFile { file, path })
    }

    /// Starts a file and writes all of it; it has its name only after [`OutputFile::commit`].
    pub fn holding(bytes: &[u8], path: &Path, force: bool) -> Result<OutputFile> {
        let mut file = OutputFile::create(path, force)?;
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
        let OutputFile { file, path } = self;
        file.commit().map_err(|error| match error {
            CommitError::Exists { kept: Some(kept) } => anyhow!(
                "{} was made by another program in the meantime; the output was kept in {}",
                path.display(),
                kept.display()
            ),
            CommitError::Exists { .. } => exists(&path),
            other => cannot_write(&path, other.into()),
        })
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for OutputFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::is_usage_error;

    fn write(path: &Path, force: bool, text: &str) -> Result<()> {
        OutputFile::holding(text.as_bytes(), path, force)?.commit()
    }

    fn error<T>(result: Result<T>) -> String {
        format!("{:#}", result.map(|_| ()).unwrap_err())
    }

    #[test]
    fn a_file_that_exists_is_replaced_only_with_force() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("docs.npy");
        write(&path, false, "old").unwrap();

        let message = format!("{} exists; pass --force to replace it", path.display());
        assert_eq!(error(check_target(&path, false)), message);
        assert_eq!(error(OutputFile::create(&path, false)), message);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");

        write(&path, true, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_left_alone_and_the_work_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("docs.npy");
        let file = OutputFile::holding(b"ours", &path, false).unwrap();
        fs::write(&path, "theirs").unwrap();
        let message = error(file.commit());
        let start = format!(
            "{} was made by another program in the meantime; the output was kept in ",
            path.display()
        );
        let kept = message.strip_prefix(&start).expect("the start");
        assert_eq!(fs::read_to_string(kept).unwrap(), "ours");
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
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
    fn an_output_is_neither_an_input_nor_another_output() {
        let directory = tempfile::tempdir().unwrap();
        let input = directory.path().join("docs.txt");
        fs::write(&input, "a cat").unwrap();
        let check = |outputs: &[(&str, Option<&Path>)]| {
            let error = check_outputs(outputs, &[None, Some(&input)], true).unwrap_err();
            assert!(is_usage_error(&error));
            error.to_string()
        };
        assert_eq!(
            check(&[("--report", None), ("-o", Some(&input))]),
            format!(
                "-o {0} would replace {0}, which is read here",
                input.display()
            )
        );
        let other = directory.path().join("other.npy");
        assert_eq!(
            check(&[("-o", Some(&other)), ("--report", Some(&other))]),
            "-o and --report name the same file"
        );
        let outputs = [("-o", Some(other.as_path())), ("--report", None)];
        check_outputs(&outputs, &[Some(&input)], false).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn an_input_is_recognised_through_links() {
        let directory = tempfile::tempdir().unwrap();
        let input = directory.path().join("docs.txt");
        fs::write(&input, "a cat").unwrap();
        let (soft, hard) = (directory.path().join("soft"), directory.path().join("hard"));
        std::os::unix::fs::symlink(&input, &soft).unwrap();
        fs::hard_link(&input, &hard).unwrap();
        for link in [&soft, &hard] {
            for (output, input) in [(link, &input), (&input, link)] {
                let outputs = [("-o", Some(output.as_path()))];
                assert!(check_outputs(&outputs, &[Some(input)], true).is_err());
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_is_in_the_way() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("docs.npy");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert_eq!(
            error(check_target(&link, false)),
            format!("{} exists; pass --force to replace it", link.display())
        );
        write(&link, true, "new").unwrap();
        assert_eq!(fs::read_to_string(&link).unwrap(), "new");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_not_replaced() {
        assert_eq!(
            error(check_target(Path::new("/dev/null"), true)),
            "cannot write /dev/null: it is not a regular file"
        );
    }
}
