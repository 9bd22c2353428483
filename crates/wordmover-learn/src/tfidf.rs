//! Sublinear TF-IDF over given counts, with the values of scikit-learn's
//! `TfidfTransformer(sublinear_tf=True)`.
//!
//! A column of a row with count `c` becomes `(1 + ln c) * idf`, where `idf = 1 + ln((1 + n)
//! / (1 + df))` over the `n` rows it is fitted on, `df` of which have the column; then every
//! row is divided by its length. What the columns stand for is the caller's business.

use crate::error::{Error, Result, same_length};
use crate::sparse::SparseRows;

/// Fitted inverse document frequencies.
///
/// ```
/// use wordmover_learn::{SparseRows, TfIdf};
///
/// let counts = SparseRows::from_rows(3, [vec![(0, 2.0), (1, 1.0)], vec![(0, 1.0)]])?;
/// let tf_idf = TfIdf::fit(&counts)?;
/// let features = tf_idf.transform(&counts)?;
/// assert_eq!(features.row(1).1, [1.0]);
/// # Ok::<(), wordmover_learn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TfIdf {
    idf: Vec<f64>,
}

impl TfIdf {
    /// Learns how many rows have each column.
    ///
    /// # Errors
    ///
    /// If there are no rows, or a stored count is not positive.
    pub fn fit(counts: &SparseRows) -> Result<Self> {
        let rows: Vec<usize> = (0..counts.n_rows()).collect();
        Self::fit_rows(counts, &rows)
    }

    /// The same on some of the rows, such as the training part of a split.
    ///
    /// # Errors
    ///
    /// As for [`fit`](Self::fit), and if there is no such row.
    pub fn fit_rows(counts: &SparseRows, rows: &[usize]) -> Result<Self> {
        if rows.is_empty() {
            return Err(Error::Empty { what: "rows" });
        }
        let mut n_having = vec![0.0; counts.n_columns()];
        for &row in rows {
            if row >= counts.n_rows() {
                return Err(Error::parameter("a row", row, "one of the rows"));
            }
            let (columns, values) = counts.row(row);
            for (&column, &count) in columns.iter().zip(values) {
                check_count(count)?;
                n_having[column as usize] += 1.0;
            }
        }
        let n = rows.len() as f64 + 1.0;
        let idf = n_having.into_iter();
        let idf = idf.map(|having| libm::log(n / (having + 1.0)) + 1.0);
        Ok(TfIdf { idf: idf.collect() })
    }

    /// What was kept of a fit.
    ///
    /// # Errors
    ///
    /// If a number is not positive and finite.
    pub fn from_parts(idf: Vec<f64>) -> Result<Self> {
        match idf.iter().find(|idf| !(idf.is_finite() && **idf > 0.0)) {
            Some(idf) => Err(Error::parameter("an idf", idf, "a positive finite number")),
            None => Ok(TfIdf { idf }),
        }
    }

    /// The inverse document frequency of every column.
    #[must_use]
    pub fn idf(&self) -> &[f64] {
        &self.idf
    }

    /// The features of rows of counts; each row has length 1, or no value at all.
    ///
    /// # Errors
    ///
    /// If there are not as many columns as in the fit, or a stored count is not positive.
    pub fn transform(&self, counts: &SparseRows) -> Result<SparseRows> {
        same_length("columns", self.idf.len(), counts.n_columns())?;
        let mut features = Vec::with_capacity(counts.n_values());
        for row in 0..counts.n_rows() {
            let (columns, values) = counts.row(row);
            let start = features.len();
            for (&column, &count) in columns.iter().zip(values) {
                check_count(count)?;
                features.push((libm::log(count) + 1.0) * self.idf[column as usize]);
            }
            let row = &mut features[start..];
            let square: f64 = row.iter().map(|x| x * x).sum();
            if square > 0.0 {
                let length = square.sqrt();
                row.iter_mut().for_each(|x| *x /= length);
            }
        }
        Ok(counts.with_values(features))
    }
}

fn check_count(count: f64) -> Result<()> {
    if count > 0.0 {
        return Ok(());
    }
    Err(Error::parameter("a count", count, "positive"))
}
