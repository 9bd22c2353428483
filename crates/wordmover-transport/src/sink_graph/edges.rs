//! Edges of the graph of sinks: the cheapest source to move from one to another.

use super::{Graph, MOST_FOURS, Number};
use crate::lanes::{FAR, Simd, number};

impl<N: Number, const M: usize, const W: usize> Graph<'_, N, M, W> {
    /// Makes the edges from `sink` to all others, four at a time, source by source of its list.
    #[inline(always)]
    pub fn find_edges<S: Simd>(&mut self, simd: S, sink: usize) {
        self.edges_known |= 1 << sink;
        let mut cost = [simd.load(&FAR); MOST_FOURS];
        let mut place = [simd.splat(0.0); MOST_FOURS];
        let (mut at, one) = (simd.splat(number(0)), simd.splat(number(1)));
        for piece in &self.pieces[sink * self.n_sources..self.ends[sink] as usize] {
            let row = &self.rows[piece.source as usize];
            let here = simd.splat(row.as_flattened()[sink]);
            for w in 0..W {
                let moved = simd.sub(simd.load(&row[w]), here);
                place[w] = simd.choose(simd.below(moved, cost[w]), at, place[w]);
                cost[w] = simd.lesser(moved, cost[w]);
            }
            at = simd.add_numbers(at, one);
        }
        let (edges, places) = (&mut self.edge_cost[sink], &mut self.edge_place[sink]);
        for w in 0..W {
            simd.store(cost[w], &mut edges[w]);
            simd.store(place[w], &mut places[w]);
        }
    }

    /// Lets a source that has come to `sink`, to a `place` in its list, compete for its edges.
    #[inline(always)]
    pub fn offer_edges<S: Simd>(&mut self, simd: S, sink: usize, source: usize, place: usize) {
        if self.edges_known >> sink & 1 == 0 {
            return;
        }
        let row = &self.rows[source];
        let here = simd.splat(row.as_flattened()[sink]);
        let place = simd.splat(number(place));
        let (edges, places) = (&mut self.edge_cost[sink], &mut self.edge_place[sink]);
        for w in 0..W {
            let moved = simd.sub(simd.load(&row[w]), here);
            let old = simd.load(&edges[w]);
            let better = simd.below(moved, old);
            simd.store(simd.lesser(moved, old), &mut edges[w]);
            let old_place = simd.load(&places[w]);
            simd.store(simd.choose(better, place, old_place), &mut places[w]);
        }
    }
}
