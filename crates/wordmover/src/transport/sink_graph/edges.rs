//! Edges of the graph of sinks: the cheapest source to move from one to another.

use super::{MOST_KNOWN_FOURS, Workspace, is_dense, sinks};
use crate::transport::lanes::{FAR, Four, Simd, number};

impl Workspace {
    /// Makes the edges from `sink` to all others.
    #[inline(always)]
    pub(super) fn find_edges<S: Simd, const M: usize>(&mut self, simd: S, sink: usize) {
        self.edges_known[sink] = true;
        if is_dense::<M>() {
            self.find_edges_in_shares::<S, M>(simd, sink);
        } else {
            self.find_edges_in_list::<S, M>(simd, sink);
        }
    }

    /// Four sources at a time, those that are not at the sink masked out.
    #[inline(always)]
    fn find_edges_in_shares<S: Simd, const M: usize>(&mut self, simd: S, sink: usize) {
        let n_blocks = self.n_sources.div_ceil(4);
        let (zero, nowhere) = (simd.splat(0.0), simd.splat(f64::NEG_INFINITY));
        let four = simd.splat(number(4));
        let mut cost = [simd.load(&FAR); super::MOST_DENSE];
        let mut source = [zero; super::MOST_DENSE];
        let mut sources = simd.of(number(0), number(1), number(2), number(3));
        let columns = self.columns[..n_blocks * M].chunks_exact(M);
        let shares = self.shares[..n_blocks * M].chunks_exact(M);
        for (columns, shares) in columns.zip(shares) {
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
        let (edges, edge_sources) = (&mut self.edge_cost[sink], &mut self.edge_source[sink]);
        *edges = FAR;
        for k in 0..M {
            let least = simd.least(cost[k]);
            let lane = simd.same_bits(cost[k], simd.splat(least)).trailing_zeros();
            let mut lanes = [0.0; 4];
            simd.store(source[k], &mut lanes);
            edges[k] = least;
            edge_sources[k] = lanes[lane as usize % 4];
        }
    }

    /// Four sinks at a time, source by source of the list.
    #[inline(always)]
    fn find_edges_in_list<S: Simd, const M: usize>(&mut self, simd: S, sink: usize) {
        let (n, m) = (self.n_sources, sinks::<M>(self.n_sinks));
        let n_fours = m.div_ceil(4);
        let list = &self.entries[sink * n..self.list_end[sink] as usize];
        let edges = &mut self.edge_cost[sink * n_fours..][..n_fours];
        let places = &mut self.edge_source[sink * n_fours..][..n_fours];
        if M == 0 {
            edges.fill(FAR);
            for (place, entry) in list.iter().enumerate() {
                let row = &self.rows[entry.row as usize..][..4 * n_fours];
                offer::<S, M>(simd, edges, places, row, sink, place, m);
            }
            return;
        }
        // As `offer`, but the edges stay in registers.
        let mut cost = [simd.load(&FAR); MOST_KNOWN_FOURS];
        let mut place = [simd.splat(0.0); MOST_KNOWN_FOURS];
        let (mut at, one) = (simd.splat(number(0)), simd.splat(number(1)));
        let padding = simd.load(padding(m));
        for entry in list {
            let start = entry.row as usize;
            let row = &self.rows[start..start + 4 * n_fours];
            let here = simd.splat(row[sink]);
            for (k, row) in row.as_chunks::<4>().0.iter().enumerate() {
                let mut moved = simd.sub(simd.load(row), here);
                if !M.is_multiple_of(4) && k == n_fours - 1 {
                    moved = simd.greater(moved, padding);
                }
                place[k] = simd.choose(simd.below(moved, cost[k]), at, place[k]);
                cost[k] = simd.lesser(moved, cost[k]);
            }
            at = simd.add_numbers(at, one);
        }
        for k in 0..n_fours {
            simd.store(cost[k], &mut edges[k]);
            simd.store(place[k], &mut places[k]);
        }
    }

    /// Lets a source that has come to `sink`, with its costs from `row` on, compete for
    /// its edges; `place` is what they are to remember it by.
    #[inline(always)]
    pub(super) fn offer_edges<S: Simd, const M: usize>(
        &mut self,
        simd: S,
        sink: usize,
        row: usize,
        place: usize,
    ) {
        if self.edges_known[sink] {
            let m = sinks::<M>(self.n_sinks);
            let n_fours = m.div_ceil(4);
            let edges = &mut self.edge_cost[sink * n_fours..][..n_fours];
            let places = &mut self.edge_source[sink * n_fours..][..n_fours];
            let row = &self.rows[row..][..4 * n_fours];
            offer::<S, M>(simd, edges, places, row, sink, place, m);
        }
    }
}

/// One source's costs of moving, against the edges found so far. `row` may end with
/// the beginning of the next one.
#[inline(always)]
fn offer<S: Simd, const M: usize>(
    simd: S,
    edges: &mut [Four],
    places: &mut [Four],
    row: &[f64],
    sink: usize,
    place: usize,
    m: usize,
) {
    let here = simd.splat(row[sink]);
    let place = simd.splat(number(place));
    let padding = simd.load(padding(m));
    let last = edges.len() - 1;
    let rows = row.as_chunks::<4>().0.iter();
    for (k, ((row, edge), edge_place)) in rows.zip(edges).zip(places).enumerate() {
        let mut moved = simd.sub(simd.load(row), here);
        if k == last {
            moved = simd.greater(moved, padding);
        }
        let old = simd.load(edge);
        let better = simd.below(moved, old);
        simd.store(simd.lesser(moved, old), edge);
        let old_place = simd.load(edge_place);
        simd.store(simd.choose(better, place, old_place), edge_place);
    }
}

/// What the last four sinks are at least: infinitely far beyond the last one.
#[inline(always)]
fn padding(m: usize) -> &'static Four {
    const NO: f64 = f64::NEG_INFINITY;
    const FAR: f64 = f64::INFINITY;
    const PADDING: [Four; 4] = [
        [NO; 4],
        [NO, FAR, FAR, FAR],
        [NO, NO, FAR, FAR],
        [NO, NO, NO, FAR],
    ];
    &PADDING[m % 4]
}
