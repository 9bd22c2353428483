//! One sink takes everything: a sum.

use super::lanes::Simd;
use super::problem::Problem;

/// The solver's memory.
#[derive(Debug, Default)]
pub(super) struct OneSink {
    supply: Vec<f64>,
}

impl OneSink {
    /// The optimal cost.
    #[inline(always)]
    pub(super) fn solve<S: Simd>(&mut self, simd: S, problem: Problem) -> f64 {
        // Kept on the way: a call to copy them would take as long as the sum.
        self.supply.resize(problem.supply.len(), 0.0);
        let (kept_fours, kept_rest) = self.supply.as_chunks_mut::<4>();
        for (kept, supply) in kept_fours.iter_mut().zip(problem.supply.as_chunks::<4>().0) {
            simd.store(simd.load(supply), kept);
        }
        for (kept, supply) in kept_rest.iter_mut().zip(problem.supply.as_chunks::<4>().1) {
            *kept = *supply;
        }
        let (cost_fours, cost_rest) = problem.costs.as_chunks::<4>();
        let (supply_fours, supply_rest) = problem.supply.as_chunks::<4>();
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
        let mut total = simd.total(sum);
        for (cost, mass) in cost_rest.iter().zip(supply_rest) {
            total += cost * mass;
        }
        total
    }

    /// Visits the plan of the problem solved last: source, sink and mass.
    pub(super) fn each_flow(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for (source, &mass) in self.supply.iter().enumerate() {
            visit(source, 0, mass);
        }
    }

    /// The dual value of the sink.
    pub(super) fn sink_duals(&self) -> Vec<f64> {
        vec![0.0]
    }
}
