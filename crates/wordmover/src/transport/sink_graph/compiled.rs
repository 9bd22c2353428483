//! The solver for a number of sinks and an instruction set, as a function of its own.
//!
//! All of them inlined into one would be a function of 800 kB, over which the compiler sits for
//! most of the library's build, on one core.

use super::SinkGraph;
use crate::instruction_sets::Portable;
use crate::transport::lanes::Simd;
use crate::transport::problem::Problem;

/// An instruction set that the solver is compiled for.
pub(in crate::transport) trait SolveSinks: Simd {
    /// The optimal cost for `M` sinks, in `W` vectors of four.
    fn solve_onto<const M: usize, const W: usize>(
        self,
        graph: &mut SinkGraph,
        problem: Problem,
    ) -> Option<f64>;
}

impl SolveSinks for Portable {
    #[inline(never)]
    fn solve_onto<const M: usize, const W: usize>(
        self,
        graph: &mut SinkGraph,
        problem: Problem,
    ) -> Option<f64> {
        graph.solve_onto::<Self, M, W>(self, problem)
    }
}

#[cfg(target_arch = "x86_64")]
impl SolveSinks for crate::instruction_sets::Avx2 {
    #[inline(always)]
    fn solve_onto<const M: usize, const W: usize>(
        self,
        graph: &mut SinkGraph,
        problem: Problem,
    ) -> Option<f64> {
        #[target_feature(enable = "avx2,bmi1")]
        #[inline(never)]
        fn compiled<const M: usize, const W: usize>(
            set: crate::instruction_sets::Avx2,
            graph: &mut SinkGraph,
            problem: Problem,
        ) -> Option<f64> {
            graph.solve_onto::<_, M, W>(set, problem)
        }
        // SAFETY: the value proves that the processor has both features.
        unsafe { compiled::<M, W>(self, graph, problem) }
    }
}
