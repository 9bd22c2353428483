//! What can be wrong with a transport problem.

/// What a solver gives, or what is wrong.
pub type Result<T> = std::result::Result<T, TransportError>;

/// What is wrong with a transport problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// A side has no weight.
    #[error("a transport problem needs at least one positive supply and one positive demand")]
    NoMass,
    /// The cost matrix does not fit the weights.
    #[error("expected {expected} costs for {sources} supplies and {sinks} demands, found {found}")]
    WrongShape {
        /// Number of supplies.
        sources: usize,
        /// Number of demands.
        sinks: usize,
        /// `sources * sinks`.
        expected: usize,
        /// Costs given.
        found: usize,
    },
    /// More costs than the solver can number.
    #[error(
        "a problem of {costs} costs is too large: at most {} are possible",
        u32::MAX
    )]
    TooLarge {
        /// Costs given.
        costs: usize,
    },
    /// A cost is NaN, infinite or of a size that leaves no room for sums.
    #[error(
        "the cost from source {from} to sink {to} is {cost:e}, not a number of size up to 1e300"
    )]
    BadCost {
        /// Row.
        from: usize,
        /// Column.
        to: usize,
        /// The cost.
        cost: f64,
    },
    /// A weight is negative, NaN or infinite.
    #[error("{side} {index} is {weight}, not a finite number of at least zero")]
    BadWeight {
        /// `"supply"` or `"demand"`.
        side: &'static str,
        /// Its position.
        index: usize,
        /// The weight.
        weight: f64,
    },
    /// The two sides do not hold the same mass.
    #[error("supplies sum to {supply} and demands to {demand}: they must be equal")]
    Unbalanced {
        /// Sum of the supplies.
        supply: f64,
        /// Sum of the demands.
        demand: f64,
    },
    /// No such mass can move.
    #[error("the mass to move is {mass}: it must be above 0 and at most {most}, the lesser side")]
    BadMass {
        /// The mass.
        mass: f64,
        /// The sum of the lesser side.
        most: f64,
    },
    /// No penalty for unmatched mass.
    #[error("the penalty of unmatched mass is {penalty}, not a number between 0 and 1e300")]
    BadPenalty {
        /// The penalty.
        penalty: f64,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The solver gave up, which no known input makes it do.
    #[error("no optimum after {steps} steps of a {sources} x {sinks} problem")]
    NotSolved {
        /// Steps taken.
        steps: usize,
        /// Number of sources.
        sources: usize,
        /// Number of sinks.
        sinks: usize,
    },
}
