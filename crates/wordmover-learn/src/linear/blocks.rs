//! Sparse and dense features of the same rows, side by side.

use crate::error::{Result, same_length};
use crate::features::Features;
use crate::sparse::SparseRows;

/// A view of rows whose columns are those of a sparse block, followed by those of a dense
/// block; either may be missing. Nothing is copied: the sparse block is never made dense.
#[derive(Debug, Clone, Copy)]
pub struct FeatureBlocks<'a> {
    sparse: Option<&'a SparseRows>,
    dense: Option<Features<'a>>,
}

impl<'a> FeatureBlocks<'a> {
    /// Sparse columns alone.
    #[must_use]
    pub fn sparse(sparse: &'a SparseRows) -> Self {
        FeatureBlocks {
            sparse: Some(sparse),
            dense: None,
        }
    }

    /// Dense columns alone.
    #[must_use]
    pub fn dense(dense: Features<'a>) -> Self {
        FeatureBlocks {
            sparse: None,
            dense: Some(dense),
        }
    }

    /// Both.
    ///
    /// # Errors
    ///
    /// If they do not have the same number of rows.
    pub fn both(sparse: &'a SparseRows, dense: Features<'a>) -> Result<Self> {
        same_length(
            "rows of dense features, as of sparse ones",
            sparse.n_rows(),
            dense.n_rows(),
        )?;
        Ok(FeatureBlocks {
            sparse: Some(sparse),
            dense: Some(dense),
        })
    }

    /// Number of rows (documents).
    #[must_use]
    pub fn n_rows(&self) -> usize {
        match (self.sparse, self.dense) {
            (Some(sparse), _) => sparse.n_rows(),
            (None, Some(dense)) => dense.n_rows(),
            (None, None) => 0,
        }
    }

    /// Number of sparse columns.
    #[must_use]
    pub fn n_sparse(&self) -> usize {
        self.sparse.map_or(0, SparseRows::n_columns)
    }

    /// Number of dense columns.
    #[must_use]
    pub fn n_dense(&self) -> usize {
        self.dense.map_or(0, |dense| dense.n_columns())
    }

    pub(crate) fn sparse_row(&self, row: usize) -> (&'a [u32], &'a [f64]) {
        self.sparse.map_or((&[], &[]), |sparse| sparse.row(row))
    }

    pub(crate) fn dense_row(&self, row: usize) -> &'a [f32] {
        self.dense.map_or(&[], |dense| dense.row(row))
    }

    pub(crate) fn dense_block(&self) -> Option<Features<'a>> {
        self.dense
    }

    /// Refuses values that are not finite; those of the sparse block were checked before.
    pub(crate) fn check_finite(&self) -> Result<()> {
        self.dense.map_or(Ok(()), |dense| dense.check_finite())
    }
}
