//! A problem as it is given, and as the device takes it.

use super::masses::integers;

/// One transport problem: costs row by row, a row for each supply. Weights may be zero; the two
/// sides must have the same sum, as for [`wordmover::transport::solve`].
#[derive(Debug, Clone, Copy)]
pub struct TransportProblem<'a> {
    /// `supply.len()` rows of `demand.len()` costs.
    pub costs: &'a [f64],
    /// What each source has.
    pub supply: &'a [f64],
    /// What each sink takes.
    pub demand: &'a [f64],
}

/// Sources and sinks together: the device numbers them, and arcs, in 16 bits.
const MOST_NODES: usize = (1 << 16) - 2;

/// Bits of the largest cost on the device.
const COST_BITS: i32 = 53;

/// A problem without its weights of zero, in integers.
#[derive(Debug, PartialEq)]
pub(super) struct Fitted {
    pub n_rows: usize,
    pub n_columns: usize,
    /// Where rows and columns stand among the sources and sinks; empty if all have weight.
    pub rows: Vec<u32>,
    pub columns: Vec<u32>,
    /// Of rows, then of columns.
    pub masses: Vec<i64>,
    /// Weight of a unit of mass.
    pub unit: f64,
}

impl Fitted {
    /// None if the problem is one for the library's solver, or one that it will refuse.
    pub fn new(problem: &TransportProblem, most_costs: usize) -> Option<Self> {
        let TransportProblem { supply, demand, .. } = *problem;
        if supply.len().checked_mul(demand.len()) != Some(problem.costs.len()) {
            return None;
        }
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        let has_zeros = supply.iter().chain(demand).any(|&w| w == 0.0);
        let (masses, unit) = match has_zeros {
            false => integers(supply, demand)?,
            true => {
                rows = positive(supply);
                columns = positive(demand);
                integers(&chosen(supply, &rows), &chosen(demand, &columns))?
            }
        };
        let (n_rows, n_columns) = match has_zeros {
            false => (supply.len(), demand.len()),
            true => (rows.len(), columns.len()),
        };
        let is_small = n_rows + n_columns <= MOST_NODES && n_rows * n_columns <= most_costs;
        is_small.then_some(Fitted {
            n_rows,
            n_columns,
            rows,
            columns,
            masses,
            unit,
        })
    }

    /// Where a row and a column stand in the problem: its source and its sink.
    pub fn arc(&self, row: usize, column: usize) -> (usize, usize) {
        let at = |chosen: &[u32], i: usize| chosen.get(i).map_or(i, |&i| i as usize);
        (at(&self.rows, row), at(&self.columns, column))
    }

    /// Copies rows of costs; gives their range.
    pub fn copy_rows(&self, problem: &TransportProblem, first: usize, out: &mut [f64]) -> Range {
        let n_sinks = problem.demand.len();
        let mut range = Range::default();
        if self.rows.is_empty() {
            let costs = &problem.costs[first * n_sinks..][..out.len()];
            range.copy(costs, out);
            return range;
        }
        let mut row = vec![0.0; self.n_columns];
        for (r, out) in out.chunks_exact_mut(self.n_columns).enumerate() {
            for (c, cost) in row.iter_mut().enumerate() {
                let (source, sink) = self.arc(first + r, c);
                *cost = problem.costs[source * n_sinks + sink];
            }
            range.copy(&row, out);
        }
        range
    }

    /// Bytes of memory the solver needs besides the costs: `memory_bytes` of
    /// `kernels/shortest_paths.h`.
    pub fn memory_bytes(&self) -> usize {
        let (n, m) = (self.n_rows, self.n_columns);
        let (nodes, most) = (n + m, n.max(m));
        let longs = 3 * nodes + 2 * most + 32;
        let shorts = 5 * nodes + 5 * most;
        (8 * longs + 4 * (8 + 32) + 2 * shorts + 2 * most).next_multiple_of(16)
    }
}

fn positive(weights: &[f64]) -> Vec<u32> {
    // Not a number is no zero, and is refused with the others.
    let is_zero = |i: &u32| weights[*i as usize] == 0.0;
    (0..weights.len() as u32).filter(|i| !is_zero(i)).collect()
}

fn chosen(weights: &[f64], indices: &[u32]) -> Vec<f64> {
    indices.iter().map(|&i| weights[i as usize]).collect()
}

