//! Parameters that were checked.

use std::ops::{Deref, RangeInclusive};

use crate::error::{Error, Result};

/// Parameters whose `check` found every one of them in range; only these can be fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<P>(P);

impl<P> Checked<P> {
    pub(crate) fn new(params: P) -> Self {
        Checked(params)
    }

    /// The parameters, to be changed and checked again.
    #[must_use]
    pub fn into_inner(self) -> P {
        self.0
    }
}

impl<P> Deref for Checked<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.0
    }
}

/// Refuses a value outside its range.
pub(crate) fn within(
    name: &'static str,
    value: usize,
    range: RangeInclusive<usize>,
    requirement: &'static str,
) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Error::InvalidParameter {
        name,
        value: value.to_string(),
        requirement,
    })
}
