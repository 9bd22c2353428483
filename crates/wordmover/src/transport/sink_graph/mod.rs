//! The exact solver: surplus moves along shortest paths in the graph of sinks.
//!
//! A basic optimal plan onto `m` sinks splits at most `m - 1` sources; every
//! other source goes whole to one sink. So the state worth keeping is which sources
//! each sink receives from, and the work worth doing is between sinks, of which
//! there are few.
//!
//! ```text
//! v[k]  <- weighted mean of column k                    a dual value per sink
//! improve v once or twice                               see `start`
//! send every source i to argmin_k (C[i][k] - v[k])      optimal for its own loads
//! while some sink s holds more than its demand:
//!     r[j][k] = min over i at sink j of (C[i][k] - C[i][j]) + v[j] - v[k]  >= 0
//!     Dijkstra from s over r until the first sink t below its demand
//!     v[k] += dist[k] - dist[t]   for every sink nearer than t
//!     move along the path what s has too much, t too little, or the
//!     smallest piece on the way, whichever is least
//! ```
//!
//! Every step keeps each source on a sink of least `C[i][k] - v[k]`, which is
//! complementary slackness: when no surplus is left, the plan is optimal and `v`
//! proves it. The mean start removes the systematic difference between sinks;
//! starting from nearest sinks instead takes about one augmentation per source.
//!
//! What makes it end for every input is that there are no rounding errors. Costs and
//! masses are rounded once, to a grid so coarse that every sum the algorithm forms
//! is exact in double precision, and so fine (2^-48 of the largest cost, 2^-52 of the
//! total mass) that it does not matter. So ties are seen as ties, lengths are never
//! negative, mass is conserved to the last bit, no crumb of mass is left to chase,
//! and every augmentation moves at least one unit of the mass grid. In floating
//! point without the grid, real documents, which tie often, made the loop endless:
//! a test remembers. Why sums fit: some sink is below its demand until the end, its
//! dual value is still the one of the start, and every other is within twice the
//! largest cost of it; so is every path length. That leaves all of them below eight
//! times the largest cost, and the grid has room for thirty-two.
//!
//! The rows of `r` are made only when Dijkstra reaches their sink and kept until a
//! source leaves it. All memory is reused between problems. The number of sinks up to
//! 24 is known to the compiler, which unrolls the loops over them; up to four, the
//! plan is a dense table worked on four sources at a time, beyond that, lists.

mod edges;
mod grid;
mod paths;
mod start;

use super::TransportProblem;
use super::lanes::{Four, Portable, Simd};

/// No known problem needs more than a few augmentations per source and sink.
const AUGMENTATIONS_PER_POINT: usize = 10_000;

/// Numbers of sinks known to the compiler go up to this, in so many vectors of four.
const MOST_KNOWN: usize = 24;
const MOST_KNOWN_FOURS: usize = MOST_KNOWN / 4;

/// Up to this many sinks the plan is a dense table; see [`Workspace::shares`].
const MOST_DENSE: usize = 4;

/// The solver's memory, reused from problem to problem so that the inner loop of
/// an embedding does not allocate.
///
/// For one problem [`super::solve`] is simpler; it also validates.
#[derive(Debug, Default)]
pub struct Workspace {
    /// Of the problem as it is solved, which is turned round when sinks are many.
    n_sources: usize,
    n_sinks: usize,
    is_turned: bool,
    turned: Vec<f64>,
    /// The costs on their grid, row by row, with room to read four beyond the end.
    rows: Vec<f64>,
    /// The same by blocks of four sources: `columns[block * n_sinks + sink]`.
    columns: Vec<Four>,
    /// The supplies on their grid, four to a block.
    masses: Vec<Four>,
    /// Sums over the sources while starting, one per sink.
    sums: Vec<Four>,
    /// Dual value per sink.
    duals: Vec<Four>,
    /// Load minus demand per sink.
    surplus: Vec<f64>,
    /// The plan of few sinks: `shares[block * n_sinks + sink]`.
    shares: Vec<Four>,
    /// The plan of many sinks: those of sink `j` are `entries[j * n_sources .. list_end[j]]`.
    entries: Vec<Entry>,
    list_end: Vec<u32>,
    /// Cheapest way to move a source from sink `j` to `k`, without duals, and which
    /// source that is: its number in a dense plan, its place in the list otherwise (as
    /// [`super::lanes::number`]).
    edge_cost: Vec<Four>,
    edge_source: Vec<Four>,
    edges_known: Vec<bool>,
    /// Dijkstra over the sinks: dual values and distances of those not settled yet.
    open_duals: Vec<Four>,
    open_distances: Vec<Four>,
    settled: Vec<Settled>,
    path: Vec<Step>,
}

