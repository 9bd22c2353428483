//! Registers of 256 bits.

use std::arch::x86_64::{
    __m256d, _CMP_EQ_OQ, _CMP_LT_OQ, _mm_add_pd, _mm_add_sd, _mm_cvtsd_f64, _mm_max_pd, _mm_max_sd,
    _mm_min_pd, _mm_min_sd, _mm_unpackhi_pd, _mm256_add_epi64, _mm256_add_pd, _mm256_and_pd,
    _mm256_and_si256, _mm256_andnot_pd, _mm256_blend_pd, _mm256_blendv_pd, _mm256_castpd_si256,
    _mm256_castpd256_pd128, _mm256_castsi256_pd, _mm256_cmp_pd, _mm256_cmpeq_epi64,
    _mm256_extractf128_pd, _mm256_i64gather_pd, _mm256_loadu_pd, _mm256_max_pd, _mm256_min_pd,
    _mm256_movemask_pd, _mm256_mul_pd, _mm256_permute_pd, _mm256_permute2f128_pd,
    _mm256_permute4x64_pd, _mm256_set_pd, _mm256_set1_pd, _mm256_slli_epi64, _mm256_storeu_pd,
    _mm256_sub_pd, _mm256_unpackhi_pd, _mm256_unpacklo_pd, _mm256_xor_pd,
};

use super::{Four, Simd, number};

/// Registers of 256 bits. A value is the proof that the machine has AVX2.
#[derive(Debug, Clone, Copy)]
pub(in crate::transport) struct Avx2(());

impl Avx2 {
    /// The proof, if it holds.
    pub fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Avx2(()))
    }
}

// SAFETY, for every block below: `self` exists only where `detect` found AVX2, and
// that is all the intrinsics ask for; pointers come from references to four doubles.
impl Simd for Avx2 {
    type Lanes = __m256d;

    #[inline(always)]
    fn splat(self, x: f64) -> __m256d {
        unsafe { _mm256_set1_pd(x) }
    }

    #[inline(always)]
    fn load(self, from: &Four) -> __m256d {
        unsafe { _mm256_loadu_pd(from.as_ptr()) }
    }

    #[inline(always)]
    fn load_at(self, from: &[f64], at: usize) -> __m256d {
        // The slice checks that there are four.
        unsafe { _mm256_loadu_pd(from[at..][..4].as_ptr()) }
    }

    #[inline(always)]
    fn of(self, a: f64, b: f64, c: f64, d: f64) -> __m256d {
        unsafe { _mm256_set_pd(d, c, b, a) }
    }

    #[inline(always)]
    fn gather(self, from: &[Four], places: __m256d) -> __m256d {
        let last = number(from.len() - 1);
        unsafe {
            // Small whole numbers are ordered as the doubles of the same bits. So the
            // places are within `from`, and four doubles are at each of them.
            let places = _mm256_castpd_si256(_mm256_min_pd(places, _mm256_set1_pd(last)));
            let places = _mm256_slli_epi64::<2>(places);
            _mm256_i64gather_pd::<8>(from.as_flattened().as_ptr(), places)
        }
    }

    #[inline(always)]
    fn unzip(self, a: __m256d, b: __m256d) -> (__m256d, __m256d) {
        unsafe {
            let (low, high) = (
                _mm256_permute2f128_pd::<0x20>(a, b),
                _mm256_permute2f128_pd::<0x31>(a, b),
            );
            (_mm256_unpacklo_pd(low, high), _mm256_unpackhi_pd(low, high))
        }
    }

    #[inline(always)]
    fn unzip_three(self, a: __m256d, b: __m256d, c: __m256d) -> [__m256d; 3] {
        unsafe {
            // Every value is in a lane of its own already: blend, then put in order.
            let first = _mm256_blend_pd::<0b0010>(_mm256_blend_pd::<0b0100>(a, b), c);
            let second = _mm256_blend_pd::<0b0100>(_mm256_blend_pd::<0b0010>(b, a), c);
            let third = _mm256_blend_pd::<0b0100>(_mm256_blend_pd::<0b0010>(c, b), a);
            [
                _mm256_permute4x64_pd::<0b01_10_11_00>(first),
                _mm256_permute_pd::<0b0101>(second),
                _mm256_permute4x64_pd::<0b11_00_01_10>(third),
            ]
        }
    }

