//! Two sinks: a weighted median.
//!
//! What a source costs more at the first sink than at the second, `d[i]`, decides: those
//! with the least go to the first sink until it is full. So all there is to find is the
//! value `t` at which it becomes full,
//!
//! ```text
//! mass of d < t  <  demand of the first sink  <=  mass of d <= t
//! ```
//!
//! and sorting does that. Before, two guesses narrow down what has to be sorted: `t` is near
//! the mean for even demands, and how far from it follows from the mass below the first
//! guess and the spread of `d`. They need to be good, not right; a guess on the wrong side
//! leaves more to sort.
//!
//! Nothing here is rounded to a grid: only comparisons decide, and they need no sums.

use super::given::Given;
use super::lanes::{Four, Simd};
use super::workspace::Workspace;

/// Up to this many sources are sorted as they are.
const FEW: usize = 16;

/// Standard deviations per unit of mass near the median of normal values.
const SPREAD: f64 = 2.5;

/// The second guess aims past the goal by this many standard errors of the first's mass, to
/// be on its other side.
const PAST: f64 = 0.4;

/// A source: how much more it costs at the first sink, and its number.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Preference {
    difference: f64,
    source: u32,
}

/// Sums over the sources.
struct Sums<L> {
    second_cost: L,
    difference: L,
    square: L,
}

impl Workspace {
    /// The optimal cost.
    #[inline(always)]
    pub(super) fn solve_two_sinks<S: Simd>(&mut self, simd: S, given: Given) -> f64 {
        let n = given.supply.len();
        let n_blocks = n.div_ceil(4);
        let mut sums = Sums {
            second_cost: simd.splat(0.0),
            difference: simd.splat(0.0),
            square: simd.splat(0.0),
        };
        self.compare::<S>(simd, given, &mut sums);
        let masses = &self.masses[..n_blocks];
        let differences = &self.columns[..n_blocks];

        let demand = given.demand[0];
        let total = demand + given.demand[1];
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        if n > FEW {
            let mean = simd.total(sums.difference) / total;
            let deviation = (simd.total(sums.square) / total - mean * mean)
                .max(0.0)
                .sqrt();
            let step = SPREAD * deviation / total;
            let error = PAST * total / (n as f64).sqrt();
            let mut guess = mean + step * (demand - 0.5 * total);
            for _ in 0..3 {
                let excess = mass_up_to(simd, differences, masses, guess) - demand;
                let past = if excess < 0.0 {
                    low = guess;
                    -error
                } else {
                    high = guess;
                    error
                };
                if low > f64::NEG_INFINITY && high < f64::INFINITY {
                    break;
                }
                guess -= step * (excess + past);
            }
        }

        // What is up to `low` goes to the first sink; what is up to `high` may.
        let (lows, highs) = (simd.splat(low), simd.splat(high));
        let (mut below, mut below_cost) = (simd.splat(0.0), simd.splat(0.0));
        let mut n_open = 0;
        let open = &mut self.preferences[..4 * n_blocks];
        for (block, (difference, mass)) in differences.iter().zip(masses).enumerate() {
            let (d, mass) = (simd.load(difference), simd.load(mass));
            let is_above = simd.below(lows, d);
            let first = simd.drop(is_above, mass);
            below = simd.add(below, first);
            below_cost = simd.add(below_cost, simd.drop(is_above, simd.mul(d, mass)));
            let mut middle = simd.below_bits(lows, d) & !simd.below_bits(highs, d);
            while middle != 0 {
                let lane = middle.trailing_zeros() as usize % 4;
                middle &= middle - 1;
                open[n_open] = Preference {
                    difference: difference[lane],
                    source: (4 * block + lane) as u32,
                };
                n_open += 1;
            }
        }
        let open = &mut open[..n_open];
        sort(open);
        let masses = self.masses.as_flattened();
        let mut room = demand - simd.total(below);
        let mut cost = simd.total(sums.second_cost) + simd.total(below_cost);
        let mut threshold = low;
        for next in open.iter() {
            let mass = masses[next.source as usize];
            threshold = next.difference;
            if mass >= room {
                break;
            }
            room -= mass;
            cost += mass * next.difference;
        }
        if room > 0.0 {
            cost += room * threshold;
        }
        self.room[0] = demand;
        self.duals[0] = [threshold; 4];
        self.duals[1] = [0.0; 4];
        cost
    }

