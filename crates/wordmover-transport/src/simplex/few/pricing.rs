//! Which arc would save most.

use std::ops::Range;

use super::{Costs, FewNodes, MOST};
use crate::lanes::Simd;

impl FewNodes {
    /// The arc of some sources that saves most by coarse costs.
    #[inline(always)]
    pub(super) fn coarse_best<S: Simd, const W: usize>(
        &self,
        simd: S,
        costs: Costs,
        sources: Range<usize>,
    ) -> Option<(usize, usize)> {
        let mut duals = [simd.splat_shorts(0); W];
        for w in 0..W {
            duals[w] = simd.load_shorts(&self.coarse_duals[w]);
        }
        let dual_of = self.coarse_duals.as_flattened();
        let zero = simd.splat_shorts(0);
        let (mut most, mut at, mut here) = (zero, zero, zero);
        let minus_one = simd.splat_shorts(-1);
        let rows = costs.coarse[sources.start * W..sources.end * W].chunks_exact(W);
        let parents = self.parents[sources.clone()]
            .iter()
            .zip(&self.parent_costs[sources.clone()]);
        for (row, (&parent, &cost)) in rows.zip(parents) {
            let mut best = simd.sub_shorts(duals[0], simd.load_shorts(&row[0]));
            for w in 1..W {
                let there = simd.sub_shorts(duals[w], simd.load_shorts(&row[w]));
                best = simd.greater_shorts(there, best);
            }
            let dual = simd.splat_shorts(dual_of[parent as usize % MOST]);
            let saved = simd.sub_shorts(best, simd.sub_shorts(dual, simd.splat_shorts(cost)));
            at = simd.choose_shorts(simd.below_shorts(most, saved), here, at);
            most = simd.greater_shorts(saved, most);
            here = simd.sub_shorts(here, minus_one);
        }
        let saved = -simd.least_short(simd.sub_shorts(zero, most));
        if saved <= 0 {
            return None;
        }
        let bits = simd.short_mask_bits(simd.same_shorts(most, simd.splat_shorts(saved)));
        let lane = bits.trailing_zeros() as usize / 2 % 16;
        let mut places = [0; 16];
        simd.store_shorts(at, &mut places);
        let source = sources.start + places[lane] as usize;
        // The lane tells the sink but for the register.
        let row = &costs.coarse.as_flattened()[source * 16 * W..][..16 * W];
        let mut best = (i16::MIN, 0);
        for w in 0..W {
            let sink = 16 * w + lane;
            let there = dual_of[sink].saturating_sub(row[sink]);
            best = if there > best.0 { (there, sink) } else { best };
        }
        Some((source, best.1))
    }

    /// The arc that saves most by exact costs; none if nothing saves anything, which proves the plan
    /// optimal.
    #[inline(always)]
    pub(super) fn exact_best<S: Simd>(&self, simd: S, costs: Costs) -> Option<(usize, usize)> {
        let m = self.n_sinks;
        let duals = &self.duals.as_flattened()[..m];
        let (dual_fours, dual_rest) = duals.as_chunks::<4>();
        let (mut saved, mut source) = (0.0, 0);
        for (at, row) in costs.given.chunks_exact(m).enumerate() {
            let (fours, rest) = row.as_chunks::<4>();
            let mut least = simd.splat(f64::INFINITY);
            for (cost, dual) in fours.iter().zip(dual_fours) {
                let cost = costs.grid.round_lanes(simd, simd.load(cost));
                least = simd.lesser(simd.sub(cost, simd.load(dual)), least);
            }
            let mut least = simd.least(least);
            for (&cost, dual) in rest.iter().zip(dual_rest) {
                let here = costs.grid.round(cost) - dual;
                least = if here < least { here } else { least };
            }
            let here = self.source_dual(costs, at) - least;
            (saved, source) = if here > saved {
                (here, at)
            } else {
                (saved, source)
            };
        }
        if saved <= 0.0 {
            return None;
        }
        // Sums are exact, so equality finds the sink.
        let sink = (0..m).find(|&sink| self.saved(costs, source, sink) == saved)?;
        Some((source, sink))
    }
}