    #[inline(always)]
    fn transpose(self, a: __m256d, b: __m256d, c: __m256d, d: __m256d) -> [__m256d; 4] {
        unsafe {
            let (ab_even, ab_odd) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
            let (cd_even, cd_odd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
            [
                _mm256_permute2f128_pd::<0x20>(ab_even, cd_even),
                _mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd),
                _mm256_permute2f128_pd::<0x31>(ab_even, cd_even),
                _mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd),
            ]
        }
    }

    #[inline(always)]
    fn store(self, x: __m256d, to: &mut Four) {
        unsafe { _mm256_storeu_pd(to.as_mut_ptr(), x) }
    }

    #[inline(always)]
    fn add(self, a: __m256d, b: __m256d) -> __m256d {
        unsafe { _mm256_add_pd(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m256d, b: __m256d) -> __m256d {
        unsafe { _mm256_sub_pd(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m256d, b: __m256d) -> __m256d {
        unsafe { _mm256_mul_pd(a, b) }
    }

    #[inline(always)]
    fn abs(self, a: __m256d) -> __m256d {
        unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), a) }
    }

    #[inline(always)]
    fn lesser(self, a: __m256d, b: __m256d) -> __m256d {
        unsafe { _mm256_min_pd(a, b) }
    }

    #[inline(always)]
    fn greater(self, a: __m256d, b: __m256d) -> __m256d {
        unsafe { _mm256_max_pd(a, b) }
    }

    #[inline(always)]
    fn below(self, a: __m256d, b: __m256d) -> __m256d {
        unsafe { _mm256_cmp_pd::<_CMP_LT_OQ>(a, b) }
    }

    #[inline(always)]
    fn same(self, a: __m256d, b: __m256d) -> __m256d {
        unsafe { _mm256_cmp_pd::<_CMP_EQ_OQ>(a, b) }
    }

    #[inline(always)]
    fn choose(self, mask: __m256d, yes: __m256d, no: __m256d) -> __m256d {
        unsafe { _mm256_blendv_pd(no, yes, mask) }
    }

    #[inline(always)]
    fn keep(self, mask: __m256d, x: __m256d) -> __m256d {
        unsafe { _mm256_and_pd(mask, x) }
    }

    #[inline(always)]
    fn drop(self, mask: __m256d, x: __m256d) -> __m256d {
        unsafe { _mm256_andnot_pd(mask, x) }
    }

    #[inline(always)]
    fn add_numbers(self, a: __m256d, b: __m256d) -> __m256d {
        unsafe {
            let (a, b) = (_mm256_castpd_si256(a), _mm256_castpd_si256(b));
            _mm256_castsi256_pd(_mm256_add_epi64(a, b))
        }
    }

    #[inline(always)]
    fn holds(self, a: __m256d, b: __m256d) -> __m256d {
        unsafe {
            let b = _mm256_castpd_si256(b);
            let common = _mm256_and_si256(_mm256_castpd_si256(a), b);
            _mm256_castsi256_pd(_mm256_cmpeq_epi64(common, b))
        }
    }

    #[inline(always)]
    fn toggle(self, a: __m256d, b: __m256d) -> __m256d {
        unsafe { _mm256_xor_pd(a, b) }
    }

    #[inline(always)]
    fn below_bits(self, a: __m256d, b: __m256d) -> u32 {
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(a, b)) as u32 }
    }

    #[inline(always)]
    fn same_bits(self, a: __m256d, b: __m256d) -> u32 {
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(a, b)) as u32 }
    }

    #[inline(always)]
    fn matches(self, a: __m256d, b: __m256d) -> __m256d {
        unsafe {
            let (a, b) = (_mm256_castpd_si256(a), _mm256_castpd_si256(b));
            _mm256_castsi256_pd(_mm256_cmpeq_epi64(a, b))
        }
    }

    #[inline(always)]
    fn most(self, a: __m256d) -> f64 {
        unsafe {
            let halves = _mm_max_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
            _mm_cvtsd_f64(_mm_max_sd(halves, _mm_unpackhi_pd(halves, halves)))
        }
    }

    #[inline(always)]
    fn least(self, a: __m256d) -> f64 {
        unsafe {
            let halves = _mm_min_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
            _mm_cvtsd_f64(_mm_min_sd(halves, _mm_unpackhi_pd(halves, halves)))
        }
    }

    #[inline(always)]
    fn total(self, a: __m256d) -> f64 {
        unsafe {
            let halves = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
            _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)))
        }
    }
}
