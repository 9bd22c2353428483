//! One pivot: an arc enters the tree, another leaves it.
//!
//! Of arcs that become empty together, the last one on the cycle leaves, seen from where the
//! two paths join in the direction of the entering arc: on the sink's path the one nearest to
//! the join, otherwise on the source's path the one nearest to the source. This keeps the
//! tree strongly feasible, as in [`super::super::simplex`].

use super::{Basis, MOST};
use crate::lanes::{Simd, number};

impl Basis {
    #[inline(always)]
    fn path(&self, node: usize) -> u64 {
        self.paths.as_flattened()[node % MOST].to_bits()
    }

    /// The end of an arc that is farther from the root.
    #[inline(always)]
    fn lower_end(&self, arc: usize) -> usize {
        let (source, sink) = (self.sources[arc], self.sinks[arc]);
        let lower = if self.source_below >> arc & 1 != 0 {
            source
        } else {
            sink
        };
        lower as usize
    }

    /// Lets in the arc from `source` to `sink`, which saves `saved` for every unit of mass.
    #[inline(always)]
    pub(super) fn pivot<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        n: usize,
        source: usize,
        sink: usize,
        saved: f64,
        cost: f64,
    ) {
        let source = (4 * W + source) % MOST;
        let source_path = self.path(source);
        let sink_path = self.path(sink);
        let cycle = source_path ^ sink_path;
        let gives = cycle & !(source_path ^ self.source_below);
        let takes = cycle & !gives;

        let (mut mass, mut leaving) = (f64::INFINITY, 0);
        let mut rest = gives;
        while rest != 0 {
            let arc = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let flow = self.flows.as_flattened()[arc];
            if flow <= mass && (flow < mass || self.is_later(arc, leaving, sink_path)) {
                (mass, leaving) = (flow, arc);
            }
        }
        let flows = self.flows.as_flattened_mut();
        let mut rest = gives;
        while rest != 0 {
            flows[rest.trailing_zeros() as usize] -= mass;
            rest &= rest - 1;
        }
        let mut rest = takes;
        while rest != 0 {
            flows[rest.trailing_zeros() as usize] += mass;
            rest &= rest - 1;
        }
        flows[leaving] = mass;

        let bit = 1 << leaving;
        let is_on_sources_path = source_path & bit != 0;
        let path = if is_on_sources_path {
            source_path
        } else {
            sink_path
        };
        // Between the entering arc and the leaving one, up and down change places.
        let stem = path & !self.path(self.lower_end(leaving));
        self.source_below ^= stem;
        self.source_below &= !bit;
        self.source_below |= u64::from(is_on_sources_path) << leaving;
        self.costs.as_flattened_mut()[leaving] = cost;
        self.sources[leaving] = source as u8;
        self.sinks[leaving] = sink as u8;

        let shift = simd.splat(if is_on_sources_path { saved } else { -saved });
        let turned = simd.splat(f64::from_bits(cycle ^ bit));
        let bit = simd.splat(number(bit as usize));
        let groups = ..W + n.div_ceil(4);
        let nodes = self.paths[groups]
            .iter_mut()
            .zip(&mut self.potentials[groups]);
        for (path, potential) in nodes {
            let old = simd.load(path);
            let moved = simd.holds(old, bit);
            simd.store(simd.toggle(old, simd.keep(moved, turned)), path);
            let shift = simd.keep(moved, shift);
            simd.store(simd.add(simd.load(potential), shift), potential);
        }
    }

    /// Of two arcs that become empty together: whether the first is nearer the end of the
    /// cycle.
    #[cold]
    #[inline(never)]
    fn is_later(&self, arc: usize, other: usize, sink_path: u64) -> bool {
        let rank = |arc: usize| {
            let depth = self.path(self.lower_end(arc)).count_ones() as i32;
            if sink_path >> arc & 1 != 0 {
                // Before all on the source's path, which are at most as deep as there are nodes.
                2 * MOST as i32 - depth
            } else {
                depth
            }
        };
        rank(arc) > rank(other)
    }
}
