//! The problem on its grids, dual values to aim by, and who comes first.
//!
//! The aim is the weighted mean of every column. By it every source prefers a sink, that of
//! least `C[i][k] - aim[k]`, and has a loss if it has to take the second best. Those with the
//! most to lose come first.

use super::{Basis, GROUPS, MOST, MOST_WIDTH};
use crate::grid::Grid;
use crate::lanes::{Four, Simd, number};
use crate::problem::{MASS_BITS, Problem, cost_bits};

/// All bits but those that number the sources.
const NO_NUMBER: f64 = f64::from_bits(!(MOST as u64 - 1));

/// All bits but those that number the sinks.
const NO_SINK: f64 = f64::from_bits(!31);

/// More than any cost can be, and costs added to it are still finite: the bits of what is
/// not could not be told from numbers of sinks.
pub(super) const BEYOND_COSTS: f64 = 1e305;

/// The numbers of the sinks.
pub(super) const SINKS: [Four; MOST_WIDTH] = {
    let mut sinks = [[0.0; 4]; MOST_WIDTH];
    let mut sink = 0;
    while sink < 4 * MOST_WIDTH {
        sinks[sink / 4][sink % 4] = number(sink);
        sink += 1;
    }
    sinks
};

impl Basis {
    /// Fills `rows` with the costs on their grid, flows with supplies and demands, `preferred` and
    /// the `order` of the sources. Returns the aim.
    #[inline(always)]
    pub(super) fn order<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        problem: Problem,
        rows: &mut [Four],
        order: &mut [u8; MOST],
        preferred: &mut [Four; GROUPS],
    ) -> [S::Lanes; W] {
        let (n, m) = (problem.supply.len(), problem.demand.len());
        self.width = W;
        let total = self.measure::<S, W>(simd, problem);
        let sums = read::<S, W>(simd, problem, rows);
        let largest = simd.most(sums.largest);
        let grid = Grid::below(largest, cost_bits(m));
        // Not infinite, however small the total.
        let one_over = simd.splat((1.0 / total).min(f64::MAX));
        let mut aim = sums.weighted;
        for w in 0..W {
            aim[w] = simd.mul(aim[w], one_over);
        }
        let mut keys = [[0.0; 4]; GROUPS];
        let pad = beyond::<S, W>(simd, m);
        let mut numbers = simd.of(number(0), number(1), number(2), number(3));
        let four = simd.splat(number(4));
        let blocks = rows.chunks_exact_mut(4 * W).zip(preferred.iter_mut());
        for ((rows, preferred), key) in blocks.zip(&mut keys) {
            let (least, loss) = loss::<S, W>(simd, rows, &aim, grid, pad);
            simd.store(least, preferred);
            let loss = simd.keep(simd.splat(NO_NUMBER), loss);
            simd.store(simd.add_numbers(loss, numbers), key);
            numbers = simd.add_numbers(numbers, four);
        }
        // The place of a source is the number of those before it. Sorting would have to branch.
        let all = &keys.as_flattened()[..n];
        for (block, key) in keys[..n.div_ceil(4)].iter().enumerate() {
            let key = simd.load(key);
            let mut above = simd.splat(number(0));
            for &other in all {
                // As whole numbers, which losses of at least zero are ordered like: a loss of
                // zero leaves a subnormal double. A mask is a whole number, too: -1.
                above = simd.add_numbers(above, simd.below_numbers(key, simd.splat(other)));
            }
            let mut ranks = [0.0; 4];
            simd.store(above, &mut ranks);
            for lane in 0..4 {
                let rank = ranks[lane].to_bits().wrapping_neg() as usize;
                if 4 * block + lane < n {
                    order[rank % MOST] = (4 * block + lane) as u8;
                }
            }
        }
        aim
    }

    /// Supplies and demands on their grid, to become flows. Rounding, and an imbalance of the
    /// input within its tolerance, are settled with the largest demand. Gives the total.
    #[inline(always)]
    fn measure<S: Simd, const W: usize>(&mut self, simd: S, problem: Problem) -> f64 {
        let Problem { supply, demand, .. } = problem;
        let (demands, supplies) = self.flows.split_at_mut(W);
        let supplies = &mut supplies[..supply.len().div_ceil(4)];
        let mut total = simd.splat(0.0);
        for (at, mass) in supplies.iter_mut().enumerate() {
            let given = four(simd, supply, 4 * at);
            total = simd.add(total, given);
            simd.store(given, mass);
        }
        let total = simd.total(total);
        let grid = Grid::below(total, MASS_BITS);
        let mut left_over = simd.splat(0.0);
        for mass in supplies {
            let rounded = grid.round_masses(simd, simd.load(mass));
            left_over = simd.add(left_over, rounded);
            simd.store(rounded, mass);
        }
        let mut most = simd.splat(0.0);
        let mut rounded = [most; W];
        for w in 0..W {
            rounded[w] = grid.round_masses(simd, four(simd, demand, 4 * w));
            left_over = simd.sub(left_over, rounded[w]);
            most = simd.greater(rounded[w], most);
            simd.store(rounded[w], &mut demands[w]);
        }
        let most = simd.splat(simd.most(most));
        let mut largest = 0;
        for w in 0..W {
            largest |= simd.same_bits(rounded[w], most) << (4 * w);
        }
        let largest = largest.trailing_zeros() as usize % (4 * MOST_WIDTH);
        self.flows.as_flattened_mut()[largest] += simd.total(left_over);
        total
    }
}

