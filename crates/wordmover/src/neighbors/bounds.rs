//! A lower bound from feasible dual values.
//!
//! Any numbers `u_i` (a source each) and `v_j` (a sink each) with `u_i + v_j <= cost_ij` make
//! `sum supply_i u_i + sum demand_j v_j` a lower bound of the transport cost. For given `v`, the
//! best `u_i` is the least `cost_ij - v_j`, so only `v` is looked for:
//!
//! 1. Begin with the mean cost of every sink, where the exact solver starts as well: sinks far
//!    from everything have to be paid for. Raise every `v` as far as the `u` that belong to it
//!    allow.
//! 2. Then go up, by the subgradient (Shor, 1962): if every source went where it is least, a
//!    sink would get so much more or less than it demands. Those that get too little become
//!    dearer for the bound, those that get too much cheaper. Steps become shorter, and the best
//!    bound counts.
//!
//! Twenty steps take a tenth of the time of a solution and come within some per mille of it.
//!
//! Costs are in single precision, and lower bounds of the true ones. A difference is rounded by
//! at most half a unit in the last place, and `x - e |x|` grows with `x`: so `u_i` less its share
//! of that is feasible, whichever difference was the least. After raising, `v_j` is at most
//! `cost_ij - u_i` as rounded, which is the same the other way round. The masses sum to one at
//! most, so the bound is too great by no more than that share of the greatest dual, which is
//! subtracted twice over.

use crate::float_environment::IeeeArithmetic;
use wordmover_transport::instruction_sets::by_instruction_set;

/// Columns handled together; rows of costs are whole multiples of it.
pub(super) const LANES: usize = 16;

/// The distance between 1 and the next number of single precision.
const ROUNDING: f64 = f32::EPSILON as f64;

/// The first step up, as a share of the mean cost.
const FIRST_STEP: f64 = 0.1;

/// Costs of a table, of which a problem has some rows and some columns.
#[derive(Clone, Copy)]
pub(super) struct Costs<'c> {
    /// Rows of `width` costs each.
    pub table: &'c [f32],
    pub width: usize,
    /// The rows of the problem's sources.
    pub rows: &'c [u32],
}

/// Memory of [`DualBound::lower_bound`], reused.
#[derive(Debug, Default)]
pub(super) struct DualBound {
    /// By column: the sinks' duals; minus infinity where there is no sink.
    duals: Vec<f32>,
    raised: Vec<f32>,
    best_duals: Vec<f32>,
    /// By column: what the sink demands and does not get, as far as single precision says.
    wanting: Vec<f32>,
}

impl DualBound {
    /// A lower bound after so many steps up, or fewer if it exceeds `enough`. `demand` is by
    /// column, 0 where there is no sink.
    ///
    /// # Panics
    ///
    /// If the lengths do not fit.
    pub fn lower_bound(
        &mut self,
        costs: Costs,
        supply: &[f64],
        demand: &[f64],
        n_steps: usize,
        enough: f64,
    ) -> f64 {
        assert_eq!(costs.width % LANES, 0, "whole lanes");
        assert_eq!(costs.rows.len(), supply.len(), "a row a source");
        assert!(demand.len() <= costs.width, "a column a sink");
        let _ieee = IeeeArithmetic::enter();
        let this = self;
        by_instruction_set!(
            (this: &mut DualBound, costs: Costs, supply: &[f64], demand: &[f64], n_steps: usize, enough: f64) -> f64,
            |_set| this.lower_bound_portable(costs, supply, demand, n_steps, enough)
        )
    }

    /// By column: the sinks' duals of the last bound, as far as steps up found them; minus
    /// infinity where there is no sink.
    pub fn sink_duals(&self) -> &[f32] {
        &self.best_duals
    }

