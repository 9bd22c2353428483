//! Which arcs could make the plan cheaper.
//!
//! They are looked for in coarse costs, source by source in turn, until some are found. When
//! there are none, exact costs are looked at; where there are many sinks, only those of arcs whose
//! coarse reduced cost is next to nothing: all others cannot be below zero.

use super::coarse::{by_width, known, least, sink_of, width};
use super::tree::Tree;
use crate::lanes::{Simd, Sixteen};

/// A search ends when it has found so many candidates, one for every eight sinks in between.
/// Measured on documents: fewer make worse choices, more grow stale.
const FEW: usize = 6;
const ENOUGH: usize = 16;

/// Coarse costs are made anew when exact ones have brought enough candidates so often.
const POOR: usize = 4;

/// How much finer coarse costs become each time they do not tell arcs apart, and how often units
/// are chosen anew at most.
const FINER: f64 = 0.125;
const MOST_CHOICES: usize = 16;

/// By how much a coarse reduced cost may be off: four numbers are rounded by a half each, and then
/// doubles.
const ROUNDING: i32 = 3;

/// Sources whose costs are looked through at once, where rows are short.
const BLOCK: usize = 16;

/// Up to so many sinks a proof looks at all exact costs, which takes less time than to choose among
/// them.
const FEW_SINKS: usize = 128;

/// The places of a list of candidates.
const PLACES: Sixteen = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Arcs that were cheaper than that to their source's parent when they were found.
pub(super) struct Candidates {
    /// What a unit of mass would save by each, when it was found: the less, the more; in units of
    /// its own. Zero where there is none.
    ranks: Sixteen,
    sources: [u32; ENOUGH],
    sinks: [u32; ENOUGH],
    /// Found in this search.
    len: usize,
    /// How many are enough.
    enough: usize,
    /// The source that the next search starts with.
    next: usize,
    /// Whether the search is for exact costs.
    is_exact: bool,
    /// How many candidates it has found, and whether they are too many: coarse costs do not tell
    /// these arcs apart.
    n_exact: usize,
    is_coarse_poor: bool,
    /// What coarse costs resolve when units are chosen anew, as a part of what most reduced costs
    /// are.
    finer: f64,
    /// How often they were.
    n_choices: usize,
}

impl Candidates {
    pub fn new(n_sinks: usize) -> Self {
        Candidates {
            ranks: [0; ENOUGH],
            sources: [0; ENOUGH],
            sinks: [0; ENOUGH],
            len: 0,
            enough: (n_sinks / 8).clamp(FEW, ENOUGH),
            next: 0,
            is_exact: false,
            n_exact: 0,
            is_coarse_poor: false,
            finer: 1.0,
            n_choices: 0,
        }
    }

    /// Collects the best arcs of sources, in turn from where the last search ended. False
    /// if there are none at all, which proves the plan optimal.
    #[inline(always)]
    pub fn find<S: Simd>(&mut self, simd: S, tree: &mut Tree) -> bool {
        self.len = 0;
        self.ranks = [0; ENOUGH];
        if self.is_coarse_poor && self.n_choices < MOST_CHOICES {
            self.is_exact = !tree.choose_units(simd, self.finer);
            self.n_choices += 1;
            self.n_exact = 0;
        }
        self.is_coarse_poor = false;
        tree.round_duals(simd);
        let tree = &*tree;
        let (start, n) = (self.next, tree.n_sources());
        if !self.is_exact {
            let mut all = true;
            by_width!(S, tree.coarse_duals.len(), W => {
                // A loop, so that the search is compiled once.
                for (from, to) in [(start, n), (0, start)] {
                    all = all && self.find_coarse::<S, W>(simd, tree, from, to);
                }
            });
            self.is_exact = all && self.len == 0;
        }
        if self.is_exact {
            let is_coarse_true = !tree.has_saturated();
            let has_enough = !(self.find_exact(simd, tree, start, n, is_coarse_true)
                && self.find_exact(simd, tree, 0, start, is_coarse_true));
            self.n_exact += self.len;
            self.is_coarse_poor = has_enough && self.n_exact >= POOR * self.enough;
            // Otherwise dual values have moved too far, and only need another base.
            if self.is_coarse_poor && is_coarse_true && self.n_choices > 0 {
                self.finer *= FINER;
            }
        }
        self.len > 0
    }

