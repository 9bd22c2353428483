//! What Python calls a document: a text, or a list of the words of one.

use std::borrow::Cow;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyString, PyTuple};
use rayon::prelude::*;
use wordmover::text::{Case, Tokenizer};
use wordmover::{WordVectors, document::WordCounts};

use crate::pool::pool;

/// Bytes of text that are taken over from Python at once: some hundredths of a second of
/// work, after which an interrupt is noticed.
const BATCH_BYTES: usize = 4 << 20;

/// One document, out of Python's hands.
enum Raw {
    Text(String),
    /// Words to take as they are.
    Words(Vec<String>),
    /// A text that was cut elsewhere: its case and its stop words are our matter.
    Tokens(Vec<String>),
}

impl Raw {
    fn extract(document: &Bound<'_, PyAny>, index: usize) -> PyResult<Self> {
        if let Ok(text) = document.cast::<PyString>() {
            return Ok(Raw::Text(string(text, || format!("document {index}"))?));
        }
        if document.is_instance_of::<PyList>() || document.is_instance_of::<PyTuple>() {
            let mut words = Vec::new();
            for (position, word) in document.try_iter()?.enumerate() {
                let word = word?;
                let place = || format!("word {position} of document {index}");
                let Ok(word) = word.cast::<PyString>() else {
                    let message = format!("{} is {}, not a str", place(), kind_of(&word));
                    return Err(PyTypeError::new_err(message));
                };
                words.push(string(word, place)?);
            }
            return Ok(Raw::Words(words));
        }
        if is_of_spacy(document) {
            return Self::tokens(document, index);
        }
        for method in ["as_py", "tolist", "to_list", "to_pylist"] {
            // Arrow's values, and arrays and columns of words.
            if let Some(method) = document.getattr_opt(method)? {
                let plain = method.call0()?;
                if plain.is_instance_of::<PyString>() || plain.is_instance_of::<PyList>() {
                    return Self::extract(&plain, index);
                }
            }
        }
        let hint = if is_bytes(document) {
            ": decode it first"
        } else {
            ""
        };
        Err(PyTypeError::new_err(format!(
            "document {index} is {}, neither a str nor a list of words{hint}",
            kind_of(document)
        )))
    }

    /// The words that spaCy found; punctuation and white space are none.
    fn tokens(document: &Bound<'_, PyAny>, index: usize) -> PyResult<Self> {
        let mut words = Vec::new();
        for token in document.try_iter()? {
            let token = token?;
            if token.getattr("is_space")?.is_truthy()? || token.getattr("is_punct")?.is_truthy()? {
                continue;
            }
            let text = token.getattr("text")?;
            words.push(string(text.cast()?, || format!("document {index}"))?);
        }
        Ok(Raw::Tokens(words))
    }

    /// With what a string takes beside its letters: many empty ones are work too.
    fn n_bytes(&self) -> usize {
        match self {
            Raw::Text(text) => text.len() + 24,
            Raw::Words(words) | Raw::Tokens(words) => {
                words.iter().map(|word| word.len() + 24).sum::<usize>() + 24
            }
        }
    }

    fn counts(&self, tokenizer: &Tokenizer, vectors: &WordVectors) -> WordCounts {
        match self {
            Raw::Text(text) => WordCounts::from_text(text, tokenizer, vectors),
            Raw::Words(_) | Raw::Tokens(_) => {
                let words = self.words(tokenizer, vectors);
                WordCounts::from_tokens(words.iter().map(String::as_str), vectors)
            }
        }
    }

    /// The words, in order, without stop words.
    fn words(&self, tokenizer: &Tokenizer, vectors: &WordVectors) -> Cow<'_, [String]> {
        match self {
            Raw::Words(words) => Cow::Borrowed(words),
            Raw::Text(text) => {
                let mut words = Vec::new();
                let is_known = |word: &str| vectors.id(word).is_some();
                tokenizer.for_each(text, is_known, |word| words.push(word.to_owned()));
                Cow::Owned(words)
            }
            Raw::Tokens(tokens) => {
                let words = tokens.iter().filter_map(|token| {
                    let lower = token.to_lowercase();
                    if tokenizer.stop_words.contains(&lower) {
                        return None;
                    }
                    let is_lower = tokenizer.case == Case::Lower;
                    Some(if is_lower { lower } else { token.clone() })
                });
                Cow::Owned(words.collect())
            }
        }
    }
}