    #[inline(always)]
    fn lower_bound_portable(
        &mut self,
        costs: Costs,
        supply: &[f64],
        demand: &[f64],
        n_steps: usize,
        enough: f64,
    ) -> f64 {
        let mean = self.begin(costs, supply, demand);
        // Never NaN, which is not the greater of two.
        let mut best = self.raise(costs, supply, demand).max(0.0);
        self.best_duals.clear();
        self.best_duals.extend_from_slice(&self.duals);
        for step in 1..=n_steps {
            if best > enough {
                break;
            }
            let bound = self.evaluate(costs, supply, demand);
            if bound > best {
                best = bound;
                self.best_duals.copy_from_slice(&self.duals);
            }
            let wanting = self.wanting.iter().map(|x| x.abs());
            let greatest = wanting.fold(0.0f32, |most, x| if x > most { x } else { most });
            if greatest == 0.0 {
                // Every sink gets what it demands: this is the cost itself.
                break;
            }
            let length = FIRST_STEP * mean / (f64::from(greatest) * (step as f64).sqrt());
            let length = length as f32;
            for (dual, &wanting) in self.duals.iter_mut().zip(&self.wanting) {
                *dual += length * wanting;
            }
        }
        best
    }

    /// Duals are the mean costs of the sinks. Returns the mean of all.
    #[inline(always)]
    fn begin(&mut self, costs: Costs, supply: &[f64], demand: &[f64]) -> f64 {
        self.duals.clear();
        self.duals.resize(costs.width, 0.0);
        let total: f64 = supply.iter().sum();
        for (row, &mass) in rows(costs).zip(supply) {
            // May be rounded in any way.
            let share = (mass / total) as f32;
            for (mean, &cost) in self.duals.iter_mut().zip(row) {
                *mean += share * cost;
            }
        }
        let mut sum = 0.0;
        for (&mass, dual) in demand.iter().zip(&mut self.duals) {
            match mass > 0.0 {
                true => sum += mass * f64::from(*dual),
                // Columns without a sink must not be anybody's least.
                false => *dual = f32::NEG_INFINITY,
            }
        }
        self.duals[demand.len()..].fill(f32::NEG_INFINITY);
        sum / total
    }

    /// Raises the duals as far as can be, and returns their bound.
    #[inline(always)]
    fn raise(&mut self, costs: Costs, supply: &[f64], demand: &[f64]) -> f64 {
        self.raised.clear();
        self.raised.resize(costs.width, f32::INFINITY);
        let (mut bound, mut greatest) = (0.0, 0.0f32);
        for (row, &mass) in rows(costs).zip(supply) {
            let least = least_difference(row, &self.duals);
            bound += mass * f64::from(least);
            greatest = greatest.max(least.abs());
            for (raised, &cost) in self.raised.iter_mut().zip(row) {
                *raised = lesser(cost - least, *raised);
            }
        }
        for ((&mass, &raised), dual) in demand.iter().zip(&self.raised).zip(&mut self.duals) {
            if mass > 0.0 {
                *dual = raised;
                bound += mass * f64::from(raised);
                greatest = greatest.max(raised.abs());
            }
        }
        bound - ROUNDING * f64::from(greatest)
    }

    /// The bound of the duals, and what the sinks want at it.
    #[inline(always)]
    fn evaluate(&mut self, costs: Costs, supply: &[f64], demand: &[f64]) -> f64 {
        self.wanting.clear();
        self.wanting.extend(demand.iter().map(|&mass| mass as f32));
        self.wanting.resize(costs.width, 0.0);
        let (mut bound, mut greatest) = (0.0, 0.0f32);
        for (row, &mass) in rows(costs).zip(supply) {
            let least = least_difference(row, &self.duals);
            bound += mass * f64::from(least);
            greatest = greatest.max(least.abs());
            // To all of them where there is a tie. A search for the first would take longer
            // than everything else here.
            let mass = mass as f32;
            let columns = row.iter().zip(&self.duals).zip(&mut self.wanting);
            for ((&cost, &dual), wanting) in columns {
                *wanting -= if cost - dual == least { mass } else { 0.0 };
            }
        }
        for (&mass, &dual) in demand.iter().zip(&self.duals) {
            if mass > 0.0 {
                bound += mass * f64::from(dual);
            }
        }
        bound - ROUNDING * f64::from(greatest)
    }
}

#[inline(always)]
fn rows<'c>(costs: Costs<'c>) -> impl Iterator<Item = &'c [f32]> {
    let Costs { table, width, rows } = costs;
    let rows = rows.iter();
    rows.map(move |&row| &table[row as usize * width..][..width])
}

