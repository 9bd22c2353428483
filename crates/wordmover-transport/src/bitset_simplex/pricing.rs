//! Which arc would save most.

use super::Basis;
use crate::lanes::{Four, Simd, number};

impl Basis {
    /// The arc that saves most for every unit of mass: source, sink and how much. None if
    /// nothing saves anything, which proves the plan optimal.
    #[inline(always)]
    pub(super) fn entering_arc<S: Simd, const W: usize>(
        &self,
        simd: S,
        rows: &[Four],
    ) -> Option<(usize, usize, f64)> {
        let n = rows.len() / W;
        let mut duals = [simd.splat(0.0); W];
        for w in 0..W {
            duals[w] = simd.load(&self.potentials[w]);
        }
        let potentials = &self.potentials.as_flattened()[4 * W..][..n];
        let mut most = simd.splat(0.0);
        let mut at = simd.splat(number(0));
        let (mut here, one) = (simd.splat(number(0)), simd.splat(number(1)));
        for (row, &potential) in rows.chunks_exact(W).zip(potentials) {
            let mut best = simd.sub(duals[0], simd.load(&row[0]));
            for w in 1..W {
                best = simd.greater(simd.sub(duals[w], simd.load(&row[w])), best);
            }
            let saved = simd.sub(best, simd.splat(potential));
            at = simd.choose(simd.below(most, saved), here, at);
            most = simd.greater(saved, most);
            here = simd.add_numbers(here, one);
        }
        let saved = simd.most(most);
        if saved <= 0.0 {
            return None;
        }
        let saved_lanes = simd.splat(saved);
        let lane = simd.same_bits(most, saved_lanes).trailing_zeros() as usize % 4;
        let mut sources = [0.0; 4];
        simd.store(at, &mut sources);
        let source = sources[lane].to_bits() as usize;
        // Sums are exact, so equality finds the sink.
        let row = &rows[source * W..][..W];
        let potential = simd.splat(potentials[source]);
        let mut bits = 0;
        for w in 0..W {
            let here = simd.sub(simd.sub(duals[w], simd.load(&row[w])), potential);
            bits |= simd.same_bits(here, saved_lanes) << (4 * w);
        }
        Some((source, bits.trailing_zeros() as usize % 32, saved))
    }
}
