//! The crate's one error type: variants carry facts, the sentence is made here.

/// What the crate's fallible functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong between features and a prediction. Rows, columns and
/// class ids count from 0, as they do in the calls.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A length or a number of columns does not fit the rest.
    #[error("{what}: {expected} expected, {found} found")]
    WrongLength {
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// There is nothing to learn from.
    #[error("there are no {what}")]
    Empty {
        /// What is missing.
        what: &'static str,
    },
    /// A feature or a distance is not a usable number.
    #[error("row {row}, column {column} is {value}: only finite numbers can be used")]
    NotFinite {
        /// Row of the value.
        row: usize,
        /// Column of the value.
        column: usize,
        /// The value.
        value: f32,
    },
    /// Columns of a sparse row ascend, and are columns of the matrix.
    #[error("row {row}: column {column} is out of order, repeated or not below {n_columns}")]
    SparseColumn {
        /// Row of the value.
        row: usize,
        /// The column named.
        column: usize,
        /// Columns of the matrix.
        n_columns: usize,
    },
    /// A classifier needs something to tell apart.
    #[error("all {n_rows} rows are of class {class}: at least two classes are needed")]
    OneClass {
        /// The only class.
        class: usize,
        /// Rows to learn from.
        n_rows: usize,
    },
    /// A class cannot be in every fold.
    #[error("class {class} has {n_members} members, fewer than the {n_folds} folds")]
    ClassSmallerThanFolds {
        /// The class.
        class: usize,
        /// How many rows have it.
        n_members: usize,
        /// Folds asked for.
        n_folds: usize,
    },
    /// There are more folds than rows.
    #[error("{n_rows} rows cannot be divided into {n_folds} folds")]
    TooFewRows {
        /// Rows there are.
        n_rows: usize,
        /// Folds asked for.
        n_folds: usize,
    },
    /// A list of neighbours is too short for the votes asked for.
    #[error("query {query} has {found} neighbours that may vote, {needed} are needed")]
    TooFewNeighbors {
        /// The query's position.
        query: usize,
        /// Neighbours that may vote.
        found: usize,
        /// The largest K.
        needed: usize,
    },
    /// A list of neighbours names a row that has no label, or a distance that is NaN.
    #[error("query {query} has neighbour {index} at distance {distance}, of {n_labels} rows")]
    BadNeighbor {
        /// The query's position.
        query: usize,
        /// The row named.
        index: usize,
        /// Its distance.
        distance: f64,
        /// Number of rows with labels.
        n_labels: usize,
    },
    /// A parameter is out of its range.
    #[error("{name} is {value}: it must be {requirement}")]
    InvalidParameter {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: String,
        /// What it must be.
        requirement: &'static str,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    pub(crate) fn parameter(
        name: &'static str,
        value: impl ToString,
        requirement: &'static str,
    ) -> Self {
        Error::InvalidParameter {
            name,
            value: value.to_string(),
            requirement,
        }
    }
}

/// Refuses a length that does not fit.
pub(crate) fn same_length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::WrongLength {
        what,
        expected,
        found,
    })
}
