//! Registers of 256 bits.

use std::arch::x86_64::{
    __m256d, __m256i, _CMP_EQ_OQ, _CMP_LT_OQ, _MM_HINT_T0, _mm_add_pd, _mm_add_sd, _mm_cvtsd_f64,
    _mm_cvtsi128_si32, _mm_loadu_ps, _mm_max_pd, _mm_max_sd, _mm_min_epi16, _mm_min_pd, _mm_min_sd,
    _mm_minpos_epu16, _mm_prefetch, _mm_set1_epi16, _mm_unpackhi_pd, _mm_xor_si128,
    _mm256_add_epi64, _mm256_add_pd, _mm256_adds_epi16, _mm256_and_pd, _mm256_and_si256,
    _mm256_andnot_pd, _mm256_blendv_epi8, _mm256_blendv_pd, _mm256_castpd_si256,
    _mm256_castpd256_pd128, _mm256_castsi128_si256, _mm256_castsi256_pd, _mm256_castsi256_si128,
    _mm256_cmp_pd, _mm256_cmpeq_epi16, _mm256_cmpeq_epi64, _mm256_cmpgt_epi16, _mm256_cmpgt_epi64,
    _mm256_cvtpd_epi32, _mm256_cvtps_pd, _mm256_extractf128_pd, _mm256_extracti128_si256,
    _mm256_inserti128_si256, _mm256_loadu_pd, _mm256_loadu_si256, _mm256_max_epi16, _mm256_max_pd,
    _mm256_min_epi16, _mm256_min_pd, _mm256_movemask_epi8, _mm256_movemask_pd, _mm256_mul_pd,
    _mm256_packs_epi32, _mm256_permute2f128_pd, _mm256_permutevar8x32_epi32, _mm256_set_pd,
    _mm256_set1_epi16, _mm256_set1_pd, _mm256_setr_epi32, _mm256_storeu_pd, _mm256_storeu_si256,
    _mm256_sub_pd, _mm256_subs_epi16, _mm256_unpackhi_pd, _mm256_unpacklo_pd, _mm256_xor_pd,
};

use super::{Four, Simd, Sixteen};
use crate::instruction_sets::Avx2;

/// Intrinsics that touch nothing but registers.
macro_rules! registers {
    ($calculation:expr) => {
        // SAFETY: these intrinsics ask for nothing but AVX2, and the methods below have a `self`,
        // which proves that the processor has it.
        unsafe { $calculation }
    };
}

impl Simd for Avx2 {
    const IS_MAIN: bool = true;

    type Lanes = __m256d;
    type Shorts = __m256i;

