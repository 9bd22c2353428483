//! Four doubles or sixteen short integers at a time, with one meaning on every machine.
//!
//! The solver is written once over [`Simd`] and compiled for each implementation:
//! [`Portable`], plain arrays that any compiler can deal with, and on x86-64
//! [`Avx2`](crate::instruction_sets::Avx2). A value of the type is the proof that the machine has the
//! instructions, so the operations are safe to call. All of them are exact or
//! correctly rounded, sums of four are taken in one order, and nothing is fused: both
//! implementations give the same bits, which a test checks.

#[cfg(target_arch = "x86_64")]
mod avx2;

pub(crate) use crate::instruction_sets::Portable;

/// Four consecutive doubles in memory.
pub type Four = [f64; 4];

/// Sixteen consecutive whole numbers of 16 bits in memory.
pub type Sixteen = [i16; 16];

/// Infinitely far, four times.
pub(super) const FAR: Four = [f64::INFINITY; 4];

/// A whole number in a lane, as bits: it can be chosen, and [added](Simd::add_numbers) and
/// [compared](Simd::below_numbers) as a number, but is no double to calculate with. As a double it
/// is subnormal, so a processor may be told to take it for zero.
#[inline(always)]
pub(super) const fn number(n: usize) -> f64 {
    f64::from_bits(n as u64)
}

/// Operations on four doubles.
pub trait Simd: Copy {
    /// Whether this is what nearly all processors of the architecture run. What is not is compiled
    /// without variants for sizes known to the compiler: they take long to compile, and give the
    /// same bits.
    const IS_MAIN: bool;

    /// Four doubles in a register, or the like.
    type Lanes: Copy;
    /// Sixteen whole numbers of 16 bits in a register, or the like.
    type Shorts: Copy;

    /// Asks for what will be read soon. May do nothing.
    fn prefetch<T>(self, from: &T);

