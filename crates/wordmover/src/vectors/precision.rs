//! The three ways in which the native form stores a number, and the
//! conversions between them and `f32`.
//!
//! Everything is little-endian and decoded from byte chunks, so that a row may
//! stand at any address of a mapped file.

use std::fmt;
use std::str::FromStr;

/// How each value of a vector is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Four bytes: exact.
    F32,
    /// Two bytes: IEEE half precision, rounded to nearest, ties to even.
    F16,
    /// One byte, and one `f32` scale per word: the largest magnitude of the
    /// row / 127. Values are rounded to the nearest multiple of the scale.
    Int8,
}

impl Precision {
    /// The name used in files and on command lines: `f32`, `f16` or `int8`.
    pub fn as_str(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::F16 => "f16",
            Precision::Int8 => "int8",
        }
    }

    /// Bytes per value, not counting int8's scales.
    pub(super) fn n_bytes(self) -> usize {
        match self {
            Precision::F32 => 4,
            Precision::F16 => 2,
            Precision::Int8 => 1,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a precision that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown precision `{0}`, expected f32, f16 or int8")]
pub struct UnknownPrecision(String);

impl FromStr for Precision {
    type Err = UnknownPrecision;

    fn from_str(name: &str) -> Result<Self, UnknownPrecision> {
        [Precision::F32, Precision::F16, Precision::Int8]
            .into_iter()
            .find(|precision| precision.as_str() == name)
            .ok_or_else(|| UnknownPrecision(name.to_owned()))
    }
}

/// The value of a row that cannot be stored, because it is not finite or too large.
#[derive(Debug, PartialEq)]
pub(super) struct Unrepresentable(pub(super) f32);

/// Whether every value that an int8 row with this scale can hold is finite.
pub(super) fn usable_scale(scale: f32) -> bool {
    // 128 and not 127: a file written elsewhere may hold -128.
    scale >= 0.0 && (scale * 128.0).is_finite()
}

/// Appends the stored form of `row` to `out` and returns its scale, which is 1
/// unless the precision is int8.
pub(super) fn encode(
    row: &[f32],
    precision: Precision,
    out: &mut Vec<u8>,
) -> Result<f32, Unrepresentable> {
    if let Some(&value) = row.iter().find(|value| !value.is_finite()) {
        return Err(Unrepresentable(value));
    }
    match precision {
        Precision::F32 => {
            out.extend(row.iter().flat_map(|value| value.to_le_bytes()));
            Ok(1.0)
        }
        Precision::F16 => {
            for &value in row {
                let half = to_half(value);
                if half & HALF_INFINITY == HALF_INFINITY {
                    return Err(Unrepresentable(value));
                }
                out.extend(half.to_le_bytes());
            }
            Ok(1.0)
        }
        Precision::Int8 => encode_int8(row, out),
    }
}

/// Half precision: a bit of sign, five of exponent, ten of fraction.
const HALF_SIGN: u16 = 0x8000;
const HALF_INFINITY: u16 = 0x7c00;

/// The least normal number of half precision: 2^-14.
const HALF_NORMAL: u16 = 0x0400;

/// What single precision has more of: bits of fraction, and the bias of the exponent in place.
const FRACTION_BITS: u32 = 13;
const BIAS: u32 = (127 - 15) << 23;

/// A finite number in half precision, rounded to nearest, ties to even; infinity if it is too large.
fn to_half(value: f32) -> u16 {
    let magnitude = value.abs().to_bits();
    let rounded = if magnitude < from_half(HALF_NORMAL).to_bits() {
        // Below there are the multiples of 2^-24, and so are single-precision numbers from 0.5.
        (value.abs() + 0.5).to_bits() - 0.5f32.to_bits()
    } else {
        let is_odd = magnitude >> FRACTION_BITS & 1;
        let half_a_unit = (1 << (FRACTION_BITS - 1)) - 1 + is_odd;
        (magnitude - BIAS + half_a_unit) >> FRACTION_BITS
    };
    let sign = if value.is_sign_negative() {
        HALF_SIGN
    } else {
        0
    };
    sign | rounded.min(u32::from(HALF_INFINITY)) as u16
}

/// The same number in single precision.
fn from_half(half: u16) -> f32 {
    let magnitude = half & !HALF_SIGN;
    let bits = u32::from(magnitude) << FRACTION_BITS;
    let value = if magnitude < HALF_NORMAL {
        f32::from(magnitude) * 2f32.powi(-24)
    } else if magnitude < HALF_INFINITY {
        f32::from_bits(bits + BIAS)
    } else if magnitude == HALF_INFINITY {
        f32::INFINITY
    } else {
        f32::NAN
    };
    if half == magnitude { value } else { -value }
}

fn encode_int8(row: &[f32], out: &mut Vec<u8>) -> Result<f32, Unrepresentable> {
    let largest = row
        .iter()
        .copied()
        .max_by(|a, b| a.abs().total_cmp(&b.abs()))
        .unwrap_or(0.0);
    let scale = largest.abs() / 127.0;
    if !usable_scale(scale) {
        return Err(Unrepresentable(largest));
    }
    if scale == 0.0 {
        // All zero, or so small that the scale underflows: nothing to divide by.
        out.resize(out.len() + row.len(), 0);
        return Ok(0.0);
    }
    // The clamp matters only where the scale is subnormal and itself rounded.
    out.extend(row.iter().map(|value| {
        let steps = (value / scale).round().clamp(-127.0, 127.0);
        (steps as i8).cast_unsigned()
    }));
    Ok(scale)
}

/// Writes the values stored in `bytes` to `out`. `bytes` must hold exactly
/// `out.len()` of them.
pub(super) fn decode(bytes: &[u8], precision: Precision, scale: f32, out: &mut [f32]) {
    debug_assert_eq!(bytes.len(), out.len() * precision.n_bytes());
    match precision {
        Precision::F32 => {
            for (value, &stored) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *value = f32::from_le_bytes(stored);
            }
        }
        Precision::F16 => {
            for (value, &stored) in out.iter_mut().zip(bytes.as_chunks::<2>().0) {
                *value = from_half(u16::from_le_bytes(stored));
            }
        }
        Precision::Int8 => {
            for (value, &stored) in out.iter_mut().zip(bytes) {
                *value = f32::from(stored.cast_signed()) * scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(row: &[f32], precision: Precision) -> Vec<f32> {
        let mut bytes = Vec::new();
        let scale = encode(row, precision, &mut bytes).expect("representable");
        let mut decoded = vec![f32::NAN; row.len()];
        decode(&bytes, precision, scale, &mut decoded);
        decoded
    }

    proptest! {
        #[test]
        fn f32_is_exact(row in prop::collection::vec(-1e30f32..1e30, 0..40)) {
            prop_assert_eq!(round_trip(&row, Precision::F32), row);
        }

        #[test]
        fn f16_is_off_by_half_a_unit_in_the_last_place(row in prop::collection::vec(-100f32..100.0, 0..40)) {
            for (&got, &want) in round_trip(&row, Precision::F16).iter().zip(&row) {
                // Eleven significant bits; below 2^-14 the spacing is 2^-24.
                let bound = (want.abs() * 2f32.powi(-11)).max(2f32.powi(-25));
                prop_assert!((got - want).abs() <= bound, "{} became {}", want, got);
            }
        }

        #[test]
        fn int8_is_off_by_half_a_step(row in prop::collection::vec(-100f32..100.0, 1..40)) {
            let largest = row.iter().fold(0f32, |largest, value| largest.max(value.abs()));
            for (&got, &want) in round_trip(&row, Precision::Int8).iter().zip(&row) {
                let bound = largest / 127.0 * 0.5 * (1.0 + 1e-4);
                prop_assert!((got - want).abs() <= bound, "{} became {}", want, got);
            }
        }
    }

    #[test]
    fn every_number_of_half_precision_is_what_its_bits_say() {
        for half in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(half >> 10 & 31), f32::from(half & 1023));
            let magnitude = match (exponent, half & 1023) {
                (0, _) => fraction * 2f32.powi(-24),
                (31, 0) => f32::INFINITY,
                (31, _) => f32::NAN,
                _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
            };
            let got = from_half(half);
            assert!(got.abs() == magnitude || got.is_nan() && magnitude.is_nan());
            assert_eq!(got.is_sign_negative(), half >= HALF_SIGN, "{half:#06x}");
            if got.is_finite() {
                assert_eq!(to_half(got), half);
            }
        }
    }

    #[test]
    fn what_is_between_two_numbers_of_half_precision_becomes_the_nearer() {
        for half in 0..HALF_INFINITY {
            // Infinity takes the place of 2^16 here.
            let next = match half + 1 {
                HALF_INFINITY => 65536.0,
                next => from_half(next),
            };
            let middle = (from_half(half) + next) / 2.0;
            for (value, want) in [
                (middle.next_down(), half),
                (middle, half + half % 2),
                (middle.next_up(), half + 1),
                (next.next_down(), half + 1),
            ] {
                assert_eq!(to_half(value), want, "{value:e}");
                assert_eq!(to_half(-value), HALF_SIGN | want, "{value:e}");
            }
        }
        assert_eq!(to_half(f32::MAX), HALF_INFINITY);
    }

    #[test]
    fn int8_keeps_zeros_and_extremes() {
        assert_eq!(round_trip(&[0.0, 0.0], Precision::Int8), [0.0, 0.0]);
        assert_eq!(round_trip(&[1e-45, 0.0], Precision::Int8), [0.0, 0.0]);
        assert_eq!(
            round_trip(&[127.0, -127.0, 1.0], Precision::Int8),
            [127.0, -127.0, 1.0]
        );
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let mut out = Vec::new();
        for precision in [Precision::F32, Precision::F16, Precision::Int8] {
            assert!(encode(&[0.0, f32::NAN], precision, &mut out).is_err());
            assert!(encode(&[f32::NEG_INFINITY], precision, &mut out).is_err());
        }
        assert_eq!(
            encode(&[1.0, -70000.0], Precision::F16, &mut out),
            Err(Unrepresentable(-70000.0))
        );
        assert_eq!(
            encode(&[f32::MAX], Precision::Int8, &mut out),
            Err(Unrepresentable(f32::MAX))
        );
        assert!(usable_scale(0.0));
        assert!(!usable_scale(-1.0) && !usable_scale(f32::NAN) && !usable_scale(3e36));
    }

    #[test]
    fn names_are_read_back() {
        for precision in [Precision::F32, Precision::F16, Precision::Int8] {
            assert_eq!(precision.as_str().parse(), Ok(precision));
        }
        let error = "F32".parse::<Precision>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown precision `F32`, expected f32, f16 or int8"
        );
    }
}
