//! The vectors of a table: either floats read from a foreign file, or the
//! bytes of a native one, decoded a row at a time.

use std::ops::Range;
use std::sync::Arc;

use super::Precision;
use super::precision;

/// Bytes that something keeps alive: a mapped file, a vector, the program itself.
pub(super) type ByteOwner = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// One row per word.
pub(super) struct Rows {
    dim: usize,
    values: Values,
}

enum Values {
    Floats(Vec<f32>),
    Stored {
        owner: ByteOwner,
        range: Range<usize>,
        precision: Precision,
        /// One per row for int8, otherwise empty. Copied at opening, because
        /// they are checked there.
        scales: Vec<f32>,
    },
}

impl Rows {
    pub(super) fn from_floats(values: Vec<f32>, dim: usize) -> Self {
        Rows {
            dim,
            values: Values::Floats(values),
        }
    }

    /// Rows stored in `range` of the owner's bytes, which the caller has
    /// checked to be there and to hold whole rows.
    pub(super) fn stored(
        owner: ByteOwner,
        range: Range<usize>,
        dim: usize,
        precision: Precision,
        scales: Vec<f32>,
    ) -> Self {
        Rows {
            dim,
            values: Values::Stored {
                owner,
                range,
                precision,
                scales,
            },
        }
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    pub(super) fn precision(&self) -> Precision {
        match &self.values {
            Values::Floats(_) => Precision::F32,
            Values::Stored { precision, .. } => *precision,
        }
    }

    /// Writes row `row` to `out`, which must hold `dim` values.
    pub(super) fn copy_row(&self, row: usize, out: &mut [f32]) {
        match &self.values {
            Values::Floats(values) => {
                out.copy_from_slice(&values[row * self.dim..][..self.dim]);
            }
            Values::Stored { precision, .. } => {
                let (bytes, scale) = self.stored_row(row).expect("stored rows have bytes");
                precision::decode(bytes, *precision, scale, out);
            }
        }
    }

    /// The bytes and scale of a row of a native table.
    fn stored_row(&self, row: usize) -> Option<(&[u8], f32)> {
        let Values::Stored {
            owner,
            range,
            precision,
            scales,
        } = &self.values
        else {
            return None;
        };
        let bytes: &[u8] = owner.as_ref().as_ref();
        let row_len = self.dim * precision.n_bytes();
        let row_bytes = &bytes[range.clone()][row * row_len..][..row_len];
        Some((row_bytes, scales.get(row).copied().unwrap_or(1.0)))
    }

    /// Appends the stored form of a row to `out` and returns its scale.
    ///
    /// A row that has this precision already is copied as it is: quantising an
    /// int8 row again could move its scale by a rounding error.
    pub(super) fn encode_row(
        &self,
        row: usize,
        precision: Precision,
        out: &mut Vec<u8>,
    ) -> Result<f32, precision::Unrepresentable> {
        let mut floats = vec![0.0; self.dim];
        self.copy_row(row, &mut floats);
        match self.stored_row(row) {
            Some((bytes, scale)) if self.precision() == precision => {
                match floats.iter().find(|value| !value.is_finite()) {
                    Some(&value) => Err(precision::Unrepresentable(value)),
                    None => {
                        out.extend_from_slice(bytes);
                        Ok(scale)
                    }
                }
            }
            _ => precision::encode(&floats, precision, out),
        }
    }
}
