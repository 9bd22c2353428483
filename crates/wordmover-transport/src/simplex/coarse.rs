//! Costs in 16 bits, by which arcs are looked for.
//!
//! What a sink costs a source, with the mean cost of every sink taken off, is kept in units of 2^-14
//! of the spread of all costs. Sixteen of these numbers fit a
//! register, so a row is looked through with a fifth of the instructions that doubles take, and
//! the matrix with a quarter of the memory. They decide where to look and nothing else: an
//! arc enters the tree by its exact reduced cost, and in the end exact costs prove that none is
//! left.
//!
//! A coarse reduced cost is off by two roundings, one of the cost and one of the dual value, unless
//! a dual value is too large for 16 bits. That leaves a proof little to look at, see
//! [`super::pricing`]. Where costs spread so that the interesting ones all look alike, units are
//! chosen anew in the course of the work, for what a sink costs beyond the best one; what is too dear for them counts as the greatest number
//! then.

use crate::grid::Grid;
use crate::lanes::{Simd, Sixteen};

/// Units of coarse costs in the spread of the exact ones. A cost differs from the base by the spread
/// at most, and from the best by twice as much, so all fit.
const UNITS: f64 = 16_383.0;

/// A unit of anything below has no finite inverse, nearly.
const LEAST_SPREAD: f64 = 1e-300;

/// Registers that the costs of one source take.
#[inline(always)]
pub(super) fn width(n_sinks: usize) -> usize {
    n_sinks.div_ceil(16)
}

/// Coarse units in one of the exact costs; none where those differ too little for doubles, so that
/// all coarse costs are the same.
pub(super) fn units(spread: f64) -> f64 {
    if spread > LEAST_SPREAD {
        UNITS / spread
    } else {
        0.0
    }
}

/// The coarse costs of one source, from its exact ones, which are put on their grid before if
/// `ON_GRID`; beyond its best one, if `BEYOND_BEST`. The base has a multiple of sixteen values.
#[inline(always)]
pub(super) fn round_row<S: Simd, const ON_GRID: bool, const BEYOND_BEST: bool>(
    simd: S,
    row: &[f64],
    grid: Grid,
    base: &[f64],
    units: f64,
    coarse: &mut [Sixteen],
) {
    let least = match BEYOND_BEST {
        true => least_beyond::<S, ON_GRID>(simd, row, grid, base),
        false => 0.0,
    };
    let (sixteens, rest) = row.as_chunks::<16>();
    let bases = base.as_chunks::<16>().0;
    for ((cost, base), coarse) in sixteens.iter().zip(bases).zip(&mut *coarse) {
        round_sixteen::<S, ON_GRID>(simd, cost, grid, base, least, units, coarse);
    }
    if !rest.is_empty() {
        // Nothing costs as much as the sinks that are not there.
        let mut cost = [f64::INFINITY; 16];
        for (cost, &rest) in cost.iter_mut().zip(rest) {
            *cost = rest;
        }
        let last = sixteens.len();
        let (base, coarse) = (&bases[last], &mut coarse[last]);
        round_sixteen::<S, ON_GRID>(simd, &cost, grid, base, least, units, coarse);
    }
}

/// The least cost of a row with the base taken off.
#[inline(always)]
fn least_beyond<S: Simd, const ON_GRID: bool>(
    simd: S,
    row: &[f64],
    grid: Grid,
    base: &[f64],
) -> f64 {
    let (fours, rest) = row.as_chunks::<4>();
    let bases = base.as_chunks::<4>().0;
    let mut least = simd.splat(f64::INFINITY);
    for (cost, base) in fours.iter().zip(bases) {
        let cost = on_grid::<S, ON_GRID>(simd, grid, simd.load(cost));
        least = simd.lesser(simd.sub(cost, simd.load(base)), least);
    }
    let mut least = simd.least(least);
    for (&cost, base) in rest.iter().zip(&base[4 * fours.len()..]) {
        let beyond = if ON_GRID { grid.round(cost) } else { cost } - base;
        least = if beyond < least { beyond } else { least };
    }
    least
}

/// Costs, or the nearest on the grid.
#[inline(always)]
fn on_grid<S: Simd, const ON_GRID: bool>(simd: S, grid: Grid, costs: S::Lanes) -> S::Lanes {
    if ON_GRID {
        grid.round_lanes(simd, costs)
    } else {
        costs
    }
}

#[inline(always)]
fn round_sixteen<S: Simd, const ON_GRID: bool>(
    simd: S,
    cost: &[f64; 16],
    grid: Grid,
    base: &[f64; 16],
    least: f64,
    units: f64,
    coarse: &mut Sixteen,
) {
    let (least, units) = (simd.splat(least), simd.splat(units));
    let most = simd.splat(f64::from(i16::MAX));
    let mut rounded = [most; 4];
    for w in 0..4 {
        let cost = on_grid::<S, ON_GRID>(simd, grid, simd.load_at(cost, 4 * w));
        let beyond = simd.sub(cost, simd.load_at(base, 4 * w));
        let beyond = simd.mul(simd.sub(beyond, least), units);
        rounded[w] = simd.lesser(beyond, most);
    }
    simd.store_shorts(simd.to_shorts(rounded), coarse);
}

/// Sixteen coarse dual values, from exact ones.
#[inline(always)]
pub(super) fn round_duals<S: Simd>(
    simd: S,
    duals: &[f64; 16],
    base: &[f64; 16],
    units: f64,
    coarse: &mut Sixteen,
) {
    let units = simd.splat(units);
    let (least, most) = (
        simd.splat(f64::from(i16::MIN)),
        simd.splat(f64::from(i16::MAX)),
    );
    let mut rounded = [most; 4];
    for w in 0..4 {
        let beyond = simd.sub(simd.load_at(duals, 4 * w), simd.load_at(base, 4 * w));
        let beyond = simd.greater(simd.mul(beyond, units), least);
        rounded[w] = simd.lesser(beyond, most);
    }
    simd.store_shorts(simd.to_shorts(rounded), coarse);
}

