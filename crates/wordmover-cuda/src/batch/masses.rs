//! Weights of the two sides of a problem as integers with one sum.

/// Counts are looked for up to this sum of a side.
const MOST_COUNTED: f64 = (1u32 << 24) as f64;

/// How large the least count may be.
const LEAST_COUNT: u32 = 8;

/// Bits of the sum of weights that are no counts.
const BITS: i32 = 52;

/// Sides whose sums differ by more are not for the device: which of the many plans between them
/// is meant is the library's choice.
const BALANCE: f64 = 1e-12;

/// Supplies, then demands, all above zero, with the same sum on both sides, and what a unit is
/// in weights; none if the weights are not numbers of one sum.
///
/// Counts over their total become counts again, times what makes the sums equal: so masses that
/// meet exactly still do, and no crumbs are left to move. Others become multiples of 2^-52 of
/// the total, and the largest demand takes what rounding leaves.
pub(super) fn integers(supply: &[f64], demand: &[f64]) -> Option<(Vec<i64>, f64)> {
    let is_positive = |w: &f64| w.is_finite() && *w > 0.0;
    if supply.is_empty() || demand.is_empty() || !supply.iter().chain(demand).all(is_positive) {
        return None;
    }
    let (total, other): (f64, f64) = (supply.iter().sum(), demand.iter().sum());
    let is_balanced = (total - other).abs() <= BALANCE * total;
    if !is_balanced || !(1e-200..1e200).contains(&total) {
        return None;
    }
    let mut masses = Vec::with_capacity(supply.len() + demand.len());
    if let (Some(supplied), Some(demanded)) = (counts(supply), counts(demand)) {
        let common = supplied.sum / greatest_common_divisor(supplied.sum, demanded.sum);
        let sum = common * demanded.sum;
        masses.extend(
            supply
                .iter()
                .map(|w| supplied.of(*w) * (sum / supplied.sum)),
        );
        masses.extend(demand.iter().map(|w| demanded.of(*w) * common));
        return Some((masses, total / sum as f64));
    }
    let exponent = (total.to_bits() >> 52) as i32 - 1023 + 1;
    let unit = f64::from_bits(((exponent - BITS + 1023) as u64) << 52);
    let weights = supply.iter().chain(demand);
    masses.extend(weights.map(|w| ((w / unit).round() as i64).max(1)));
    let (sent, received) = masses.split_at_mut(supply.len());
    let left_over = sent.iter().sum::<i64>() - received.iter().sum::<i64>();
    let largest = received.iter_mut().max()?;
    *largest += left_over;
    (*largest > 0).then_some((masses, unit))
}

/// Counts in proportion to weights.
struct Counts {
    factor: f64,
    sum: i64,
}

impl Counts {
    fn of(&self, weight: f64) -> i64 {
        (weight * self.factor).round() as i64
    }
}

fn counts(weights: &[f64]) -> Option<Counts> {
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let total: f64 = weights.iter().sum();
    (1..=LEAST_COUNT).find_map(|count| {
        let factor = f64::from(count) / least;
        let is_whole = |w: &f64| {
            let x = w * factor;
            (x - x.round()).abs() <= 1e-13 * x
        };
        let is_counted = total * factor <= MOST_COUNTED && weights.iter().all(is_whole);
        is_counted.then(|| {
            let counts = Counts { factor, sum: 0 };
            let sum = weights.iter().map(|w| counts.of(*w)).sum();
            Counts { factor, sum }
        })
    })
}

fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over_total(counts: &[i64]) -> Vec<f64> {
        let total: i64 = counts.iter().sum();
        counts.iter().map(|&c| c as f64 / total as f64).collect()
    }

    #[test]
    fn counts_meet_exactly() {
        let (supply, demand) = (over_total(&[3, 5, 7, 2]), over_total(&[4, 4, 3]));
        let (masses, unit) = integers(&supply, &demand).expect("counts");
        assert_eq!(masses, [33, 55, 77, 22, 68, 68, 51]);
        assert!((unit * 187.0 - 1.0).abs() < 1e-15);
        let (masses, _) = integers(&[0.25; 4], &[0.5; 2]).expect("counts");
        assert_eq!(masses, [1, 1, 1, 1, 2, 2]);
    }

    #[test]
    fn other_weights_have_one_sum_and_are_close() {
        let supply = [0.1234, 0.5, 1e-30, 0.3766];
        let demand = [0.7, 0.1, 0.2];
        let (masses, unit) = integers(&supply, &demand).expect("balanced");
        assert_eq!(
            masses[..4].iter().sum::<i64>(),
            masses[4..].iter().sum::<i64>()
        );
        for (mass, weight) in masses.iter().zip(supply.iter().chain(&demand)) {
            assert!(*mass > 0 && (*mass as f64 * unit - weight).abs() <= 4.0 * unit);
        }
    }

    #[test]
    fn weights_that_do_not_balance_are_left_to_the_library() {
        assert_eq!(integers(&[0.5, 0.5], &[1.0 + 1e-10]), None);
        assert_eq!(integers(&[0.5, f64::NAN], &[1.0]), None);
        assert_eq!(integers(&[1.0, -1.0], &[1.0]), None);
        assert_eq!(integers(&[], &[1.0]), None);
        assert_eq!(integers(&[1e-310], &[1e-310]), None);
    }
}
