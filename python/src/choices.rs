//! Parameters as Python spells them.

use std::collections::BTreeSet;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use wordmover::names::Named;
use wordmover::text::{Case, StopWords, Tokenizer};
use wordmover::{
    Error,
    embedding::{Components, Gamma},
    space::{Normalization, UnknownWords},
};

use crate::texts::kind_of;

/// A parameter that is one of a few names.
pub fn named<T: Named>(parameter: &str, name: &str) -> PyResult<T> {
    one_of(
        parameter,
        Some(name),
        T::ALL.iter().map(|&value| (Some(value.name()), value)),
    )
}

/// A normalisation; None is its name for nothing.
pub fn normalization(name: Option<&str>) -> PyResult<Normalization> {
    one_of("normalization", name, normalizations())
}

/// For a corpus of which no mean is taken.
pub fn uncentered(name: Option<&str>) -> PyResult<Normalization> {
    let uncentered = normalizations().filter(|(_, value)| !value.centers());
    one_of("normalization", name, uncentered)
}

/// The other way round.
pub fn name_of_normalization(value: Normalization) -> Option<&'static str> {
    (value != Normalization::None).then(|| value.name())
}

/// None comes last where it is offered.
fn normalizations() -> impl Iterator<Item = (Option<&'static str>, Normalization)> {
    let (none, named): (Vec<_>, Vec<_>) = Normalization::ALL
        .iter()
        .map(|&value| (name_of_normalization(value), value))
        .partition(|(name, _)| name.is_none());
    named.into_iter().chain(none)
}

fn one_of<T: Copy>(
    parameter: &str,
    given: Option<&str>,
    choices: impl Iterator<Item = (Option<&'static str>, T)>,
) -> PyResult<T> {
    let choices: Vec<_> = choices.collect();
    let found = choices.iter().find(|(name, _)| *name == given);
    found.map(|&(_, value)| value).ok_or_else(|| {
        let shown = |name: Option<&str>| match name {
            Some(name) => format!("{name:?}"),
            None => "None".to_owned(),
        };
        let names: Vec<String> = choices.iter().map(|(name, _)| shown(*name)).collect();
        let (last, others) = names.split_last().expect("there are choices");
        PyValueError::new_err(format!(
            "{parameter} is {}: it must be {} or {last}",
            shown(given),
            others.join(", "),
        ))
    })
}

/// `"keep"`, `"flatten=K"` or `"remove=K"`, as the program has it.
pub fn components(value: &str) -> PyResult<Components> {
    value.parse().map_err(|_: Error| {
        PyValueError::new_err(format!(
            "components is {value:?}: it must be \"keep\", \"flatten=K\" or \"remove=K\""
        ))
    })
}

/// What becomes of unknown words; None leaves it to the vectors.
pub fn unknown(name: Option<&str>) -> PyResult<Option<UnknownWords>> {
    let choices = UnknownWords::ALL
        .iter()
        .map(|&value| (Some(value.name()), Some(value)));
    one_of("unknown", name, choices.chain([(None, None)]))
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

/// How texts become words.
pub fn tokenizer(case: &str, stop_words: &Bound<'_, PyAny>) -> PyResult<Tokenizer> {
    Ok(Tokenizer {
        case: named::<Case>("case", case)?,
        stop_words: self::stop_words(stop_words)?,
        ..Tokenizer::default()
    })
}

/// `"smart"`, None, or an iterable of words; `"english"` is one when it comes here.
pub fn stop_words(stop_words: &Bound<'_, PyAny>) -> PyResult<StopWords> {
    if stop_words.is_none() {
        return Ok(StopWords::None);
    }
    if let Ok(name) = stop_words.cast::<PyString>() {
        let choices = [(Some("smart"), ()), (Some("english"), ()), (None, ())].into_iter();
        one_of("stop_words", Some(name.to_str()?), choices)?;
        return Ok(StopWords::Smart);
    }
    let words: PyResult<BTreeSet<String>> =
        stop_words.try_iter()?.map(|word| word?.extract()).collect();
    Ok(StopWords::Custom(words.map_err(|_| {
        PyTypeError::new_err(format!(
            "stop_words is {}: it must be \"smart\", \"english\", None or a list of str",
            kind_of(stop_words)
        ))
    })?))
}
