//! The solvers, and the choice of the one for a problem.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::bitset_simplex::{self, BitsetSimplex};
use super::compiled::Compiled;
use super::error::{Result, TransportError};
use super::one_sink::OneSink;
use super::problem::Problem;
use super::simplex::NetworkSimplex;
use super::sink_graph::{MOST_SINKS, SinkGraph};
use super::two_sinks::TwoSinks;
use crate::float_environment::IeeeArithmetic;
use crate::instruction_sets::by_instruction_set;

/// The solvers with their memory, reused from problem to problem so that the inner loop of
/// an embedding does not allocate.
///
/// For one problem [`super::solve`] is simpler; it also validates.
#[derive(Debug, Default)]
pub struct Workspace {
    one_sink: OneSink,
    two_sinks: TwoSinks,
    sink_graph: SinkGraph,
    bitset_simplex: BitsetSimplex,
    network_simplex: NetworkSimplex,
    /// Which of them solved the last problem.
    solver: Solver,
    /// Sources and sinks of that problem as it was solved.
    shape: (usize, usize),
    /// Whether these are the sinks and sources of the caller.
    is_exchanged: bool,
}

#[derive(Debug, Clone, Copy, Default)]
enum Solver {
    #[default]
    OneSink,
    TwoSinks,
    SinkGraph,
    BitsetSimplex,
    NetworkSimplex,
}

impl Workspace {
    /// A flag by which another thread ends a long problem. The solver of large problems looks
    /// at it between two searches for a better plan, and gives [`TransportError::Interrupted`]
    /// once it is set.
    pub fn stop_when(&mut self, flag: Arc<AtomicBool>) {
        self.network_simplex.stop_when(flag);
    }

    /// The optimal cost of one problem: the sum of mass times cost over its plan, so it is not
    /// negative where no cost is. `costs` are row-major, a row per source.
    ///
    /// Meant for callers that built the problem themselves: weights must be
    /// positive and balanced and costs finite. Otherwise the result is
    /// unspecified, or the call panics. For the accuracy see [`super::solve`].
    ///
    /// # Errors
    ///
    /// [`TransportError::NotSolved`] instead of a number that is not optimal, and
    /// [`TransportError::TooLarge`].
    ///
    /// # Panics
    ///
    /// If the shape of `costs` does not fit the weights, or there is no source or sink.
    pub fn solve(&mut self, costs: &[f64], supply: &[f64], demand: &[f64]) -> Result<f64> {
        let _ieee = IeeeArithmetic::enter();
        self.optimal_value(costs, supply, demand)?;
        let mut cost = 0.0;
        self.each_flow(|source, sink, mass| cost += mass * costs[source * demand.len() + sink]);
        Ok(cost)
    }

    /// The optimal cost as the solver's own sums give it, without going through the plan: off
    /// by up to 1e-13 of the largest cost times the total mass, also below zero.
    ///
    /// For features in single precision, of which an embedding computes millions, this is as
    /// good as [`solve`](Self::solve) and takes a third less time onto few sinks, where sources that
    /// were put aside have to be found again for the plan.
    ///
    /// # Errors
    ///
    /// As [`solve`](Self::solve).
    ///
    /// # Panics
    ///
    /// As [`solve`](Self::solve).
    pub fn optimal_value(&mut self, costs: &[f64], supply: &[f64], demand: &[f64]) -> Result<f64> {
        self.solve_problem(Problem::new(costs, supply, demand))
    }

    /// [`optimal_value`](Self::optimal_value) from costs sink by sink: a row per sink.
    ///
    /// # Errors
    ///
    /// As [`solve`](Self::solve).
    ///
    /// # Panics
    ///
    /// As [`solve`](Self::solve).
    #[inline]
    pub fn optimal_value_by_sinks(
        &mut self,
        costs: &[f64],
        supply: &[f64],
        demand: &[f64],
    ) -> Result<f64> {
        self.solve_problem(Problem::by_sinks(costs, supply, demand))
    }

    fn solve_problem(&mut self, problem: Problem) -> Result<f64> {
        let (n, m) = (problem.supply.len(), problem.demand.len());
        assert!(n > 0 && m > 0, "sources and sinks");
        let costs = problem.costs.len();
        assert_eq!(costs, n * m, "cost matrix shape");
        if costs > u32::MAX as usize {
            return Err(TransportError::TooLarge { costs });
        }
        let _ieee = IeeeArithmetic::enter();
        let workspace = self;
        by_instruction_set!(
            (workspace: &mut Workspace, problem: Problem) -> Result<f64>,
            |simd| workspace.solve_with(simd, problem)
        )
    }