    /// Collects them by coarse costs, which take `W` registers a source; see [`by_width`]. False
    /// when there were enough.
    // Two searches with a closure in common would not be inlined, nor compiled for AVX2.
    #[inline(always)]
    fn find_coarse<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        tree: &Tree,
        from: usize,
        to: usize,
    ) -> bool {
        let duals = known::<W>(tree.coarse_duals);
        let w = duals.len();
        let block = if W > 0 { BLOCK } else { 1 };
        let mut first = from;
        while first < to {
            let end = to.min(first + block);
            // What the best arc of each would save. All of a block first, without a branch.
            let mut saved = [0; BLOCK];
            for (source, saved) in (first..end).zip(&mut saved[..block]) {
                let row = &tree.coarse[source * w..][..w];
                let parent = tree.parent_of(source);
                let here = row.as_flattened()[parent].saturating_sub(duals.as_flattened()[parent]);
                *saved = least::<S, W>(simd, row, duals).saturating_sub(here);
            }
            // Rounding makes differences of one.
            let mut found = if W > 0 {
                let is_saving = simd.below_shorts(simd.load_shorts(&saved), simd.splat_shorts(-1));
                simd.short_mask_bits(is_saving) & 0x5555_5555
            } else {
                u32::from(saved[0] < -1)
            };
            while found != 0 {
                let place = found.trailing_zeros() as usize / 2;
                found &= found - 1;
                let source = first + place;
                let row = &tree.coarse[source * w..][..w];
                let least = least::<S, W>(simd, row, duals);
                let sink = sink_of::<S, W>(simd, row, duals, least);
                if !self.push(source, sink, saved[place]) {
                    self.next = (source + 1) % tree.n_sources();
                    return false;
                }
            }
            first = end;
        }
        true
    }

    /// The same by exact costs.
    #[inline(always)]
    fn find_exact<S: Simd>(
        &mut self,
        simd: S,
        tree: &Tree,
        from: usize,
        to: usize,
        is_coarse_true: bool,
    ) -> bool {
        for source in from..to {
            if let Some((sink, reduced)) = exact_best(simd, tree, source, is_coarse_true)
                && !self.push(source, sink, rank(reduced))
            {
                self.next = (source + 1) % tree.n_sources();
                return false;
            }
        }
        true
    }

    /// Adds a candidate. False when there are enough.
    #[inline(always)]
    fn push(&mut self, source: usize, sink: usize, rank: i16) -> bool {
        let place = self.len % ENOUGH;
        self.ranks[place] = rank;
        self.sources[place] = source as u32;
        self.sinks[place] = sink as u32;
        self.len += 1;
        self.len < self.enough
    }

    /// Takes out the candidate that was found best among those that still are any: source,
    /// sink and reduced cost.
    // They are not sorted: that would be branches that nobody foresees.
    #[inline(always)]
    pub fn best<S: Simd>(&mut self, simd: S, tree: &Tree) -> Option<(usize, usize, f64)> {
        loop {
            let ranks = simd.load_shorts(&self.ranks);
            let least = simd.least_short(ranks);
            if least >= 0 {
                return None;
            }
            let places = simd.short_mask_bits(simd.same_shorts(ranks, simd.splat_shorts(least)));
            let place = places.trailing_zeros() as usize / 2 % ENOUGH;
            let is_taken =
                simd.same_shorts(simd.load_shorts(&PLACES), simd.splat_shorts(place as i16));
            let left = simd.choose_shorts(is_taken, simd.splat_shorts(0), ranks);
            simd.store_shorts(left, &mut self.ranks);
            let (source, sink) = (self.sources[place] as usize, self.sinks[place] as usize);
            let reduced = tree.reduced_cost(source, sink);
            if reduced < 0.0 {
                return Some((source, sink, reduced));
            }
        }
    }

    /// Searches exact costs from now on. False if it did before.
    pub fn become_exact(&mut self) -> bool {
        !std::mem::replace(&mut self.is_exact, true)
    }
}

/// Exact reduced costs, which are below zero, in a coarse order: by exponents and four bits more.
#[inline(always)]
fn rank(reduced: f64) -> i16 {
    let saved = (-reduced).to_bits() >> 48;
    -(saved as i16).max(1)
}

