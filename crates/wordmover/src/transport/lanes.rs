//! Four doubles at a time, with one meaning on every machine.
//!
//! The solver is written once over [`Simd`] and compiled for each implementation:
//! [`Portable`], plain arrays that any compiler can deal with, and on x86-64
//! [`Avx2`]. A value of the type is the proof that the machine has the
//! instructions, so the operations are safe to call. All of them are exact or
//! correctly rounded, sums of four are taken in one order, and nothing is fused: both
//! implementations give the same bits, which a test checks.

/// Four consecutive doubles in memory.
pub(super) type Four = [f64; 4];

/// Infinitely far, four times.
pub(super) const FAR: Four = [f64::INFINITY; 4];

/// A whole number in a lane, as bits: it can be chosen and added like this, but is no
/// double to calculate with.
#[inline(always)]
pub(super) const fn number(n: usize) -> f64 {
    f64::from_bits(n as u64)
}

/// Operations on four doubles.
pub(super) trait Simd: Copy {
    /// Four doubles in a register, or the like.
    type Lanes: Copy;

    /// Whether it works everywhere, and fast nowhere.
    const IS_PORTABLE: bool;

    fn splat(self, x: f64) -> Self::Lanes;
    fn load(self, from: &Four) -> Self::Lanes;
    /// Four from `at` on.
    fn load_at(self, from: &[f64], at: usize) -> Self::Lanes;
    fn of(self, a: f64, b: f64, c: f64, d: f64) -> Self::Lanes;
    /// The first of the four at each of the places given as [`number`]s; the last of
    /// `from`, which has at least one, for a place beyond it.
    fn gather(self, from: &[Four], places: Self::Lanes) -> Self::Lanes;
    /// The first and the second of four pairs.
    fn unzip(self, a: Self::Lanes, b: Self::Lanes) -> (Self::Lanes, Self::Lanes);
    /// Columns from rows.
    fn transpose(
        self,
        a: Self::Lanes,
        b: Self::Lanes,
        c: Self::Lanes,
        d: Self::Lanes,
    ) -> [Self::Lanes; 4];
    fn store(self, x: Self::Lanes, to: &mut Four);
    fn add(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn sub(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn mul(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn abs(self, a: Self::Lanes) -> Self::Lanes;
    /// `if a < b { a } else { b }`, lane by lane.
    fn lesser(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// `if a > b { a } else { b }`, lane by lane.
    fn greater(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// A mask: where `a < b`.
    fn below(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// A mask: where `a == b`.
    fn same(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// `yes` where the mask is set, `no` elsewhere.
    fn choose(self, mask: Self::Lanes, yes: Self::Lanes, no: Self::Lanes) -> Self::Lanes;
    /// `x` where the mask is set, zero elsewhere.
    fn keep(self, mask: Self::Lanes, x: Self::Lanes) -> Self::Lanes;
    /// Zero where the mask is set, `x` elsewhere.
    fn drop(self, mask: Self::Lanes, x: Self::Lanes) -> Self::Lanes;
    /// Adds whole numbers kept in the lanes' bits; see [`number`].
    fn add_numbers(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// One bit per lane: where `a < b`.
    fn below_bits(self, a: Self::Lanes, b: Self::Lanes) -> u32;
    /// One bit per lane: where `a == b`.
    fn same_bits(self, a: Self::Lanes, b: Self::Lanes) -> u32;
    /// The least of the four.
    fn least(self, a: Self::Lanes) -> f64;
    /// `(a[0] + a[2]) + (a[1] + a[3])`.
    fn total(self, a: Self::Lanes) -> f64;
}

/// Arrays of four.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portable;

const SET: f64 = f64::from_bits(u64::MAX);

#[inline(always)]
fn mask(set: bool) -> f64 {
    if set { SET } else { 0.0 }
}

#[inline(always)]
fn lane_by_lane(f: impl Fn(usize) -> f64) -> Four {
    [f(0), f(1), f(2), f(3)]
}

impl Simd for Portable {
    type Lanes = Four;

    const IS_PORTABLE: bool = true;

    #[inline(always)]
    fn splat(self, x: f64) -> Four {
        [x; 4]
    }

    #[inline(always)]
    fn load(self, from: &Four) -> Four {
        *from
    }

    #[inline(always)]
    fn load_at(self, from: &[f64], at: usize) -> Four {
        let four = &from[at..][..4];
        lane_by_lane(|l| four[l])
    }

    #[inline(always)]
    fn of(self, a: f64, b: f64, c: f64, d: f64) -> Four {
        [a, b, c, d]
    }

    #[inline(always)]
    fn gather(self, from: &[Four], places: Four) -> Four {
        places.map(|place| from[(place.to_bits() as usize).min(from.len() - 1)][0])
    }

    #[inline(always)]
    fn unzip(self, a: Four, b: Four) -> (Four, Four) {
        ([a[0], a[2], b[0], b[2]], [a[1], a[3], b[1], b[3]])
    }

    #[inline(always)]
    fn transpose(self, a: Four, b: Four, c: Four, d: Four) -> [Four; 4] {
        [0, 1, 2, 3].map(|l| [a[l], b[l], c[l], d[l]])
    }

    #[inline(always)]
    fn store(self, x: Four, to: &mut Four) {
        *to = x;
    }

    #[inline(always)]
    fn add(self, a: Four, b: Four) -> Four {
        lane_by_lane(|l| a[l] + b[l])
    }

    #[inline(always)]
    fn sub(self, a: Four, b: Four) -> Four {
        lane_by_lane(|l| a[l] - b[l])
    }

    #[inline(always)]
    fn mul(self, a: Four, b: Four) -> Four {
        lane_by_lane(|l| a[l] * b[l])
    }

    #[inline(always)]
    fn abs(self, a: Four) -> Four {
        a.map(f64::abs)
    }

    #[inline(always)]
    fn lesser(self, a: Four, b: Four) -> Four {
        lane_by_lane(|l| if a[l] < b[l] { a[l] } else { b[l] })
    }

    #[inline(always)]
    fn greater(self, a: Four, b: Four) -> Four {
        lane_by_lane(|l| if a[l] > b[l] { a[l] } else { b[l] })
    }

    #[inline(always)]
    fn below(self, a: Four, b: Four) -> Four {
        lane_by_lane(|l| mask(a[l] < b[l]))
    }

    #[inline(always)]
    fn same(self, a: Four, b: Four) -> Four {
        lane_by_lane(|l| mask(a[l] == b[l]))
    }

    #[inline(always)]
    fn choose(self, mask: Four, yes: Four, no: Four) -> Four {
        lane_by_lane(|l| {
            if mask[l].to_bits() == 0 {
                no[l]
            } else {
                yes[l]
            }
        })
    }

    #[inline(always)]
    fn keep(self, mask: Four, x: Four) -> Four {
        lane_by_lane(|l| f64::from_bits(mask[l].to_bits() & x[l].to_bits()))
    }

    #[inline(always)]
    fn drop(self, mask: Four, x: Four) -> Four {
        lane_by_lane(|l| f64::from_bits(!mask[l].to_bits() & x[l].to_bits()))
    }

    #[inline(always)]
    fn add_numbers(self, a: Four, b: Four) -> Four {
        lane_by_lane(|l| f64::from_bits(a[l].to_bits().wrapping_add(b[l].to_bits())))
    }

    #[inline(always)]
    fn below_bits(self, a: Four, b: Four) -> u32 {
        (0..4).map(|l| u32::from(a[l] < b[l]) << l).sum()
    }

    #[inline(always)]
    fn same_bits(self, a: Four, b: Four) -> u32 {
        (0..4).map(|l| u32::from(a[l] == b[l]) << l).sum()
    }

    #[inline(always)]
    fn least(self, a: Four) -> f64 {
        let lesser = |x, y| if x < y { x } else { y };
        lesser(lesser(a[0], a[2]), lesser(a[1], a[3]))
    }

    #[inline(always)]
    fn total(self, a: Four) -> f64 {
        (a[0] + a[2]) + (a[1] + a[3])
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256d, _CMP_EQ_OQ, _CMP_LT_OQ, _mm_add_pd, _mm_add_sd, _mm_cvtsd_f64, _mm_min_pd,
        _mm_min_sd, _mm_unpackhi_pd, _mm256_add_epi64, _mm256_add_pd, _mm256_and_pd,
        _mm256_andnot_pd, _mm256_blendv_pd, _mm256_castpd_si256, _mm256_castpd256_pd128,
        _mm256_castsi256_pd, _mm256_cmp_pd, _mm256_extractf128_pd, _mm256_i64gather_pd,
        _mm256_loadu_pd, _mm256_max_pd, _mm256_min_pd, _mm256_movemask_pd, _mm256_mul_pd,
        _mm256_permute2f128_pd, _mm256_set_pd, _mm256_set1_pd, _mm256_slli_epi64, _mm256_storeu_pd,
        _mm256_sub_pd, _mm256_unpackhi_pd, _mm256_unpacklo_pd,
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

        const IS_PORTABLE: bool = false;

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
        fn below_bits(self, a: __m256d, b: __m256d) -> u32 {
            unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(a, b)) as u32 }
        }

        #[inline(always)]
        fn same_bits(self, a: __m256d, b: __m256d) -> u32 {
            unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(a, b)) as u32 }
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
}
