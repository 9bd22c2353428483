//! Three sinks: two numbers to find.
//!
//! What a source costs more at the first and at the second sink than at the third, `p[i]` and
//! `q[i]`, decides where it goes, given dual values `s` and `t` of these two sinks:
//!
//! ```text
//! s, t  <- the weighted means of p and q, corrected once
//! every source goes to the sink of the least of p[i] - s, q[i] - t and 0
//! those that prefer theirs by a wide margin stay there: put them aside
//! while some sink holds more than its demand:
//!     shortest path to one that holds less, directly or through the third sink;
//!     move s and t by its length, and mass along it
//! if s or t has moved by more than the margin: again, with nothing put aside
//! ```
//!
//! The loop is that of [`super::sink_graph`], with all paths known beforehand. It looks at
//! the sources that are left again and again, at the others no more: a source whose
//! best sink is better than every other by `margin` stays there as long as no two dual values
//! have moved by more than that relative to each other. So the answer is as exact as
//! without, and the test is three subtractions.

mod plan;
mod start;

use super::TransportProblem;
use super::given::{Given, MASS_BITS, cost_bits, demand_on_grid};
use super::grid::Grid;
use super::lanes::{Four, Portable, Simd};

use super::workspace::Workspace;
use plan::{AUGMENTATIONS_PER_SOURCE, Plan};
use start::{compare, correct, least_and_second, put_aside, round};

/// Up to this many sources nothing is put aside, and the means are good enough.
const FEW: usize = 16;

/// The margin, in mean differences between best and second-best sink. A wider one leaves more
/// to look at, a narrower one fails more often. Measured on unit vectors.
const MARGIN: f64 = 0.5;

/// Four sources.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    /// Costs beyond those at the third sink; there, nothing.
    costs: [Four; 3],
    mass: Four,
    /// What goes to each of the sinks.
    shares: [Four; 3],
}

/// What is needed to tell again who was put aside.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Aside {
    duals: [f64; 2],
    /// Zero if nobody was.
    margin: f64,
}

impl Workspace {
    /// The optimal cost.
    #[inline(always)]
    pub(super) fn solve_three_sinks<S: Simd>(
        &mut self,
        simd: S,
        given: Given,
    ) -> Result<f64, TransportProblem> {
        let n = given.supply.len();
        let blocks = &mut self.blocks[..n.div_ceil(4)];
        // As good as that of the supplies, and shorter.
        let total = given.demand[0] + given.demand[1] + given.demand[2];
        let mass_grid = Grid::below(total, MASS_BITS);
        let sums = compare(simd, given, mass_grid, blocks);
        let grid = Grid::below(simd.most(sums.largest), cost_bits(3));
        let demand = demand_on_grid(given.demand, mass_grid, simd.total(sums.mass));
        let mut aim = [
            simd.total(sums.beyond[0]) / total,
            simd.total(sums.beyond[1]) / total,
        ];
        let mut cost = simd.total(sums.third_cost);

        let margin = if n > FEW {
            let gap = correct(simd, grid, blocks, &demand, total, &mut aim);
            MARGIN * gap
        } else {
            for block in blocks.iter_mut() {
                round(simd, grid, block);
            }
            0.0
        };
        let duals = [grid.round(aim[0]), grid.round(aim[1])];
        self.aside = Aside { duals, margin };
        if margin > 0.0 {
            let left = &mut self.blocks_left[..n.div_ceil(4)];
            let aside = put_aside(simd, blocks, left, self.aside);
            let mut surplus = aside.loads;
            for k in 0..3 {
                surplus[k] -= demand[k];
            }
            let mut plan = Plan::new(&mut left[..aside.n_left.div_ceil(4)], duals, surplus);
            plan.assign(simd);
            if plan.balance(simd, n) && plan.has_moved_at_most(margin, duals) {
                cost += aside.cost + plan.cost(simd);
                keep(&mut self.duals, plan.duals);
                return Ok(cost);
            }
            self.aside.margin = 0.0;
        }
        let mut plan = Plan::new(blocks, duals, [-demand[0], -demand[1], -demand[2]]);
        plan.assign(simd);
        if !plan.balance(simd, n) {
            return Err(TransportProblem::NotSolved {
                steps: AUGMENTATIONS_PER_SOURCE * n,
                sources: n,
                sinks: 3,
            });
        }
        keep(&mut self.duals, plan.duals);
        Ok(cost + plan.cost(simd))
    }

    /// The plan that [`solve_three_sinks`](Self::solve_three_sinks) found: what every source
    /// sends to each sink.
    pub(super) fn flows_to_three(&self) -> impl Iterator<Item = [f64; 3]> + '_ {
        let Aside { duals, margin } = self.aside;
        let mut n_left = 0;
        (0..self.n_sources).map(move |source| {
            let (block, lane) = (&self.blocks[source / 4], source % 4);
            let reduced = [
                block.costs[0][lane] - duals[0],
                block.costs[1][lane] - duals[1],
                0.0,
            ];
            let (least, second) = least_and_second(Portable, reduced.map(|x| [x; 4]));
            if margin > 0.0 && second[0] - least[0] >= margin {
                return reduced.map(|x| if x == least[0] { block.mass[lane] } else { 0.0 });
            }
            let (block, lane) = match margin > 0.0 {
                true => (&self.blocks_left[n_left / 4], n_left % 4),
                false => (block, lane),
            };
            n_left += 1;
            block.shares.map(|share| share[lane])
        })
    }
}

#[inline(always)]
fn keep(kept: &mut [Four], duals: [f64; 3]) {
    let kept = &mut kept[..3];
    for k in 0..3 {
        kept[k] = [duals[k]; 4];
    }
}
