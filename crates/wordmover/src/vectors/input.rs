//! A stream that can be looked into before it is consumed.
//!
//! The format of a word-vector file shows only after its first entry, so the
//! readers need to see bytes without taking them. The buffer grows with what
//! has actually arrived, never with what a header announces.

use std::io::{self, Read};

use super::VectorsError;
use crate::{Error, Result};

/// How much is read at a time.
const CHUNK: usize = 1 << 16;

/// A named stream with lookahead.
pub(super) struct Input<'a> {
    reader: Box<dyn Read + 'a>,
    name: &'a str,
    /// Whether the reader unpacks gzip, so that some errors are damage, not I/O.
    unpacks_gzip: bool,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that are consumed.
    start: usize,
    /// Bytes consumed since the beginning of the stream.
    offset: u64,
    at_end: bool,
}

/// Where a delimiter is.
#[derive(Debug, PartialEq)]
pub(super) enum Delimited {
    /// After this many bytes.
    After(usize),
    /// Nowhere: the stream ends after this many bytes.
    End(usize),
    /// Not within the length allowed.
    TooLong,
}

impl<'a> Input<'a> {
    pub(super) fn new(reader: impl Read + 'a, name: &'a str) -> Self {
        Input {
            reader: Box::new(reader),
            name,
            unpacks_gzip: false,
            buffer: Vec::new(),
            start: 0,
            offset: 0,
            at_end: false,
        }
    }

    /// The same stream, unpacked. Several gzip members in a row are one stream.
    pub(super) fn unpacked(self) -> Input<'a> {
        let name = self.name;
        let unpacked = flate2::read::MultiGzDecoder::new(Remaining(self));
        Input {
            unpacks_gzip: true,
            ..Input::new(unpacked, name)
        }
    }

    /// An error in what the stream says.
    pub(super) fn problem(&self, problem: VectorsError) -> Error {
        Error::InvalidVectors {
            name: self.name.to_owned(),
            problem,
        }
    }

    fn read_error(&self, source: io::Error) -> Error {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        let of_the_decoder = source.raw_os_error().is_none()
            && matches!(source.kind(), InvalidData | InvalidInput | UnexpectedEof);
        if self.unpacks_gzip && of_the_decoder {
            self.problem(VectorsError::Gzip {
                detail: source.to_string(),
            })
        } else {
            Error::Read {
                path: self.name.into(),
                source,
            }
        }
    }

    /// How many bytes have been consumed.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes that have arrived and are not consumed.
    fn arrived(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Reads one more chunk; false at the end of the stream.
    fn fill(&mut self) -> Result<bool> {
        self.fill_raw().map_err(|error| self.read_error(error))
    }

    fn fill_raw(&mut self) -> io::Result<bool> {
        if self.at_end {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        // In proportion to what is here, so that a long line costs few copies.
        let len = self.buffer.len();
        self.buffer.resize(len + CHUNK.max(len), 0);
        let n_read = loop {
            match self.reader.read(&mut self.buffer[len..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => break other,
            }
        };
        self.buffer
            .truncate(len + n_read.as_ref().map_or(0, |&n_read| n_read));
        self.at_end = n_read? == 0;
        Ok(!self.at_end)
    }

    /// The next `n` bytes, or all that are left when they are fewer.
    pub(super) fn peek(&mut self, n: usize) -> Result<&[u8]> {
        while self.arrived().len() < n && self.fill()? {}
        Ok(self.seen(n.min(self.arrived().len())))
    }

    /// Looks for a byte among the next `limit + 1`.
    pub(super) fn find(&mut self, byte: u8, limit: usize) -> Result<Delimited> {
        let mut searched = 0;
        loop {
            let arrived = self.arrived();
            let end = arrived.len().min(limit + 1);
            if let Some(position) = arrived[searched..end].iter().position(|&b| b == byte) {
                return Ok(Delimited::After(searched + position));
            }
            if end == limit + 1 {
                return Ok(Delimited::TooLong);
            }
            searched = end;
            if !self.fill()? {
                return Ok(Delimited::End(end));
            }
        }
    }

    /// The next `n` bytes, which [`peek`](Self::peek) or [`find`](Self::find)
    /// have shown to be there.
    pub(super) fn seen(&self, n: usize) -> &[u8] {
        &self.arrived()[..n]
    }

    /// Passes over `n` bytes that have been seen.
    pub(super) fn consume(&mut self, n: usize) {
        debug_assert!(n <= self.arrived().len());
        self.start += n;
        self.offset += n as u64;
    }

    /// Takes up to `n` bytes; memory grows as they arrive.
    pub(super) fn take(mut self, n: usize) -> Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.buffer);
        bytes.drain(..self.start);
        bytes.truncate(n);
        let rest = (n - bytes.len()) as u64;
        let read = self.reader.by_ref().take(rest).read_to_end(&mut bytes);
        read.map_err(|error| self.read_error(error))?;
        Ok(bytes)
    }
}

/// What is left of an input, for a decoder to read.
struct Remaining<'a>(Input<'a>);

impl Read for Remaining<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.0.arrived().is_empty() {
            // Lookahead is over: no need to copy through the buffer.
            return self.0.reader.read(out);
        }
        let n = self.0.arrived().len().min(out.len());
        out[..n].copy_from_slice(self.0.seen(n));
        self.0.consume(n);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, as a slow pipe may.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let n = out.len().min(1).min(self.0.len());
            out[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn looking_consumes_nothing() {
        let mut input = Input::new(Trickle(b"one two"), "t");
        assert_eq!(input.peek(3).unwrap(), b"one");
        assert_eq!(input.find(b' ', 10).unwrap(), Delimited::After(3));
        assert_eq!(input.offset(), 0);
        input.consume(4);
        assert_eq!(input.offset(), 4);
        assert_eq!(input.peek(100).unwrap(), b"two");
        assert_eq!(input.find(b' ', 10).unwrap(), Delimited::End(3));
        assert_eq!(input.find(b' ', 2).unwrap(), Delimited::TooLong);
        assert_eq!(input.take(2).unwrap(), b"tw");
    }

    #[test]
    fn a_delimiter_just_within_the_limit_is_found() {
        let mut input = Input::new(&b"abc\n"[..], "t");
        assert_eq!(input.find(b'\n', 3).unwrap(), Delimited::After(3));
        assert_eq!(input.find(b'\n', 2).unwrap(), Delimited::TooLong);
    }

    #[test]
    fn a_read_error_is_not_taken_for_damage() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is on fire"))
            }
        }
        let error = Input::new(Broken, "file").unpacked().peek(1).unwrap_err();
        assert!(matches!(error, Error::Read { .. }), "{error:?}");
    }
}
