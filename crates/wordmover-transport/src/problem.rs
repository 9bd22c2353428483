//! The problem as the solvers take it, and the grids they put it on.
//!
//! Costs and masses are rounded once, to grids so coarse that every sum a solver forms is
//! exact in double precision, and so fine that it does not matter: 2^-52 of the total mass,
//! and for the costs what leaves room above the largest, so that some 45 bits are below it.
//! So ties are seen as ties, mass is conserved to the last bit, and no crumb of mass is left
//! to chase. In plain floating point real documents, which tie often, made solvers go on
//! for ever: a test remembers. What would round to no mass at all counts as one unit of the
//! grid.

use super::error::TransportError;
use super::grid::Grid;

/// Bits of the mass grid below the total.
pub(super) const MASS_BITS: i32 = 52;

/// Bits of the cost grid below the largest cost that leave room for `4 m` times as much
/// with `m` sinks.
pub(super) fn cost_bits(n_sinks: usize) -> i32 {
    51 - bits_to_number(n_sinks)
}

/// Bits that number so many things.
pub(super) const fn bits_to_number(n: usize) -> i32 {
    (usize::BITS - (n - 1).leading_zeros()) as i32
}

/// A problem as it was given, sources and sinks exchanged if there were fewer sources.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub costs: &'a [f64],
    pub supply: &'a [f64],
    pub demand: &'a [f64],
    /// Whether the costs come sink by sink, not source by source.
    pub is_by_sinks: bool,
    /// Whether sources and sinks are those of the caller exchanged.
    pub is_exchanged: bool,
}

impl<'a> Problem<'a> {
    /// With costs source by source.
    pub fn new(costs: &'a [f64], supply: &'a [f64], demand: &'a [f64]) -> Self {
        let problem = Problem {
            costs,
            supply,
            demand,
            is_by_sinks: false,
            is_exchanged: false,
        };
        problem.with_fewer_sinks()
    }

    /// With costs sink by sink.
    pub fn by_sinks(costs: &'a [f64], supply: &'a [f64], demand: &'a [f64]) -> Self {
        let problem = Problem {
            costs,
            supply,
            demand,
            is_by_sinks: true,
            is_exchanged: false,
        };
        problem.with_fewer_sinks()
    }

    /// Sinks cost more than sources, so the smaller side had better be theirs.
    fn with_fewer_sinks(self) -> Self {
        match self.demand.len() > self.supply.len() {
            true => self.exchanged(),
            false => self,
        }
    }

    /// With sources for sinks and sinks for sources.
    fn exchanged(self) -> Self {
        Problem {
            supply: self.demand,
            demand: self.supply,
            is_by_sinks: !self.is_by_sinks,
            is_exchanged: !self.is_exchanged,
            ..self
        }
    }

    /// With sources and sinks as they were given, for a solver that would have to turn the costs
    /// otherwise, unless there are many more sinks than sources then.
    pub fn as_given_if_near_square(self) -> Self {
        if !self.is_exchanged || self.supply.len() > 4 * self.demand.len() {
            return self;
        }
        self.exchanged()
    }

    /// The error of a solver that gives up after so many steps.
    #[cold]
    #[inline(never)]
    pub fn not_solved(&self, steps: usize) -> TransportError {
        TransportError::NotSolved {
            steps,
            sources: self.supply.len(),
            sinks: self.demand.len(),
        }
    }

    /// The cost of an arc.
    #[inline(always)]
    pub fn cost(&self, source: usize, sink: usize) -> f64 {
        match self.is_by_sinks {
            true => self.costs[sink * self.supply.len() + source],
            false => self.costs[source * self.demand.len() + sink],
        }
    }
}

/// The demands of up to `M` sinks. Rounding, and an imbalance of the input within its tolerance, are
/// settled with the largest.
#[inline(always)]
pub(super) fn demand_on_grid<const M: usize>(demand: &[f64], grid: Grid, total: f64) -> [f64; M] {
    let mut rounded = [0.0; M];
    let mut left_over = total;
    let mut largest = 0;
    for k in 0..demand.len() {
        let demand = grid.round(demand[k]);
        rounded[k] = if demand > grid.unit() {
            demand
        } else {
            grid.unit()
        };
        left_over -= rounded[k];
        if rounded[k] > rounded[largest] {
            largest = k;
        }
    }
    rounded[largest] += left_over;
    rounded
}
