//! Sparse features: rows of which only the values that are not 0 are stored.

use crate::error::{Error, Result, same_length};

/// A sparse matrix by rows (CSR), its columns ascending within each row.
///
/// ```
/// use wordmover_learn::SparseRows;
///
/// // Two rows of four columns: (0, 2, 0, 1) and (0, 0, 0, 5).
/// let rows = SparseRows::new(4, vec![0, 2, 3], vec![1, 3, 3], vec![2.0, 1.0, 5.0])?;
/// assert_eq!(rows.row(0).0, [1, 3]);
/// assert_eq!(rows.row(1).1, [5.0]);
/// # Ok::<(), wordmover_learn::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows {
    n_columns: usize,
    /// Where each row begins, and the end of the last.
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl SparseRows {
    /// Row `i` has the values `values[starts[i]..starts[i + 1]]` in the columns of the same
    /// positions.
    ///
    /// # Errors
    ///
    /// If `starts` does not begin at 0, descends or ends elsewhere than the values, columns
    /// of a row do not ascend or are not below `n_columns`, or a value is not finite in
    /// single precision.
    pub fn new(
        n_columns: usize,
        starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<Self> {
        same_length("columns, one for each value", values.len(), columns.len())?;
        let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else {
            return Err(Error::Empty { what: "row starts" });
        };
        same_length("values before the first row", 0, first)?;
        same_length("values in all rows", values.len(), last)?;
        for (row, pair) in starts.windows(2).enumerate() {
            if pair[0] > pair[1] || pair[1] > values.len() {
                return Err(Error::parameter("a row start", pair[1], "ascending"));
            }
            let mut least = 0;
            for i in pair[0]..pair[1] {
                let column = columns[i] as usize;
                if column < least || column >= n_columns {
                    return Err(Error::SparseColumn {
                        row,
                        column,
                        n_columns,
                    });
                }
                least = column + 1;
                let value = values[i] as f32;
                if !value.is_finite() {
                    return Err(Error::NotFinite { row, column, value });
                }
            }
        }
        Ok(SparseRows {
            n_columns,
            starts,
            columns,
            values,
        })
    }

    /// Rows of (column, value) pairs.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn from_rows<R>(n_columns: usize, rows: impl IntoIterator<Item = R>) -> Result<Self>
    where
        R: IntoIterator<Item = (u32, f64)>,
    {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (column, value) in row {
                columns.push(column);
                values.push(value);
            }
            starts.push(values.len());
        }
        Self::new(n_columns, starts, columns, values)
    }

    /// The same columns with other values.
    pub(crate) fn with_values(&self, values: Vec<f64>) -> Self {
        debug_assert_eq!(values.len(), self.values.len());
        SparseRows {
            n_columns: self.n_columns,
            starts: self.starts.clone(),
            columns: self.columns.clone(),
            values,
        }
    }

    /// Number of rows (documents).
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns (features).
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Number of values stored.
    #[must_use]
    pub fn n_values(&self) -> usize {
        self.values.len()
    }

    /// The columns of one row, ascending, and their values.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Copies some rows, in the order given.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn gather(&self, rows: &[usize]) -> Self {
        let mut gathered = SparseRows {
            n_columns: self.n_columns,
            starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
        };
        for &row in rows {
            let (columns, values) = self.row(row);
            gathered.columns.extend_from_slice(columns);
            gathered.values.extend_from_slice(values);
            gathered.starts.push(gathered.values.len());
        }
        gathered
    }

    /// In how many of the rows each column is stored.
    #[must_use]
    pub fn column_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.n_columns];
        for &column in &self.columns {
            counts[column as usize] += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gathered_and_columns_counted() {
        let rows = [vec![(0, 1.0), (3, 2.0)], vec![], vec![(3, 4.0)]];
        let rows = SparseRows::from_rows(5, rows).unwrap();
        assert_eq!(
            (rows.n_rows(), rows.n_columns(), rows.n_values()),
            (3, 5, 3)
        );
        assert_eq!(rows.column_counts(), [1, 0, 0, 2, 0]);
        let gathered = rows.gather(&[2, 1, 2]);
        assert_eq!(gathered.row(0), (&[3][..], &[4.0][..]));
        assert_eq!(gathered.row(1), (&[][..], &[][..]));
        assert_eq!(gathered.n_rows(), 3);
    }

    #[test]
    fn what_is_not_a_sparse_matrix_is_refused() {
        let new = |starts: &[usize], columns: &[u32], values: &[f64]| {
            SparseRows::new(3, starts.to_vec(), columns.to_vec(), values.to_vec())
        };
        assert!(new(&[0, 2], &[0, 2], &[1.0, 1.0]).is_ok());
        assert!(new(&[0], &[], &[]).is_ok());
        assert!(new(&[], &[], &[]).is_err());
        assert!(new(&[1, 2], &[0, 2], &[1.0, 1.0]).is_err());
        assert!(new(&[0, 1], &[0, 2], &[1.0, 1.0]).is_err());
        assert!(new(&[0, 3, 2], &[0, 2], &[1.0, 1.0]).is_err());
        assert!(new(&[0, 2], &[0], &[1.0, 1.0]).is_err());
        for columns in [[2, 0], [1, 1], [0, 3]] {
            let error = new(&[0, 2], &columns, &[1.0, 1.0]).unwrap_err();
            assert!(matches!(error, Error::SparseColumn { row: 0, .. }));
        }
        for value in [f64::NAN, f64::INFINITY, 1e300] {
            let error = new(&[0, 0, 1], &[1], &[value]).unwrap_err();
            assert!(matches!(
                error,
                Error::NotFinite {
                    row: 1,
                    column: 1,
                    ..
                }
            ));
        }
    }
}
