//! Lines of UTF-8 text, counted, checked and of bounded length.
//!
//! All formats are built on this: it is the one place that knows line endings, bad
//! UTF-8 and the length limit, and therefore the one that can name the line.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Error, Result, anyhow};

use super::source::{Source, cannot_read};

/// The longest line, and the longest row of a table, that is read.
///
/// Far above any document worth embedding; what it stops is a file of another kind
/// without line ends, or a quote left open, from filling the memory.
const MAX_MEBIBYTES: usize = 256;

/// The whole of a small file, line by line.
pub fn read_text(path: &Path) -> Result<String> {
    let mut lines = Lines::new(Source::open(path)?);
    let mut text = String::new();
    while let Some(line) = lines.next_line()? {
        text.push_str(line.text);
        text.push('\n');
    }
    Ok(text)
}

/// One line, without its end.
pub struct Line<'a> {
    pub text: &'a str,
    /// `"\n"`, `"\r\n"`, or nothing on a last line that is not ended.
    pub ending: &'static str,
    /// Counted from 1.
    pub number: u64,
}

/// Reads lines and makes the errors that name them.
pub struct Lines {
    name: String,
    reader: BufReader<Box<dyn Read + Send>>,
    buffer: Vec<u8>,
    n_read: u64,
    max_mebibytes: usize,
}

impl Lines {
    pub fn new(source: Source) -> Lines {
        Lines {
            name: source.name,
            reader: BufReader::with_capacity(1 << 16, source.bytes),
            buffer: Vec::new(),
            n_read: 0,
            max_mebibytes: MAX_MEBIBYTES,
        }
    }

    /// The next line, or nothing at the end of the input.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        let number = self.n_read + 1;
        // Room for the longest line and a two-byte end; anything that fills it is too long.
        let max_bytes = self.max_bytes() as u64 + 2;
        self.buffer.clear();
        let n_bytes = self
            .reader
            .by_ref()
            .take(max_bytes)
            .read_until(b'\n', &mut self.buffer)
            .map_err(|error| cannot_read(&format!("{} at line {number}", self.name), error))?;
        if n_bytes == 0 {
            return Ok(None);
        }
        self.n_read = number;

        let (content, ending) = match self.buffer.as_slice() {
            [content @ .., b'\r', b'\n'] => (content, "\r\n"),
            [content @ .., b'\n'] => (content, "\n"),
            content => (content, ""),
        };
        if content.len() > self.max_bytes() {
            return Err(self.error_at(number, format!("longer than {} MiB", self.max_mebibytes)));
        }
        match std::str::from_utf8(content) {
            Ok(text) => Ok(Some(Line {
                text,
                ending,
                number,
            })),
            Err(error) => Err(self.error_at(
                number,
                format!(
                    "not valid UTF-8 from byte {} of the line on",
                    error.valid_up_to() + 1
                ),
            )),
        }
    }

    /// What the input is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// An error that names the input and a line of it.
    pub fn error_at(&self, line: u64, problem: impl std::fmt::Display) -> Error {
        anyhow!("{}: line {line}: {problem}", self.name)
    }

    pub fn max_mebibytes(&self) -> usize {
        self.max_mebibytes
    }

    pub fn max_bytes(&self) -> usize {
        self.max_mebibytes << 20
    }

    #[cfg(test)]
    pub fn with_max_mebibytes(mut self, max_mebibytes: usize) -> Lines {
        self.max_mebibytes = max_mebibytes;
        self
    }

    #[cfg(test)]
    pub fn of(name: &str, bytes: &[u8]) -> Lines {
        let bytes = Box::new(std::io::Cursor::new(bytes.to_vec()));
        Lines::new(Source::from_bytes(name.to_string(), bytes).unwrap())
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn all(bytes: &[u8]) -> Vec<(String, &'static str)> {
        let mut lines = Lines::of("docs.txt", bytes);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            assert_eq!(line.number, found.len() as u64 + 1);
            found.push((line.text.to_string(), line.ending));
        }
        assert!(lines.next_line().unwrap().is_none());
        found
    }

    fn owned(lines: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
        lines
            .iter()
            .map(|(text, ending)| (text.to_string(), *ending))
            .collect()
    }

    #[test]
    fn lines_end_in_lf_crlf_or_the_end_of_the_file() {
        assert_eq!(all(b""), []);
        assert_eq!(all(b"\n"), owned(&[("", "\n")]));
        assert_eq!(
            all(b"a\nb\r\n\r\nc"),
            owned(&[("a", "\n"), ("b", "\r\n"), ("", "\r\n"), ("c", "")])
        );
        assert_eq!(all(b"a\r\r\nb\r"), owned(&[("a\r", "\r\n"), ("b\r", "")]));
    }

    #[test]
    fn bad_utf8_is_named_by_line_and_byte() {
        let mut lines = Lines::of("docs.txt", b"fine\nna\xefve\n");
        lines.next_line().unwrap();
        let error = lines.next_line().map(|_| ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "docs.txt: line 2: not valid UTF-8 from byte 3 of the line on"
        );
    }

    #[test]
    fn a_line_of_the_longest_length_is_read_and_a_longer_one_refused() {
        for ending in ["", "\n", "\r\n"] {
            let mut bytes = vec![b'a'; 1 << 20];
            bytes.extend(ending.as_bytes());
            let mut lines = Lines::of("docs.txt", &bytes).with_max_mebibytes(1);
            assert_eq!(lines.next_line().unwrap().unwrap().text.len(), 1 << 20);
            assert!(lines.next_line().unwrap().is_none());

            bytes.insert(0, b'a');
            let mut lines = Lines::of("docs.txt", &bytes).with_max_mebibytes(1);
            let error = lines.next_line().map(|_| ()).unwrap_err();
            assert_eq!(error.to_string(), "docs.txt: line 1: longer than 1 MiB");
        }
    }

    #[test]
    fn the_limit_is_256_mebibytes() {
        assert_eq!(Lines::of("docs.txt", b"").max_bytes(), 256 * 1024 * 1024);
    }

    #[test]
    fn a_read_that_fails_half_way_names_the_line() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is gone"))
            }
        }
        let bytes = Box::new(io::Cursor::new(b"one\ntw".to_vec()).chain(Failing));
        let mut lines = Lines::new(Source::from_bytes("docs.txt".to_string(), bytes).unwrap());
        lines.next_line().unwrap();
        let error = lines.next_line().map(|_| ()).unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "cannot read docs.txt at line 2: the disk is gone"
        );
    }
}
