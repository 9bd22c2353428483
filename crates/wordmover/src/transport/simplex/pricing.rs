//! Which arcs could make the plan cheaper.
//!
//! They are looked for in coarse costs, source by source in turn, until some are found. When
//! there are none, exact costs are looked at, but only those of arcs whose coarse reduced cost
//! is next to nothing: all others cannot be below zero.

use super::coarse::{least, sink_of, width};
use super::tree::Tree;
use crate::transport::lanes::Simd;

/// A search ends when it has found so many candidates, one for every eight sinks in between.
/// Measured on documents: fewer make worse choices, more grow stale.
const FEW: usize = 6;
const ENOUGH: usize = 16;

/// By how much a coarse reduced cost may be off: four numbers are rounded by a half each, and then
/// doubles.
const ROUNDING: i32 = 3;

/// Arcs that were cheaper than that to their source's parent when they were found.
pub(super) struct Candidates {
    list: [Candidate; ENOUGH],
    len: usize,
    /// How many are enough.
    enough: usize,
    /// The source that the next search starts with.
    next: usize,
    /// Whether the search is for exact costs.
    is_exact: bool,
}

#[derive(Clone, Copy, Default)]
struct Candidate {
    /// What a unit of mass would save, when it was found; negative, and in units of its own.
    reduced: f64,
    source: u32,
    sink: u32,
}

impl Candidates {
    pub fn new(n_sinks: usize) -> Self {
        Candidates {
            list: [Candidate::default(); ENOUGH],
            len: 0,
            enough: (n_sinks / 8).clamp(FEW, ENOUGH),
            next: 0,
            is_exact: false,
        }
    }

    /// Collects the best arcs of sources, in turn from where the last search ended. False
    /// if there are none at all, which proves the plan optimal.
    #[inline(always)]
    pub fn find<S: Simd>(&mut self, simd: S, tree: &mut Tree) -> bool {
        self.len = 0;
        tree.round_duals(simd);
        let tree = &*tree;
        let (start, n) = (self.next, tree.n_sources());
        if !self.is_exact {
            let all = self.find_coarse(simd, tree, start, n);
            self.is_exact = all && self.find_coarse(simd, tree, 0, start) && self.len == 0;
        }
        if self.is_exact {
            let is_coarse_true = !tree.has_saturated();
            if self.find_exact(simd, tree, start, n, is_coarse_true) {
                self.find_exact(simd, tree, 0, start, is_coarse_true);
            }
        }
        self.len > 0
    }

    /// Collects them from some sources by coarse costs. False when there were enough.
    // Two searches with a closure in common would not be inlined, nor compiled for AVX2.
    #[inline(always)]
    fn find_coarse<S: Simd>(&mut self, simd: S, tree: &Tree, from: usize, to: usize) -> bool {
        for source in from..to {
            if let Some((sink, reduced)) = coarse_best(simd, tree, source)
                && !self.push(source, sink, reduced)
            {
                self.next = (source + 1) % tree.n_sources();
                return false;
            }
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
                && !self.push(source, sink, reduced)
            {
                self.next = (source + 1) % tree.n_sources();
                return false;
            }
        }
        true
    }

    /// Adds a candidate, the best last. False when there are enough.
    #[inline(always)]
    fn push(&mut self, source: usize, sink: usize, reduced: f64) -> bool {
        let mut place = self.len % ENOUGH;
        while place > 0 && self.list[place - 1].reduced < reduced {
            self.list[place] = self.list[place - 1];
            place -= 1;
        }
        self.list[place] = Candidate {
            reduced,
            source: source as u32,
            sink: sink as u32,
        };
        self.len += 1;
        self.len < self.enough
    }

    /// Takes out the candidate that was found best among those that still are any: source,
    /// sink and reduced cost.
    #[inline(always)]
    pub fn best(&mut self, tree: &Tree) -> Option<(usize, usize, f64)> {
        while self.len > 0 {
            self.len -= 1;
            let Candidate { source, sink, .. } = self.list[self.len];
            let (source, sink) = (source as usize, sink as usize);
            let reduced = tree.reduced_cost(source, sink);
            if reduced < 0.0 {
                return Some((source, sink, reduced));
            }
        }
        None
    }

    /// Searches exact costs from now on. False if it did before.
    pub fn become_exact(&mut self) -> bool {
        !std::mem::replace(&mut self.is_exact, true)
    }
}

/// The best arc of a source and how much it would save, if it is worth a try.
#[inline(always)]
fn coarse_best<S: Simd>(simd: S, tree: &Tree, source: usize) -> Option<(usize, f64)> {
    let w = width(tree.n_sinks());
    let row = &tree.coarse[source * w..][..w];
    let duals = &tree.coarse_duals[..w];
    let least = least(simd, row, duals);
    let parent = tree.parent_of(source);
    let here = row.as_flattened()[parent].saturating_sub(duals.as_flattened()[parent]);
    let reduced = i32::from(least) - i32::from(here);
    // Rounding makes differences of one.
    if reduced < -1 {
        let sink = sink_of(simd, row, duals, least);
        return Some((sink, f64::from(reduced)));
    }
    None
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
    let (mut best, mut least) = (0, 0.0);
    if !is_coarse_true {
        for sink in 0..m {
            let reduced = tree.reduced_cost(source, sink);
            if reduced < least {
                (best, least) = (sink, reduced);
            }
        }
        return (least < 0.0).then_some((best, least));
    }
    let row = &tree.coarse[source * w..][..w];
    let duals = &tree.coarse_duals[..w];
    let parent = tree.parent_of(source);
    let here = i32::from(row.as_flattened()[parent]) - i32::from(duals.as_flattened()[parent]);
    let enough = simd.splat_shorts((here + ROUNDING + 1).min(i32::from(i16::MAX)) as i16);
    for (place, (costs, duals)) in row.iter().zip(duals).enumerate() {
        let reduced = simd.sub_shorts(simd.load_shorts(costs), simd.load_shorts(duals));
        let mut near = simd.short_mask_bits(simd.below_shorts(reduced, enough)) & 0x5555_5555;
        while near != 0 {
            let sink = place * 16 + near.trailing_zeros() as usize / 2;
            near &= near - 1;
            if sink < m {
                let reduced = tree.reduced_cost(source, sink);
                if reduced < least {
                    (best, least) = (sink, reduced);
                }
            }
        }
    }
    (least < 0.0).then_some((best, least))
}
