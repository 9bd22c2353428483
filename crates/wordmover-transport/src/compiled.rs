//! Parts of the solvers that are compiled as functions of their own, once for every instruction
//! set.
//!
//! What is written over [`Simd`] must be inlined, or it would not be compiled for the instructions
//! that it uses. All solvers inlined into one would be a function of a megabyte, over which the
//! compiler sits for most of the library's build.

use super::lanes::Simd;
use crate::instruction_sets::Portable;

/// A part of a solver with what it works on.
pub(super) trait Part {
    type Output;

    /// Does it. To be inlined always.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// An instruction set that parts are compiled for.
pub(super) trait Compiled: Simd {
    /// Runs a part, which is not inlined into the caller.
    fn call<P: Part>(self, part: P) -> P::Output;
}

impl Compiled for Portable {
    #[inline(never)]
    fn call<P: Part>(self, part: P) -> P::Output {
        part.run(self)
    }
}

#[cfg(target_arch = "x86_64")]
impl Compiled for crate::instruction_sets::Avx2 {
    #[inline(always)]
    fn call<P: Part>(self, part: P) -> P::Output {
        #[target_feature(enable = "avx2,bmi1")]
        #[inline(never)]
        fn compiled<P: Part>(set: crate::instruction_sets::Avx2, part: P) -> P::Output {
            part.run(set)
        }
        // SAFETY: the value proves that the processor has both features.
        unsafe { compiled(self, part) }
    }
}
