//! The solver's memory, and the choice of what solves a problem.

use super::TransportProblem;
use super::given::Given;
use super::lanes::{Four, Portable, Simd};
use super::path_simplex::{self, Basis};
use super::simplex::{NONE, words};
use super::sink_graph::{Entry, Start};
use super::three_sinks::{Aside, Block};
use super::two_sinks::Preference;

/// Numbers of sinks known to the compiler go up to this, in so many vectors of four.
pub(super) const MOST_KNOWN: usize = 24;
pub(super) const MOST_KNOWN_FOURS: usize = MOST_KNOWN / 4;

/// The solver's memory, reused from problem to problem so that the inner loop of
/// an embedding does not allocate.
///
/// For one problem [`super::solve`] is simpler; it also validates.
#[derive(Debug, Default)]
pub struct Workspace {
    /// Of the problem as it is solved, which is turned round when sinks are many.
    pub(super) n_sources: usize,
    pub(super) n_sinks: usize,
    is_turned: bool,
    plan: Plan,
    /// Sources and sinks that there is room for.
    fits: (usize, usize),
    /// The costs by blocks of four sources: on their grid, `columns[block * n_sinks + sink]`,
    /// for the simplex; beyond those of the first sink, and without it, for the sink graph.
    pub(super) columns: Vec<Four>,
    /// Reduced costs by sources, in as many vectors each as the sinks take.
    pub(super) rows: Vec<Four>,
    /// The supplies on their grid, four to a block.
    pub(super) masses: Vec<Four>,
    /// Dual value per sink, four times over.
    pub(super) duals: Vec<Four>,

    /// While starting: sums over the sources, dual values to aim by (four times over) and
    /// room left in every sink.
    pub(super) sums: Vec<Four>,
    pub(super) aim: Vec<Four>,
    pub(super) room: Vec<f64>,

    /// The simplex's tree. The sink above every source (as [`super::lanes::number`]), what
    /// goes there and what that costs.
    pub(super) home: Vec<Four>,
    pub(super) home_flow: Vec<Four>,
    pub(super) home_cost: Vec<Four>,
    /// The source above every sink, and what comes from there.
    pub(super) up: Vec<u32>,
    pub(super) up_flow: Vec<f64>,
    /// The sinks in the subtree of every source, and of every sink, with itself.
    pub(super) below_source: Vec<u64>,
    pub(super) below_sink: Vec<u64>,
    /// The sinks that a pivot moves, and a set at hand.
    pub(super) moved: Vec<u64>,
    pub(super) inner: Vec<u64>,
    /// While starting: sinks that are full, in the order they became so; lists of sources.
    pub(super) full: Vec<u32>,
    pub(super) next: Vec<u32>,

    /// What goes to a single sink.
    shares: Vec<Four>,

    /// The sink graph's plan: those of sink `j` are `entries[j * n_sources .. list_end[j]]`.
    pub(super) entries: Vec<Entry>,
    pub(super) list_end: Vec<u32>,
    /// What sources were assigned by, which says who was put aside.
    pub(super) start: Start,
    /// Cheapest way to move a source from sink `j` to `k`, without duals, and its place in
    /// the list (as [`super::lanes::number`]).
    pub(super) edge_cost: Vec<Four>,
    pub(super) edge_place: Vec<Four>,

    /// The plan of few points.
    pub(super) basis: Basis,

    /// For three sinks: all sources, those that were not put aside, and what says which.
    pub(super) blocks: Vec<Block>,
    pub(super) blocks_left: Vec<Block>,
    pub(super) aside: Aside,

    /// For two sinks: the sources to be sorted.
    pub(super) preferences: Vec<Preference>,
}