/// The least of the differences, lane by lane first.
#[inline(always)]
fn least_difference(row: &[f32], duals: &[f32]) -> f32 {
    let mut least = [f32::INFINITY; LANES];
    let (row, duals) = (row.as_chunks::<LANES>().0, duals.as_chunks::<LANES>().0);
    for (costs, duals) in row.iter().zip(duals) {
        for l in 0..LANES {
            least[l] = lesser(costs[l] - duals[l], least[l]);
        }
    }
    least_of(least)
}

/// One instruction, unlike `f32::min`, which has something to say of NaN.
#[inline(always)]
pub(super) fn lesser(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// By halves, which stay in registers.
#[inline(always)]
pub(super) fn least_of(lanes: [f32; LANES]) -> f32 {
    let lanes: [f32; 8] = std::array::from_fn(|l| lesser(lanes[l], lanes[l + 8]));
    let lanes: [f32; 4] = std::array::from_fn(|l| lesser(lanes[l], lanes[l + 4]));
    lesser(lesser(lanes[0], lanes[1]), lesser(lanes[2], lanes[3]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::transport;

    /// Costs with many ties, and masses of sum one.
    fn problems() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<f64>)> {
        let masses = |n| prop::collection::vec(1..6u32, n);
        let shares = |masses: Vec<u32>| -> Vec<f64> {
            let total = f64::from(masses.iter().sum::<u32>());
            masses.iter().map(|&mass| f64::from(mass) / total).collect()
        };
        (1..12usize, 1..12usize).prop_flat_map(move |(n, m)| {
            let costs =
                prop::collection::vec((0..9u32).prop_map(|c| f64::from(c as f32 / 7.0)), n * m);
            (
                costs,
                masses(n).prop_map(shares),
                masses(m).prop_map(shares),
            )
        })
    }

    /// Table, rows and masses of the columns, with a row and columns that hold nothing.
    fn padded(costs: &[f64], n: usize, demand: &[f64]) -> (Vec<f32>, Vec<u32>, Vec<f64>) {
        let mut table = vec![-7.0f32; (n + 1) * LANES];
        for (i, row) in costs.chunks_exact(demand.len()).enumerate() {
            for (j, &cost) in row.iter().enumerate() {
                table[(i + 1) * LANES + j + 1] = cost as f32;
            }
        }
        let columns = [0.0].into_iter().chain(demand.iter().copied());
        (table, (1..=n as u32).collect(), columns.collect())
    }

    /// On the average of many problems: ties can keep subgradients far off in one of them.
    #[test]
    fn the_bound_comes_close_to_the_exact_cost() {
        let mut runner = TestRunner::deterministic();
        let (mut sum, mut exact) = (0.0, 0.0);
        for _ in 0..300 {
            let drawn = problems().new_tree(&mut runner).unwrap().current();
            let (costs, supply, demand) = drawn;
            let (table, rows, columns) = padded(&costs, supply.len(), &demand);
            let (table, width) = (&table, LANES);
            let problem = Costs {
                table,
                width,
                rows: &rows,
            };
            sum +=
                DualBound::default().lower_bound(problem, &supply, &columns, 1000, f64::INFINITY);
            exact += transport::solve(&costs, &supply, &demand).unwrap().cost;
        }
        assert!(sum > 0.98 * exact, "{sum} {exact}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

        /// Columns without a sink, the first and the last of the table, cost next to nothing.
        #[test]
        fn the_bound_is_below_the_exact_cost_and_grows_with_steps(
            (costs, supply, demand) in problems(),
        ) {
            let (table, rows, columns) = padded(&costs, supply.len(), &demand);
            let problem = Costs { table: &table, width: LANES, rows: &rows };
            let mut dual_bound = DualBound::default();
            let exact = transport::solve(&costs, &supply, &demand).unwrap().cost;
            let mut before = 0.0;
            for n_steps in [0, 1, 20, 1000] {
                let bound = dual_bound.lower_bound(problem, &supply, &columns, n_steps, f64::INFINITY);
                prop_assert!(bound <= exact + 1e-12, "{bound} {exact}");
                prop_assert!(bound >= before);
                before = bound;
            }
            let early = dual_bound.lower_bound(problem, &supply, &columns, 1000, 0.5 * exact);
            prop_assert!(early <= before && (early > 0.5 * exact || early == before));
        }
    }
}
