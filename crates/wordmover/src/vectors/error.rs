//! What can be wrong with word vectors, and where.
//!
//! Variants carry facts; the sentences are made from them here and nowhere
//! else. They complete `NAME: `, so they are lower case and have no final stop.

use std::fmt;

use super::Precision;

/// How much of a foreign word or number is repeated in a message.
const MAX_QUOTED_CHARS: usize = 40;

/// What checks of content return: the name of the input is added by their caller.
pub(super) type Checked<T> = std::result::Result<T, VectorsError>;

/// A position in a word-vector file or table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A line of a text file; the first is 1.
    Line(u64),
    /// A byte of a binary file; the first is 0. In a gzipped file, of what it unpacks to.
    Byte(u64),
    /// A word with its vector, where the form has no lines; the first is 1.
    Entry(u64),
    /// A part of words.
    Piece,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(number) => write!(f, "line {number}"),
            Place::Byte(offset) => write!(f, "byte {offset}"),
            Place::Entry(number) => write!(f, "entry {number}"),
            Place::Piece => write!(f, "a part of a word"),
        }
    }
}

/// What is wrong with a word-vector file, or with words and vectors given by
/// the caller, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorsError {
    /// There is no word in it.
    #[error("it holds no words")]
    Empty,
    /// The caller asked for the first 0 words.
    #[error("a limit of 0 words leaves nothing to read")]
    LimitZero,
    /// The beginning fits no supported format.
    #[error(
        "not a known word-vector format: the first line is neither \
         `COUNT DIMENSION` nor a word followed by at least two numbers"
    )]
    Unrecognized,
    /// The first entry after a header can be read as text and as binary.
    #[error("{at}: the first word fits both the text and the binary word2vec format")]
    Ambiguous {
        /// Where the first entry begins.
        at: Place,
    },
    /// The gzip layer is damaged or cut short.
    #[error("its gzip compression is damaged: {detail}")]
    Gzip {
        /// What the decompressor said.
        detail: String,
    },

    /// The header `COUNT DIMENSION` names sizes that no table can have.
    #[error(
        "line 1: the header promises {count} words of dimension {dim}, \
         possible are 1 to {} words of dimension 1 to {}",
        super::MAX_WORDS,
        super::MAX_DIM
    )]
    Header {
        /// The number of words, as written.
        count: String,
        /// The dimension, as written.
        dim: String,
    },
    /// The dimension is zero or absurdly large.
    #[error("the dimension is {dim}, possible are 1 to {}", super::MAX_DIM)]
    Dimension {
        /// The dimension found.
        dim: usize,
    },
    /// The file ends before the words that its header promises.
    #[error("{at}: the file ends after {found} of the {} that its header promises", count(.promised, "word"))]
    CutShort {
        /// Where the file ends.
        at: Place,
        /// The number of words in the header.
        promised: u64,
        /// The number of complete words read.
        found: u64,
    },
    /// The file goes on after the words that its header promises.
    #[error("{at}: the file goes on after the {} that its header promises", count(.promised, "word"))]
    MoreThanPromised {
        /// Where the surplus begins.
        at: Place,
        /// The number of words in the header.
        promised: u64,
    },
    /// More words, or longer ones, than 32-bit ids and offsets can name.
    #[error(
        "{at}: more than {} words, or more than 4 GiB of them",
        super::MAX_WORDS
    )]
    TooManyWords {
        /// The first word too many.
        at: Place,
    },

    /// A fastText classifier.
    #[error(
        "a fastText classifier, which has no vectors of words on their own; \
         train with `fasttext skipgram` or `fasttext cbow`"
    )]
    FastTextSupervised,
    /// A quantised fastText model, as `.ftz` files are.
    #[error(
        "a quantised fastText model (.ftz), of which the vectors cannot be had; use its .bin or .vec"
    )]
    FastTextQuantized,
    /// A number in a fastText model that cannot be.
    #[error("not a usable fastText model: its {field} is {found}, possible is {possible}")]
    FastTextField {
        /// Which number.
        field: &'static str,
        /// What it says.
        found: i64,
        /// What it may be.
        possible: String,
    },
    /// A matrix of a fastText model that does not fit the words.
    #[error(
        "its {matrix} matrix has {rows} rows of {columns} values where the header asks for {due} rows of {dim}"
    )]
    FastTextMatrix {
        /// `input` or `output`.
        matrix: &'static str,
        /// Its rows.
        rows: i64,
        /// Its columns.
        columns: i64,
        /// The rows that follow from the header.
        due: u64,
        /// The dimension.
        dim: usize,
    },
    /// A fastText model that is not whole.
    #[error("{at}: the file ends inside a fastText model")]
    FastTextCutShort {
        /// Where the file ends.
        at: Place,
    },
    /// Bytes after a fastText model.
    #[error("{at}: the file goes on after the fastText model")]
    FastTextSurplus {
        /// Where the surplus begins.
        at: Place,
    },

    /// A line without a word and numbers between others that have them.
    #[error("{at}: the line is empty")]
    BlankLine {
        /// The empty line.
        at: Place,
    },
    /// The last line of a text file has no line end.
    #[error("{at}: the file ends inside the line, so its last number may be cut short")]
    UnfinishedLine {
        /// The last line.
        at: Place,
    },
    /// A line longer than any vector of a possible dimension.
    #[error("{at}: the line is longer than {limit} bytes")]
    LineTooLong {
        /// The line.
        at: Place,
        /// The longest line that is read.
        limit: usize,
    },
    /// A word longer than any word.
    #[error("{at}: the word is longer than {limit} bytes")]
    WordTooLong {
        /// Where the word begins.
        at: Place,
        /// The longest word that is read.
        limit: usize,
    },
    /// A word of no characters.
    #[error("{at}: there is no word")]
    EmptyWord {
        /// Where the word should be.
        at: Place,
    },
    /// Bytes that are not UTF-8.
    #[error("{at}: the text is not valid UTF-8")]
    BadUtf8 {
        /// The line, or where the word begins.
        at: Place,
    },
    /// A word that has a vector already.
    #[error("{at}: the word {} stands already at {first}", quoted(.word))]
    DuplicateWord {
        /// The second occurrence.
        at: Place,
        /// The word.
        word: String,
        /// The first occurrence.
        first: Place,
    },
    /// Two spaces or tabs in a row, so that a field between them is empty.
    #[error("{at}: two separators stand side by side")]
    EmptyField {
        /// The line.
        at: Place,
    },
    /// A tab inside a word; only spaces can be part of one.
    #[error("{at}: a word holds a tab")]
    TabInWord {
        /// The line.
        at: Place,
    },
    /// A line with too few or too many numbers.
    #[error("{at}: expected {} after the word, found {found}", count(&(*.expected as u64), "number"))]
    WrongNumberOfValues {
        /// The line.
        at: Place,
        /// The dimension.
        expected: usize,
        /// How many numbers there are.
        found: usize,
    },
    /// A field that should be a number.
    #[error("{at}: {} is not a number", quoted(.field))]
    NotANumber {
        /// The line.
        at: Place,
        /// The field.
        field: String,
    },
    /// NaN, infinity, or a number too large for single precision.
    #[error("{at}: {} is not finite in single precision", quoted(.value))]
    NotFinite {
        /// The line, the byte, or the entry.
        at: Place,
        /// The value, as written where it was written.
        value: String,
    },
    /// The matrix given has not one row per word.
    #[error("{} of dimension {dim} need {} values, not {found}",
        count(&(*.words as u64), "word"), (*words as u128) * (*dim as u128))]
    MatrixSize {
        /// The number of words.
        words: usize,
        /// The dimension.
        dim: usize,
        /// The number of values given.
        found: usize,
    },

    /// The safetensors header cannot be understood.
    #[error("its safetensors header cannot be used: {detail}")]
    NativeHeader {
        /// What is wrong with it.
        detail: String,
    },
    /// The file is not as long as its safetensors header says.
    #[error("its safetensors header describes {expected} bytes, the file has {found}")]
    NativeSize {
        /// The length that follows from the header.
        expected: u64,
        /// The length found; when read from a stream, at least this.
        found: u64,
    },
    /// A safetensors file of something else.
    #[error(
        "a safetensors file, but not of word vectors: its metadata lacks `format` = `{}`",
        super::native::FORMAT
    )]
    NotWordVectors,
    /// A native file of a version that this release does not know.
    #[error("version {} of the word-vector format is not known, only {}", quoted(.found), super::native::VERSION)]
    NativeVersion {
        /// The version found.
        found: String,
    },
    /// A metadata entry that is missing or has no meaning.
    #[error("metadata `{key}` is {}", match .found { Some(value) => quoted(value), None => "missing".into() })]
    NativeMetadata {
        /// The entry.
        key: &'static str,
        /// What it says, if it is there.
        found: Option<String>,
    },
    /// A tensor that is missing.
    #[error("tensor `{tensor}` is missing")]
    TensorMissing {
        /// The tensor.
        tensor: &'static str,
    },
    /// A tensor of the wrong type or shape.
    #[error("tensor `{tensor}` is {found}, expected {expected}")]
    TensorMismatch {
        /// The tensor.
        tensor: &'static str,
        /// Type and shape that fit the other tensors.
        expected: String,
        /// Type and shape found.
        found: String,
    },
    /// Word ends that decrease or leave the packed words.
    #[error("{at}: the word ends at byte {end} of the packed words, outside {start} to {len}")]
    WordEnd {
        /// The word.
        at: Place,
        /// Where it begins.
        start: u32,
        /// Where it is said to end.
        end: u32,
        /// The length of the packed words.
        len: usize,
    },
    /// Packed words of which the last ones belong to no entry.
    #[error("the words end at byte {end} of {len} packed bytes")]
    SurplusWordBytes {
        /// Where the last word ends.
        end: u32,
        /// The length of the packed words.
        len: usize,
    },
    /// An int8 row scale that is negative, not finite, or overflows its row.
    #[error("{at}: {value} is not a usable row scale")]
    BadScale {
        /// The row.
        at: Place,
        /// The scale.
        value: f32,
    },
    /// The ids of words that are pieces do not ascend, or are no words.
    #[error("`piece_words` does not ascend, or names a word that is not there")]
    PieceWords,
    /// N-grams without rows, or of lengths that cannot be.
    #[error("its n-grams cannot be used: {detail}")]
    Ngrams {
        /// Why.
        detail: String,
    },
    /// A word's probability is not one.
    #[error("{at}: the probability {value} is not between 0 and 1")]
    BadProbability {
        /// Where.
        at: Place,
        /// The value.
        value: f32,
    },
    /// A value too large for the precision to be written.
    #[error("the vector of {} holds {value}, too large for {precision}", quoted(.word))]
    TooLargeForPrecision {
        /// The word.
        word: String,
        /// Its value of the largest magnitude.
        value: f32,
        /// The precision asked for.
        precision: Precision,
    },
    /// The content is not what was written.
    #[error("its content has checksum {found}, its header says {expected}")]
    Checksum {
        /// The stored checksum.
        expected: String,
        /// The checksum of the words and vectors that are there.
        found: String,
    },
}

/// `1 word`, `2 words`.
fn count(n: &u64, noun: &str) -> String {
    format!("{n} {noun}{}", if *n == 1 { "" } else { "s" })
}

/// A foreign string made fit for a one-line message: escaped and not too long.
fn quoted(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(MAX_QUOTED_CHARS)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(MAX_QUOTED_CHARS).is_some() {
        shown.push_str("...");
    }
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_escaped_and_shortened() {
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted(&"x".repeat(41)), format!("`{}...`", "x".repeat(40)));
        assert_eq!(quoted(&"x".repeat(40)), format!("`{}`", "x".repeat(40)));
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(count(&1, "number"), "1 number");
        assert_eq!(count(&0, "number"), "0 numbers");
    }
}
