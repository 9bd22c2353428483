//! Coordinate descent in the dual.
//!
//! The dual of `min |w|^2 / 2 + sum_i C_i max(0, 1 - y_i w x_i)^2` is, with `w = sum_i a_i
//! y_i x_i`,
//!
//! ```text
//! max over a >= 0 of  sum_i a_i - |w|^2 / 2 - sum_i a_i^2 / (4 C_i)
//! ```
//!
//! Rows are visited in a random order, a new one in each pass. A row's dual value moves to
//! where the dual is greatest along it: with `G = y w x - 1 + a / (2 C)`, to `max(0, a - G /
//! (x x + 1 / (2 C)))` (Hsieh et al., ICML 2008; LIBLINEAR's `-s 1`). Differences:
//!
//! - Several machines go through the rows together, a lane each: a column's number is read
//!   once for all, and weights of a column lie in one cache line. All machines visit rows in
//!   the same order, but each leaves out its own rows that seem done (those at 0 whose `G`
//!   is above the greatest of the last pass), so what a machine finds does not depend on its
//!   company, nor on the number of threads.
//! - It stops when the duality gap, a sum over rows of `C (slack - a / (2 C))^2`, or of `a
//!   (margin - 1) + a^2 / (4 C)` where there is no slack, is a share of the objective. The
//!   terms as met on the way say when a pass over all rows, without moves, is worth it.
//! - From one C to the next all dual values are multiplied by the one factor that is best.

use std::ops::ControlFlow;

use crate::split::shuffle;

use super::group::Group;
use super::lanes::Lanes;
use super::params::LinearParams;

/// Passes after which Newton steps take over: soon where rows are more than columns, and
/// hardly ever where they are fewer. `docs/svm.md` has the measurements.
const MOST_DUAL_EPOCHS_TALL: usize = 20;
const MOST_DUAL_EPOCHS_WIDE: usize = 2000;

/// How the solution of one machine was found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MachineFit {
    /// `|w|^2 / 2 + sum of C_i times squared hinge losses`, for columns as they were used
    /// (standardised and weighted, if they were).
    pub objective: f64,
    /// The objective less that of the dual: it is at most this far from the least.
    pub gap: f64,
    /// Passes over the rows.
    pub n_epochs: usize,
    /// Whether the gap is as small as asked for.
    pub converged: bool,
}

/// What a pass found, summed over the rows that it visited.
#[derive(Debug, Clone, Copy)]
struct Pass<const L: usize> {
    /// Duality gap.
    gap: Lanes<L>,
    /// Losses times C.
    loss: Lanes<L>,
    /// `sum of a y w x`, which is `|w|^2`.
    square: Lanes<L>,
    /// Greatest projected gradient.
    greatest: Lanes<L>,
}

impl<const L: usize> Pass<L> {
    fn objective(&self, lane: usize) -> f64 {
        0.5 * self.square[lane] + self.loss[lane]
    }
}

/// When a solver stops, and in which order it goes.
#[derive(Clone, Copy)]
pub(crate) struct Schedule<'a> {
    pub tolerance: f64,
    pub max_epochs: usize,
    pub seed: u64,
    /// Called before every pass. If it breaks, machines are left as they are.
    progress: &'a (dyn Fn() -> ControlFlow<()> + Sync),
}

impl<'a> Schedule<'a> {
    pub fn is_stopped(&self) -> bool {
        (self.progress)().is_break()
    }

    pub fn of(params: &LinearParams, progress: &'a (dyn Fn() -> ControlFlow<()> + Sync)) -> Self {
        Schedule {
            tolerance: params.tolerance,
            max_epochs: params.max_epochs,
            seed: params.seed,
            progress,
        }
    }
}

