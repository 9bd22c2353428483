//! Which entries could make the plan cheaper.

use super::tree::Tree;
use crate::transport::lanes::{Four, Simd};

/// A search ends when it has found so many candidates. Measured on documents: fewer make
/// worse choices, more grow stale.
const ENOUGH: usize = 16;

/// With few sinks, one pivot spoils most other candidates.
fn enough(n_sinks: usize) -> usize {
    n_sinks.clamp(4, ENOUGH)
}

/// Entries that were cheaper than their source's home when they were found.
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
    /// Collects the best entries of sources, in turn from where the last search ended. False
    /// if there are none at all, which proves the plan optimal.
    #[inline(always)]
    pub fn find<S: Simd>(&mut self, simd: S, tree: &Tree) -> bool {
        let n_blocks = tree.home.len() / 4;
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
        let home_costs = &tree.home_cost.as_chunks::<4>().0[from..to];
        let homes = &tree.home.as_chunks::<4>().0[from..to];
        let columns = tree.columns[from * m..to * m].chunks_exact(m);
        let blocks = (from..to).zip(columns).zip(homes.iter().zip(home_costs));
        for ((block, columns), (home, home_cost)) in blocks {
            let least = least_reduced::<S>(simd, columns, duals);
            let home_duals = simd.gather(duals, simd.load(home));
            let at_home = simd.sub(simd.load(home_cost), home_duals);
            let mut better = simd.below_bits(least, at_home);
            if better != 0 {
                let (mut wanted, mut saved) = ([0.0; 4], [0.0; 4]);
                simd.store(least, &mut wanted);
                simd.store(simd.sub(least, at_home), &mut saved);
                while better != 0 {
                    let lane = better.trailing_zeros() as usize % 4;
                    better &= better - 1;
                    let mut sink = 0;
                    while sink < m - 1 && columns[sink][lane] - duals[sink][0] != wanted[lane] {
                        sink += 1;
                    }
                    let candidate = Candidate {
                        reduced: saved[lane],
                        source: (block * 4 + lane) as u32,
                        sink: sink as u32,
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
                    self.block = (block + 1) % (tree.home.len() / 4);
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
            let at_home = tree.home_cost[source] - tree.duals[tree.home_of(source)][0];
            let reduced = tree.cost_of(source, sink) - tree.duals[sink][0] - at_home;
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
