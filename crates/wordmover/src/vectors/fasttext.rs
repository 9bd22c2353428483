//! fastText's `.bin`: words, their vectors and those of hashed n-grams of letters.
//!
//! After a magic number come the options of the training, the words with their counts, and two
//! matrices: the input, one row a word and then one row for each value of the n-grams' hash, and
//! the output, which only training needs. A word's vector is the mean of its own row and those of
//! its n-grams; this is what the table gets. The n-grams stay, for words that it lacks.
//!
//! Words that are not UTF-8 are passed over: published files have a few, and no text contains
//! them. Classifiers and quantised models are refused, because they have no such rows.

use rayon::prelude::*;

use super::error::Checked;
use super::foreign::GrowingTable;
use super::input::{Delimited, Input};
use super::rows::Rows;
use super::subwords::{LONGEST_NGRAM, Ngrams};
use super::word2vec_binary::{MAX_WORD, push_row};
use super::{MAX_DIM, MAX_WORDS, Place, VectorsError};
use crate::Result;

/// The first four bytes of a model.
pub(super) const MAGIC: [u8; 4] = 793_712_314_i32.to_le_bytes();

/// Versions that differ in nothing we read.
const VERSIONS: std::ops::RangeInclusive<i64> = 11..=12;

/// What `model` says of a classifier.
const SUPERVISED: i64 = 3;

/// What stands for "not pruned".
const NOT_PRUNED: i64 = -1;

/// Reads the first `limit` words, and all n-grams if the model has any.
pub(super) fn read(input: &mut Input<'_>, limit: u64) -> Result<(GrowingTable, Option<Ngrams>)> {
    let header = Header::read(input)?;
    let (mut table, kept) = read_words(input, &header, limit)?;
    if kept.is_empty() {
        return Err(input.problem(VectorsError::Empty));
    }
    matrix_begins(
        input,
        "input",
        &header,
        Some(header.n_words + header.n_buckets),
    )?;
    let mut kept = kept.into_iter().peekable();
    for row in 0..header.n_words {
        let is_kept = kept.next_if_eq(&row).is_some();
        read_row(input, header.dim, is_kept.then_some(&mut table.values))?;
    }
    let mut values = Vec::new();
    let has_ngrams = !header.ngram_lengths.is_empty();
    for _ in 0..header.n_buckets {
        read_row(input, header.dim, has_ngrams.then_some(&mut values))?;
    }
    let n_rows = matrix_begins(input, "output", &header, None)?;
    for _ in 0..n_rows {
        read_row(input, header.dim, None)?;
    }
    if !input.peek(1)?.is_empty() {
        let at = Place::Byte(input.offset());
        return Err(input.problem(VectorsError::FastTextSurplus { at }));
    }
    if !has_ngrams {
        return Ok((table, None));
    }
    let ngrams = Ngrams::new(
        header.ngram_lengths,
        Rows::from_floats(values, header.dim),
        header.n_buckets as u32,
        None,
    );
    add_ngrams(&mut table, &ngrams);
    Ok((table, Some(ngrams)))
}

/// What is used of a model's options.
struct Header {
    dim: usize,
    /// Empty if the model has no n-grams.
    ngram_lengths: std::ops::RangeInclusive<usize>,
    n_words: u64,
    n_buckets: u64,
}

impl Header {
    fn read(input: &mut Input<'_>) -> Result<Self> {
        let mut number = |n_bytes| take(input, n_bytes);
        let _magic = number(4)?;
        let version = number(4)?;
        let [dim, _window, _epochs, _min_count, _negative, _word_ngrams] = many(&mut number)?;
        let [_loss, model, n_buckets, least, most, _update_rate] = many(&mut number)?;
        let _threshold = number(8)?;
        let [n_entries, n_words, n_labels] = many(&mut number)?;
        let _n_tokens = number(8)?;
        let pruned = number(8)?;
        let field = |name, found, possible: String| VectorsError::FastTextField {
            field: name,
            found,
            possible,
        };
        let check = || -> Checked<Self> {
            within("version", version, VERSIONS)?;
            if model == SUPERVISED {
                return Err(VectorsError::FastTextSupervised);
            }
            within("model", model, 1..=2)?;
            within("dimension", dim, 1..=MAX_DIM as i64)?;
            within("number of words", n_words, 0..=i64::from(i32::MAX))?;
            if n_words == 0 {
                return Err(VectorsError::Empty);
            }
            if n_labels != 0 {
                return Err(VectorsError::FastTextSupervised);
            }
            if n_entries != n_words {
                return Err(field("number of entries", n_entries, n_words.to_string()));
            }
            if pruned != NOT_PRUNED {
                return Err(VectorsError::FastTextQuantized);
            }
            let longest = LONGEST_NGRAM as i64;
            within("length of the shortest n-gram", least, 0..=longest)?;
            within("length of the longest n-gram", most, 0..=longest)?;
            let has_ngrams = most > 0 && least <= most;
            let fewest = i64::from(has_ngrams);
            let buckets = fewest..=MAX_WORDS as i64 - n_words;
            within("number of n-grams", n_buckets, buckets)?;
            Ok(Header {
                dim: dim as usize,
                ngram_lengths: least.max(1) as usize..=most as usize,
                n_words: n_words as u64,
                n_buckets: n_buckets as u64,
            })
        };
        check().map_err(|problem| input.problem(problem))
    }
}

