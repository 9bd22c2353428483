//! Code compiled twice: for the architecture's baseline, and for AVX2 where the processor
//! turns out to have it.

/// Proof that the processor has every feature that [`by_instruction_set`] enables.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// The proof, if it holds.
    #[inline(always)]
    pub fn detect() -> Option<Self> {
        let has_all = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("fma");
        has_all.then_some(Avx2(()))
    }
}

/// What every processor of the architecture has.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

/// Products that are added up where the last bit does not matter: nothing that is fused here
/// may become a result.
pub trait MultiplyAdd: Copy {
    /// `a * b + c`, rounded once or twice.
    fn multiply_add(self, a: f32, b: f32, c: f32) -> f32;
}

#[cfg(target_arch = "x86_64")]
impl MultiplyAdd for Avx2 {
    #[inline(always)]
    fn multiply_add(self, a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

impl MultiplyAdd for Portable {
    #[inline(always)]
    fn multiply_add(self, a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

/// Evaluates an expression of some arguments, compiled for AVX2, BMI1 and FMA where the processor
/// has them all. The compiler fuses nothing by itself, so that results have the same bits. The name between the bars is [`Avx2`] or [`Portable`] in it.
///
/// What the expression calls must be `#[inline(always)]` to be compiled for AVX2, too.
#[macro_export]
#[doc(hidden)]
macro_rules! by_instruction_set {
    (($($argument:ident: $type:ty),*) -> $result:ty, |$set:ident| $body:expr) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi1,fma")]
            fn compiled(
                $set: $crate::instruction_sets::Avx2,
                $($argument: $type),*
            ) -> $result {
                $body
            }
            if let Some(set) = $crate::instruction_sets::Avx2::detect() {
                // SAFETY: the value proves that the processor has these features.
                return unsafe { compiled(set, $($argument),*) };
            }
        }
        let $set = $crate::instruction_sets::Portable;
        $body
    }};
}

pub use by_instruction_set;
