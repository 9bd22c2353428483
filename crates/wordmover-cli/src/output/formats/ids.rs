//! What rows of embeddings are called.

/// Where the ids of an output come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// The number of the row, from 0.
    RowNumbers,
    /// Text that comes with each row.
    Given,
}

/// The ids of some rows in a row.
#[derive(Clone, Copy)]
pub enum RowIds<'a> {
    /// Numbers from this one on.
    Numbers(u64),
    Given(&'a [String]),
}

impl<'a> RowIds<'a> {
    /// The id of the row with this index.
    ///
    /// # Panics
    /// When ids were given for fewer rows.
    pub fn get(self, index: usize) -> RowId<'a> {
        match self {
            RowIds::Numbers(first) => RowId::Number(first + index as u64),
            RowIds::Given(ids) => RowId::Given(&ids[index]),
        }
    }
}

/// The id of one row.
pub enum RowId<'a> {
    Number(u64),
    Given(&'a str),
}