/// Four values from `at` on, zero for those that are not there.
#[inline(always)]
fn four<S: Simd>(simd: S, values: &[f64], at: usize) -> S::Lanes {
    match values[at..].first_chunk() {
        Some(four) => simd.load(four),
        None => {
            let or_zero = |lane: usize| values.get(at + lane).copied().unwrap_or(0.0);
            simd.of(or_zero(0), or_zero(1), or_zero(2), 0.0)
        }
    }
}

/// Sums over the costs as they are read.
struct Sums<L, const W: usize> {
    weighted: [L; W],
    largest: L,
}

/// Reads the costs source by source into `rows`, infinite beyond the last sink.
#[inline(always)]
fn read<S: Simd, const W: usize>(
    simd: S,
    problem: Problem,
    rows: &mut [Four],
) -> Sums<S::Lanes, W> {
    let zero = simd.splat(0.0);
    let mut sums = Sums {
        weighted: [zero; W],
        largest: zero,
    };
    if problem.is_by_sinks {
        read_columns(simd, problem, rows, &mut sums);
    } else {
        read_rows(simd, problem, rows, &mut sums);
    }
    sums
}

#[inline(always)]
fn read_rows<S: Simd, const W: usize>(
    simd: S,
    problem: Problem,
    rows: &mut [Four],
    sums: &mut Sums<S::Lanes, W>,
) {
    let Problem {
        costs,
        supply,
        demand,
        ..
    } = problem;
    let (n, m) = (supply.len(), demand.len());
    // A row is read up to a multiple of four, and after the last there is nothing to read.
    let mut last = [[0.0; 4]; W];
    for (last, &cost) in last
        .as_flattened_mut()
        .iter_mut()
        .zip(&costs[(n - 1) * m..])
    {
        *last = cost;
    }
    let mut largest = [simd.splat(0.0); W];
    let mut rest = costs;
    for (kept, &mass) in rows.chunks_exact_mut(W).zip(supply) {
        let row = rest.get(..4 * W).unwrap_or(last.as_flattened());
        rest = &rest[m..];
        let mass = simd.splat(mass);
        for w in 0..W {
            let cost = simd.load_at(row, 4 * w);
            largest[w] = simd.greater(simd.abs(cost), largest[w]);
            sums.weighted[w] = simd.add(sums.weighted[w], simd.mul(cost, mass));
            simd.store(cost, &mut kept[w]);
        }
    }
    for w in 0..W {
        sums.largest = simd.greater(largest[w], sums.largest);
    }
}