/// Several numbers of four bytes.
fn many<const N: usize>(number: &mut impl FnMut(usize) -> Result<i64>) -> Result<[i64; N]> {
    let mut numbers = [0; N];
    for place in &mut numbers {
        *place = number(4)?;
    }
    Ok(numbers)
}

fn within(field: &'static str, found: i64, possible: std::ops::RangeInclusive<i64>) -> Checked<()> {
    if possible.contains(&found) {
        return Ok(());
    }
    let possible = format!("{} to {}", possible.start(), possible.end());
    Err(VectorsError::FastTextField {
        field,
        found,
        possible,
    })
}

/// A number of one, four or eight bytes, with its sign.
fn take(input: &mut Input<'_>, n_bytes: usize) -> Result<i64> {
    let bytes = whole(input, n_bytes)?;
    let mut number = match bytes.last() {
        Some(&last) if last >= 0x80 => [0xff; 8],
        _ => [0; 8],
    };
    number[..n_bytes].copy_from_slice(bytes);
    input.consume(n_bytes);
    Ok(i64::from_le_bytes(number))
}

/// The next bytes, not consumed, or where the file ends.
fn whole<'i>(input: &'i mut Input<'_>, n_bytes: usize) -> Result<&'i [u8]> {
    let n_seen = input.peek(n_bytes)?.len();
    if n_seen < n_bytes {
        return Err(cut_short(input, n_seen));
    }
    Ok(input.seen(n_bytes))
}

/// The stream ends `n_left` bytes after what is consumed.
fn cut_short(input: &Input<'_>, n_left: usize) -> crate::Error {
    let at = Place::Byte(input.offset() + n_left as u64);
    input.problem(VectorsError::FastTextCutShort { at })
}

/// The words that are kept, without vectors, and their places among all.
fn read_words(
    input: &mut Input<'_>,
    header: &Header,
    limit: u64,
) -> Result<(GrowingTable, Vec<u64>)> {
    let mut table = GrowingTable::new(header.dim);
    let mut kept = Vec::new();
    for place in 0..header.n_words {
        let at = Place::Byte(input.offset());
        let len = match input.find(0, MAX_WORD)? {
            Delimited::After(len) => len,
            Delimited::End(len) => return Err(cut_short(input, len)),
            Delimited::TooLong => {
                let limit = MAX_WORD;
                return Err(input.problem(VectorsError::WordTooLong { at, limit }));
            }
        };
        if let Ok(word) = std::str::from_utf8(input.seen(len))
            && table.len() < limit
        {
            table
                .push_word(word, at, |id| Place::Entry(id + 1))
                .map_err(|problem| input.problem(problem))?;
            kept.push(place);
        }
        input.consume(len + 1);
        let _count = take(input, 8)?;
        let kind = take(input, 1)?;
        within("kind of an entry", kind, 0..=0).map_err(|problem| input.problem(problem))?;
    }
    Ok((table, kept))
}

/// Takes what stands before a matrix, and says how many rows it has.
fn matrix_begins(
    input: &mut Input<'_>,
    matrix: &'static str,
    header: &Header,
    due: Option<u64>,
) -> Result<u64> {
    match take(input, 1)? {
        0 => {}
        1 => return Err(input.problem(VectorsError::FastTextQuantized)),
        other => {
            let problem = within("mark of quantisation", other, 0..=1);
            return Err(input.problem(problem.expect_err("it is neither")));
        }
    }
    let (rows, columns) = (take(input, 8)?, take(input, 8)?);
    let is_due = match (due, u64::try_from(rows)) {
        (_, Err(_)) => false,
        (Some(due), Ok(rows)) => rows == due,
        (None, Ok(_)) => true,
    };
    if !is_due || columns != header.dim as i64 {
        return Err(input.problem(VectorsError::FastTextMatrix {
            matrix,
            rows,
            columns,
            due: due.unwrap_or(header.n_words),
            dim: header.dim,
        }));
    }
    Ok(rows as u64)
}

/// Passes over a row, or keeps it.
fn read_row(input: &mut Input<'_>, dim: usize, kept: Option<&mut Vec<f32>>) -> Result<()> {
    let offset = input.offset();
    let row = whole(input, 4 * dim)?;
    if let Some(values) = kept {
        push_row(values, row, offset).map_err(|problem| input.problem(problem))?;
    }
    input.consume(4 * dim);
    Ok(())
}

/// Makes rows of words the means of these and of the words' n-grams.
fn add_ngrams(table: &mut GrowingTable, ngrams: &Ngrams) {
    let (dim, words) = (table.dim, &table.words);
    let rows = table.values.par_chunks_exact_mut(dim).enumerate();
    rows.for_each_init(
        || (vec![0.0_f64; dim], vec![0.0_f32; dim]),
        |(sum, part), (id, row)| {
            for (sum, &x) in sum.iter_mut().zip(&*row) {
                *sum = f64::from(x);
            }
            let mut n = 1.0;
            ngrams.split(words.word(id as u32), |bucket| {
                ngrams.rows().copy_row(bucket, part);
                for (sum, &x) in sum.iter_mut().zip(&*part) {
                    *sum += f64::from(x);
                }
                n += 1.0;
            });
            for (x, sum) in row.iter_mut().zip(&*sum) {
                *x = (sum / n) as f32;
            }
        },
    );
}