    /// Differences of the costs into `columns`, supplies into `masses`.
    #[inline(always)]
    fn compare<S: Simd>(&mut self, simd: S, given: Given, sums: &mut Sums<S::Lanes>) {
        let Given { costs, supply, .. } = given;
        let n = supply.len();
        let (fours, rest) = supply.as_chunks::<4>();
        let stored = self.columns.iter_mut().zip(&mut self.masses);
        if given.is_turned {
            let (first, second) = costs.split_at(n);
            let costs = first
                .as_chunks::<4>()
                .0
                .iter()
                .zip(second.as_chunks::<4>().0);
            for ((mass, (first, second)), stored) in fours.iter().zip(costs).zip(stored) {
                let costs = (simd.load(first), simd.load(second));
                compare_four(simd, costs, simd.load(mass), stored, sums);
            }
        } else {
            let costs = costs.as_chunks::<8>().0;
            for ((mass, pairs), stored) in fours.iter().zip(costs).zip(stored) {
                let pairs = pairs.as_chunks::<4>().0;
                let costs = simd.unzip(simd.load(&pairs[0]), simd.load(&pairs[1]));
                compare_four(simd, costs, simd.load(mass), stored, sums);
            }
        }
        if !rest.is_empty() {
            // Sources that are not there are the last, without mass.
            let mut mass = [0.0; 4];
            mass[..rest.len()].copy_from_slice(rest);
            let mut both = [[0.0; 4]; 2];
            for lane in 0..4 {
                let source = (n - rest.len() + lane).min(n - 1);
                both[0][lane] = given.cost(source, 0);
                both[1][lane] = given.cost(source, 1);
            }
            let costs = (simd.load(&both[0]), simd.load(&both[1]));
            let block = fours.len();
            let stored = (&mut self.columns[block], &mut self.masses[block]);
            compare_four(simd, costs, simd.load(&mass), stored, sums);
        }
    }

    /// The plan that [`solve_two_sinks`](Self::solve_two_sinks) found: what every source
    /// sends to either sink. Those at the threshold fill the first, in their order.
    pub(super) fn flows_to_two(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        let differences = self.columns.as_flattened();
        let masses = self.masses.as_flattened();
        let sources = differences.iter().zip(masses).take(self.n_sources);
        let threshold = self.duals[0][0];
        let below = sources.clone().filter(|(d, _)| **d < threshold);
        let mut room = self.room[0] - below.map(|(_, mass)| mass).sum::<f64>();
        sources.map(move |(&difference, &mass)| {
            let first = if difference == threshold {
                let first = mass.min(room.max(0.0));
                room -= first;
                first
            } else if difference < threshold {
                mass
            } else {
                0.0
            };
            [first, mass - first]
        })
    }
}

#[inline(always)]
fn compare_four<S: Simd>(
    simd: S,
    (first, second): (S::Lanes, S::Lanes),
    mass: S::Lanes,
    (stored, stored_mass): (&mut Four, &mut Four),
    sums: &mut Sums<S::Lanes>,
) {
    let difference = simd.sub(first, second);
    simd.store(difference, stored);
    simd.store(mass, stored_mass);
    let weighted = simd.mul(difference, mass);
    sums.second_cost = simd.add(sums.second_cost, simd.mul(second, mass));
    sums.difference = simd.add(sums.difference, weighted);
    sums.square = simd.add(sums.square, simd.mul(difference, weighted));
}

/// The mass of the sources whose difference is at most `most`.
#[inline(always)]
fn mass_up_to<S: Simd>(simd: S, differences: &[Four], masses: &[Four], most: f64) -> f64 {
    let most = simd.splat(most);
    let mut sum = simd.splat(0.0);
    for (difference, mass) in differences.iter().zip(masses) {
        let is_above = simd.below(most, simd.load(difference));
        sum = simd.add(sum, simd.drop(is_above, simd.load(mass)));
    }
    simd.total(sum)
}

/// By difference, ascending.
#[inline(always)]
fn sort(preferences: &mut [Preference]) {
    if preferences.len() > 64 {
        preferences.sort_unstable_by(|a, b| a.difference.total_cmp(&b.difference));
        return;
    }
    for i in 1..preferences.len() {
        let preference = preferences[i];
        let mut place = i;
        while place > 0 && preferences[place - 1].difference > preference.difference {
            preferences[place] = preferences[place - 1];
            place -= 1;
        }
        preferences[place] = preference;
    }
}
