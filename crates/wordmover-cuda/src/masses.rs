//! Weights as integers.

/// Sum of the integers of weights that are no counts.
const FINE: f64 = (1u32 << 30) as f64;

/// Counts are looked for below this sum.
const MOST_COUNTED: f64 = (1u32 << 24) as f64;

/// How often the rarest word of a bag of counts may occur.
const RAREST: u32 = 8;

/// Integers in proportion to `weights`, and their sum. Weights that are counts over their total
/// become these counts, so that equal masses stay equal and sums that meet a demand exactly
/// still do; others become multiples of 2^-30, and at least one.
pub(crate) fn integer_weights(weights: &[f64], integers: &mut Vec<u32>) -> u32 {
    let start = integers.len();
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    for count in 1..=RAREST {
        let total = (f64::from(count) / least).round();
        let is_whole = |w: &f64| {
            let x = w * total;
            (x - x.round()).abs() <= 1e-9 * x
        };
        if total <= MOST_COUNTED && weights.iter().all(is_whole) {
            integers.extend(weights.iter().map(|w| (w * total).round() as u32));
            return integers[start..].iter().sum();
        }
    }
    integers.extend(weights.iter().map(|w| (w * FINE).round().max(1.0) as u32));
    integers[start..].iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_back() {
        for counts in [&[1u32, 2, 3][..], &[7], &[5, 5], &[2, 3, 3], &[1; 300]] {
            let total: u32 = counts.iter().sum();
            let weights: Vec<f64> = counts
                .iter()
                .map(|&c| f64::from(c) / f64::from(total))
                .collect();
            let mut integers = Vec::new();
            let sum = integer_weights(&weights, &mut integers);
            for (&integer, &count) in integers.iter().zip(counts) {
                assert_eq!(
                    u64::from(integer) * u64::from(total),
                    u64::from(count) * u64::from(sum)
                );
            }
        }
    }

    #[test]
    fn other_weights_are_close_and_never_zero() {
        let raw = [0.3, 0.011, 1e-14, 0.4567];
        let total: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|x| x / total).collect();
        let mut integers = Vec::new();
        let sum = integer_weights(&weights, &mut integers);
        assert!((f64::from(sum) / FINE - 1.0).abs() < 1e-8);
        for (&integer, weight) in integers.iter().zip(weights) {
            assert!(integer >= 1 && (f64::from(integer) - weight * FINE).abs() <= 1.0);
        }
    }
}
