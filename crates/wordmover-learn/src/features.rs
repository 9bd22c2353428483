//! A view of dense features.

use crate::error::{Error, Result, same_length};

/// Rows of features (or of distances), one after the other; a view, cheap to copy.
///
/// A row may be longer than the columns seen: [`first_columns`](Self::first_columns)
/// gives the features of a smaller embedding without copying, since the random
/// documents of an embedding with fewer features are the first of a larger one.
#[derive(Debug, Clone, Copy)]
pub struct Features<'a> {
    values: &'a [f32],
    n_rows: usize,
    n_columns: usize,
    row_length: usize,
}

impl<'a> Features<'a> {
    /// Sees `values` as rows of `n_columns`.
    ///
    /// # Errors
    ///
    /// If there are no columns, or the last row is not whole.
    pub fn new(values: &'a [f32], n_columns: usize) -> Result<Self> {
        if n_columns == 0 {
            return Err(Error::Empty { what: "columns" });
        }
        let n_rows = values.len() / n_columns;
        same_length("values in whole rows", n_rows * n_columns, values.len())?;
        Ok(Features {
            values,
            n_rows,
            n_columns,
            row_length: n_columns,
        })
    }

    /// The same rows, with their first columns alone.
    ///
    /// # Errors
    ///
    /// If there are not so many columns, or none is asked for.
    pub fn first_columns(self, n_columns: usize) -> Result<Self> {
        if n_columns == 0 || n_columns > self.n_columns {
            let requirement = "between 1 and the number of columns";
            return Err(Error::parameter("n_columns", n_columns, requirement));
        }
        Ok(Features { n_columns, ..self })
    }

    /// Number of rows (documents).
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns (features).
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// One row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &'a [f32] {
        assert!(row < self.n_rows, "row {row} of {}", self.n_rows);
        &self.values[row * self.row_length..][..self.n_columns]
    }

    /// Copies some rows, in the order given.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn gather(&self, rows: &[usize]) -> Vec<f32> {
        let mut values = Vec::with_capacity(rows.len() * self.n_columns);
        for &row in rows {
            values.extend_from_slice(self.row(row));
        }
        values
    }

    /// Refuses values that are not finite.
    pub(crate) fn check_finite(&self) -> Result<()> {
        for row in 0..self.n_rows {
            let values = self.row(row);
            if let Some(column) = values.iter().position(|value| !value.is_finite()) {
                let value = values[column];
                return Err(Error::NotFinite { row, column, value });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_columns_of_every_row_are_seen() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let all = Features::new(&values, 3).unwrap();
        let first = all.first_columns(2).unwrap();
        assert_eq!((first.n_rows(), first.n_columns()), (2, 2));
        assert_eq!(first.row(1), [4.0, 5.0]);
        assert_eq!(first.gather(&[1, 0, 1]), [4.0, 5.0, 1.0, 2.0, 4.0, 5.0]);
        assert!(first.first_columns(3).is_err());
        assert!(first.first_columns(0).is_err());
    }

    #[test]
    fn unfinished_rows_and_missing_columns_are_refused() {
        assert!(Features::new(&[1.0; 5], 2).is_err());
        assert!(Features::new(&[], 0).is_err());
        assert_eq!(Features::new(&[], 2).unwrap().n_rows(), 0);
    }

    #[test]
    fn the_place_of_a_value_that_is_not_finite_is_told() {
        let values = [0.0, 1.0, 2.0, f32::NAN];
        let error = Features::new(&values, 2).unwrap().check_finite();
        assert!(matches!(
            error,
            Err(Error::NotFinite {
                row: 1,
                column: 1,
                ..
            })
        ));
    }
}
