//! Rounding to a grid on which all the solver's sums are exact.

use super::lanes::Simd;

/// The least double above zero.
const LEAST: f64 = f64::from_bits(1);

/// Multiples of a power of two.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Grid {
    /// Adding it leaves no bits for anything finer than the grid.
    shift: f64,
    unit: f64,
}

impl Grid {
    /// The grid whose unit is `2^-bits` of the least power of two above `largest`.
    pub fn below(largest: f64, bits: i32) -> Self {
        let exponent = (largest.to_bits() >> 52) as i32 - 1023 + 1;
        Grid {
            shift: 1.5 * power_of_two(exponent - bits + 52),
            // Below the normal range all doubles are multiples of the least.
            unit: power_of_two(exponent - bits).max(LEAST),
        }
    }

    /// Whether the unit is a normal number, so that there are tags below it.
    pub fn is_normal(self) -> bool {
        self.unit >= f64::MIN_POSITIVE
    }

    /// The distance between multiples; above zero.
    pub fn unit(self) -> f64 {
        self.unit
    }

    /// The nearest multiple; exact for values up to the one the grid was made for.
    #[inline(always)]
    pub fn round(self, value: f64) -> f64 {
        (value + self.shift) - self.shift
    }

    /// The same, four at a time.
    #[inline(always)]
    pub fn round_lanes<S: Simd>(self, simd: S, values: S::Lanes) -> S::Lanes {
        let shift = simd.splat(self.shift);
        simd.sub(simd.add(values, shift), shift)
    }

    /// The values with their multiples of the unit in the last bits.
    #[inline(always)]
    pub fn shift_lanes<S: Simd>(self, simd: S, values: S::Lanes) -> S::Lanes {
        simd.add(values, simd.splat(self.shift))
    }

    /// The same for masses above zero: they stay so.
    #[inline(always)]
    pub fn round_positive<S: Simd>(self, simd: S, masses: S::Lanes) -> S::Lanes {
        simd.greater(self.round_lanes(simd, masses), simd.splat(self.unit))
    }

    /// The same for masses, some of which may be zero, and stay so.
    #[inline(always)]
    pub fn round_masses<S: Simd>(self, simd: S, masses: S::Lanes) -> S::Lanes {
        let rounded = self.round_positive(simd, masses);
        simd.keep(simd.below(simd.splat(0.0), masses), rounded)
    }
}

/// `2^exponent`; 0 below the normal range, where values stay as they are.
fn power_of_two(exponent: i32) -> f64 {
    if exponent < -1022 {
        0.0
    } else {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_to_the_nearest_multiple() {
        let grid = Grid::below(3.0, 4); // unit 4 / 16
        assert_eq!(grid.round(0.3), 0.25);
        assert_eq!(grid.round(-2.9), -3.0);
        assert_eq!(grid.round(3.0), 3.0);
        let tiny = Grid::below(1e-320, 48);
        assert!((tiny.round(1e-320) - 1e-320).abs() < 1e-321);
    }
}
