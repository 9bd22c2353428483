//! The exact solver: a network simplex in which almost everything is a leaf.
//!
//! A basic plan is a spanning tree of sources and sinks. It is rooted at a sink, so
//! every source has a sink above it, its *home*, and every sink but the root a
//! source, the one that also fills it; with few sinks most sources are leaves that go
//! home whole. Only the sinks have dual values `v`; the value of a source follows from
//! its home: `u[i] = C[i][home] - v[home]`.
//!
//! ```text
//! aim   <- weighted mean of column k, improved once or twice        see `start`
//! place every source on the sink of least C[i][k] - aim[k] that has room,
//!     those with the most to lose first; a source that fills a sink goes on
//! v[k]  <- from the tree, starting with 0 at the root
//! loop:
//!     look at the sources in turn, four at a time, for entries with
//!     C[i][k] - v[k] < u[i]; collect a few of them                 see `pricing`
//!     if there are none: the plan is optimal and v proves it
//!     let them into the tree one after the other, best first, as long as they pay:
//!         each closes a cycle, which is emptied as far as it goes, and the entry
//!         that ran dry leaves the tree                             see `pivot`
//! ```
//!
//! What makes it end for every input is that there are no rounding errors. Costs and
//! masses are rounded once, to a grid so coarse that every sum the algorithm forms
//! is exact in double precision, and so fine that it does not matter: 2^-52 of the
//! total mass, and for the costs what leaves room for `4 m` times the largest, since a
//! dual value is a sum over a path past at most `m` sinks: 2^-48 of it for eight
//! sinks, 2^-42 for five hundred. So ties are seen as ties and
//! mass is conserved to the last bit. And the tree stays *strongly feasible*
//! (Cunningham, 1976): an entry without mass always has its source below its sink. Of
//! several entries that run dry together the one that keeps it so leaves, and then no
//! tree can come back, ties or not.
//!

mod pivot;
mod place;
mod pricing;
mod sets;
mod start;
mod tree;

use super::TransportProblem;
use super::given::Given;
use super::lanes::Simd;
use super::workspace::Workspace;
use pricing::Candidates;

pub(super) use sets::words;

/// No node: above the root, or at the end of a list.
pub(super) const NONE: u32 = u32::MAX;

/// No known problem needs more than a few pivots per source and sink.
const PIVOTS_PER_POINT: usize = 10_000;

impl Workspace {
    /// The optimal cost.
    #[inline(always)]
    pub(super) fn solve_by_simplex<S: Simd>(
        &mut self,
        simd: S,
        given: Given,
    ) -> Result<f64, TransportProblem> {
        let corrections = match given.supply.len() {
            0..16 => 0,
            _ => 2,
        };
        self.start(simd, given, corrections);
        let mut tree = self.place::<S>(simd);
        let (sources, sinks) = (given.supply.len(), given.demand.len());
        let limit = PIVOTS_PER_POINT * (sources + sinks);
        let mut pivots = 0;
        let mut candidates = Candidates::default();
        while candidates.find(simd, &tree) {
            while let Some((source, sink, reduced)) = candidates.best(&tree) {
                tree.pivot(source, sink, reduced);
                pivots += 1;
            }
            if pivots > limit {
                return Err(TransportProblem::NotSolved {
                    steps: pivots,
                    sources,
                    sinks,
                });
            }
        }
        Ok(tree.cost(given))
    }
}
