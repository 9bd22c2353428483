//! One step of the simplex: an entry enters the tree, another leaves it.
//!
//! The entry from `source` to `sink` closes a cycle with the two ways up from its ends to
//! where they join, which is a sink or a source. Mass sent along the entry has to be
//! taken from the homes on the source's way and from the sinks on the sink's way, and
//! is added to the others. The entry that first runs dry leaves, which cuts off a
//! subtree with one end of the new entry in it; it is hung up by that end, so the
//! *stem* from there to the cut turns upside down.
//!
//! Of entries that run dry together, the last one on the cycle leaves, seen from the
//! join in the direction of the new entry: on the source's way the one nearest to the
//! source, unless one is on the sink's way, and there the one nearest to the join. This
//! keeps the tree strongly feasible.

use super::NONE;
use super::sets::{each, holds, remove, set_mut, unite};
use super::tree::Tree;
use crate::transport::lanes::number;

/// Where the two ways up meet: one of the two, the other is [`NONE`].
#[derive(Clone, Copy)]
struct Join {
    source: u32,
    sink: u32,
}

enum Step {
    Source(usize),
    Sink(usize),
}

impl Tree<'_> {
    /// Lets in the entry from `source` to `sink`, of negative reduced cost.
    #[inline(always)]
    pub fn pivot(&mut self, source: usize, sink: usize, reduced: f64) {
        let words = self.moved.len();

        // Up from the source, to the join.
        let (mut source_least, mut source_cut) = (f64::INFINITY, source);
        let mut at = source;
        let join = loop {
            if holds(self.below_source, words, at, sink) {
                let source = at as u32;
                break Join { source, sink: NONE };
            }
            if self.home_flow[at] < source_least {
                (source_least, source_cut) = (self.home_flow[at], at);
            }
            let home = self.home_of(at);
            if holds(self.below_sink, words, home, sink) {
                let sink = home as u32;
                break Join { source: NONE, sink };
            }
            at = self.up[home] as usize;
        };
        // Up from the sink.
        let (mut sink_least, mut sink_cut) = (f64::INFINITY, sink);
        let mut at = sink;
        while at as u32 != join.sink {
            if self.up_flow[at] <= sink_least {
                (sink_least, sink_cut) = (self.up_flow[at], at);
            }
            let up = self.up[at];
            if up == join.source {
                break;
            }
            at = self.home_of(up as usize);
        }

        let leaves_sinks_way = sink_least <= source_least;
        let mass = if leaves_sinks_way {
            sink_least
        } else {
            source_least
        };
        if mass > 0.0 {
            self.climb_from_source(source, join, |tree, step| match step {
                Step::Source(at) => tree.home_flow[at] -= mass,
                Step::Sink(at) => tree.up_flow[at] += mass,
            });
            self.climb_from_sink(sink, join, |tree, step| match step {
                Step::Source(at) => tree.home_flow[at] += mass,
                Step::Sink(at) => tree.up_flow[at] -= mass,
            });
        }
        if leaves_sinks_way {
            self.hang_up_by_sink(source, sink, sink_cut, mass, join, words);
            self.shift(reduced);
        } else {
            self.hang_up_by_source(source, sink, source_cut, mass, join, words);
            self.shift(-reduced);
        }
    }

    /// The part of the tree below `cut` moves to `source`, hung up by `sink`.
    #[inline(always)]
    fn hang_up_by_sink(
        &mut self,
        source: usize,
        sink: usize,
        cut: usize,
        mass: f64,
        join: Join,
        words: usize,
    ) {
        self.moved
            .copy_from_slice(&self.below_sink[cut * words..][..words]);
        let old_place = self.up[cut] as usize;
        self.climb_from_source(old_place, join, |tree, step| tree.forget(step, words));
        self.climb_from_source(source, join, |tree, step| tree.learn(step, words));
        self.inner.fill(0);
        let (mut at, mut new_up, mut flow) = (sink, source, mass);
        loop {
            let up = std::mem::replace(&mut self.up[at], new_up as u32) as usize;
            let old_flow = std::mem::replace(&mut self.up_flow[at], flow);
            self.turn(Step::Sink(at), words);
            if at == cut {
                break;
            }
            let home = self.home_of(up);
            self.home[up] = number(at);
            flow = std::mem::replace(&mut self.home_flow[up], old_flow);
            self.home_cost[up] = self.cost_of(up, at);
            self.turn(Step::Source(up), words);
            new_up = up;
            at = home;
        }
    }

    /// The part of the tree below `cut` moves to `sink`, hung up by `source`.
    #[inline(always)]
    fn hang_up_by_source(
        &mut self,
        source: usize,
        sink: usize,
        cut: usize,
        mass: f64,
        join: Join,
        words: usize,
    ) {
        self.moved
            .copy_from_slice(&self.below_source[cut * words..][..words]);
        let old_place = self.home_of(cut);
        self.climb_from_sink(old_place, join, |tree, step| tree.forget(step, words));
        self.climb_from_sink(sink, join, |tree, step| tree.learn(step, words));
        self.inner.fill(0);
        let (mut at, mut new_home, mut flow) = (source, sink, mass);
        loop {
            let home = self.home_of(at);
            self.home[at] = number(new_home);
            let old_flow = std::mem::replace(&mut self.home_flow[at], flow);
            self.home_cost[at] = self.cost_of(at, new_home);
            self.turn(Step::Source(at), words);
            if at == cut {
                break;
            }
            let up = std::mem::replace(&mut self.up[home], at as u32) as usize;
            flow = std::mem::replace(&mut self.up_flow[home], old_flow);
            self.turn(Step::Sink(home), words);
            new_home = home;
            at = up;
        }
    }

    /// Adds to the dual values of the sinks that moved.
    #[inline(always)]
    fn shift(&mut self, by: f64) {
        each(self.moved, |sink| {
            self.duals[sink] = [self.duals[sink][0] + by; 4];
        });
    }

    #[inline(always)]
    fn below(&mut self, step: Step, words: usize) -> (&mut [u64], &mut [u64], &mut [u64]) {
        let set = match step {
            Step::Source(at) => set_mut(self.below_source, words, at),
            Step::Sink(at) => set_mut(self.below_sink, words, at),
        };
        (set, self.moved, self.inner)
    }

    #[inline(always)]
    fn forget(&mut self, step: Step, words: usize) {
        let (set, moved, _) = self.below(step, words);
        remove(set, moved);
    }

    #[inline(always)]
    fn learn(&mut self, step: Step, words: usize) {
        let (set, moved, _) = self.below(step, words);
        unite(set, moved);
    }

    /// What was above on the stem is now below: all that moved but what was below the one
    /// before, whose old set is in `inner`.
    #[inline(always)]
    fn turn(&mut self, step: Step, words: usize) {
        let (set, moved, inner) = self.below(step, words);
        for ((word, moved), inner) in set.iter_mut().zip(moved).zip(inner) {
            (*word, *inner) = (*moved & !*inner, *word);
        }
    }

    /// Visits what is below the join on the way up from a source.
    #[inline(always)]
    fn climb_from_source(
        &mut self,
        source: usize,
        join: Join,
        mut visit: impl FnMut(&mut Self, Step),
    ) {
        let mut at = source;
        while at as u32 != join.source {
            visit(self, Step::Source(at));
            let home = self.home_of(at);
            if home as u32 == join.sink {
                break;
            }
            visit(self, Step::Sink(home));
            at = self.up[home] as usize;
        }
    }

    /// Visits what is below the join on the way up from a sink.
    #[inline(always)]
    fn climb_from_sink(&mut self, sink: usize, join: Join, mut visit: impl FnMut(&mut Self, Step)) {
        let mut at = sink;
        while at as u32 != join.sink {
            visit(self, Step::Sink(at));
            let up = self.up[at];
            if up == join.source {
                break;
            }
            visit(self, Step::Source(up as usize));
            at = self.home_of(up as usize);
        }
    }
}
