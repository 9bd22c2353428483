//! The first tree, from the lots of the auction.
//!
//! Every source hangs on the sink of one of its lots. The other lots enter one after the other. One
//! that joins two trees takes the place of an artificial arc. One that closes a cycle has
//! mass moved round it, in the direction that saves, until an arc is empty, or the lot. Trees that
//! are left at the end are joined by arcs without mass, which must have their source below.

use super::super::auction::Lot;
use super::super::{NONE, NetworkSimplex};
use super::{ARCS, Arcs, Costs, FewNodes, MOST};
use crate::lanes::Simd;

impl NetworkSimplex {
    /// Makes the tree. False if its parts cannot be joined, which balanced masses allow.
    #[inline(always)]
    #[must_use]
    pub(super) fn grow_few<S: Simd, const W: usize>(&mut self, simd: S, costs: &[f64]) -> bool {
        let (n, m) = (self.n_sources, self.n_sinks);
        self.make_stars();
        let tree = &mut self.few;
        for (duals, prices) in tree.coarse_duals[..W].iter_mut().zip(&self.coarse_duals) {
            *duals = *prices;
        }
        let costs = Costs {
            given: costs,
            grid: self.grid,
            coarse: &self.coarse[..n * W],
            n_sinks: m,
        };

        let is_alone = &mut self.is_alone[..n];
        is_alone.fill(true);
        // The lots that are not the first of their source, and their sinks.
        let others = &mut self.order;
        let mut n_others = 0;
        for sink in 0..m {
            let mut at = self.first_lot[sink];
            while at != NONE {
                let Lot { mass, source, next } = self.lots[at as usize];
                let source = source as usize;
                // Whether it is the first nobody foresees: no branch.
                let is_first = std::mem::take(&mut is_alone[source]);
                let arc = MOST + source;
                let flow_bits = tree.flows[arc].to_bits();
                tree.sinks[arc] = choose(is_first, sink as u64, tree.sinks[arc].into()) as u8;
                tree.flows[arc] = f64::from_bits(choose(is_first, mass.to_bits(), flow_bits));
                if n_others + 2 > others.len() {
                    others.resize(2 * n_others + 2, 0);
                }
                others[n_others] = at;
                others[n_others + 1] = sink as u32;
                n_others += 2 * usize::from(!is_first);
                at = next;
            }
        }
        for source in 0..n {
            tree.sources[MOST + source] = source as u8;
            tree.hang::<W>(costs, MOST + source);
        }
        // The source of a lot hangs on the lot's sink or on one before it. So a sink is a star until
        // the first of the latter comes.
        let mut last_joined = NONE;
        for lot in others[..n_others].chunks_exact(2) {
            let Lot { mass, source, .. } = self.lots[lot[0] as usize];
            let (source, sink) = (source as usize, lot[1] as usize);
            if sink as u32 != last_joined && tree.parents[source] as usize != sink {
                last_joined = sink as u32;
                tree.join_star::<W>(costs, source, sink, mass);
            } else {
                tree.add::<S, W>(simd, costs, source, sink, mass);
            }
        }
        tree.join_trees::<S, W>(simd, costs)
    }

    /// Every sink by itself, with the dual value of the auction.
    #[inline(always)]
    fn make_stars(&mut self) {
        let m = self.n_sinks;
        let tree = &mut self.few;
        (tree.n_sources, tree.n_sinks) = (self.n_sources, m);
        tree.artificial = Arcs::from(u64::MAX >> (MOST - m));
        tree.source_below = Arcs::from(u64::MAX) << MOST;
        let unit = match self.units {
            0.0 => 0.0,
            units => 1.0 / units,
        };
        let (low, high) = (tree.low.as_flattened_mut(), tree.high.as_flattened_mut());
        let duals = tree.duals.as_flattened_mut();
        for (sink, &price) in self.coarse_duals.as_flattened()[..m].iter().enumerate() {
            low[sink] = f64::from_bits(1 << sink);
            let price = self.grid.round(f64::from(price) * unit);
            duals[sink] = self.grid.round(self.base[sink]) + price;
            tree.sinks[sink] = sink as u8;
        }
        // Beyond the last sink nothing is on any path, so that nothing there moves.
        low[m..].fill(0.0);
        high.fill(0.0);
        duals[m..].fill(0.0);
        tree.sources[..m].fill(0);
        tree.flows[..m].fill(0.0);
    }
}