/// A piece of a source at a sink.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    mass: f64,
    /// Where the source's costs start: its number times the number of sinks.
    row: u32,
}

/// A sink whose distance is final.
#[derive(Debug, Clone, Copy, Default)]
struct Settled {
    distance: f64,
    /// Distance plus the dual value it had when settled.
    base: f64,
    sink: u32,
}

/// A piece of a source that goes from one sink to another.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    before: u32,
    after: u32,
    source: u32,
}

impl Workspace {
    /// The optimal cost of one problem: `costs` row-major, a row per source.
    ///
    /// Meant for callers that built the problem themselves: weights must be
    /// positive and balanced and costs finite. Otherwise the result is
    /// unspecified, or the call panics.
    ///
    /// # Errors
    ///
    /// [`TransportProblem::NotSolved`] instead of a number that is not optimal, and
    /// [`TransportProblem::TooLarge`].
    ///
    /// # Panics
    ///
    /// If the shape of `costs` does not fit the weights, or there is no source or sink.
    pub fn solve(
        &mut self,
        costs: &[f64],
        supply: &[f64],
        demand: &[f64],
    ) -> Result<f64, TransportProblem> {
        assert!(
            !supply.is_empty() && !demand.is_empty(),
            "sources and sinks"
        );
        assert_eq!(
            costs.len(),
            supply.len() * demand.len(),
            "cost matrix shape"
        );
        if costs.len() > u32::MAX as usize {
            let costs = costs.len();
            return Err(TransportProblem::TooLarge { costs });
        }
        self.is_turned = demand.len() > supply.len();
        if !self.is_turned {
            return self.solve_on_this_machine(costs, supply, demand);
        }
        // The work is between sinks, so the smaller side had better be theirs.
        let mut turned = std::mem::take(&mut self.turned);
        turned.clear();
        for k in 0..demand.len() {
            turned.extend(costs[k..].iter().step_by(demand.len()));
        }
        let cost = self.solve_on_this_machine(&turned, demand, supply);
        self.turned = turned;
        cost
    }

