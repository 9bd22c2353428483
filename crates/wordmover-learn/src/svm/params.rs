//! What the user chooses.

use crate::error::{Error, Result};

/// Parameters of a linear SVM; the defaults are LIBLINEAR's for `-s 2 -e 0.0001`,
/// which is what the paper uses.
///
/// ```
/// use wordmover_learn::SvmParams;
///
/// assert!(SvmParams::default().cost(1e-3).standardize(true).check().is_ok());
/// assert!(SvmParams::default().cost(f64::NAN).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SvmParams {
    /// Weight of the losses against the regulariser (`C`). Default 1.
    pub cost: f64,
    /// How small the gradient must be, relative to that at 0 and to the share of the
    /// smaller side (LIBLINEAR's `-e`). Default 1e-4.
    pub tolerance: f64,
    /// Value of an additional column whose weight is the bias (LIBLINEAR's `-B`; the
    /// weight is regularised like the others), in single precision like all features.
    /// Default none.
    pub bias: Option<f64>,
    /// Whether columns are shifted and scaled to mean 0 and variance 1 over the
    /// training rows. The model takes features as they are: the scaling is folded
    /// into its weights. Constant columns get weight 0. Default no.
    pub standardize: bool,
}

impl Default for SvmParams {
    fn default() -> Self {
        SvmParams {
            cost: 1.0,
            tolerance: 1e-4,
            bias: None,
            standardize: false,
        }
    }
}

impl SvmParams {
    /// Sets `C`.
    #[must_use]
    pub fn cost(mut self, cost: f64) -> Self {
        self.cost = cost;
        self
    }

    /// Sets the stopping tolerance.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sets the value of the bias column.
    #[must_use]
    pub fn bias(mut self, bias: Option<f64>) -> Self {
        self.bias = bias;
        self
    }

    /// Sets whether columns are standardised.
    #[must_use]
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }

    /// Checks every parameter.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] names the first that is out of range.
    pub fn check(self) -> Result<CheckedSvmParams> {
        check_cost(self.cost)?;
        if !(self.tolerance.is_finite() && self.tolerance > 0.0) {
            let requirement = "a positive finite number";
            return Err(Error::parameter("tolerance", self.tolerance, requirement));
        }
        if let Some(bias) = self.bias
            && !((bias as f32).is_finite() && bias as f32 > 0.0)
        {
            let requirement = "a positive finite number";
            return Err(Error::parameter("bias", bias, requirement));
        }
        Ok(CheckedSvmParams(self))
    }
}

pub(crate) fn check_cost(cost: f64) -> Result<()> {
    if cost.is_finite() && cost > 0.0 {
        return Ok(());
    }
    Err(Error::parameter("C", cost, "a positive finite number"))
}

/// Parameters that passed [`SvmParams::check`]; only these can be fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckedSvmParams(SvmParams);

impl CheckedSvmParams {
    /// The parameters.
    #[must_use]
    pub fn get(&self) -> &SvmParams {
        &self.0
    }
}