/// Where the plan of the problem solved last is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) enum Plan {
    #[default]
    Tree,
    OneSink,
    Lists,
    Basis,
    TwoSinks,
    ThreeSinks,
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
        // Sinks cost more than sources, so the smaller side had better be theirs.
        let given = Given::new(costs, supply, demand);
        self.is_turned = given.is_turned;
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = super::lanes::Avx2::detect() {
            // SAFETY: `simd` proves that the machine has AVX2.
            return unsafe { self.solve_avx2(simd, given) };
        }
        self.solve_with(Portable, given)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1")]
    fn solve_avx2(
        &mut self,
        simd: super::lanes::Avx2,
        given: Given,
    ) -> Result<f64, TransportProblem> {
        self.solve_with(simd, given)
    }

    /// Chooses the code for the shape.
    #[inline(always)]
    fn solve_with<S: Simd>(&mut self, simd: S, given: Given) -> Result<f64, TransportProblem> {
        let (n, m) = (given.supply.len(), given.demand.len());
        if n > self.fits.0 || m > self.fits.1 {
            self.make_room(n, m);
        }
        self.n_sources = n;
        self.n_sinks = m;
        if m > MOST_KNOWN {
            self.plan = Plan::Tree;
            return self.solve_by_simplex(simd, given);
        }
        if m > 3 && is_for_paths(n, m) {
            self.plan = Plan::Basis;
            return match m.div_ceil(4) {
                1 => self.solve_by_paths::<S, 1>(simd, given),
                2 => self.solve_by_paths::<S, 2>(simd, given),
                3 => self.solve_by_paths::<S, 3>(simd, given),
                4 => self.solve_by_paths::<S, 4>(simd, given),
                5 => self.solve_by_paths::<S, 5>(simd, given),
                _ => self.solve_by_paths::<S, 6>(simd, given),
            };
        }
        self.plan = match m {
            1 => Plan::OneSink,
            2 => Plan::TwoSinks,
            3 => Plan::ThreeSinks,
            _ => Plan::Lists,
        };
        macro_rules! by_number_of_sinks {
            ($($m:literal)*) => {
                match m {
                    1 => Ok(self.solve_one_sink(simd, given)),
                    3 => self.solve_three_sinks(simd, given),
                    $($m => self.solve_by_sink_graph::<S, $m, { usize::div_ceil($m, 4) }>(simd, given),)*
                    _ => Ok(self.solve_two_sinks(simd, given)),
                }
            };
        }
        by_number_of_sinks!(4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24)
    }

    /// Costs that differ too little for a grid below them, or not at all.
    #[cold]
    #[inline(never)]
    pub(super) fn solve_tiny(&mut self, given: Given) -> Result<f64, TransportProblem> {
        self.plan = Plan::Tree;
        self.solve_by_simplex(Portable, given)
    }

    /// A single sink takes everything.
    #[inline(always)]
    fn solve_one_sink<S: Simd>(&mut self, simd: S, given: Given) -> f64 {
        let n = given.supply.len();
        self.shares.as_flattened_mut()[..n].copy_from_slice(given.supply);
        self.duals[0] = [0.0; 4];
        let (cost_fours, cost_rest) = given.costs.as_chunks::<4>();
        let (supply_fours, supply_rest) = given.supply.as_chunks::<4>();
        // Four sums at a time, not one after the other: an addition takes its time.
        let mut sums = [simd.splat(0.0); 4];
        let (cost_sixteens, cost_fours) = cost_fours.as_chunks::<4>();
        let (supply_sixteens, supply_fours) = supply_fours.as_chunks::<4>();
        for (costs, masses) in cost_sixteens.iter().zip(supply_sixteens) {
            for lane in 0..4 {
                let cost = simd.mul(simd.load(&costs[lane]), simd.load(&masses[lane]));
                sums[lane] = simd.add(sums[lane], cost);
            }
        }
        for (costs, masses) in cost_fours.iter().zip(supply_fours) {
            sums[0] = simd.add(sums[0], simd.mul(simd.load(costs), simd.load(masses)));
        }
        let sum = simd.add(simd.add(sums[0], sums[1]), simd.add(sums[2], sums[3]));
        let mut cost = simd.total(sum);
        for (given, mass) in cost_rest.iter().zip(supply_rest) {
            cost += given * mass;
        }
        cost
    }

    /// Only what is too short grows, so that memory is that of the largest problem.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, n: usize, m: usize) {
        self.fits = (n, m);
        let (n_blocks, words) = (n.div_ceil(4), words(m));
        grow(&mut self.columns, n_blocks * m);
        grow(&mut self.masses, n_blocks);
        grow(&mut self.duals, m);
        grow(&mut self.sums, m);
        grow(&mut self.aim, m);
        grow(&mut self.room, m);
        grow(&mut self.home, n_blocks);
        grow(&mut self.home_flow, n_blocks);
        grow(&mut self.home_cost, n_blocks);
        grow(&mut self.next, 4 * n_blocks);
        grow(&mut self.below_source, 4 * n_blocks * words);
        grow(&mut self.below_sink, m * words);
        grow(&mut self.moved, words);
        grow(&mut self.inner, words);
        grow(&mut self.up, m);
        grow(&mut self.up_flow, m);
        grow(&mut self.full, m);
        grow(&mut self.preferences, 4 * n_blocks);
        grow(&mut self.shares, n_blocks);
        grow(&mut self.blocks, n_blocks);
        grow(&mut self.blocks_left, n_blocks);
        // Whatever fits has room, so these too, although they are not for so many sinks.
        let few = m.min(MOST_KNOWN);
        grow(&mut self.entries, 4 * n_blocks * few);
        grow(&mut self.rows, 4 * n_blocks * few.div_ceil(4));
        grow(&mut self.list_end, MOST_KNOWN);
        grow(&mut self.edge_cost, MOST_KNOWN * MOST_KNOWN_FOURS);
        grow(&mut self.edge_place, MOST_KNOWN * MOST_KNOWN_FOURS);
    }

    /// The plan of the problem solved last: source, sink and mass, in no
    /// particular order.
    pub fn flows(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let m = self.n_sinks;
        let only = |plan: Plan, n: usize| if self.plan == plan { n } else { 0 };
        let to_one = (0..only(Plan::OneSink, self.n_sources))
            .map(|source| (source, 0, self.shares[source / 4][source % 4]));
        let aside = self.put_aside().take(only(Plan::Lists, self.n_sources));
        let lists = (0..only(Plan::Lists, m)).flat_map(move |sink| {
            let list = &self.entries[sink * self.n_sources..self.list_end[sink] as usize];
            list.iter().map(move |entry| entry.flow(sink))
        });
        let basis = self
            .basis
            .flows(only(Plan::Basis, self.n_sources), only(Plan::Basis, m));
        let to_home = (0..only(Plan::Tree, self.n_sources)).map(|source| {
            let (block, lane) = (source / 4, source % 4);
            let home = self.home[block][lane].to_bits() as usize;
            (source, home, self.home_flow[block][lane])
        });
        let from_up = (0..only(Plan::Tree, m)).filter(|&sink| self.up[sink] != NONE);
        let from_up = from_up.map(|sink| (self.up[sink] as usize, sink, self.up_flow[sink]));
        let to_two = self
            .flows_to_two()
            .take(only(Plan::TwoSinks, self.n_sources));
        let to_two = to_two.enumerate();
        let to_two = to_two.flat_map(|(source, [a, b])| [(source, 0, a), (source, 1, b)]);
        let to_three = self
            .flows_to_three()
            .take(only(Plan::ThreeSinks, self.n_sources));
        let to_three = to_three.enumerate().flat_map(|(source, masses)| {
            let sinks = masses.into_iter().enumerate();
            sinks.map(move |(sink, mass)| (source, sink, mass))
        });
        let plan = to_one
            .chain(aside)
            .chain(lists)
            .chain(basis)
            .chain(to_home)
            .chain(from_up)
            .chain(to_two)
            .chain(to_three);
        plan.filter(|&(_, _, mass)| mass > 0.0)
            .map(|(source, sink, mass)| match self.is_turned {
                true => (sink, source, mass),
                false => (source, sink, mass),
            })
    }

    /// Dual values of the sinks of the problem solved last, whose `costs` these are. The dual
    /// value of a source is the least `cost - sink dual` of its row.
    ///
    /// # Panics
    ///
    /// If there are not as many costs as there were.
    #[must_use]
    pub fn sink_duals(&self, costs: &[f64]) -> Vec<f64> {
        let (n, m) = (self.n_sources, self.n_sinks);
        assert_eq!(costs.len(), n * m, "cost matrix shape");
        let (mut own, mut of_basis) = (m, 0);
        if self.plan == Plan::Basis {
            (own, of_basis) = (0, m);
        }
        let duals = self.duals[..own].iter().map(|dual| dual[0]);
        let duals = duals.chain(self.basis.sink_duals()[..of_basis].iter().copied());
        if !self.is_turned {
            return duals.collect();
        }
        let mut values = vec![f64::INFINITY; n];
        for (row, dual) in costs.chunks_exact(n).zip(duals) {
            for (value, cost) in values.iter_mut().zip(row) {
                *value = value.min(cost - dual);
            }
        }
        values
    }
}

