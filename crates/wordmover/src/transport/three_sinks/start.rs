//! Costs compared, dual values to aim by, and who is put aside.

use super::{Aside, Block};
use crate::transport::grid::Grid;
use crate::transport::lanes::Simd;

/// How much of the estimated correction of the aim is applied. Measured on unit vectors.
const CORRECTION: f64 = 0.65;
use crate::transport::given::Given;

/// Sums over the sources.
pub(super) struct Sums<L> {
    pub third_cost: L,
    /// `p` and `q`.
    pub beyond: [L; 2],
    pub largest: L,
    pub mass: L,
}

/// Costs beyond those at the third sink, and masses on their grid.
#[inline(always)]
pub(super) fn compare<S: Simd>(
    simd: S,
    given: Given,
    mass_grid: Grid,
    blocks: &mut [Block],
) -> Sums<S::Lanes> {
    let Given { costs, supply, .. } = given;
    let n = supply.len();
    let zero = simd.splat(0.0);
    let mut sums = Sums {
        third_cost: zero,
        beyond: [zero; 2],
        largest: zero,
        mass: zero,
    };
    let (fours, rest) = supply.as_chunks::<4>();
    let (full, last) = blocks.split_at_mut(fours.len());
    if given.is_turned {
        let (first, others) = costs.split_at(n);
        let (second, third) = others.split_at(n);
        let (first, second) = (first.as_chunks::<4>().0, second.as_chunks::<4>().0);
        let costs = first.iter().zip(second).zip(third.as_chunks::<4>().0);
        for ((block, mass), ((a, b), c)) in full.iter_mut().zip(fours).zip(costs) {
            let costs = [simd.load(a), simd.load(b), simd.load(c)];
            compare_four(simd, costs, simd.load(mass), mass_grid, block, &mut sums);
        }
    } else {
        let costs = costs.as_chunks::<12>().0;
        for ((block, mass), costs) in full.iter_mut().zip(fours).zip(costs) {
            let triples = costs.as_chunks::<4>().0;
            let costs = simd.unzip_three(
                simd.load(&triples[0]),
                simd.load(&triples[1]),
                simd.load(&triples[2]),
            );
            compare_four(simd, costs, simd.load(mass), mass_grid, block, &mut sums);
        }
    }
    if let [block] = last {
        // Sources that are not there are the last, without mass.
        let start = n - rest.len();
        let mut columns = [[0.0; 4]; 3];
        let mut mass = [0.0; 4];
        for lane in 0..4 {
            let source = (start + lane).min(n - 1);
            for k in 0..3 {
                columns[k][lane] = given.cost(source, k);
            }
            if lane < rest.len() {
                mass[lane] = rest[lane];
            }
        }
        let costs = [
            simd.load(&columns[0]),
            simd.load(&columns[1]),
            simd.load(&columns[2]),
        ];
        let mass = simd.load(&mass);
        compare_four(simd, costs, mass, mass_grid, block, &mut sums);
    }
    sums
}

#[inline(always)]
fn compare_four<S: Simd>(
    simd: S,
    [first, second, third]: [S::Lanes; 3],
    mass: S::Lanes,
    mass_grid: Grid,
    block: &mut Block,
    sums: &mut Sums<S::Lanes>,
) {
    let mass = mass_grid.round_masses(simd, mass);
    simd.store(mass, &mut block.mass);
    sums.mass = simd.add(sums.mass, mass);
    sums.third_cost = simd.add(sums.third_cost, simd.mul(third, mass));
    let costs = [first, second];
    for k in 0..2 {
        let beyond = simd.sub(costs[k], third);
        simd.store(beyond, &mut block.costs[k]);
        sums.beyond[k] = simd.add(sums.beyond[k], simd.mul(beyond, mass));
        sums.largest = simd.greater(simd.abs(beyond), sums.largest);
    }
}

#[inline(always)]
pub(super) fn round<S: Simd>(simd: S, grid: Grid, block: &mut Block) -> [S::Lanes; 2] {
    let first = grid.round_lanes(simd, simd.load(&block.costs[0]));
    let second = grid.round_lanes(simd, simd.load(&block.costs[1]));
    simd.store(first, &mut block.costs[0]);
    simd.store(second, &mut block.costs[1]);
    [first, second]
}

