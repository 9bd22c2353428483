//! One arc enters the tree, another leaves it.
//!
//! ```text
//! cycle = path[i] ^ path[k]                 closed by the entering arc from i to k
//! of its arcs give mass those that point up on the path from i, down on that from k
//! the one with the least leaves, and the entering arc takes its number
//! for all sinks x with the leaving arc in path[x]:
//!     path[x] ^= cycle without that arc     they hang by the entering one now
//!     v[x] += what makes the entering arc's reduced cost zero
//! on the stem, between the entering arc and the leaving one, up and down change places
//! ```
//!
//! Of arcs that become empty together, the last one on the cycle leaves, seen from where the two
//! paths join in the direction that mass is moved in. This keeps the tree strongly feasible, as in
//! [`super::super::pivot`].

use super::{ARCS, Arcs, Costs, FewNodes};
use crate::lanes::Simd;

/// The cycle that an arc closes.
#[derive(Clone, Copy)]
pub(super) struct Cycle {
    pub source: usize,
    pub sink: usize,
    source_path: Arcs,
    sink_path: Arcs,
}

/// The least mass of several arcs.
struct Least {
    flow: f64,
    arc: usize,
    /// Whether others have as little.
    is_tie: bool,
}

impl Cycle {
    #[inline(always)]
    pub fn arcs(&self) -> Arcs {
        self.source_path ^ self.sink_path
    }

    /// Whether the source's path is the shorter one.
    #[inline(always)]
    pub fn is_source_nearer(&self) -> bool {
        self.source_path.count_ones() <= self.sink_path.count_ones()
    }

    /// The arcs of the path from the source, or of that from the sink.
    #[inline(always)]
    pub fn half(&self, is_sources: bool) -> Arcs {
        if is_sources {
            self.source_path
        } else {
            self.sink_path
        }
    }
}

impl FewNodes {
    #[inline(always)]
    fn path(&self, sink: usize) -> Arcs {
        let low = self.low.as_flattened()[sink].to_bits();
        let high = self.high.as_flattened()[sink].to_bits();
        Arcs::from(low) | Arcs::from(high) << 64
    }

    #[inline(always)]
    pub(super) fn cycle(&self, source: usize, sink: usize) -> Cycle {
        let parent = self.parents[source] as usize;
        Cycle {
            source,
            sink,
            source_path: self.path(parent) ^ 1 << (self.parent_arcs[source] as usize % ARCS),
            sink_path: self.path(sink),
        }
    }

    /// The path of an arc's lower end, the arc itself in it.
    #[inline(always)]
    fn path_below(&self, arc: usize) -> Arcs {
        let is_source_below = self.source_below >> arc & 1;
        self.path(self.sinks[arc] as usize) ^ is_source_below << arc
    }