    #[inline(always)]
    fn prefetch<T>(self, from: &T) {
        registers!(_mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(from).cast()));
    }

    #[inline(always)]
    fn splat(self, x: f64) -> __m256d {
        registers!(_mm256_set1_pd(x))
    }

    #[inline(always)]
    fn load(self, from: &Four) -> __m256d {
        // SAFETY: `self` proves AVX2; the pointer is that of four doubles.
        unsafe { _mm256_loadu_pd(from.as_ptr()) }
    }

    #[inline(always)]
    fn load_at(self, from: &[f64], at: usize) -> __m256d {
        let four = &from[at..][..4];
        // SAFETY: `self` proves AVX2; the slice has checked that there are four doubles.
        unsafe { _mm256_loadu_pd(four.as_ptr()) }
    }

    #[inline(always)]
    fn widen(self, from: &[f32; 4]) -> __m256d {
        // SAFETY: `self` proves AVX2; the pointer is that of four floats.
        unsafe { _mm256_cvtps_pd(_mm_loadu_ps(from.as_ptr())) }
    }

    #[inline(always)]
    fn of(self, a: f64, b: f64, c: f64, d: f64) -> __m256d {
        registers!(_mm256_set_pd(d, c, b, a))
    }

    #[inline(always)]
    fn unzip(self, a: __m256d, b: __m256d) -> (__m256d, __m256d) {
        registers!({
            let (low, high) = (
                _mm256_permute2f128_pd::<0x20>(a, b),
                _mm256_permute2f128_pd::<0x31>(a, b),
            );
            (_mm256_unpacklo_pd(low, high), _mm256_unpackhi_pd(low, high))
        })
    }

    #[inline(always)]
    fn transpose(self, a: __m256d, b: __m256d, c: __m256d, d: __m256d) -> [__m256d; 4] {
        registers!({
            let (ab_even, ab_odd) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
            let (cd_even, cd_odd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
            [
                _mm256_permute2f128_pd::<0x20>(ab_even, cd_even),
                _mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd),
                _mm256_permute2f128_pd::<0x31>(ab_even, cd_even),
                _mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd),
            ]
        })
    }

    #[inline(always)]
    fn store(self, x: __m256d, to: &mut Four) {
        // SAFETY: `self` proves AVX2; the pointer is that of four doubles.
        unsafe { _mm256_storeu_pd(to.as_mut_ptr(), x) }
    }

    #[inline(always)]
    fn add(self, a: __m256d, b: __m256d) -> __m256d {
        registers!(_mm256_add_pd(a, b))
    }

    #[inline(always)]
    fn sub(self, a: __m256d, b: __m256d) -> __m256d {
        registers!(_mm256_sub_pd(a, b))
    }

    #[inline(always)]
    fn mul(self, a: __m256d, b: __m256d) -> __m256d {
        registers!(_mm256_mul_pd(a, b))
    }

    #[inline(always)]
    fn abs(self, a: __m256d) -> __m256d {
        registers!(_mm256_andnot_pd(_mm256_set1_pd(-0.0), a))
    }

    #[inline(always)]
    fn lesser(self, a: __m256d, b: __m256d) -> __m256d {
        registers!(_mm256_min_pd(a, b))
    }

    #[inline(always)]
    fn greater(self, a: __m256d, b: __m256d) -> __m256d {
        registers!(_mm256_max_pd(a, b))
    }

    #[inline(always)]
    fn below(self, a: __m256d, b: __m256d) -> __m256d {
        registers!(_mm256_cmp_pd::<_CMP_LT_OQ>(a, b))
    }

    #[inline(always)]
    fn same(self, a: __m256d, b: __m256d) -> __m256d {
        registers!(_mm256_cmp_pd::<_CMP_EQ_OQ>(a, b))
    }

    #[inline(always)]
    fn choose(self, mask: __m256d, yes: __m256d, no: __m256d) -> __m256d {
        registers!(_mm256_blendv_pd(no, yes, mask))
    }

    #[inline(always)]
    fn keep(self, mask: __m256d, x: __m256d) -> __m256d {
        registers!(_mm256_and_pd(mask, x))
    }

    #[inline(always)]
    fn drop(self, mask: __m256d, x: __m256d) -> __m256d {
        registers!(_mm256_andnot_pd(mask, x))
    }

    #[inline(always)]
    fn add_numbers(self, a: __m256d, b: __m256d) -> __m256d {
        registers!({
            let (a, b) = (_mm256_castpd_si256(a), _mm256_castpd_si256(b));
            _mm256_castsi256_pd(_mm256_add_epi64(a, b))
        })
    }

    #[inline(always)]
    fn below_numbers(self, a: __m256d, b: __m256d) -> __m256d {
        registers!({
            let (a, b) = (_mm256_castpd_si256(a), _mm256_castpd_si256(b));
            _mm256_castsi256_pd(_mm256_cmpgt_epi64(b, a))
        })
    }

    #[inline(always)]
    fn holds(self, a: __m256d, b: __m256d) -> __m256d {
        registers!({
            let b = _mm256_castpd_si256(b);
            let common = _mm256_and_si256(_mm256_castpd_si256(a), b);
            _mm256_castsi256_pd(_mm256_cmpeq_epi64(common, b))
        })
    }

    #[inline(always)]
    fn toggle(self, a: __m256d, b: __m256d) -> __m256d {
        registers!(_mm256_xor_pd(a, b))
    }

    #[inline(always)]
    fn below_bits(self, a: __m256d, b: __m256d) -> u32 {
        registers!(_mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(a, b)) as u32)
    }

    #[inline(always)]
    fn same_bits(self, a: __m256d, b: __m256d) -> u32 {
        registers!(_mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(a, b)) as u32)
    }

    #[inline(always)]
    fn matches(self, a: __m256d, b: __m256d) -> __m256d {
        registers!({
            let (a, b) = (_mm256_castpd_si256(a), _mm256_castpd_si256(b));
            _mm256_castsi256_pd(_mm256_cmpeq_epi64(a, b))
        })
    }

    #[inline(always)]
    fn most(self, a: __m256d) -> f64 {
        registers!({
            let halves = _mm_max_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
            _mm_cvtsd_f64(_mm_max_sd(halves, _mm_unpackhi_pd(halves, halves)))
        })
    }

    #[inline(always)]
    fn least(self, a: __m256d) -> f64 {
        registers!({
            let halves = _mm_min_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
            _mm_cvtsd_f64(_mm_min_sd(halves, _mm_unpackhi_pd(halves, halves)))
        })
    }

    #[inline(always)]
    fn total(self, a: __m256d) -> f64 {
        registers!({
            let halves = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
            _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)))
        })
    }

    #[inline(always)]
    fn splat_shorts(self, x: i16) -> __m256i {
        registers!(_mm256_set1_epi16(x))
    }

    #[inline(always)]
    fn load_shorts(self, from: &Sixteen) -> __m256i {
        // SAFETY: `self` proves AVX2; the pointer is that of 32 bytes.
        unsafe { _mm256_loadu_si256(from.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store_shorts(self, x: __m256i, to: &mut Sixteen) {
        // SAFETY: `self` proves AVX2; the pointer is that of 32 bytes.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), x) }
    }

    #[inline(always)]
    fn to_shorts(self, x: [__m256d; 4]) -> __m256i {
        registers!({
            let a = _mm256_castsi128_si256(_mm256_cvtpd_epi32(x[0]));
            let b = _mm256_castsi128_si256(_mm256_cvtpd_epi32(x[1]));
            // Halves are packed by themselves: first 0 and 1, then 2 and 3.
            let a = _mm256_inserti128_si256::<1>(a, _mm256_cvtpd_epi32(x[2]));
            let b = _mm256_inserti128_si256::<1>(b, _mm256_cvtpd_epi32(x[3]));
            _mm256_packs_epi32(a, b)
        })
    }

    #[inline(always)]
    fn sub_shorts(self, a: __m256i, b: __m256i) -> __m256i {
        registers!(_mm256_subs_epi16(a, b))
    }

    #[inline(always)]
    fn add_shorts(self, a: __m256i, b: __m256i) -> __m256i {
        registers!(_mm256_adds_epi16(a, b))
    }

    #[inline(always)]
    fn keep_shorts(self, mask: __m256i, x: __m256i) -> __m256i {
        registers!(_mm256_and_si256(mask, x))
    }

    #[inline(always)]
    fn narrow(self, masks: [__m256d; 4]) -> __m256i {
        registers!({
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| _mm256_castpd_si256(masks[i]));
            // Two shorts for every lane, then one; halves are packed by themselves.
            let (ab, cd) = (_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
            let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            _mm256_permutevar8x32_epi32(_mm256_packs_epi32(ab, cd), order)
        })
    }

    #[inline(always)]
    fn lesser_shorts(self, a: __m256i, b: __m256i) -> __m256i {
        registers!(_mm256_min_epi16(a, b))
    }

    #[inline(always)]
    fn greater_shorts(self, a: __m256i, b: __m256i) -> __m256i {
        registers!(_mm256_max_epi16(a, b))
    }

    #[inline(always)]
    fn below_shorts(self, a: __m256i, b: __m256i) -> __m256i {
        registers!(_mm256_cmpgt_epi16(b, a))
    }

    #[inline(always)]
    fn same_shorts(self, a: __m256i, b: __m256i) -> __m256i {
        registers!(_mm256_cmpeq_epi16(a, b))
    }

    #[inline(always)]
    fn choose_shorts(self, mask: __m256i, yes: __m256i, no: __m256i) -> __m256i {
        registers!(_mm256_blendv_epi8(no, yes, mask))
    }

    #[inline(always)]
    fn short_mask_bits(self, mask: __m256i) -> u32 {
        registers!(_mm256_movemask_epi8(mask) as u32)
    }

    #[inline(always)]
    fn least_short(self, a: __m256i) -> i16 {
        registers!({
            let halves = _mm_min_epi16(_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a));
            // The least without a sign is at hand: the sign bit is turned there and back.
            let turned = _mm_xor_si128(halves, _mm_set1_epi16(i16::MIN));
            (_mm_cvtsi128_si32(_mm_minpos_epu16(turned)) as i16) ^ i16::MIN
        })
    }
}
