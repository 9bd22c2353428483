//! The bytes of an input: a file or standard input, gunzipped, without a byte order mark.
//!
//! gzip is recognised by its first two bytes and not by the name, because standard
//! input has no name and because programs that download files like to unpack them
//! without renaming them. No valid UTF-8 starts with those two bytes.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use anyhow::{Error, Result};
use flate2::read::MultiGzDecoder;

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// An opened input and what to call it in messages.
pub struct Source {
    pub name: String,
    pub bytes: Box<dyn Read + Send>,
}

impl Source {
    /// Opens the file, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Source> {
        if is_standard_input(path) {
            return Source::from_bytes(shown(path), Box::new(io::stdin()));
        }
        let name = shown(path);
        let file = File::open(path).map_err(|error| cannot_read(&name, error))?;
        // Opening a directory works on Unix; only reading it fails, less clearly.
        let metadata = file.metadata().map_err(|error| cannot_read(&name, error))?;
        if metadata.is_dir() {
            return Err(cannot_read(&name, io::ErrorKind::IsADirectory.into()));
        }
        Source::from_bytes(name, Box::new(file))
    }

    /// Looks through gzip and a byte order mark at the start of `bytes`.
    pub fn from_bytes(name: String, bytes: Box<dyn Read + Send>) -> Result<Source> {
        let unwrapped = gunzip(bytes).and_then(skip_byte_order_mark);
        match unwrapped {
            Ok(bytes) => Ok(Source { name, bytes }),
            Err(error) => Err(cannot_read(&name, error)),
        }
    }
}

/// Whether the path stands for standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// What messages call the input.
pub fn shown(path: &Path) -> String {
    if is_standard_input(path) {
        "standard input".to_string()
    } else {
        path.display().to_string()
    }
}

/// `cannot read FILE`, with the system's reason as the cause.
pub fn cannot_read(place: &str, error: io::Error) -> Error {
    Error::new(error).context(format!("cannot read {place}"))
}

fn gunzip(mut bytes: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let start = read_start(&mut bytes, GZIP_MAGIC.len())?;
    let is_gzip = start == GZIP_MAGIC;
    let whole = Cursor::new(start).chain(bytes);
    // Multi-member: concatenated gzip files are one gzip file, and some tools write blocks that way.
    Ok(if is_gzip {
        Box::new(MultiGzDecoder::new(whole))
    } else {
        Box::new(whole)
    })
}

fn skip_byte_order_mark(mut bytes: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let start = read_start(&mut bytes, BYTE_ORDER_MARK.len())?;
    Ok(if start == BYTE_ORDER_MARK {
        bytes
    } else {
        Box::new(Cursor::new(start).chain(bytes))
    })
}

/// The first `n_bytes`, fewer only at the end of the input: a pipe may give one byte at a time.
fn read_start(bytes: &mut dyn Read, n_bytes: usize) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(n_bytes);
    bytes.take(n_bytes as u64).read_to_end(&mut start)?;
    Ok(start)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// Hands out one byte a call, as a slow pipe may.
    struct Trickle(Cursor<Vec<u8>>);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n_bytes = buffer.len().min(1);
            self.0.read(&mut buffer[..n_bytes])
        }
    }

    fn unwrapped(bytes: &[u8]) -> Vec<u8> {
        let mut source = Source::from_bytes(
            "x".to_string(),
            Box::new(Trickle(Cursor::new(bytes.to_vec()))),
        )
        .unwrap();
        let mut all = Vec::new();
        source.bytes.read_to_end(&mut all).unwrap();
        all
    }

    #[test]
    fn plain_bytes_pass_through_at_every_short_length() {
        for bytes in [
            &b""[..],
            b"a",
            b"ab",
            b"abc",
            b"abcd",
            b"\x1f",
            b"\xef\xbb",
            b"\x8b\x1f",
        ] {
            assert_eq!(unwrapped(bytes), bytes);
        }
    }

    #[test]
    fn gzip_of_several_members_is_one_stream() {
        let mut bytes = gzip(b"first ");
        bytes.extend(gzip(b""));
        bytes.extend(gzip(b"second"));
        assert_eq!(unwrapped(&bytes), b"first second");
    }

    #[test]
    fn a_byte_order_mark_is_skipped_once_also_inside_gzip() {
        assert_eq!(unwrapped(b"\xef\xbb\xbfa"), b"a");
        assert_eq!(unwrapped(b"\xef\xbb\xbf"), b"");
        assert_eq!(
            unwrapped(&gzip(b"\xef\xbb\xbfa\xef\xbb\xbf")),
            b"a\xef\xbb\xbf"
        );
    }

    #[test]
    fn a_missing_file_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing.txt");
        let error = Source::open(&missing).map(|_| ()).unwrap_err();
        assert_eq!(
            wordmover::error_message::of(error.as_ref()),
            format!("cannot read {}: no such file", missing.display())
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let error = Source::open(directory.path()).map(|_| ()).unwrap_err();
        assert_eq!(
            wordmover::error_message::of(error.as_ref()),
            format!(
                "cannot read {}: it is a directory",
                directory.path().display()
            )
        );
    }

    #[cfg(unix)]
    #[test]
    fn an_unreadable_file_is_named() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret.txt");
        std::fs::write(&path, "a").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
        // The superuser may read anything; there is nothing to see then.
        if File::open(&path).is_err() {
            let error = Source::open(&path).map(|_| ()).unwrap_err();
            assert_eq!(
                format!("{error:#}"),
                format!("cannot read {}: permission denied", path.display())
            );
        }
    }

    #[test]
    fn a_gzip_header_cut_short_cannot_be_read() {
        let cut = gzip(b"hello")[..5].to_vec();
        let error = Source::from_bytes("docs.txt.gz".to_string(), Box::new(Cursor::new(cut)))
            .map(|_| ())
            .unwrap_err();
        assert!(
            format!("{error:#}").starts_with("cannot read docs.txt.gz: "),
            "{error:#}"
        );
    }
}
