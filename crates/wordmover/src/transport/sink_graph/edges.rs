//! Edges of the graph of sinks: the cheapest source to move from one to another.

use super::{Graph, MOST_DENSE, MOST_KNOWN_FOURS, fours, is_dense};
use crate::transport::lanes::{FAR, Four, Simd, number};

impl<const M: usize> Graph<'_, M> {
    /// Makes the edges from `sink` to all others.
    #[inline(always)]
    pub fn find_edges<S: Simd>(&mut self, simd: S, sink: usize) {
        self.edges_known |= 1 << sink;
        if is_dense::<M>() {
            self.find_edges_in_shares(simd, sink);
        } else {
            self.find_edges_in_list(simd, sink);
        }
    }

    /// Four sources at a time, those that are not at the sink masked out.
    #[inline(always)]
    fn find_edges_in_shares<S: Simd>(&mut self, simd: S, sink: usize) {
        let (zero, nowhere) = (simd.splat(0.0), simd.splat(f64::NEG_INFINITY));
        let four = simd.splat(number(4));
        let mut cost = [simd.load(&FAR); MOST_DENSE];
        let mut source = [zero; MOST_DENSE];
        let mut sources = simd.of(number(0), number(1), number(2), number(3));
        let columns = self.columns.chunks_exact(M);
        for (columns, shares) in columns.zip(self.shares.chunks_exact(M)) {
            // From infinitely below zero, every way is infinitely long.
            let is_here = simd.below(zero, simd.load(&shares[sink]));
            let here = simd.choose(is_here, simd.load(&columns[sink]), nowhere);
            for k in 0..M {
                let moved = simd.sub(simd.load(&columns[k]), here);
                source[k] = simd.choose(simd.below(moved, cost[k]), sources, source[k]);
                cost[k] = simd.lesser(moved, cost[k]);
            }
            sources = simd.add_numbers(sources, four);
        }
        let mut edges = FAR;
        for k in 0..M {
            let least = simd.least(cost[k]);
            let lane = simd.same_bits(cost[k], simd.splat(least)).trailing_zeros();
            let mut lanes = [0.0; 4];
            simd.store(source[k], &mut lanes);
            edges[k] = least;
            self.edge_source[sink][k] = lanes[lane as usize % 4];
        }
        self.edge_cost[sink] = edges;
    }

    /// Four sinks at a time, source by source of the list.
    #[inline(always)]
    fn find_edges_in_list<S: Simd>(&mut self, simd: S, sink: usize) {
        let list = &self.entries[sink * self.n_sources..self.ends[sink] as usize];
        let mut cost = [simd.load(&FAR); MOST_KNOWN_FOURS];
        let mut place = [simd.splat(0.0); MOST_KNOWN_FOURS];
        let (mut at, one) = (simd.splat(number(0)), simd.splat(number(1)));
        for entry in list {
            let row = &self.rows[entry.source as usize * fours::<M>()..][..fours::<M>()];
            let here = simd.splat(row.as_flattened()[sink]);
            for k in 0..fours::<M>() {
                let moved = simd.sub(simd.load(&row[k]), here);
                place[k] = simd.choose(simd.below(moved, cost[k]), at, place[k]);
                cost[k] = simd.lesser(moved, cost[k]);
            }
            at = simd.add_numbers(at, one);
        }
        let (edges, places) = self.edges_of(sink);
        for k in 0..fours::<M>() {
            simd.store(cost[k], &mut edges[k]);
            simd.store(place[k], &mut places[k]);
        }
    }

    /// Lets a source that has come to `sink` compete for its edges; `place` is what they are
    /// to remember it by.
    #[inline(always)]
    pub fn offer_edges<S: Simd>(&mut self, simd: S, sink: usize, source: usize, place: usize) {
        if self.edges_known >> sink & 1 == 0 {
            return;
        }
        let mut row = [FAR; MOST_KNOWN_FOURS];
        if is_dense::<M>() {
            for k in 0..M {
                row[0][k] = self.columns[source / 4 * M + k][source % 4];
            }
        } else {
            row[..fours::<M>()]
                .copy_from_slice(&self.rows[source * fours::<M>()..][..fours::<M>()]);
        }
        let here = simd.splat(row.as_flattened()[sink]);
        let place = simd.splat(number(place));
        let (edges, places) = self.edges_of(sink);
        for k in 0..fours::<M>() {
            let moved = simd.sub(simd.load(&row[k]), here);
            let old = simd.load(&edges[k]);
            let better = simd.below(moved, old);
            simd.store(simd.lesser(moved, old), &mut edges[k]);
            let old_place = simd.load(&places[k]);
            simd.store(simd.choose(better, place, old_place), &mut places[k]);
        }
    }

    #[inline(always)]
    fn edges_of(&mut self, sink: usize) -> (&mut [Four], &mut [Four]) {
        let start = sink * fours::<M>();
        (
            &mut self.edge_cost[start..][..fours::<M>()],
            &mut self.edge_source[start..][..fours::<M>()],
        )
    }
}
