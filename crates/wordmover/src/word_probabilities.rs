//! How likely words are in running text.
//!
//! SIF weights need the probability of every word, also of those that the corpus at
//! hand lacks. It comes from counts of a large corpus, or, where there are none,
//! from the rank order of the built-in words: by Zipf's law a word's probability
//! falls with its rank, and word vectors are listed by frequency.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::vectors::WordVectors;

/// Mandelbrot's shift: the first ranks fall more slowly than `1 / rank`.
const ZIPF_SHIFT: f64 = 2.7;

/// Frequent words that the built-in vectors lack, with the ranks they have in GloVe 6B.
#[cfg(feature = "builtin-vectors")]
const MISSING: [(&str, usize); 2] = [("a", 7), ("i", 41)];

/// The longest line of a file of counts.
const MAX_LINE: u64 = 1 << 16;

/// The probability of every word of a word-vector table. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct WordProbabilities {
    name: Arc<str>,
    by_id: Arc<[f32]>,
}

impl WordProbabilities {
    /// Those that the vectors bring along; for other vectors, those of the built-in words, or
    /// else their rank order. Words the built-in set lacks get the probability of their
    /// lower-case form, or else 0.
    #[cfg(feature = "builtin-vectors")]
    #[must_use]
    pub fn builtin(vectors: &WordVectors) -> Self {
        // A table that brings its own probabilities knows better.
        if let Some(own) = vectors.probabilities() {
            return WordProbabilities {
                name: "built-in".into(),
                by_id: own.into(),
            };
        }
        let builtin = WordVectors::builtin();
        let n = builtin.len();
        if let Some(known) = builtin.probabilities() {
            let of = |word: &str| Some(f64::from(known[builtin.id(word)? as usize]));
            return Self::by_word("built-in", vectors, of);
        }
        let of = |word: &str| {
            let missing = MISSING.iter().find(|(other, _)| *other == word);
            let rank = missing
                .map(|&(_, rank)| rank)
                .or_else(|| builtin.id(word).map(|id| id as usize));
            rank.map(|rank| zipf_probability(rank, n))
        };
        Self::by_word("built-in", vectors, of)
    }

    /// From counts of words, which need not be sorted; several counts of one word add
    /// up. A word without a count gets that of its lower-case form, or else
    /// probability 0. `name` is kept for descriptions.
    #[must_use]
    pub fn from_counts<'w>(
        name: &str,
        vectors: &WordVectors,
        counts: impl IntoIterator<Item = (&'w str, u64)>,
    ) -> Self {
        let mut by_word: HashMap<&str, f64> = HashMap::new();
        let mut total = 0.0;
        for (word, count) in counts {
            *by_word.entry(word).or_default() += count as f64;
            total += count as f64;
        }
        let of = |word: &str| by_word.get(word).map(|count| count / f64::max(total, 1.0));
        Self::by_word(name, vectors, of)
    }

    /// Reads a file with a word and its count on every line, separated by white
    /// space; gzipped or not.
    ///
    /// # Errors
    ///
    /// [`Error::Read`]; [`Error::InvalidCounts`] names the first line that is
    /// something else.
    pub fn open(path: &Path, vectors: &WordVectors) -> Result<Self> {
        let name = path.display().to_string();
        let failed = |source| Error::Read {
            path: path.to_owned(),
            source,
        };
        let mut file = BufReader::new(std::fs::File::open(path).map_err(failed)?);
        let is_gzip = file.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]);
        let reader: Box<dyn Read> = match is_gzip {
            true => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
            false => Box::new(file),
        };
        let mut reader = BufReader::new(reader);
        let mut lines: Vec<(String, u64)> = Vec::new();
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let n_read = (&mut reader)
                .take(MAX_LINE)
                .read_until(b'\n', &mut line)
                .map_err(failed)?;
            if n_read == 0 {
                break;
            }
            let text = std::str::from_utf8(&line).ok();
            let fields = text.map(|text| text.split_whitespace().collect::<Vec<_>>());
            match fields.as_deref() {
                Some([]) => {}
                Some([word, count]) if count.parse::<u64>().is_ok() => {
                    lines.push(((*word).to_owned(), count.parse().unwrap_or(0)));
                }
                _ => {
                    return Err(Error::InvalidCounts { name, line: number });
                }
            }
        }
        let counts = lines.iter().map(|(word, count)| (word.as_str(), *count));
        let short = path.file_name().map(|name| name.to_string_lossy());
        Ok(Self::from_counts(
            &short.unwrap_or_default(),
            vectors,
            counts,
        ))
    }

    fn by_word(name: &str, vectors: &WordVectors, of: impl Fn(&str) -> Option<f64>) -> Self {
        let by_id = vectors.words().map(|word| {
            let probability = of(word).or_else(|| of(&word.to_lowercase()));
            probability.unwrap_or(0.0) as f32
        });
        WordProbabilities {
            name: name.into(),
            by_id: by_id.collect(),
        }
    }

    /// Puts together what a model file kept; the caller has checked the values.
    pub(crate) fn from_parts(name: &str, by_id: Vec<f32>) -> Self {
        WordProbabilities {
            name: name.into(),
            by_id: by_id.into(),
        }
    }

    /// Where they come from: `built-in`, or the name of a file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The probabilities of all words, in the order of the word vectors.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.by_id
    }

    /// A word's probability; 0 for an id beyond the table.
    #[must_use]
    pub fn of(&self, word: u32) -> f64 {
        self.by_id.get(word as usize).map_or(0.0, |&p| f64::from(p))
    }
}