    /// Chooses the solver for the shape.
    #[inline(always)]
    fn solve_with<S: Compiled>(&mut self, simd: S, problem: Problem) -> Result<f64> {
        let (n, m) = (problem.supply.len(), problem.demand.len());
        self.shape = (n, m);
        self.is_exchanged = problem.is_exchanged;
        if m == 1 {
            self.solver = Solver::OneSink;
            return Ok(self.one_sink.solve(simd, problem));
        }
        if m == 2 {
            self.solver = Solver::TwoSinks;
            return Ok(self.two_sinks.solve(simd, problem));
        }
        if m <= MOST_SINKS {
            if is_for_bitsets(n, m) {
                self.solver = Solver::BitsetSimplex;
                return self.bitset_simplex.solve(simd, problem);
            }
            if let Some(cost) = self.sink_graph.solve(simd, problem) {
                self.solver = Solver::SinkGraph;
                return Ok(cost);
            }
        }
        let problem = problem.as_given_if_near_square();
        self.shape = (problem.supply.len(), problem.demand.len());
        self.is_exchanged = problem.is_exchanged;
        self.solver = Solver::NetworkSimplex;
        self.network_simplex.solve(simd, problem)
    }

    /// The plan of the problem solved last: source, sink and mass, in no
    /// particular order.
    #[must_use]
    pub fn flows(&self) -> Vec<(usize, usize, f64)> {
        let mut flows = Vec::with_capacity(self.shape.0 + self.shape.1);
        self.each_flow(|source, sink, mass| flows.push((source, sink, mass)));
        flows
    }

    /// Visits the plan of the problem solved last.
    fn each_flow(&self, mut visit: impl FnMut(usize, usize, f64)) {
        let visit = |source: usize, sink: usize, mass: f64| {
            if mass > 0.0 {
                match self.is_exchanged {
                    true => visit(sink, source, mass),
                    false => visit(source, sink, mass),
                }
            }
        };
        match self.solver {
            Solver::OneSink => self.one_sink.each_flow(visit),
            Solver::TwoSinks => self.two_sinks.each_flow(visit),
            Solver::SinkGraph => self.sink_graph.each_flow(visit),
            Solver::BitsetSimplex => self.bitset_simplex.each_flow(visit),
            Solver::NetworkSimplex => self.network_simplex.each_flow(visit),
        }
    }