impl<const L: usize> Group<'_, L> {
    /// Solves for this C, beginning where the machines are.
    pub fn solve(&mut self, cost: f64, schedule: Schedule) -> Vec<MachineFit> {
        self.return_to_dual();
        self.rescale(cost);
        let n = self.design.n_rows();
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut running: u8 = ((1u16 << self.n_lanes) - 1) as u8;
        // Bit by bit the machines for which a row is visited.
        let mut visited = vec![running; n];
        let mut limit = [f64::INFINITY; L];
        let mut fits = vec![None; self.n_lanes];
        let most_epochs = if n < self.rows.n_columns() {
            MOST_DUAL_EPOCHS_WIDE
        } else {
            MOST_DUAL_EPOCHS_TALL
        };
        let most_epochs = most_epochs.min(schedule.max_epochs);
        for epoch in 1..=most_epochs {
            shuffle(&mut order, schedule.seed, epoch as u64);
            let pass = self.descend(cost, &order, &mut visited, &limit);
            let is_last = epoch == schedule.max_epochs || schedule.is_stopped();
            let seems_done = |lane: usize| {
                is_last || pass.gap[lane] <= schedule.tolerance * pass.objective(lane)
            };
            let lanes = (0..self.n_lanes).filter(|lane| running & (1 << lane) != 0);
            let lanes: Vec<usize> = lanes.collect();
            for &lane in &lanes {
                let greatest = pass.greatest[lane];
                limit[lane] = if greatest > 0.0 {
                    greatest
                } else {
                    f64::INFINITY
                };
            }
            if lanes.iter().any(|&lane| seems_done(lane)) {
                let exact = self.evaluate(cost);
                for &lane in lanes.iter().filter(|&&lane| seems_done(lane)) {
                    let (gap, objective) = (exact.gap[lane], exact.objective(lane));
                    let converged = gap <= schedule.tolerance * objective;
                    let bit = 1 << lane;
                    if converged || is_last {
                        running &= !bit;
                        visited.iter_mut().for_each(|visited| *visited &= !bit);
                        fits[lane] = Some(MachineFit {
                            objective,
                            gap,
                            n_epochs: epoch,
                            converged,
                        });
                    } else {
                        visited.iter_mut().for_each(|visited| *visited |= bit);
                        limit[lane] = f64::INFINITY;
                    }
                }
            }
            if running == 0 {
                break;
            }
        }
        if running != 0 {
            let running = std::array::from_fn(|lane| running & (1 << lane) != 0);
            for (lane, fit) in self.solve_primal(cost, schedule, &running, most_epochs) {
                fits[lane] = Some(fit);
            }
        }
        fits.into_iter().flatten().collect()
    }

    /// Makes weights the sum of the rows times dual values again, and those positive.
    fn return_to_dual(&mut self) {
        let is_primal = std::mem::replace(&mut self.is_primal, [false; L]);
        if is_primal == [false; L] {
            return;
        }
        for weights in &mut self.weights {
            (0..L).for_each(|l| weights[l] = if is_primal[l] { 0.0 } else { weights[l] });
        }
        for row in 0..self.design.n_rows() {
            let mut factors = [0.0; L];
            for l in (0..L).filter(|&l| is_primal[l]) {
                let alpha = self.alphas[row][l].max(0.0);
                self.alphas[row][l] = alpha;
                factors[l] = self.signs[row][l] * alpha;
            }
            if factors != [0.0; L] {
                self.rows.prepare(row);
                self.add_row(row, &factors);
            }
        }
    }

    /// Multiplies all dual values by what makes the dual greatest.
    fn rescale(&mut self, cost: f64) {
        let mut squares = self.squared_norms();
        let mut sums = [0.0; L];
        for row in 0..self.design.n_rows() {
            let half_inverse = self.half_inverse_costs(row, cost);
            for l in 0..L {
                let alpha = self.alphas[row][l];
                sums[l] += alpha;
                squares[l] += alpha * alpha * half_inverse[l];
            }
        }
        let factors = std::array::from_fn(|l| {
            if squares[l] > 0.0 {
                sums[l] / squares[l]
            } else {
                1.0
            }
        });
        if factors != [1.0; L] {
            self.multiply(&factors);
        }
    }

    /// One pass in this order over the rows that are visited.
    fn descend(
        &mut self,
        cost: f64,
        order: &[u32],
        visited: &mut [u8],
        limit: &Lanes<L>,
    ) -> Pass<L> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2, which is all the function asks for.
            return unsafe { descend_avx2(self, cost, order, visited, limit) };
        }
        descend_portable(self, cost, order, visited, limit)
    }

    /// The same sums over all rows, without moves.
    fn evaluate(&mut self, cost: f64) -> Pass<L> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2, which is all the function asks for.
            return unsafe { evaluate_avx2(self, cost) };
        }
        evaluate_portable(self, cost)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn descend_avx2<const L: usize>(
    group: &mut Group<L>,
    cost: f64,
    order: &[u32],
    visited: &mut [u8],
    limit: &Lanes<L>,
) -> Pass<L> {
    descend_portable(group, cost, order, visited, limit)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn evaluate_avx2<const L: usize>(group: &mut Group<L>, cost: f64) -> Pass<L> {
    evaluate_portable(group, cost)
}

#[inline(always)]
fn descend_portable<const L: usize>(
    group: &mut Group<L>,
    cost: f64,
    order: &[u32],
    visited: &mut [u8],
    limit: &Lanes<L>,
) -> Pass<L> {
    let mut pass = Pass {
        gap: [0.0; L],
        loss: [0.0; L],
        square: [0.0; L],
        greatest: [f64::NEG_INFINITY; L],
    };
    for &row in order {
        let row = row as usize;
        let bits = visited[row];
        if bits == 0 {
            continue;
        }
        let value = group.value(row);
        let half_inverse = group.half_inverse_costs(row, cost);
        let square = group.squares[row];
        let signs = group.signs[row];
        let alphas = group.alphas[row];
        let mut factors = [0.0; L];
        let mut moved = false;
        let mut left_out = 0;
        for l in 0..L {
            let is_visited = bits >> l & 1 != 0;
            let term = Term::new(signs[l] * value[l], alphas[l], half_inverse[l]);
            let next = (alphas[l] - term.gradient / (square + half_inverse[l])).max(0.0);
            let at_bound = alphas[l] == 0.0 && term.gradient > 0.0;
            let change = if is_visited { next - alphas[l] } else { 0.0 };
            factors[l] = signs[l] * change;
            moved |= change != 0.0;
            group.alphas[row][l] += change;
            let counted = if is_visited { 1.0 } else { 0.0 };
            pass.gap[l] += counted * term.gap;
            pass.loss[l] += counted * term.loss;
            pass.square[l] += counted * (alphas[l] * term.margin);
            left_out |= u8::from(at_bound && term.gradient > limit[l]) << l;
            if is_visited && !at_bound {
                pass.greatest[l] = pass.greatest[l].max(term.gradient);
            }
        }
        visited[row] = bits & !left_out;
        if moved {
            group.add_row(row, &factors);
        }
    }
    pass
}

#[inline(always)]
fn evaluate_portable<const L: usize>(group: &mut Group<L>, cost: f64) -> Pass<L> {
    let mut pass = Pass {
        gap: [0.0; L],
        loss: [0.0; L],
        square: [0.0; L],
        greatest: [f64::NEG_INFINITY; L],
    };
    for row in 0..group.design.n_rows() {
        let value = group.value(row);
        let half_inverse = group.half_inverse_costs(row, cost);
        for l in 0..L {
            let alpha = group.alphas[row][l];
            let term = Term::new(group.signs[row][l] * value[l], alpha, half_inverse[l]);
            pass.gap[l] += term.gap;
            pass.loss[l] += term.loss;
            pass.square[l] += alpha * term.margin;
        }
    }
    pass
}

/// A row in the eyes of one machine.
struct Term {
    margin: f64,
    /// Of the dual's negative.
    gradient: f64,
    loss: f64,
    gap: f64,
}

impl Term {
    #[inline(always)]
    fn new(margin: f64, alpha: f64, half_inverse: f64) -> Self {
        let slack = 1.0 - margin;
        let gradient = alpha * half_inverse - slack;
        let positive = slack.max(0.0);
        let gap = if slack > 0.0 {
            0.5 * gradient * gradient / half_inverse
        } else {
            alpha * (0.5 * alpha * half_inverse - slack)
        };
        Term {
            margin,
            gradient,
            loss: 0.5 * positive * positive / half_inverse,
            gap,
        }
    }
}
