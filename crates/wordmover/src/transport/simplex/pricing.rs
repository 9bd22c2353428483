//! Which arcs could make the plan cheaper.

use super::tree::Tree;
use crate::transport::lanes::{Four, Simd};

/// A search ends when it has found so many candidates. Measured on documents: fewer make
/// worse choices, more grow stale.
const ENOUGH: usize = 16;

/// With few sinks, one pivot spoils most other candidates.
fn enough(n_sinks: usize) -> usize {
    n_sinks.clamp(4, ENOUGH)
}

/// Arcs that were cheaper than that to their source's parent when they were found.
#[derive(Default)]
pub(super) struct Candidates {
    /// One block of sources may bring three more than enough.
    list: [Candidate; ENOUGH + 3],
    len: usize,
    /// Where the next search starts.
    block: usize,
}

#[derive(Clone, Copy, Default)]
struct Candidate {
    /// What a unit of mass would save, when it was found; negative.
    reduced: f64,
    source: u32,
    sink: u32,
}

impl Candidates {
    /// Collects the best arcs of sources, in turn from where the last search ended. False
    /// if there are none at all, which proves the plan optimal.
    #[inline(always)]
    pub fn find<S: Simd>(&mut self, simd: S, tree: &Tree) -> bool {
        let n_blocks = tree.source_parent.len() / 4;
        self.len = 0;
        let start = self.block;
        for (from, to) in [(start, n_blocks), (0, start)] {
            if self.find_in(simd, tree, from, to) {
                break;
            }
        }
        self.len > 0
    }

    /// Collects them from some blocks; true when there are enough.
    #[inline(always)]
    fn find_in<S: Simd>(&mut self, simd: S, tree: &Tree, from: usize, to: usize) -> bool {
        let m = tree.n_sinks();
        let duals = &tree.duals[..m];
        let source_costs = &tree.source_cost.as_chunks::<4>().0[from..to];
        let parents = &tree.source_parent.as_chunks::<4>().0[from..to];
        let columns = tree.columns[from * m..to * m].chunks_exact(m);
        let blocks = (from..to)
            .zip(columns)
            .zip(parents.iter().zip(source_costs));
        for ((block, columns), (parent, source_cost)) in blocks {
            let least = least_reduced::<S>(simd, columns, duals);
            let parent_duals = simd.gather(duals, simd.load(parent));
            let at_parent = simd.sub(simd.load(source_cost), parent_duals);
            let mut better = simd.below_bits(least, at_parent);
            if better != 0 {
                let sinks = sinks_of_least(simd, columns, duals, least, better);
                let mut saved = [0.0; 4];
                simd.store(simd.sub(least, at_parent), &mut saved);
                while better != 0 {
                    let lane = better.trailing_zeros() as usize % 4;
                    better &= better - 1;
                    let candidate = Candidate {
                        reduced: saved[lane],
                        source: (block * 4 + lane) as u32,
                        sink: sinks[lane],
                    };
                    // The best come last.
                    let mut place = self.len.min(ENOUGH + 2);
                    while place > 0 && self.list[place - 1].reduced < candidate.reduced {
                        self.list[place] = self.list[place - 1];
                        place -= 1;
                    }
                    self.list[place] = candidate;
                    self.len += 1;
                }
                if self.len >= enough(m) {
                    self.block = (block + 1) % (tree.source_parent.len() / 4);
                    return true;
                }
            }
        }
        false
    }

    /// Takes out the candidate that was found best among those that still are any: source,
    /// sink and reduced cost.
    #[inline(always)]
    pub fn best(&mut self, tree: &Tree) -> Option<(usize, usize, f64)> {
        while self.len > 0 {
            self.len -= 1;
            let Candidate { source, sink, .. } = self.list[self.len];
            let (source, sink) = (source as usize, sink as usize);
            let at_parent = tree.source_cost[source] - tree.duals[tree.parent_of(source)][0];
            let reduced = tree.cost_of(source, sink) - tree.duals[sink][0] - at_parent;
            if reduced < 0.0 {
                return Some((source, sink, reduced));
            }
        }
        None
    }
}

/// The least `cost - dual` of four sources.
#[inline(always)]
fn least_reduced<S: Simd>(simd: S, columns: &[Four], duals: &[Four]) -> S::Lanes {
    let reduced = |column, dual| simd.sub(simd.load(column), simd.load(dual));
    // Several at a time, not one after the other: a minimum takes its time.
    let mut least = [simd.splat(f64::INFINITY); 4];
    let (fours, rest) = columns.as_chunks::<4>();
    let (dual_fours, dual_rest) = duals.as_chunks::<4>();
    for (column, dual) in fours.iter().zip(dual_fours) {
        for lane in 0..4 {
            least[lane] = simd.lesser(reduced(&column[lane], &dual[lane]), least[lane]);
        }
    }
    for (column, dual) in rest.iter().zip(dual_rest) {
        least[0] = simd.lesser(reduced(column, dual), least[0]);
    }
    let [a, b, c, d] = least;
    simd.lesser(simd.lesser(a, b), simd.lesser(c, d))
}

/// The first sink of the least reduced cost, for each of some lanes. Sums are exact, so equality
/// finds it; four sinks are compared before one is asked for.
#[inline(always)]
fn sinks_of_least<S: Simd>(
    simd: S,
    columns: &[Four],
    duals: &[Four],
    least: S::Lanes,
    lanes: u32,
) -> [u32; 4] {
    let is_least = |column, dual| simd.same(simd.sub(simd.load(column), simd.load(dual)), least);
    let mut sinks = [0; 4];
    let mut open = lanes;
    let (fours, rest) = columns.as_chunks::<4>();
    let (dual_fours, dual_rest) = duals.as_chunks::<4>();
    let mut sink = 0;
    for (column, dual) in fours.iter().zip(dual_fours) {
        let a = is_least(&column[0], &dual[0]);
        let b = is_least(&column[1], &dual[1]);
        let c = is_least(&column[2], &dual[2]);
        let d = is_least(&column[3], &dual[3]);
        let any = simd.either(simd.either(a, b), simd.either(c, d));
        if simd.mask_bits(any) & open != 0 {
            for found in [a, b, c, d] {
                take(simd.mask_bits(found), sink, &mut open, &mut sinks);
                sink += 1;
            }
            if open == 0 {
                return sinks;
            }
        } else {
            sink += 4;
        }
    }
    for (column, dual) in rest.iter().zip(dual_rest) {
        take(
            simd.mask_bits(is_least(column, dual)),
            sink,
            &mut open,
            &mut sinks,
        );
        sink += 1;
    }
    sinks
}

/// Notes a sink for those of the open lanes that have found it.
#[inline(always)]
fn take(found: u32, sink: u32, open: &mut u32, sinks: &mut [u32; 4]) {
    let mut found = found & *open;
    *open &= !found;
    while found != 0 {
        sinks[found.trailing_zeros() as usize % 4] = sink;
        found &= found - 1;
    }
}