/// The same, from costs given sink by sink.
#[inline(always)]
fn read_columns<S: Simd, const W: usize>(
    simd: S,
    problem: Problem,
    rows: &mut [Four],
    sums: &mut Sums<S::Lanes, W>,
) {
    let Problem {
        costs,
        supply,
        demand,
        ..
    } = problem;
    let (n, m) = (supply.len(), demand.len());
    let mut largest = [simd.splat(0.0); 4];
    for (block, rows) in rows.chunks_exact_mut(4 * W).enumerate() {
        let first = 4 * block;
        let mut masses = [0.0; 4];
        for (mass, &given) in masses.iter_mut().zip(&supply[first..]) {
            *mass = given;
        }
        for w in 0..W {
            let mut columns = [simd.splat(0.0); 4];
            for lane in 0..4 {
                let at = (4 * w + lane).min(m - 1) * n + first;
                columns[lane] = if first + 4 <= n {
                    simd.load_at(costs, at)
                } else {
                    // The last source stands in for those that are not there.
                    let rest = &costs[at..][..n - first];
                    let last = rest.len() - 1;
                    simd.of(rest[0], rest[1.min(last)], rest[2.min(last)], rest[last])
                };
                largest[lane] = simd.greater(simd.abs(columns[lane]), largest[lane]);
            }
            let turned = simd.transpose(columns[0], columns[1], columns[2], columns[3]);
            for lane in 0..4 {
                let weighted = simd.mul(turned[lane], simd.splat(masses[lane]));
                sums.weighted[w] = simd.add(sums.weighted[w], weighted);
                simd.store(turned[lane], &mut rows[lane * W + w]);
            }
        }
    }
    for lane in 0..4 {
        sums.largest = simd.greater(largest[lane], sums.largest);
    }
}

/// Rounds the costs of four sources, and tells the sink that each prefers, in the last bits of what it
/// costs, and what it loses elsewhere.
#[inline(always)]
fn loss<S: Simd, const W: usize>(
    simd: S,
    rows: &mut [Four],
    aim: &[S::Lanes; W],
    grid: Grid,
    pad: S::Lanes,
) -> (S::Lanes, S::Lanes) {
    let far = simd.splat(f64::INFINITY);
    // Least and second of every fourth sink, source by source.
    let (mut l, mut s) = ([far; 4], [far; 4]);
    let rows = &mut rows[..4 * W];
    for lane in 0..4 {
        for w in 0..W {
            let cost = &mut rows[lane * W + w];
            let mut rounded = grid.round_lanes(simd, simd.load(cost));
            if w == W - 1 {
                rounded = simd.greater(rounded, pad);
            }
            simd.store(rounded, cost);
            let reduced = numbered(simd, simd.sub(rounded, aim[w]), w);
            s[lane] = simd.lesser(s[lane], simd.greater(l[lane], reduced));
            l[lane] = simd.lesser(l[lane], reduced);
        }
    }
    let l = simd.transpose(l[0], l[1], l[2], l[3]);
    let (a, b) = (simd.lesser(l[0], l[1]), simd.lesser(l[2], l[3]));
    let (c, d) = (simd.greater(l[0], l[1]), simd.greater(l[2], l[3]));
    let least = simd.lesser(a, b);
    let mut second = simd.lesser(simd.greater(a, b), simd.lesser(c, d));
    if W > 1 {
        let s = simd.transpose(s[0], s[1], s[2], s[3]);
        let s = simd.lesser(simd.lesser(s[0], s[1]), simd.lesser(s[2], s[3]));
        second = simd.lesser(second, s);
    }
    (least, simd.sub(second, least))
}

/// Puts the numbers of the sinks into the last bits of what they cost, where they are found
/// again in the least.
#[inline(always)]
pub(super) fn numbered<S: Simd>(simd: S, costs: S::Lanes, w: usize) -> S::Lanes {
    let costs = simd.keep(simd.splat(NO_SINK), costs);
    simd.add_numbers(costs, simd.load(&SINKS[w]))
}

/// As much as can be beyond the last sink, as little in its place and before.
#[inline(always)]
fn beyond<S: Simd, const W: usize>(simd: S, m: usize) -> S::Lanes {
    let at = |lane| {
        if 4 * (W - 1) + lane < m {
            f64::MIN
        } else {
            BEYOND_COSTS
        }
    };
    simd.of(at(0), at(1), at(2), at(3))
}
