//! Parameters as Python spells them.

use std::collections::BTreeSet;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use wordmover::text::{Case, StopWords, Tokenizer};
use wordmover::{Gamma, Normalization, RandomWords, Weighting};

use crate::texts::kind_of;

/// A parameter that is one of a few names; None is one of them for some.
fn choice<T: Copy>(
    parameter: &str,
    value: Option<&str>,
    choices: &[(Option<&str>, T)],
) -> PyResult<T> {
    let found = choices.iter().find(|(name, _)| *name == value);
    found.map(|&(_, choice)| choice).ok_or_else(|| {
        let shown = |name: Option<&str>| match name {
            Some(name) => format!("{name:?}"),
            None => "None".to_owned(),
        };
        let (last, others) = choices.split_last().expect("there are choices");
        let others: Vec<String> = others.iter().map(|(name, _)| shown(*name)).collect();
        PyValueError::new_err(format!(
            "{parameter} is {}: it must be {} or {}",
            shown(value),
            others.join(", "),
            shown(last.0)
        ))
    })
}

const WEIGHTINGS: [(Option<&str>, Weighting); 2] = [
    (Some("nbow"), Weighting::Nbow),
    (Some("tfidf"), Weighting::Tfidf),
];
const NORMALIZATIONS: [(Option<&str>, Normalization); 4] = [
    (Some("unit"), Normalization::Unit),
    (Some("center"), Normalization::Center),
    (Some("center-unit"), Normalization::CenterUnit),
    (None, Normalization::None),
];
const RANDOM_WORDS: [(Option<&str>, RandomWords); 4] = [
    (Some("uniform"), RandomWords::Uniform),
    (Some("uniform-centered"), RandomWords::UniformCentered),
    (Some("gaussian"), RandomWords::Gaussian),
    (Some("vocabulary"), RandomWords::Vocabulary),
];
const CASES: [(Option<&str>, Case); 2] = [(Some("lower"), Case::Lower), (Some("keep"), Case::Keep)];

pub fn weighting(name: &str) -> PyResult<Weighting> {
    choice("weights", Some(name), &WEIGHTINGS)
}

pub fn normalization(name: Option<&str>) -> PyResult<Normalization> {
    choice("normalization", name, &NORMALIZATIONS)
}

/// For a corpus of which no mean is taken.
pub fn uncentered(name: Option<&str>) -> PyResult<Normalization> {
    choice(
        "normalization",
        name,
        &[NORMALIZATIONS[0], NORMALIZATIONS[3]],
    )
}

pub fn random_words(name: &str) -> PyResult<RandomWords> {
    choice("random_words", Some(name), &RANDOM_WORDS)
}

/// `"auto"`, a number, or None for distances as they are.
pub fn gamma(value: &Bound<'_, PyAny>) -> PyResult<Gamma> {
    if value.is_none() {
        return Ok(Gamma::None);
    }
    if value.cast::<PyString>().is_ok_and(|name| name == "auto") {
        return Ok(Gamma::Auto);
    }
    if !value.is_instance_of::<PyBool>()
        && let Ok(number) = value.extract::<f64>()
    {
        return Ok(Gamma::Value(number));
    }
    let shown = value.repr()?;
    let message = format!("gamma is {shown}: it must be \"auto\", a positive number or None");
    Err(PyValueError::new_err(message))
}

/// How texts become words. `stop_words` is `"smart"`, None, or an iterable of words.
pub fn tokenizer(case: &str, stop_words: &Bound<'_, PyAny>) -> PyResult<Tokenizer> {
    let stop_words = if stop_words.is_none() {
        StopWords::None
    } else if let Ok(name) = stop_words.cast::<PyString>() {
        choice(
            "stop_words",
            Some(name.to_str()?),
            &[(Some("smart"), ()), (None, ())],
        )?;
        StopWords::Smart
    } else {
        let words: PyResult<BTreeSet<String>> =
            stop_words.try_iter()?.map(|word| word?.extract()).collect();
        StopWords::Custom(words.map_err(|_| {
            PyTypeError::new_err(format!(
                "stop_words is {}: it must be \"smart\", None or a list of str",
                kind_of(stop_words)
            ))
        })?)
    };
    Ok(Tokenizer {
        case: choice("case", Some(case), &CASES)?,
        stop_words,
    })
}

/// The name of a choice.
macro_rules! name_of {
    ($function:ident, $choice:ty, $table:ident) => {
        pub fn $function(value: $choice) -> Option<&'static str> {
            let found = $table.iter().find(|(_, choice)| *choice == value);
            found.and_then(|&(name, _)| name)
        }
    };
}
name_of!(name_of_weighting, Weighting, WEIGHTINGS);
name_of!(name_of_normalization, Normalization, NORMALIZATIONS);
name_of!(name_of_random_words, RandomWords, RANDOM_WORDS);
name_of!(name_of_case, Case, CASES);