impl FewNodes {
    /// Hangs a sink onto a source of another tree, with nothing but sources of its own below.
    #[inline(always)]
    fn join_star<const W: usize>(&mut self, costs: Costs, source: usize, sink: usize, mass: f64) {
        let path = self.cycle(source, sink).half(true);
        self.low.as_flattened_mut()[sink] = f64::from_bits(path as u64 | 1 << sink);
        self.high.as_flattened_mut()[sink] = f64::from_bits((path >> 64) as u64);
        let dual = costs.exact(source, sink) - self.source_dual(costs, source);
        self.duals.as_flattened_mut()[sink] = dual;
        let more = costs
            .coarse::<W>(source, sink)
            .saturating_sub(self.parent_costs[source]);
        let coarse_duals = self.coarse_duals.as_flattened_mut();
        coarse_duals[sink] = coarse_duals[self.parents[source] as usize].saturating_add(more);
        self.artificial &= !(1 << sink);
        self.flows[sink] = mass;
        self.sources[sink] = source as u8;
    }

    /// Lets in mass from a source to a sink.
    #[inline(always)]
    fn add<S: Simd, const W: usize>(
        &mut self,
        simd: S,
        costs: Costs,
        source: usize,
        sink: usize,
        mass: f64,
    ) {
        let cycle = self.cycle(source, sink);
        let arcs = cycle.arcs();
        if arcs & arcs.wrapping_sub(1) == 0 {
            // The arc is there.
            self.flows[arcs.trailing_zeros() as usize % ARCS] += mass;
            return;
        }
        let saved = self.saved(costs, source, sink);
        let (leaving, mass) = if arcs & self.artificial != 0 {
            let root = cycle.half(cycle.is_source_nearer()) & self.artificial;
            self.artificial &= !root;
            (root.trailing_zeros() as usize, mass)
        } else if saved > 0.0 {
            let (leaving, more) = self.push(cycle);
            (leaving, mass + more)
        } else {
            match self.pull(cycle, mass) {
                (Some(leaving), left) => (leaving, left),
                (None, _) => return,
            }
        };
        self.exchange::<S, W>(simd, costs, cycle, leaving, saved);
        self.flows[leaving] = mass;
    }

    /// Hangs all trees but one onto others, by the arc that loses least. False if there is none.
    #[inline(always)]
    fn join_trees<S: Simd, const W: usize>(&mut self, simd: S, costs: Costs) -> bool {
        while self.artificial & self.artificial.wrapping_sub(1) != 0 {
            let root = self.artificial.trailing_zeros() as usize % MOST;
            let Some((source, sink)) = self.way_out(costs, root) else {
                return false;
            };
            let saved = self.saved(costs, source, sink);
            let cycle = self.cycle(source, sink);
            self.artificial &= !(1 << root);
            self.exchange::<S, W>(simd, costs, cycle, root, saved);
            self.flows[root] = 0.0;
        }
        true
    }

    /// The arc from a source of the tree with this artificial arc to a sink of another that loses
    /// least.
    #[cold]
    #[inline(never)]
    fn way_out(&self, costs: Costs, root: usize) -> Option<(usize, usize)> {
        let is_here = |sink: usize| self.low.as_flattened()[sink].to_bits() >> root & 1 != 0;
        let mut most = f64::NEG_INFINITY;
        let mut best = None;
        for source in (0..self.n_sources).filter(|&i| is_here(self.parents[i] as usize)) {
            for sink in (0..self.n_sinks).filter(|&sink| !is_here(sink)) {
                let saved = self.saved(costs, source, sink);
                if saved > most {
                    (most, best) = (saved, Some((source, sink)));
                }
            }
        }
        best
    }
}

/// One of two without a branch.
#[inline(always)]
fn choose(is_first: bool, first: u64, second: u64) -> u64 {
    let all = u64::from(is_first).wrapping_neg();
    all & first | !all & second
}
