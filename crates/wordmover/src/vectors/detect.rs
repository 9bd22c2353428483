//! Which format a stream has, decided by its content alone.
//!
//! 1. Two magic bytes: gzip.
//! 2. A plausible header length followed by `{`: safetensors, our native form.
//!    No text begins so: the length would have to be written in letters, and
//!    eight letters are a number far beyond any plausible length.
//! 3. Four magic bytes: a model of fastText.
//! 4. A first line of exactly two integers: a word2vec header. The entry after
//!    it is then tried as text and as binary, in full. Exactly one must fit. If
//!    both do, that is an error; if neither does, the reader whose format it
//!    resembles says what is wrong.
//! 5. A first line of a word and two or more numbers: GloVe, no header.
//!
//! A file without header whose vectors have dimension 1 is never accepted: its
//! lines cannot be told from headers. One that begins `5 3` is read as a header
//! and fails at the next line.

use super::error::Checked;
use super::input::{Delimited, Input};
use super::text::{self, Layout};
use super::{MAX_DIM, MAX_WORDS, Place, VectorsError, fasttext, native, word2vec_binary};
use crate::Result;

/// The first two bytes of a gzip member.
const GZIP_MAGIC: &[u8] = b"\x1f\x8b";

/// Some editors begin UTF-8 text with this signature; it is no part of a word.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What the first bytes tell.
#[derive(Debug, PartialEq)]
pub(super) enum Container {
    Gzip,
    Native,
    FastText,
    Foreign,
}

/// The foreign format, and what its beginning says.
pub(super) enum Foreign {
    Text(Layout),
    Binary { dim: usize, promised: u64 },
}

/// Looks at the first bytes.
pub(super) fn container(input: &mut Input<'_>) -> Result<Container> {
    let start = input.peek(9)?;
    Ok(if start.starts_with(GZIP_MAGIC) {
        Container::Gzip
    } else if native::resembles(start) {
        Container::Native
    } else if start.starts_with(&fasttext::MAGIC) {
        Container::FastText
    } else {
        Container::Foreign
    })
}

/// Tells the foreign formats apart and consumes the header, if there is one.
pub(super) fn foreign(input: &mut Input<'_>) -> Result<Foreign> {
    if input.peek(BYTE_ORDER_MARK.len())? == BYTE_ORDER_MARK {
        input.consume(BYTE_ORDER_MARK.len());
    }
    let (line_len, len) = match input.find(b'\n', text::MAX_LINE)? {
        Delimited::After(len) => (len, len + 1),
        Delimited::End(0) => return Err(input.problem(VectorsError::Empty)),
        Delimited::End(len) => (len, len),
        Delimited::TooLong => return Err(input.problem(VectorsError::Unrecognized)),
    };
    let line = text::trim_line(input.seen(line_len));
    match first_line(line).map_err(|problem| input.problem(problem))? {
        FirstLine::Word { dim } => Ok(Foreign::Text(Layout {
            dim,
            promised: None,
        })),
        FirstLine::Header { dim, promised } => {
            input.consume(len);
            after_header(input, dim, promised)
        }
    }
}

#[derive(Debug, PartialEq)]
enum FirstLine {
    Header { dim: usize, promised: u64 },
    Word { dim: usize },
}

fn first_line(line: &[u8]) -> Checked<FirstLine> {
    if word2vec_binary::has_control_bytes(line) {
        return Err(VectorsError::Unrecognized);
    }
    // Only a line that is otherwise sound is worth the more precise message.
    let is_utf8 = std::str::from_utf8(line).is_ok();
    let line = String::from_utf8_lossy(line);
    let fields: Vec<&str> = text::fields(&line).collect();
    if let [count, dim] = fields[..]
        && is_integer(count)
        && is_integer(dim)
    {
        return header(count, dim);
    }
    let dim = fields.len() - 1;
    if dim < 2 || !fields[1..].iter().all(|field| text::is_number(field)) {
        return Err(VectorsError::Unrecognized);
    }
    if dim > MAX_DIM {
        return Err(VectorsError::Dimension { dim });
    }
    if !is_utf8 {
        return Err(VectorsError::BadUtf8 { at: Place::Line(1) });
    }
    Ok(FirstLine::Word { dim })
}

fn is_integer(field: &str) -> bool {
    !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit())
}

fn header(count: &str, dim: &str) -> Checked<FirstLine> {
    let absurd = || VectorsError::Header {
        count: count.to_owned(),
        dim: dim.to_owned(),
    };
    let promised = count
        .parse()
        .ok()
        .filter(|n| (1..=MAX_WORDS).contains(n))
        .ok_or_else(absurd)?;
    let dim = dim
        .parse()
        .ok()
        .filter(|n| (1..=MAX_DIM).contains(n))
        .ok_or_else(absurd)?;
    Ok(FirstLine::Header { dim, promised })
}

/// Tries the entry that follows the header both ways.
fn after_header(input: &mut Input<'_>, dim: usize, promised: u64) -> Result<Foreign> {
    let fits_text = text::first_line_fits(input, dim)?;
    let fits_binary = word2vec_binary::first_entry_fits(input, dim)?;
    let is_text = match (fits_text, fits_binary) {
        (true, true) => {
            return Err(input.problem(VectorsError::Ambiguous {
                at: Place::Byte(input.offset()),
            }));
        }
        (fits_text, fits_binary) if fits_text != fits_binary => fits_text,
        // Neither: whichever reader is chosen will refuse it, one of them aptly.
        _ => !word2vec_binary::has_control_bytes(input.peek(64 + 4 * dim)?),
    };
    Ok(if is_text {
        Foreign::Text(Layout {
            dim,
            promised: Some(promised),
        })
    } else {
        Foreign::Binary { dim, promised }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_integers_are_a_header_and_anything_else_is_a_word() {
        assert_eq!(
            first_line(b"10 300"),
            Ok(FirstLine::Header {
                dim: 300,
                promised: 10
            })
        );
        assert_eq!(first_line(b"10 300 1"), Ok(FirstLine::Word { dim: 2 }));
        assert_eq!(first_line(b"the 0.1 nan"), Ok(FirstLine::Word { dim: 2 }));
        for line in [
            &b""[..],
            b"the",
            b"the 1",
            b"the 1 x",
            b"10 300.0",
            b"-1 5",
            b"the  1 2",
        ] {
            assert_eq!(
                first_line(line),
                Err(VectorsError::Unrecognized),
                "{line:?}"
            );
        }
    }

    #[test]
    fn containers_show_in_the_first_bytes() {
        let container = |bytes: &[u8]| container(&mut Input::new(bytes, "t")).unwrap();
        assert_eq!(container(b"\x1f\x8b\x08"), Container::Gzip);
        assert_eq!(container(b"\x40\0\0\0\0\0\0\0{"), Container::Native);
        assert_eq!(container(b"\x40\0\0\0\0\0\0\x01{"), Container::Foreign);
        assert_eq!(
            container(b"\xba\x16\x4f\x2f\x0c\0\0\0"),
            Container::FastText
        );
        assert_eq!(container(b"the 1 2"), Container::Foreign);
        assert_eq!(container(b""), Container::Foreign);
    }
}