    fn splat(self, x: f64) -> Self::Lanes;
    fn load(self, from: &Four) -> Self::Lanes;
    /// Four from `at` on.
    fn load_at(self, from: &[f64], at: usize) -> Self::Lanes;
    /// Four of single precision.
    fn widen(self, from: &[f32; 4]) -> Self::Lanes;
    fn of(self, a: f64, b: f64, c: f64, d: f64) -> Self::Lanes;
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
    /// Adds whole numbers kept in the lanes' bits; see `number`.
    fn add_numbers(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// A mask: where `a < b`, as whole numbers of 64 bits with a sign kept in the lanes' bits.
    fn below_numbers(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// A mask: where the bits of `a` have all those of `b`.
    fn holds(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// Exclusive or of the bits.
    fn toggle(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// One bit per lane: where `a < b`.
    fn below_bits(self, a: Self::Lanes, b: Self::Lanes) -> u32;
    /// One bit per lane: where `a == b`.
    fn same_bits(self, a: Self::Lanes, b: Self::Lanes) -> u32;
    /// A mask: where the bits are the same.
    fn matches(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// The greatest of the four.
    fn most(self, a: Self::Lanes) -> f64;
    /// The least of the four.
    fn least(self, a: Self::Lanes) -> f64;
    /// `(a[0] + a[2]) + (a[1] + a[3])`.
    fn total(self, a: Self::Lanes) -> f64;

    fn splat_shorts(self, x: i16) -> Self::Shorts;
    fn load_shorts(self, from: &Sixteen) -> Self::Shorts;
    fn store_shorts(self, x: Self::Shorts, to: &mut Sixteen);
    /// The nearest whole numbers, the even one of two, of sixteen doubles from -2^15 up to
    /// 2^15 - 1.
    fn to_shorts(self, x: [Self::Lanes; 4]) -> Self::Shorts;
    /// Differences, or the nearest that 16 bits can hold.
    fn sub_shorts(self, a: Self::Shorts, b: Self::Shorts) -> Self::Shorts;
    /// Sums, or the nearest that 16 bits can hold.
    fn add_shorts(self, a: Self::Shorts, b: Self::Shorts) -> Self::Shorts;
    /// `x` where the mask is set, zero elsewhere.
    fn keep_shorts(self, mask: Self::Shorts, x: Self::Shorts) -> Self::Shorts;
    /// A mask of sixteen lanes, from four masks of four.
    fn narrow(self, masks: [Self::Lanes; 4]) -> Self::Shorts;
    fn lesser_shorts(self, a: Self::Shorts, b: Self::Shorts) -> Self::Shorts;
    fn greater_shorts(self, a: Self::Shorts, b: Self::Shorts) -> Self::Shorts;
    /// A mask: where `a < b`.
    fn below_shorts(self, a: Self::Shorts, b: Self::Shorts) -> Self::Shorts;
    /// A mask: where `a == b`.
    fn same_shorts(self, a: Self::Shorts, b: Self::Shorts) -> Self::Shorts;
    /// `yes` where the mask is set, `no` elsewhere.
    fn choose_shorts(self, mask: Self::Shorts, yes: Self::Shorts, no: Self::Shorts)
    -> Self::Shorts;
    /// Two bits per lane of a mask.
    fn short_mask_bits(self, mask: Self::Shorts) -> u32;
    /// The least of the sixteen.
    fn least_short(self, a: Self::Shorts) -> i16;
}

const SET: f64 = f64::from_bits(u64::MAX);

#[inline(always)]
fn mask(set: bool) -> f64 {
    if set { SET } else { 0.0 }
}

#[inline(always)]
fn lane_by_lane(f: impl Fn(usize) -> f64) -> Four {
    [f(0), f(1), f(2), f(3)]
}

#[inline(always)]
fn short_by_short(f: impl Fn(usize) -> i16) -> Sixteen {
    let mut shorts = [0; 16];
    for l in 0..16 {
        shorts[l] = f(l);
    }
    shorts
}

/// Arrays of four.
impl Simd for Portable {
    const IS_MAIN: bool = !cfg!(target_arch = "x86_64");

    type Lanes = Four;
    type Shorts = Sixteen;

    #[inline(always)]
    fn prefetch<T>(self, _from: &T) {}

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
    fn widen(self, from: &[f32; 4]) -> Four {
        lane_by_lane(|l| f64::from(from[l]))
    }

    #[inline(always)]
    fn of(self, a: f64, b: f64, c: f64, d: f64) -> Four {
        [a, b, c, d]
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
    fn below_numbers(self, a: Four, b: Four) -> Four {
        lane_by_lane(|l| mask((a[l].to_bits() as i64) < b[l].to_bits() as i64))
    }

    #[inline(always)]
    fn holds(self, a: Four, b: Four) -> Four {
        lane_by_lane(|l| mask(a[l].to_bits() & b[l].to_bits() == b[l].to_bits()))
    }

    #[inline(always)]
    fn toggle(self, a: Four, b: Four) -> Four {
        lane_by_lane(|l| f64::from_bits(a[l].to_bits() ^ b[l].to_bits()))
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
    fn matches(self, a: Four, b: Four) -> Four {
        lane_by_lane(|l| mask(a[l].to_bits() == b[l].to_bits()))
    }

    #[inline(always)]
    fn most(self, a: Four) -> f64 {
        let greater = |x, y| if x > y { x } else { y };
        greater(greater(a[0], a[2]), greater(a[1], a[3]))
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

    #[inline(always)]
    fn splat_shorts(self, x: i16) -> Sixteen {
        [x; 16]
    }

    #[inline(always)]
    fn load_shorts(self, from: &Sixteen) -> Sixteen {
        *from
    }

    #[inline(always)]
    fn store_shorts(self, x: Sixteen, to: &mut Sixteen) {
        *to = x;
    }

    #[inline(always)]
    fn to_shorts(self, x: [Four; 4]) -> Sixteen {
        let mut shorts = [0; 16];
        for (short, x) in shorts.iter_mut().zip(x.as_flattened()) {
            // Leaves no bits for anything finer than 1, and the whole number in the last ones.
            *short = (x + 6_755_399_441_055_744.0).to_bits() as i16;
        }
        shorts
    }

    #[inline(always)]
    fn sub_shorts(self, a: Sixteen, b: Sixteen) -> Sixteen {
        short_by_short(|l| a[l].saturating_sub(b[l]))
    }

    #[inline(always)]
    fn add_shorts(self, a: Sixteen, b: Sixteen) -> Sixteen {
        short_by_short(|l| a[l].saturating_add(b[l]))
    }

    #[inline(always)]
    fn keep_shorts(self, mask: Sixteen, x: Sixteen) -> Sixteen {
        short_by_short(|l| mask[l] & x[l])
    }

    #[inline(always)]
    fn narrow(self, masks: [Four; 4]) -> Sixteen {
        short_by_short(|l| masks[l / 4][l % 4].to_bits() as i16)
    }

    #[inline(always)]
    fn lesser_shorts(self, a: Sixteen, b: Sixteen) -> Sixteen {
        short_by_short(|l| a[l].min(b[l]))
    }

    #[inline(always)]
    fn greater_shorts(self, a: Sixteen, b: Sixteen) -> Sixteen {
        short_by_short(|l| a[l].max(b[l]))
    }

    #[inline(always)]
    fn below_shorts(self, a: Sixteen, b: Sixteen) -> Sixteen {
        short_by_short(|l| -i16::from(a[l] < b[l]))
    }

    #[inline(always)]
    fn same_shorts(self, a: Sixteen, b: Sixteen) -> Sixteen {
        short_by_short(|l| -i16::from(a[l] == b[l]))
    }

    #[inline(always)]
    fn choose_shorts(self, mask: Sixteen, yes: Sixteen, no: Sixteen) -> Sixteen {
        short_by_short(|l| if mask[l] == 0 { no[l] } else { yes[l] })
    }

    #[inline(always)]
    fn short_mask_bits(self, mask: Sixteen) -> u32 {
        (0..16)
            .map(|l| (u32::from(mask[l] != 0) * 3) << (2 * l))
            .sum()
    }

    #[inline(always)]
    fn least_short(self, a: Sixteen) -> i16 {
        a.into_iter().fold(i16::MAX, i16::min)
    }
}
