//! Mass moved between three sinks until every demand is met.

use super::Block;
use crate::transport::lanes::{FAR, Simd, number};

/// No known problem needs more than a few augmentations.
pub(super) const AUGMENTATIONS_PER_SOURCE: usize = 10_000;

/// The cheapest way to move a source from one sink to another.
#[derive(Clone, Copy, Default)]
struct Edge {
    cost: f64,
    source: usize,
}

/// A plan on its way to the optimum.
pub(super) struct Plan<'a> {
    blocks: &'a mut [Block],
    pub duals: [f64; 3],
    /// Load minus demand.
    surplus: [f64; 3],
    edges: [[Edge; 3]; 3],
    edges_known: [bool; 3],
}

impl<'a> Plan<'a> {
    #[inline(always)]
    pub(super) fn new(blocks: &'a mut [Block], duals: [f64; 2], surplus: [f64; 3]) -> Self {
        Plan {
            blocks,
            duals: [duals[0], duals[1], 0.0],
            surplus,
            edges: [[Edge::default(); 3]; 3],
            edges_known: [false; 3],
        }
    }

    /// Every source to its best sink; ties go to the first.
    #[inline(always)]
    pub(super) fn assign<S: Simd>(&mut self, simd: S) {
        let zero = simd.splat(0.0);
        let duals = [simd.splat(self.duals[0]), simd.splat(self.duals[1])];
        let mut loads = [zero; 3];
        for block in self.blocks.iter_mut() {
            let a = simd.sub(simd.load(&block.costs[0]), duals[0]);
            let b = simd.sub(simd.load(&block.costs[1]), duals[1]);
            let least = simd.lesser(simd.lesser(a, b), zero);
            let mass = simd.load(&block.mass);
            let (is_first, is_second) = (simd.same(a, least), simd.same(b, least));
            let others = simd.drop(is_first, mass);
            let shares = [
                simd.keep(is_first, mass),
                simd.keep(is_second, others),
                simd.drop(is_second, others),
            ];
            for k in 0..3 {
                loads[k] = simd.add(loads[k], shares[k]);
                simd.store(shares[k], &mut block.shares[k]);
            }
        }
        for k in 0..3 {
            self.surplus[k] += simd.total(loads[k]);
        }
    }

    /// Moves all surplus where it is wanted. False if there is no way, or no end.
    #[inline(always)]
    pub(super) fn balance<S: Simd>(&mut self, simd: S, n_sources: usize) -> bool {
        let mut steps = AUGMENTATIONS_PER_SOURCE * n_sources;
        for from in 0..3 {
            while self.surplus[from] > 0.0 {
                if steps == 0 || !self.augment(simd, from) {
                    return false;
                }
                steps -= 1;
            }
        }
        true
    }

    /// Moves surplus of a sink to the nearest one below its demand. False if there is none.
    #[inline(always)]
    fn augment<S: Simd>(&mut self, simd: S, from: usize) -> bool {
        let (mut near, mut far) = ((from + 1) % 3, (from + 2) % 3);
        self.find_edges(simd, from);
        let (mut distance, mut farther) = (self.length(from, near), self.length(from, far));
        if farther < distance {
            (near, far) = (far, near);
            (distance, farther) = (farther, distance);
        }
        if self.surplus[near] < 0.0 {
            if distance == f64::INFINITY {
                return false;
            }
            self.duals[from] -= distance;
            self.send(&[from, near]);
            return true;
        }
        let mut through = f64::INFINITY;
        if distance < f64::INFINITY {
            self.find_edges(simd, near);
            through = distance + self.length(near, far);
        }
        let length = if through < farther { through } else { farther };
        if length == f64::INFINITY {
            return false;
        }
        self.duals[from] -= length;
        if distance < length {
            self.duals[near] += distance - length;
        }
        if through < farther {
            self.send(&[from, near, far]);
        } else {
            self.send(&[from, far]);
        }
        true
    }