/// Few registers, but who knows how many.
pub(super) const FEW: usize = usize::MAX;

/// An expression with the number of registers of a row as a constant, so that short loops are
/// unrolled; 0 if there are many. For an instruction set that few processors need, [`FEW`] of any
/// number from two to eight.
macro_rules! by_width {
    ($set:ident, $width:expr, $constant:ident => $body:expr) => {
        if !$set::IS_MAIN {
            match $width {
                2..=8 => by_width!(@ $constant = $crate::simplex::coarse::FEW, $body),
                _ => by_width!(@ $constant = 0, $body),
            }
        } else {
            by_width!(@@ $width, $constant => $body)
        }
    };
    (@@ $width:expr, $constant:ident => $body:expr) => {
        match $width {
            2 => by_width!(@ $constant = 2, $body),
            3 => by_width!(@ $constant = 3, $body),
            4 => by_width!(@ $constant = 4, $body),
            5 => by_width!(@ $constant = 5, $body),
            6 => by_width!(@ $constant = 6, $body),
            7 => by_width!(@ $constant = 7, $body),
            8 => by_width!(@ $constant = 8, $body),
            _ => by_width!(@ $constant = 0, $body),
        }
    };
    (@ $constant:ident = $width:expr, $body:expr) => {{
        const $constant: usize = $width;
        $body
    }};
}

pub(super) use by_width;

/// The registers of a row: as many as there are, which the compiler knows to be `W` unless that
/// is 0 or [`FEW`].
#[inline(always)]
pub(super) fn known<const W: usize>(row: &[Sixteen]) -> &[Sixteen] {
    match W {
        0 | FEW => row,
        _ => &row[..W],
    }
}

/// The least reduced cost of a row.
#[inline(always)]
pub(super) fn least<S: Simd, const W: usize>(simd: S, row: &[Sixteen], duals: &[Sixteen]) -> i16 {
    let mut least = simd.splat_shorts(i16::MAX);
    for (costs, duals) in known::<W>(row).iter().zip(known::<W>(duals)) {
        let reduced = simd.sub_shorts(simd.load_shorts(costs), simd.load_shorts(duals));
        least = simd.lesser_shorts(reduced, least);
    }
    simd.least_short(least)
}

/// The first sink of a row with this reduced cost.
#[inline(always)]
pub(super) fn sink_of<S: Simd, const W: usize>(
    simd: S,
    row: &[Sixteen],
    duals: &[Sixteen],
    reduced: i16,
) -> usize {
    let wanted = simd.splat_shorts(reduced);
    if W == 0 {
        for (w, (costs, duals)) in row.iter().zip(duals).enumerate() {
            let here = simd.sub_shorts(simd.load_shorts(costs), simd.load_shorts(duals));
            let same = simd.short_mask_bits(simd.same_shorts(here, wanted));
            if same != 0 {
                return 16 * w + same.trailing_zeros() as usize / 2;
            }
        }
        return 0;
    }
    // All of few registers, without a branch.
    let mut sink = 0;
    for w in (0..known::<W>(row).len()).rev() {
        let (costs, duals) = (&known::<W>(row)[w], &known::<W>(duals)[w]);
        let here = simd.sub_shorts(simd.load_shorts(costs), simd.load_shorts(duals));
        let same = simd.short_mask_bits(simd.same_shorts(here, wanted));
        let first = 16 * w + same.trailing_zeros() as usize / 2;
        sink = if same != 0 { first } else { sink };
    }
    sink
}

/// What a source would pay, see [`two_best`].
#[derive(Clone, Copy, Default)]
pub(super) struct TwoBest {
    pub sink: usize,
    pub least: i16,
    pub second: i16,
}

/// A sink of the least reduced cost of a row, that cost and the next. Without branches, which
/// no processor would foresee. The sink may be one that is not there if none costs less.
#[inline(always)]
pub(super) fn two_best<S: Simd, const W: usize>(
    simd: S,
    row: &[Sixteen],
    duals: &[Sixteen],
) -> TwoBest {
    let far = simd.splat_shorts(i16::MAX);
    let (mut least, mut second) = (far, far);
    let mut place = simd.splat_shorts(0);
    let (mut here, minus_one) = (place, simd.splat_shorts(-1));
    for (costs, duals) in known::<W>(row).iter().zip(known::<W>(duals)) {
        let reduced = simd.sub_shorts(simd.load_shorts(costs), simd.load_shorts(duals));
        place = simd.choose_shorts(simd.below_shorts(reduced, least), here, place);
        second = simd.lesser_shorts(second, simd.greater_shorts(reduced, least));
        least = simd.lesser_shorts(reduced, least);
        here = simd.sub_shorts(here, minus_one);
    }
    let best = simd.least_short(least);
    let is_best = simd.same_shorts(least, simd.splat_shorts(best));
    let lanes = simd.short_mask_bits(is_best);
    let lane = lanes.trailing_zeros() as usize / 2 % 16;
    let mut places = [0; 16];
    simd.store_shorts(place, &mut places);
    let other = simd.least_short(simd.choose_shorts(is_best, second, least));
    TwoBest {
        sink: places[lane] as usize * 16 + lane,
        least: best,
        second: if lanes >> (2 * lane) == 3 {
            other
        } else {
            best
        },
    }
}