/// The probability of the word at `rank` (from 0) of `n` by Zipf's law: the integral
/// of `1 / (x + 2.7)` over its place, over that from 0 to `n`. They sum to one.
#[cfg(any(test, feature = "builtin-vectors"))]
fn zipf_probability(rank: usize, n: usize) -> f64 {
    let rank = rank as f64;
    libm::log1p(1.0 / (rank + ZIPF_SHIFT)) / libm::log1p(n as f64 / ZIPF_SHIFT)
}

/// The rank (from 0) of a word drawn by that law, given a uniform number in [0, 1).
pub(crate) fn zipf_rank(uniform: f64, n: usize) -> usize {
    let whole = libm::log1p(n as f64 / ZIPF_SHIFT);
    let place = ZIPF_SHIFT * libm::expm1(uniform * whole);
    (place as usize).min(n.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(words: &[&str]) -> WordVectors {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let matrix = vec![1.0; words.len()];
        WordVectors::from_rows("v", words, matrix, 1).unwrap()
    }

    #[test]
    fn counts_become_shares_and_cased_words_fall_back() {
        let vectors = vectors(&["the", "The", "Paris", "zzyx"]);
        let counts = [("the", 6), ("Paris", 1), ("the", 2), ("paris", 1)];
        let found = WordProbabilities::from_counts("c", &vectors, counts);
        assert_eq!(found.values(), [0.8, 0.8, 0.1, 0.0]);
        assert_eq!((found.of(3), found.of(9)), (0.0, 0.0));
        let none = WordProbabilities::from_counts("c", &vectors, []);
        assert_eq!(none.values(), [0.0; 4]);
    }

    #[cfg(feature = "builtin-vectors")]
    #[test]
    fn the_builtin_order_gives_frequent_words_more() {
        let vectors = vectors(&["a", "The", "chicago", "zzyx", "i", "violinist"]);
        let found = WordProbabilities::builtin(&vectors);
        assert_eq!(found.name(), "built-in");
        let [a, the, chicago, unknown, i, rare] = *found.values() else {
            panic!()
        };
        assert!(the > a && a > i && i > chicago && chicago > rare && rare > 0.0 && unknown == 0.0);
        assert!((0.02..0.1).contains(&the), "{the}");
    }

    #[test]
    fn zipf_probabilities_sum_to_one_and_draws_follow_them() {
        let n = 1000;
        let sum: f64 = (0..n).map(|rank| zipf_probability(rank, n)).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        // Draw at the quantiles just inside each place.
        let mut below = 0.0;
        for rank in 0..n {
            assert_eq!(zipf_rank(below + 1e-9, n), rank);
            below += zipf_probability(rank, n);
            assert_eq!(zipf_rank(below - 1e-9, n), rank);
        }
        assert_eq!(zipf_rank(1.0 - f64::EPSILON, 3), 2);
        assert_eq!(zipf_rank(0.5, 0), 0);
    }

    #[test]
    fn files_are_read_gzipped_or_not_and_refused_by_line() {
        use std::io::Write;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.txt");
        let vectors = vectors(&["b", "c"]);
        std::fs::write(&path, "a 6\nb 2\n\nc\t2\r\n").unwrap();
        let plain = WordProbabilities::open(&path, &vectors).unwrap();
        assert_eq!(
            (plain.values(), plain.name()),
            (&[0.2, 0.2][..], "counts.txt")
        );
        let zipped = folder.path().join("counts.txt.gz");
        let file = std::fs::File::create(&zipped).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        encoder.write_all(b"a 6\nb 2\nc 2\n").unwrap();
        encoder.finish().unwrap();
        let zipped = WordProbabilities::open(&zipped, &vectors).unwrap();
        assert_eq!(zipped.values(), plain.values());
        for (text, line) in [
            ("a 1\nb", 2),
            ("a 1 2\n", 1),
            ("a 1\n\nb -1\n", 3),
            ("a 1.5\n", 1),
        ] {
            std::fs::write(&path, text).unwrap();
            let said = WordProbabilities::open(&path, &vectors).unwrap_err();
            let due = format!("line {line}: expected a word and its count");
            assert!(said.to_string().ends_with(&due), "{said}");
        }
        std::fs::write(&path, b"a 1\n\xff 2\n").unwrap();
        assert!(WordProbabilities::open(&path, &vectors).is_err());
        let missing = folder.path().join("none");
        assert!(matches!(
            WordProbabilities::open(&missing, &vectors),
            Err(Error::Read { .. })
        ));
    }
}