/// Many sources for every sink are the sink graph's, too many points anyway. Measured on unit
/// vectors.
#[inline(always)]
fn is_for_paths(n_sources: usize, n_sinks: usize) -> bool {
    path_simplex::has_room(n_sources, n_sinks) && n_sources < 4 * n_sinks
}

/// Never shrinks: what lies beyond the problem at hand is not read.
fn grow<T: Copy + Default>(values: &mut Vec<T>, len: usize) {
    if values.len() < len {
        values.resize(len, T::default());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn memory_serves_problems_of_any_shape_in_any_order() {
        // A shape may need more of one thing than all before it, and less of everything else.
        let sizes = [1, 2, 3, 4, 5, 9, 20, 24, 25, 66, 130, 257];
        let mut next = 1u64;
        let mut random = |n: usize| -> Vec<f64> {
            let mut one = || {
                next = next.wrapping_mul(6364136223846793005).wrapping_add(1);
                0.5 + (next >> 40) as f64 / (1u64 << 24) as f64
            };
            (0..n).map(|_| one()).collect()
        };
        for trial in 0..40 {
            let mut workspace = Workspace::default();
            for step in 0..6 {
                let size = |x: f64| sizes[((x - 0.5) * sizes.len() as f64) as usize];
                let choice = random(2);
                let (n, m) = (size(choice[0]), size(choice[1]));
                let costs = random(n * m);
                let (supply, demand) = (vec![1.0 / n as f64; n], vec![1.0 / m as f64; m]);
                let again = workspace.solve(&costs, &supply, &demand).unwrap();
                let fresh = Workspace::default().solve(&costs, &supply, &demand);
                assert_eq!(Ok(again), fresh, "trial {trial}, step {step}: {n} x {m}");
            }
        }
    }

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
            let there = fast.solve(&costs, &supply, &demand).unwrap();
            let given = Given::new(&costs, &supply, &demand);
            portable.is_turned = given.is_turned;
            let here = portable.solve_with(Portable, given).unwrap();
            prop_assert_eq!(there.to_bits(), here.to_bits(), "{} x {}", n, m);
            prop_assert_eq!(fast.sink_duals(&costs), portable.sink_duals(&costs));
            prop_assert!(fast.flows().eq(portable.flows()));
        }
    }
}
