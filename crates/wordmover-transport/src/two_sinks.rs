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

use super::lanes::{Four, Simd};
use super::problem::Problem;
use super::workspace::grow;

/// Up to this many sources are sorted as they are.
const FEW: usize = 16;

/// Standard deviations per unit of mass near the median of normal values.
const SPREAD: f64 = 2.5;

/// The second guess aims past the goal by this many standard errors of the first's mass, to
/// be on its other side.
const PAST: f64 = 0.4;

/// A source: how much more it costs at the first sink, and its number.
#[derive(Debug, Clone, Copy, Default)]
struct Preference {
    difference: f64,
    source: u32,
}

/// Sums over the sources.
struct Sums<L> {
    second_cost: L,
    difference: L,
    square: L,
}

/// The solver's memory.
#[derive(Debug, Default)]
pub(super) struct TwoSinks {
    n_sources: usize,
    /// What sources cost more at the first sink, four to a block, and their masses.
    differences: Vec<Four>,
    masses: Vec<Four>,
    /// Sources to be sorted.
    preferences: Vec<Preference>,
    /// Of the first sink.
    demand: f64,
    /// Sources with a lesser difference go to the first sink: its dual value, if that of the
    /// second is zero.
    threshold: f64,
}

impl TwoSinks {
    /// The optimal cost.
    #[inline(always)]
    pub(super) fn solve<S: Simd>(&mut self, simd: S, problem: Problem) -> f64 {
        let n = problem.supply.len();
        let n_blocks = n.div_ceil(4);
        self.n_sources = n;
        if n_blocks > self.masses.len() {
            self.make_room(n_blocks);
        }
        let mut sums = Sums {
            second_cost: simd.splat(0.0),
            difference: simd.splat(0.0),
            square: simd.splat(0.0),
        };
        self.compare::<S>(simd, problem, &mut sums);
        let masses = &self.masses[..n_blocks];
        let differences = &self.differences[..n_blocks];

        let demand = problem.demand[0];
        let total = demand + problem.demand[1];
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
        self.demand = demand;
        self.threshold = threshold;
        cost
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, n_blocks: usize) {
        grow(&mut self.differences, n_blocks);
        grow(&mut self.masses, n_blocks);
        grow(&mut self.preferences, 4 * n_blocks);
    }

    /// Fills `differences` and `masses`.
    #[inline(always)]
    fn compare<S: Simd>(&mut self, simd: S, problem: Problem, sums: &mut Sums<S::Lanes>) {
        let Problem { costs, supply, .. } = problem;
        let n = supply.len();
        let (fours, rest) = supply.as_chunks::<4>();
        let stored = self.differences.iter_mut().zip(&mut self.masses);
        if problem.is_by_sinks {
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
                both[0][lane] = problem.cost(source, 0);
                both[1][lane] = problem.cost(source, 1);
            }
            let costs = (simd.load(&both[0]), simd.load(&both[1]));
            let block = fours.len();
            let stored = (&mut self.differences[block], &mut self.masses[block]);
            compare_four(simd, costs, simd.load(&mass), stored, sums);
        }
    }

    /// Visits the plan of the problem solved last: source, sink and mass. Sources at the
    /// threshold fill the first sink, in their order.
    pub(super) fn each_flow(&self, mut visit: impl FnMut(usize, usize, f64)) {
        let differences = self.differences.as_flattened();
        let masses = self.masses.as_flattened();
        let sources = differences.iter().zip(masses).take(self.n_sources);
        let below = sources.clone().filter(|(d, _)| **d < self.threshold);
        let mut room = self.demand - below.map(|(_, mass)| mass).sum::<f64>();
        for (source, (&difference, &mass)) in sources.enumerate() {
            let first = if difference == self.threshold {
                let first = mass.min(room.max(0.0));
                room -= first;
                first
            } else if difference < self.threshold {
                mass
            } else {
                0.0
            };
            visit(source, 0, first);
            visit(source, 1, mass - first);
        }
    }

    /// The dual values of the sinks.
    pub(super) fn sink_duals(&self) -> Vec<f64> {
        vec![self.threshold, 0.0]
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