/// The least of three and the one after it.
#[inline(always)]
pub(super) fn least_and_second<S: Simd>(simd: S, [a, b, c]: [S::Lanes; 3]) -> (S::Lanes, S::Lanes) {
    let (lesser, greater) = (simd.lesser(a, b), simd.greater(a, b));
    let second = simd.greater(lesser, simd.lesser(greater, c));
    (simd.lesser(lesser, c), second)
}

/// Puts costs on their grid and corrects the aim, as [`super::super::sink_graph`] does for any number
/// of sinks. Gives the mean difference between best and second-best sink.
#[inline(always)]
pub(super) fn correct<S: Simd>(
    simd: S,
    grid: Grid,
    blocks: &mut [Block],
    demand: &[f64; 3],
    total: f64,
    aim: &mut [f64; 2],
) -> f64 {
    let zero = simd.splat(0.0);
    let aims = [simd.splat(aim[0]), simd.splat(aim[1])];
    let (mut gaps, mut loads) = (zero, [zero; 2]);
    for block in blocks {
        let costs = round(simd, grid, block);
        let mass = simd.load(&block.mass);
        let reduced = [simd.sub(costs[0], aims[0]), simd.sub(costs[1], aims[1])];
        let (least, second) = least_and_second(simd, [reduced[0], reduced[1], zero]);
        gaps = simd.add(gaps, simd.mul(simd.sub(second, least), mass));
        for k in 0..2 {
            let here = simd.keep(simd.same(reduced[k], least), mass);
            loads[k] = simd.add(loads[k], here);
        }
    }
    let gap = simd.total(gaps) / total;
    let (first, second) = (simd.total(loads[0]), simd.total(loads[1]));
    let loads = [first, second, total - first - second];
    let excess = |k: usize| ((loads[k] - demand[k]) / demand[k]).clamp(-1.0, 1.0);
    for k in 0..2 {
        aim[k] -= CORRECTION * gap * (excess(k) - excess(2));
    }
    gap
}

/// What was put aside.
pub(super) struct PutAside {
    pub loads: [f64; 3],
    /// Beyond what all of it costs at the third sink.
    pub cost: f64,
    pub n_left: usize,
}

/// Collects in `left` the sources that are not clearly for one sink.
#[inline(always)]
pub(super) fn put_aside<S: Simd>(
    simd: S,
    blocks: &[Block],
    left: &mut [Block],
    Aside { duals, margin }: Aside,
) -> PutAside {
    let zero = simd.splat(0.0);
    let margin = simd.splat(margin);
    let dual = [simd.splat(duals[0]), simd.splat(duals[1])];
    let (mut all, mut loads, mut cost) = (zero, [zero; 2], zero);
    let mut n_left = 0;
    for block in blocks {
        let reduced = [
            simd.sub(simd.load(&block.costs[0]), dual[0]),
            simd.sub(simd.load(&block.costs[1]), dual[1]),
        ];
        let (least, second) = least_and_second(simd, [reduced[0], reduced[1], zero]);
        let gap = simd.sub(second, least);
        let mass = simd.drop(simd.below(gap, margin), simd.load(&block.mass));
        all = simd.add(all, mass);
        cost = simd.add(cost, simd.mul(mass, least));
        for k in 0..2 {
            loads[k] = simd.add(loads[k], simd.keep(simd.same(reduced[k], least), mass));
        }
        let mut lanes = simd.below_bits(gap, margin);
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize % 4;
            lanes &= lanes - 1;
            let (to, at) = (&mut left[n_left / 4], n_left % 4);
            to.costs[0][at] = block.costs[0][lane];
            to.costs[1][at] = block.costs[1][lane];
            to.mass[at] = block.mass[lane];
            n_left += 1;
        }
    }
    if n_left % 4 != 0 {
        left[n_left / 4].mass[n_left % 4..].fill(0.0);
    }
    let (first, second) = (simd.total(loads[0]), simd.total(loads[1]));
    PutAside {
        loads: [first, second, simd.total(all) - first - second],
        cost: simd.total(cost) + first * duals[0] + second * duals[1],
        n_left,
    }
}