    /// The reduced cost of an edge.
    #[inline(always)]
    fn length(&self, from: usize, to: usize) -> f64 {
        self.edges[from][to].cost + (self.duals[from] - self.duals[to])
    }

    /// Moves mass along a path: what the first sink has too much, the last too little, or the
    /// smallest piece on the way, whichever is least.
    #[inline(always)]
    fn send(&mut self, path: &[usize]) {
        let (from, to) = (path[0], path[path.len() - 1]);
        let mut amount = lesser(self.surplus[from], -self.surplus[to]);
        for step in path.windows(2) {
            let source = self.edges[step[0]][step[1]].source;
            amount = lesser(amount, self.blocks[source / 4].shares[step[0]][source % 4]);
        }
        for step in path.windows(2) {
            let (before, after) = (step[0], step[1]);
            let source = self.edges[before][after].source;
            let (block, lane) = (&mut self.blocks[source / 4], source % 4);
            block.shares[before][lane] -= amount;
            if block.shares[before][lane] == 0.0 {
                self.edges_known[before] = false;
            }
            let there = block.shares[after][lane];
            block.shares[after][lane] = there + amount;
            if there == 0.0 && self.edges_known[after] {
                for k in 0..3 {
                    let cost = block.costs[k][lane] - block.costs[after][lane];
                    if k != after && cost < self.edges[after][k].cost {
                        self.edges[after][k] = Edge { cost, source };
                    }
                }
            }
        }
        self.surplus[from] -= amount;
        self.surplus[to] += amount;
    }

    /// Makes the edges from `sink` to the two others, unless they are known.
    #[inline(always)]
    fn find_edges<S: Simd>(&mut self, simd: S, sink: usize) {
        if self.edges_known[sink] {
            return;
        }
        self.edges_known[sink] = true;
        let others = [(sink + 1) % 3, (sink + 2) % 3];
        let (zero, nowhere) = (simd.splat(0.0), simd.splat(f64::NEG_INFINITY));
        let mut least = [simd.load(&FAR); 2];
        let mut source = [zero; 2];
        let mut sources = simd.of(number(0), number(1), number(2), number(3));
        let four = simd.splat(number(4));
        for block in self.blocks.iter() {
            // From infinitely below zero, every way is infinitely long.
            let is_here = simd.below(zero, simd.load(&block.shares[sink]));
            let here = simd.choose(is_here, simd.load(&block.costs[sink]), nowhere);
            for i in 0..2 {
                let cost = simd.sub(simd.load(&block.costs[others[i]]), here);
                source[i] = simd.choose(simd.below(cost, least[i]), sources, source[i]);
                least[i] = simd.lesser(cost, least[i]);
            }
            sources = simd.add_numbers(sources, four);
        }
        for i in 0..2 {
            let cost = simd.least(least[i]);
            let lane = simd.same_bits(least[i], simd.splat(cost)).trailing_zeros();
            let mut lanes = [0.0; 4];
            simd.store(source[i], &mut lanes);
            let source = lanes[lane as usize % 4].to_bits() as usize;
            self.edges[sink][others[i]] = Edge { cost, source };
        }
    }

    /// Whether no two dual values have moved by more than the margin relative to each other.
    #[inline(always)]
    pub(super) fn has_moved_at_most(&self, margin: f64, duals: [f64; 2]) -> bool {
        let moved = [
            self.duals[0] - duals[0],
            self.duals[1] - duals[1],
            self.duals[2],
        ];
        let [first, second, third] = moved;
        (first - second).abs() <= margin
            && (second - third).abs() <= margin
            && (third - first).abs() <= margin
    }

    /// What the plan costs beyond what all of it costs at the third sink.
    #[inline(always)]
    pub(super) fn cost<S: Simd>(&self, simd: S) -> f64 {
        let mut cost = simd.splat(0.0);
        for block in self.blocks.iter() {
            for k in 0..2 {
                let share = simd.load(&block.shares[k]);
                cost = simd.add(cost, simd.mul(simd.load(&block.costs[k]), share));
            }
        }
        simd.total(cost)
    }
}

#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
