//! What the user chooses.

use crate::error::{Error, Result};

/// How much more the rows of some classes count.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum ClassWeights {
    /// All alike.
    #[default]
    Equal,
    /// In inverse proportion to their rows: `n / (n_classes * n of the class)`, or with
    /// several labels a row `n / (2 * n of the class)` and the same for the rest.
    Balanced,
    /// As given, by class id; other classes have weight 1.
    Given(Vec<(usize, f64)>),
}

/// Parameters of a [`LinearClassifier`](super::LinearClassifier).
///
/// ```
/// use wordmover_learn::LinearParams;
///
/// assert!(LinearParams::default().cost(10.0).check().is_ok());
/// assert!(LinearParams::default().tolerance(f64::NAN).check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LinearParams {
    /// Weight of the losses against the regulariser (`C`). Default 1.
    pub cost: f64,
    /// Greatest duality gap, relative to the objective: the objective is at most this share
    /// above the least. Default 1e-3.
    pub tolerance: f64,
    /// Passes over the rows after which a machine is left as it is, and marked as not
    /// converged. Default 1,000.
    pub max_epochs: usize,
    /// Value of an additional column whose weight is the intercept (LIBLINEAR's `-B`; the
    /// weight is regularised like the others), or none. Default 1.
    pub bias: Option<f64>,
    /// Whether dense columns are shifted and scaled to mean 0 and variance 1 over the
    /// training rows. The model takes features as they are: the scaling is folded into its
    /// weights. Constant columns get weight 0. Default yes.
    pub standardize: bool,
    /// What dense columns, standardised or not, are multiplied with. A standardised row has
    /// a length of about the root of its number of columns, a row of TF-IDF has 1. Default 1.
    pub dense_weight: f64,
    /// Weights of classes. As in LIBLINEAR's `-wi` they multiply C for the rows of a class
    /// in its own machine, and with two classes for those of both. Default all equal.
    pub class_weights: ClassWeights,
    /// Decides in which order rows are visited. Default 0.
    pub seed: u64,
}

impl Default for LinearParams {
    fn default() -> Self {
        LinearParams {
            cost: 1.0,
            tolerance: 1e-3,
            max_epochs: 1000,
            bias: Some(1.0),
            standardize: true,
            dense_weight: 1.0,
            class_weights: ClassWeights::Equal,
            seed: 0,
        }
    }
}

impl LinearParams {
    /// Sets `C`.
    #[must_use]
    pub fn cost(mut self, cost: f64) -> Self {
        self.cost = cost;
        self
    }

    /// Sets the greatest relative duality gap.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sets the greatest number of passes over the rows.
    #[must_use]
    pub fn max_epochs(mut self, max_epochs: usize) -> Self {
        self.max_epochs = max_epochs;
        self
    }

    /// Sets the value of the bias column.
    #[must_use]
    pub fn bias(mut self, bias: Option<f64>) -> Self {
        self.bias = bias;
        self
    }

    /// Sets whether dense columns are standardised.
    #[must_use]
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }

    /// Sets the weight of the dense columns.
    #[must_use]
    pub fn dense_weight(mut self, dense_weight: f64) -> Self {
        self.dense_weight = dense_weight;
        self
    }

    /// Sets the weights of classes.
    #[must_use]
    pub fn class_weights(mut self, class_weights: ClassWeights) -> Self {
        self.class_weights = class_weights;
        self
    }

    /// Sets the seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Checks every parameter.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidParameter`] names the first that is out of range.
    pub fn check(self) -> Result<CheckedLinearParams> {
        check_positive("C", self.cost)?;
        check_positive("tolerance", self.tolerance)?;
        if self.max_epochs == 0 {
            return Err(Error::parameter("max_epochs", 0, "at least 1"));
        }
        if let Some(bias) = self.bias {
            check_positive("bias", bias)?;
        }
        check_positive("dense_weight", self.dense_weight)?;
        if let ClassWeights::Given(weights) = &self.class_weights {
            for (i, &(class, weight)) in weights.iter().enumerate() {
                check_positive("a class weight", weight)?;
                if weights[..i].iter().any(|&(other, _)| other == class) {
                    let requirement = "given once";
                    return Err(Error::parameter(
                        "a class with a weight",
                        class,
                        requirement,
                    ));
                }
            }
        }
        Ok(CheckedLinearParams(self))
    }
}

/// Refuses what is not a positive number. Squares must be numbers, too.
pub(crate) fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if (1e-100..=1e100).contains(&value) {
        return Ok(());
    }
    let requirement = "a positive number between 1e-100 and 1e100";
    Err(Error::parameter(name, value, requirement))
}

/// Parameters that passed [`LinearParams::check`]; only these can be fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedLinearParams(LinearParams);

impl CheckedLinearParams {
    /// The parameters.
    #[must_use]
    pub fn get(&self) -> &LinearParams {
        &self.0
    }
}