    fn solve_on_this_machine(
        &mut self,
        costs: &[f64],
        supply: &[f64],
        demand: &[f64],
    ) -> Result<f64, TransportProblem> {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = super::lanes::Avx2::detect() {
            // SAFETY: `simd` proves that the machine has AVX2.
            return unsafe { self.solve_avx2(simd, costs, supply, demand) };
        }
        self.solve_with(Portable, costs, supply, demand)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn solve_avx2(
        &mut self,
        simd: super::lanes::Avx2,
        costs: &[f64],
        supply: &[f64],
        demand: &[f64],
    ) -> Result<f64, TransportProblem> {
        self.solve_with(simd, costs, supply, demand)
    }

    /// Chooses the code for the number of sinks.
    #[inline(always)]
    fn solve_with<S: Simd>(
        &mut self,
        simd: S,
        costs: &[f64],
        supply: &[f64],
        demand: &[f64],
    ) -> Result<f64, TransportProblem> {
        macro_rules! by_number_of_sinks {
            ($($m:literal)*) => {
                match demand.len() {
                    1 => Ok(self.solve_one_sink(simd, costs, supply)),
                    $($m => self.run::<S, $m>(simd, costs, supply, demand),)*
                    _ => self.run::<S, 0>(simd, costs, supply, demand),
                }
            };
        }
        by_number_of_sinks!(2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24)
    }

    /// A single sink takes everything.
    #[inline(always)]
    fn solve_one_sink<S: Simd>(&mut self, simd: S, costs: &[f64], supply: &[f64]) -> f64 {
        self.make_one_sink(supply.len());
        let shares = &mut self.shares.as_flattened_mut()[..supply.len()];
        shares.copy_from_slice(supply);
        let (cost_fours, cost_rest) = costs.as_chunks::<4>();
        let (supply_fours, supply_rest) = supply.as_chunks::<4>();
        let mut cost = simd.splat(0.0);
        for (costs, masses) in cost_fours.iter().zip(supply_fours) {
            cost = simd.add(cost, simd.mul(simd.load(costs), simd.load(masses)));
        }
        let rest = cost_rest.iter().zip(supply_rest);
        simd.total(cost) + rest.map(|(cost, mass)| cost * mass).sum::<f64>()
    }

    /// The algorithm for `M` sinks, or any number of them if `M` is 0.
    #[inline(always)]
    fn run<S: Simd, const M: usize>(
        &mut self,
        simd: S,
        costs: &[f64],
        supply: &[f64],
        demand: &[f64],
    ) -> Result<f64, TransportProblem> {
        let n_sinks = sinks::<M>(demand.len());
        self.start::<S, M>(simd, costs, supply, demand);
        let limit = AUGMENTATIONS_PER_POINT * (supply.len() + n_sinks);
        let mut augmentations = 0;
        for sink in 0..n_sinks {
            while self.surplus[sink] > 0.0 {
                let n_settled = self.shortest_path::<S, M>(simd, sink);
                if n_settled == 0 || augmentations == limit {
                    return Err(TransportProblem::NotSolved {
                        augmentations,
                        sources: supply.len(),
                        sinks: n_sinks,
                    });
                }
                self.augment::<S, M>(simd, n_settled);
                augmentations += 1;
            }
        }
        Ok(self.cost::<S, M>(simd))
    }

    /// The plan of the problem solved last: source, sink and mass, in no
    /// particular order.
    pub fn flows(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let m = self.n_sinks;
        let is_dense = m <= MOST_DENSE;
        let dense = (0..if is_dense { self.n_sources } else { 0 }).flat_map(move |source| {
            let shares = &self.shares[source / 4 * m..][..m];
            (0..m).map(move |sink| (source, sink, shares[sink][source % 4]))
        });
        let lists = (0..if is_dense { 0 } else { m }).flat_map(move |sink| {
            let list = &self.entries[sink * self.n_sources..self.list_end[sink] as usize];
            list.iter()
                .map(move |entry| (entry.row as usize / m, sink, entry.mass))
        });
        let plan = dense.chain(lists).filter(|&(_, _, mass)| mass > 0.0);
        plan.map(|(source, sink, mass)| match self.is_turned {
            true => (sink, source, mass),
            false => (source, sink, mass),
        })
    }

    /// Dual values of the sinks of the problem solved last. The dual value of a
    /// source is the least `cost - sink dual` of its row.
    #[must_use]
    pub fn sink_duals(&self) -> Vec<f64> {
        let m = self.n_sinks;
        let duals = &self.duals.as_flattened()[..m];
        if !self.is_turned {
            return duals.to_vec();
        }
        let reduced = |row: &[f64]| {
            let each = row.iter().zip(duals).map(|(cost, dual)| cost - dual);
            each.fold(f64::INFINITY, f64::min)
        };
        self.turned.chunks_exact(m).map(reduced).collect()
    }

    /// What the plan costs.
    #[inline(always)]
    fn cost<S: Simd, const M: usize>(&self, simd: S) -> f64 {
        let (n, m) = (self.n_sources, sinks::<M>(self.n_sinks));
        if is_dense::<M>() {
            // Of the rounded costs, which differ from those given by 2^-49 of the largest:
            // four at a time they are at hand.
            let n_blocks = n.div_ceil(4);
            let mut cost = simd.splat(0.0);
            let pairs = self.columns[..n_blocks * m]
                .iter()
                .zip(&self.shares[..n_blocks * m]);
            for (column, share) in pairs {
                cost = simd.add(cost, simd.mul(simd.load(column), simd.load(share)));
            }
            return simd.total(cost);
        }
        let mut cost = 0.0;
        for sink in 0..m {
            let list = &self.entries[sink * n..self.list_end[sink] as usize];
            for entry in list {
                cost += entry.mass * self.rows[entry.row as usize + sink];
            }
        }
        cost
    }
}

/// The number of sinks: the one the code is compiled for, or else `m`.
#[inline(always)]
fn sinks<const M: usize>(m: usize) -> usize {
    if M > 0 { M } else { m }
}

#[inline(always)]
fn is_dense<const M: usize>() -> bool {
    M > 0 && M <= MOST_DENSE
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn every_instruction_set_gives_the_same_bits(
            (n, m, costs, supply, demand) in (1..40usize, 1..40usize).prop_flat_map(|(n, m)| {
                let weights = |n| prop::collection::vec(0.01..1.0f64, n);
                let costs = prop::collection::vec(prop_oneof![0.0..2.0f64, Just(1.0)], n * m);
                (Just(n), Just(m), costs, weights(n), weights(m))
            })
        ) {
            let normalised = |w: &[f64]| -> Vec<f64> {
                let total: f64 = w.iter().sum();
                w.iter().map(|x| x / total).collect()
            };
            let (supply, demand) = (normalised(&supply), normalised(&demand));
            let (mut fast, mut portable) = (Workspace::default(), Workspace::default());
            let there = fast.solve_on_this_machine(&costs, &supply, &demand).unwrap();
            let here = portable.solve_with(Portable, &costs, &supply, &demand).unwrap();
            prop_assert_eq!(there.to_bits(), here.to_bits(), "{} x {}", n, m);
            prop_assert_eq!(fast.sink_duals(), portable.sink_duals());
            prop_assert!(fast.flows().eq(portable.flows()));
        }
    }
}