/// Counts the words of an iterable of documents.
pub fn count(
    documents: &Bound<'_, PyAny>,
    tokenizer: &Tokenizer,
    vectors: &WordVectors,
) -> PyResult<Vec<WordCounts>> {
    refuse_what_iterates_otherwise(documents)?;
    let py = documents.py();
    let pool = pool(py)?;
    let mut all = Vec::with_capacity(documents.len().unwrap_or(0));
    let mut batch = Vec::new();
    let mut n_bytes = 0;
    let count_batch = |batch: &mut Vec<Raw>, all: &mut Vec<WordCounts>| -> PyResult<()> {
        let counts: Vec<WordCounts> = py.detach(|| {
            let count = |raw: &Raw| raw.counts(tokenizer, vectors);
            pool.install(|| batch.par_iter().map(count).collect())
        });
        all.extend(counts);
        batch.clear();
        py.check_signals()
    };
    for (index, document) in documents.try_iter()?.enumerate() {
        let raw = Raw::extract(&document?, index)?;
        n_bytes += raw.n_bytes();
        batch.push(raw);
        if n_bytes >= BATCH_BYTES {
            count_batch(&mut batch, &mut all)?;
            n_bytes = 0;
        }
    }
    count_batch(&mut batch, &mut all)?;
    Ok(all)
}

/// [`count`] of few documents, by the thread that asks.
pub fn count_few(
    documents: &Bound<'_, PyAny>,
    tokenizer: &Tokenizer,
    vectors: &WordVectors,
) -> PyResult<Vec<WordCounts>> {
    refuse_what_iterates_otherwise(documents)?;
    let each = documents.try_iter()?.enumerate();
    let each = each.map(|(index, document)| count_one(&document?, index, tokenizer, vectors));
    each.collect()
}

/// The words of each document, in order.
pub fn words_of(
    documents: &Bound<'_, PyAny>,
    tokenizer: &Tokenizer,
    vectors: &WordVectors,
) -> PyResult<Vec<Vec<String>>> {
    refuse_what_iterates_otherwise(documents)?;
    let each = documents.try_iter()?.enumerate().map(|(index, document)| {
        if index % 1024 == 1023 {
            documents.py().check_signals()?;
        }
        let raw = Raw::extract(&document?, index)?;
        Ok(raw.words(tokenizer, vectors).into_owned())
    });
    each.collect()
}

/// Texts that are kept as they are: each must be a str.
pub fn kept(documents: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    refuse_what_iterates_otherwise(documents)?;
    let each = documents.try_iter()?.enumerate().map(|(index, document)| {
        let document = document?;
        match document.cast::<PyString>() {
            Ok(text) => string(text, || format!("document {index}")),
            Err(_) => Err(PyTypeError::new_err(format!(
                "document {index} is {}, not a str: texts are kept as they are",
                kind_of(&document)
            ))),
        }
    });
    each.collect()
}

/// Counts the words of one document.
pub fn count_one(
    document: &Bound<'_, PyAny>,
    index: usize,
    tokenizer: &Tokenizer,
    vectors: &WordVectors,
) -> PyResult<WordCounts> {
    Ok(Raw::extract(document, index)?.counts(tokenizer, vectors))
}

/// A text iterates over its letters, a table over the names of its columns, a dict over
/// its keys: none of them is a list of documents.
fn refuse_what_iterates_otherwise(documents: &Bound<'_, PyAny>) -> PyResult<()> {
    if documents.is_instance_of::<PyString>() || is_bytes(documents) {
        return Err(PyTypeError::new_err(format!(
            "expected a list of documents, found {}: put a single document in a list",
            kind_of(documents)
        )));
    }
    if documents.is_instance_of::<PyDict>() || documents.try_iter().is_err() {
        return Err(PyTypeError::new_err(format!(
            "expected a list of documents, found {}",
            kind_of(documents)
        )));
    }
    if let Ok(shape) = documents.getattr("shape")
        && let Ok(n_dimensions) = shape.len()
        && n_dimensions != 1
    {
        return Err(PyValueError::new_err(format!(
            "expected a list or column of documents, found {} of {n_dimensions} dimensions",
            kind_of(documents)
        )));
    }
    Ok(())
}

/// A `Doc`, or a `Span` of one.
fn is_of_spacy(document: &Bound<'_, PyAny>) -> bool {
    let module = document.get_type().module();
    module.is_ok_and(|module| {
        module
            .to_str()
            .is_ok_and(|name| name.starts_with("spacy.tokens."))
    })
}

fn is_bytes(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>()
}

/// Text that is valid Unicode: Python's strings may hold halves of characters.
fn string(text: &Bound<'_, PyString>, place: impl Fn() -> String) -> PyResult<String> {
    match text.to_str() {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(PyValueError::new_err(format!(
            "{} holds a lone surrogate: it is not valid Unicode",
            place()
        ))),
    }
}

/// The value's type for a message; NaN and None, which stand for missing texts, by name.
pub fn kind_of(value: &Bound<'_, PyAny>) -> String {
    if value.is_none() {
        return "None".to_owned();
    }
    if value.extract::<f64>().is_ok_and(f64::is_nan) {
        return "NaN".to_owned();
    }
    let name = value.get_type().fully_qualified_name();
    name.map_or_else(
        |_| "something without a type".to_owned(),
        |name| name.to_string().trim_start_matches("builtins.").to_owned(),
    )
}