    /// Lets in an arc. False if it saves nothing.
    #[inline(always)]
    #[must_use]
    pub(super) fn pivot<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        costs: Costs,
        source: usize,
        sink: usize,
    ) -> bool {
        let saved = self.saved(costs, source, sink);
        if saved <= 0.0 {
            return false;
        }
        let cycle = self.cycle(source, sink);
        let (leaving, mass) = self.push(cycle);
        self.exchange::<S, W>(simd, costs, cycle, leaving, saved);
        self.flows[leaving] = mass;
        true
    }

    /// Moves as much mass as can be round a cycle, in the direction of its arc: the arc that is to
    /// leave, and how much that is.
    #[inline(always)]
    pub(super) fn push(&mut self, cycle: Cycle) -> (usize, f64) {
        let gives = cycle.arcs() & !(cycle.source_path ^ self.source_below);
        let least = self.least_flow(gives);
        self.add_mass(gives, -least.flow);
        self.add_mass(cycle.arcs() & !gives, least.flow);
        let leaving = match least.is_tie {
            true => self.last_empty(gives, cycle.sink_path),
            false => least.arc,
        };
        (leaving, least.flow)
    }

    /// Moves mass round a cycle against the direction of its arc, which has `mass` itself: the
    /// arc that is to leave, if it is another, and how much of the mass is left.
    #[inline(always)]
    pub(super) fn pull(&mut self, cycle: Cycle, mass: f64) -> (Option<usize>, f64) {
        let gives = cycle.arcs() & (cycle.source_path ^ self.source_below);
        let least = self.least_flow(gives);
        let moved = if least.flow < mass { least.flow } else { mass };
        self.add_mass(gives, -moved);
        self.add_mass(cycle.arcs() & !gives, moved);
        let leaving = match mass < least.flow {
            true => None,
            // The arc itself comes after those on the sink's path.
            false if mass == moved && self.empty(gives & cycle.source_path) == 0 => None,
            false => Some(self.last_empty(gives, cycle.source_path)),
        };
        (leaving, mass - moved)
    }

    /// The arc with the least mass of some.
    #[inline(always)]
    fn least_flow(&self, arcs: Arcs) -> Least {
        let mut least = Least {
            flow: f64::INFINITY,
            arc: 0,
            is_tie: false,
        };
        let mut rest = arcs;
        while rest != 0 {
            let arc = rest.trailing_zeros() as usize % ARCS;
            rest &= rest - 1;
            let flow = self.flows[arc];
            let is_less = flow < least.flow;
            least = Least {
                flow: if is_less { flow } else { least.flow },
                arc: if is_less { arc } else { least.arc },
                is_tie: !is_less & (least.is_tie | (flow == least.flow)),
            };
        }
        least
    }

    #[inline(always)]
    fn add_mass(&mut self, arcs: Arcs, mass: f64) {
        let mut rest = arcs;
        while rest != 0 {
            self.flows[rest.trailing_zeros() as usize % ARCS] += mass;
            rest &= rest - 1;
        }
    }

    /// Those of some arcs that have no mass.
    fn empty(&self, arcs: Arcs) -> Arcs {
        let mut empty = 0;
        let mut rest = arcs;
        while rest != 0 {
            let arc = rest.trailing_zeros() as usize % ARCS;
            rest &= rest - 1;
            empty |= Arcs::from(self.flows[arc] == 0.0) << arc;
        }
        empty
    }

    /// Of some arcs of a cycle that have no mass the last: of those on the path that mass is moved
    /// down, the one nearest to the join; otherwise the one farthest from it.
    #[cold]
    #[inline(never)]
    fn last_empty(&self, arcs: Arcs, downwards: Arcs) -> usize {
        let (mut last, mut most) = (0, i32::MIN);
        let mut rest = self.empty(arcs);
        while rest != 0 {
            let arc = rest.trailing_zeros() as usize % ARCS;
            rest &= rest - 1;
            let depth = self.path_below(arc).count_ones() as i32;
            // Before all on the other path, which are at most as deep as there are arcs.
            let is_downwards = downwards >> arc & 1 != 0;
            let rank = if is_downwards {
                2 * ARCS as i32 - depth
            } else {
                depth
            };
            if rank > most {
                (last, most) = (arc, rank);
            }
        }
        last
    }

    /// Puts the arc that closes a cycle, and saves `saved` for every unit of mass, in the place of
    /// another.
    #[inline(always)]
    pub(super) fn exchange<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        costs: Costs,
        cycle: Cycle,
        leaving: usize,
        saved: f64,
    ) {
        let Cycle { source, sink, .. } = cycle;
        let leaving = leaving % ARCS;
        let bit: Arcs = 1 << leaving;
        let is_on_sources_path = cycle.source_path & bit != 0;
        let stem = cycle.half(is_on_sources_path) & !self.path_below(leaving);
        let coarse_saved = self.coarse_saved::<W>(costs, source, sink);
        self.source_below ^= stem;
        // Sources on the stem hang on what hung on them.
        let mut rest = stem & self.source_below;
        while rest != 0 {
            let arc = rest.trailing_zeros() as usize % ARCS;
            rest &= rest - 1;
            self.hang::<W>(costs, arc);
        }
        self.source_below &= !bit;
        self.source_below |= Arcs::from(is_on_sources_path) << leaving;
        self.sources[leaving] = source as u8;
        self.sinks[leaving] = sink as u8;
        if is_on_sources_path {
            self.hang::<W>(costs, leaving);
        }

        let (shift, coarse_shift) = match is_on_sources_path {
            true => (saved, coarse_saved),
            false => (-saved, coarse_saved.saturating_neg()),
        };
        let (shift, coarse_shift) = (simd.splat(shift), simd.splat_shorts(coarse_shift));
        let turned = cycle.arcs() ^ bit;
        let turned_low = simd.splat(f64::from_bits(turned as u64));
        let turned_high = simd.splat(f64::from_bits((turned >> 64) as u64));
        let bit_low = simd.splat(f64::from_bits(bit as u64));
        let bit_high = simd.splat(f64::from_bits((bit >> 64) as u64));
        let low = self.low.as_chunks_mut::<4>().0;
        let high = self.high.as_chunks_mut::<4>().0;
        let duals = self.duals.as_chunks_mut::<4>().0;
        for w in 0..W {
            let mut masks = [shift; 4];
            for g in 0..4 {
                let (low, high, dual) = (&mut low[w][g], &mut high[w][g], &mut duals[w][g]);
                let (old_low, old_high) = (simd.load(low), simd.load(high));
                let moved = simd.keep(simd.holds(old_low, bit_low), simd.holds(old_high, bit_high));
                simd.store(simd.toggle(old_low, simd.keep(moved, turned_low)), low);
                simd.store(simd.toggle(old_high, simd.keep(moved, turned_high)), high);
                simd.store(simd.add(simd.load(dual), simd.keep(moved, shift)), dual);
                masks[g] = moved;
            }
            let moved = simd.keep_shorts(simd.narrow(masks), coarse_shift);
            let coarse = &mut self.coarse_duals[w];
            simd.store_shorts(simd.add_shorts(simd.load_shorts(coarse), moved), coarse);
        }
    }

    /// What a unit of mass saves by an arc, by coarse costs.
    #[inline(always)]
    fn coarse_saved<const W: usize>(&self, costs: Costs, source: usize, sink: usize) -> i16 {
        let duals = self.coarse_duals.as_flattened();
        let parent = self.parents[source] as usize;
        let now = duals[parent].saturating_sub(self.parent_costs[source]);
        let there = duals[sink].saturating_sub(costs.coarse::<W>(source, sink));
        there.saturating_sub(now)
    }

    /// Makes the sink of an arc the parent of its source.
    #[inline(always)]
    pub(super) fn hang<const W: usize>(&mut self, costs: Costs, arc: usize) {
        let (source, sink) = (self.sources[arc] as usize, self.sinks[arc] as usize);
        self.parents[source] = sink as u8;
        self.parent_arcs[source] = arc as u8;
        self.parent_costs[source] = costs.coarse::<W>(source, sink);
    }
}