    /// Dual values of the sinks of the problem solved last, whose `costs` these are. The dual
    /// value of a source is the least `cost - sink dual` of its row.
    ///
    /// # Panics
    ///
    /// If there are not as many costs as there were.
    #[must_use]
    pub fn sink_duals(&self, costs: &[f64]) -> Vec<f64> {
        let _ieee = IeeeArithmetic::enter();
        let (n, m) = self.shape;
        assert_eq!(costs.len(), n * m, "cost matrix shape");
        let duals = match self.solver {
            Solver::OneSink => self.one_sink.sink_duals(),
            Solver::TwoSinks => self.two_sinks.sink_duals(),
            Solver::SinkGraph => self.sink_graph.sink_duals(),
            Solver::BitsetSimplex => self.bitset_simplex.sink_duals(),
            Solver::NetworkSimplex => self.network_simplex.sink_duals(),
        };
        if !self.is_exchanged {
            return duals;
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

/// Many sources for every sink are the sink graph's, too many nodes anyway. Measured on unit
/// vectors, with three sinks by instructions alone.
#[inline(always)]
fn is_for_bitsets(n_sources: usize, n_sinks: usize) -> bool {
    let many = if n_sinks == 3 { 7 } else { 4 * n_sinks };
    bitset_simplex::has_room(n_sources, n_sinks) && n_sources < many
}

/// Never shrinks: what lies beyond the problem at hand is not read.
pub(super) fn grow<T: Copy + Default>(values: &mut Vec<T>, len: usize) {
    if values.len() < len {
        values.resize(len, T::default());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lanes::Portable;

    /// Compiled once: whatever calls the solvers has all of them in it otherwise.
    #[inline(never)]
    fn solve_portably(workspace: &mut Workspace, problem: Problem) -> Result<f64> {
        workspace.solve_with(Portable, problem)
    }

    #[test]
    fn a_long_problem_stops_when_its_flag_is_set() {
        let n = 90;
        let costs: Vec<f64> = (0..n * n).map(|i| ((i * i) % 97) as f64).collect();
        let weights = vec![1.0 / n as f64; n];
        let flag = Arc::new(AtomicBool::new(false));
        let mut workspace = Workspace::default();
        workspace.stop_when(flag.clone());
        let cost = workspace.solve(&costs, &weights, &weights);
        assert_eq!(cost, Workspace::default().solve(&costs, &weights, &weights));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        let cost = workspace.solve(&costs, &weights, &weights);
        assert_eq!(cost, Err(TransportError::Interrupted));
    }

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

    #[test]
    fn every_instruction_set_gives_the_same_bits_for_pairs() {
        let mut next = 5u64;
        let mut random = || {
            next = next.wrapping_mul(6364136223846793005).wrapping_add(1);
            (next >> 40) as f64 / (1u64 << 24) as f64
        };
        // Rows of every number of registers that loops are unrolled for, and more.
        let widths = [
            (40, 40),
            (60, 64),
            (72, 72),
            (96, 90),
            (112, 112),
            (120, 128),
        ];
        for (n, m) in widths
            .into_iter()
            .chain([(129, 131), (64, 300), (257, 200)])
        {
            for kind in 0..4 {
                let mut cost = || match kind {
                    0 => (4.0 * random()).floor(),
                    1 => random() - 0.5,
                    2 => 1e-302 * random(),
                    _ => random() * if random() < 0.01 { 1e7 } else { 1.0 },
                };
                let costs: Vec<f64> = (0..n * m).map(|_| cost()).collect();
                let (supply, demand) = (vec![1.0 / n as f64; n], vec![1.0 / m as f64; m]);
                let (mut fast, mut portable) = (Workspace::default(), Workspace::default());
                let there = fast.optimal_value(&costs, &supply, &demand).unwrap();
                let problem = Problem::new(&costs, &supply, &demand);
                let here = solve_portably(&mut portable, problem).unwrap();
                assert_eq!(there.to_bits(), here.to_bits(), "{n} x {m}, kind {kind}");
                assert_eq!(fast.sink_duals(&costs), portable.sink_duals(&costs));
                assert_eq!(fast.flows(), portable.flows());
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
            let there = fast.optimal_value(&costs, &supply, &demand).unwrap();
            let problem = Problem::new(&costs, &supply, &demand);
            let here = solve_portably(&mut portable, problem).unwrap();
            prop_assert_eq!(there.to_bits(), here.to_bits(), "{} x {}", n, m);
            prop_assert_eq!(fast.sink_duals(&costs), portable.sink_duals(&costs));
            prop_assert_eq!(fast.flows(), portable.flows());
        }
    }

    /// Below the guard: flags may cost bits, but no optimum, and no solver runs for ever.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn without_subnormal_numbers_every_solver_still_finds_the_optimum() {
        use crate::float_environment::tests::without_subnormals;

        let mut next = 7u64;
        let mut random = || {
            next = next.wrapping_mul(6364136223846793005).wrapping_add(1);
            (next >> 40) as f64 / (1u64 << 24) as f64
        };
        for round in 0..40 {
            for (n, m) in [
                (9, 2),
                (10, 3),
                (10, 6),
                (72, 6),
                (40, 21),
                (35, 35),
                (90, 60),
            ] {
                // Whole numbers, so that many sums are zero.
                let costs: Vec<f64> = (0..n * m)
                    .map(|_| match round % 2 {
                        0 => (4.0 * random()).floor(),
                        _ => random(),
                    })
                    .collect();
                let (supply, demand) = (vec![1.0 / n as f64; n], vec![1.0 / m as f64; m]);
                let expected = Workspace::default()
                    .solve(&costs, &supply, &demand)
                    .unwrap();
                for avx2 in [true, false] {
                    let found = without_subnormals(|| {
                        let mut workspace = Workspace::default();
                        let problem = Problem::new(&costs, &supply, &demand);
                        match avx2 {
                            true => workspace.solve_problem(problem),
                            false => solve_portably(&mut workspace, problem),
                        }
                    });
                    let error = (found.unwrap() - expected).abs();
                    assert!(error <= 1e-12, "{n} x {m}, round {round}: off by {error:e}");
                }
            }
        }
    }
}