/// The best arc of a source and how much it would save, if it would.
#[inline(always)]
fn exact_best<S: Simd>(
    simd: S,
    tree: &Tree,
    source: usize,
    is_coarse_true: bool,
) -> Option<(usize, f64)> {
    let m = tree.n_sinks();
    let w = width(m);
    if m <= FEW_SINKS {
        return exact_best_of_few(simd, tree, source);
    }
    let coarse = &tree.coarse[source * w..][..w];
    let parent = tree.parent_of(source);
    let coarse_here = coarse.as_flattened()[parent];
    let here = tree.source_dual(source);
    let mut best = Best {
        sink: 0,
        least: here,
    };
    if !is_coarse_true || coarse_here == i16::MAX {
        for first in (0..m).step_by(16) {
            best.look_at(simd, tree, source, first);
        }
    } else {
        let duals = &tree.coarse_duals[..w];
        let near = i32::from(coarse_here) - i32::from(duals.as_flattened()[parent]) + ROUNDING + 1;
        let near = simd.splat_shorts(near.min(i32::from(i16::MAX)) as i16);
        let mut first = 0;
        for (costs, duals) in coarse.iter().zip(duals) {
            let reduced = simd.sub_shorts(simd.load_shorts(costs), simd.load_shorts(duals));
            let mut lanes = simd.short_mask_bits(simd.below_shorts(reduced, near)) & 0x5555_5555;
            let but_one = lanes & lanes.wrapping_sub(1);
            if but_one & but_one.wrapping_sub(1) != 0 {
                // More than two.
                best.look_at(simd, tree, source, first);
                lanes = 0;
            }
            while lanes != 0 {
                let sink = first + lanes.trailing_zeros() as usize / 2;
                lanes &= lanes - 1;
                if sink < m {
                    best.offer(tree.cost_of(source, sink) - tree.duals[sink], sink);
                }
            }
            first += 16;
        }
    }
    (best.least < here).then_some((best.sink, best.least - here))
}

/// The same from all costs of the source.
#[inline(always)]
fn exact_best_of_few<S: Simd>(simd: S, tree: &Tree, source: usize) -> Option<(usize, f64)> {
    let m = tree.n_sinks();
    let row = &tree.costs[source * m..][..m];
    let here = tree.source_dual(source);
    let (fours, rest) = row.as_chunks::<4>();
    let (dual_fours, dual_rest) = tree.duals[..m].as_chunks::<4>();
    let mut least = simd.splat(f64::INFINITY);
    for (cost, dual) in fours.iter().zip(dual_fours) {
        let cost = tree.grid.round_lanes(simd, simd.load(cost));
        least = simd.lesser(simd.sub(cost, simd.load(dual)), least);
    }
    let mut least = simd.least(least);
    for (&cost, dual) in rest.iter().zip(dual_rest) {
        let reduced = tree.grid.round(cost) - dual;
        least = if reduced < least { reduced } else { least };
    }
    if least >= here {
        return None;
    }
    // Sums are exact, so equality finds the sink.
    let is_best = |&sink: &usize| tree.cost_of(source, sink) - tree.duals[sink] == least;
    Some(((0..m).find(is_best)?, least - here))
}

/// The best sink of a source so far, and its cost less the dual value.
struct Best {
    sink: usize,
    least: f64,
}

impl Best {
    #[inline(always)]
    fn offer(&mut self, reduced: f64, sink: usize) {
        if reduced < self.least {
            (self.sink, self.least) = (sink, reduced);
        }
    }

    /// Compares up to sixteen sinks.
    #[inline(always)]
    fn look_at<S: Simd>(&mut self, simd: S, tree: &Tree, source: usize, first: usize) {
        let m = tree.n_sinks();
        let row = &tree.costs[source * m..][..m];
        if first + 16 <= m {
            let mut least = simd.splat(f64::INFINITY);
            for w in 0..4 {
                let cost = tree
                    .grid
                    .round_lanes(simd, simd.load_at(row, first + 4 * w));
                let reduced = simd.sub(cost, simd.load_at(tree.duals, first + 4 * w));
                least = simd.lesser(reduced, least);
            }
            if simd.least(least) >= self.least {
                return;
            }
        }
        for sink in first..m.min(first + 16) {
            self.offer(tree.cost_of(source, sink) - tree.duals[sink], sink);
        }
    }
}