/// The least and the largest of some costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub least: f64,
    pub most: f64,
    is_bad: bool,
}

impl Default for Range {
    fn default() -> Self {
        Range {
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
            is_bad: false,
        }
    }
}

impl Range {
    /// Copies costs and takes them in.
    fn copy(&mut self, costs: &[f64], out: &mut [f64]) {
        const LANES: usize = 8;
        let (mut least, mut most) = ([self.least; LANES], [self.most; LANES]);
        // Stays zero unless something is infinite or not a number.
        let mut zero = [0.0; LANES];
        let mut take = |lane: usize, cost: f64| {
            least[lane] = if cost < least[lane] {
                cost
            } else {
                least[lane]
            };
            most[lane] = if cost > most[lane] { cost } else { most[lane] };
            zero[lane] += cost * 0.0;
        };
        let whole = costs.len() / LANES * LANES;
        let chunks = costs.chunks_exact(LANES).zip(out.chunks_exact_mut(LANES));
        for (costs, out) in chunks {
            for lane in 0..LANES {
                out[lane] = costs[lane];
                take(lane, costs[lane]);
            }
        }
        for (lane, (&cost, out)) in costs[whole..].iter().zip(&mut out[whole..]).enumerate() {
            *out = cost;
            take(lane, cost);
        }
        self.least = least.into_iter().fold(self.least, f64::min);
        self.most = most.into_iter().fold(self.most, f64::max);
        self.is_bad |= zero.into_iter().any(|zero| zero != 0.0);
    }

    pub fn join(&mut self, other: Range) {
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.is_bad |= other.is_bad;
    }

    /// What a difference to the least cost is multiplied by: a power of two that makes the
    /// largest an integer of 53 bits, or zero if all costs are alike. None if the library would
    /// refuse a cost, or the power is beyond double precision.
    pub fn scale(&self) -> Option<f64> {
        let spread = self.most - self.least;
        if self.is_bad || self.most.abs().max(self.least.abs()) > 1e300 {
            return None;
        }
        if spread == 0.0 {
            return Some(0.0);
        }
        let exponent = (spread.to_bits() >> 52) as i32 - 1023 + 1;
        let power = COST_BITS - exponent;
        (power < 900).then(|| f64::from_bits(((power + 1023) as u64) << 52))
    }

    /// The largest absolute value.
    pub fn largest(&self) -> f64 {
        self.most.abs().max(self.least.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_weights_are_left_out() {
        let costs: Vec<f64> = (0..30).map(f64::from).collect();
        let supply = [0.25, 0.0, 0.25, 0.25, 0.0, 0.0, 0.0, 0.0, 0.125, 0.125];
        let demand = [0.5, 0.0, 0.5];
        let problem = TransportProblem {
            costs: &costs,
            supply: &supply,
            demand: &demand,
        };
        let fitted = Fitted::new(&problem, 100).expect("fits");
        assert_eq!((fitted.n_rows, fitted.n_columns), (5, 2));
        assert_eq!(fitted.masses, [2, 2, 2, 1, 1, 4, 4]);
        let mut rows = [0.0; 10];
        let range = fitted.copy_rows(&problem, 0, &mut rows);
        assert_eq!(rows, [0., 2., 6., 8., 9., 11., 24., 26., 27., 29.]);
        assert_eq!((range.least, range.most), (0.0, 29.0));
        assert_eq!(fitted.arc(3, 1), (8, 2));
        assert_eq!(Fitted::new(&problem, 9), None);
    }

    #[test]
    fn scales_are_powers_of_two_and_bad_costs_have_none() {
        let scale = |costs: &[f64]| {
            let mut range = Range::default();
            range.copy(costs, &mut vec![0.0; costs.len()]);
            range.scale()
        };
        assert_eq!(scale(&[3.0, 4.5]), Some((1u64 << 52) as f64));
        assert_eq!(scale(&[7.0; 20]), Some(0.0));
        let largest = scale(&[-1e300, 1e300]).expect("in range") * 2e300;
        assert!((2f64.powi(52)..2f64.powi(53)).contains(&largest));
        for bad in [f64::NAN, f64::INFINITY, 2e300] {
            for place in [0, 5, 17] {
                let mut costs = [1.0; 18];
                costs[place] = bad;
                assert_eq!(scale(&costs), None);
            }
        }
        assert_eq!(scale(&[1e-300, 0.0]), None);
    }
}
