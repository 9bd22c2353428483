//! Newton steps in the primal, for machines on which coordinate descent is slow.
//!
//! Where C is large, or columns are many and much alike, as those of an embedding are,
//! coordinate descent needs hundreds of passes. A Newton step knows how columns depend on
//! each other: with `A` the rows that have slack, it solves `(I + 2 X_A^T C X_A) s =
//! -gradient` by conjugate gradients, each of which costs a pass over `A`, and then halves
//! the step until the objective falls. As in the dual, a column that only one row has needs
//! no weight of its own: those of a row act as one column, whose value is the root of the
//! sum of their squares.
//!
//! At `w` the dual values `2 C_i slack_i` leave a duality gap of half the squared gradient,
//! so the rule for stopping is that of the dual.

use super::dual::{MachineFit, Schedule};
use super::group::Group;
use super::lanes::Lanes;

const MOST_STEPS: usize = 100;
const MOST_HALVINGS: usize = 30;
const SUFFICIENT_DECREASE: f64 = 0.01;
/// How much smaller than the gradient the residual of a step must be.
const CG_TOLERANCE: f64 = 0.1;
const MOST_CG_STEPS: usize = 200;

/// Weights of all machines, or a direction: by column, then one for each row's own columns.
type Vector<const L: usize> = Vec<Lanes<L>>;

impl<const L: usize> Group<'_, L> {
    /// Solves the machines in `running` for this C from where they are. `n_epochs` passes
    /// were made before.
    pub fn solve_primal(
        &mut self,
        cost: f64,
        schedule: Schedule,
        running: &[bool; L],
        n_epochs: usize,
    ) -> Vec<(usize, MachineFit)> {
        let mut newton = Newton::new(self, cost, running);
        let mut fits = Vec::new();
        let mut n_passes = [n_epochs; L];
        for step in 0..=MOST_STEPS {
            newton.find_gradient(self);
            let is_stopped = schedule.is_stopped();
            for lane in 0..self.n_lanes {
                if !newton.running[lane] {
                    continue;
                }
                let gap = 0.5 * newton.gradient_squares[lane];
                let objective = newton.objectives[lane];
                let converged = gap <= schedule.tolerance * objective;
                let is_last =
                    step == MOST_STEPS || n_passes[lane] >= schedule.max_epochs || is_stopped;
                if converged || is_last || newton.stuck[lane] {
                    newton.running[lane] = false;
                    let fit = MachineFit {
                        objective,
                        gap,
                        n_epochs: n_passes[lane],
                        converged,
                    };
                    fits.push((lane, fit));
                }
            }
            if newton.running == [false; L] {
                break;
            }
            let n_cg_steps = newton.find_step(self, schedule);
            newton.search_line(self);
            // The gradient, the preconditioner and the line need one each.
            (0..L).for_each(|l| n_passes[l] += n_cg_steps[l] + 3);
        }
        newton.finish(self, running);
        fits
    }
}

struct Newton<const L: usize> {
    cost: f64,
    running: [bool; L],
    /// No step makes the objective fall any more.
    stuck: [bool; L],
    /// Roots of the rows' own squares.
    roots: Vec<f64>,
    weights: Vector<L>,
    /// Of each row.
    values: Vec<Lanes<L>>,
    /// `2 C_i` of the rows that have slack, for machines that run; 0 of others.
    curvatures: Vec<Lanes<L>>,
    gradient: Vector<L>,
    gradient_squares: Lanes<L>,
    objectives: Lanes<L>,
    step: Vector<L>,
}

impl<const L: usize> Newton<L> {
    fn new(group: &mut Group<L>, cost: f64, running: &[bool; L]) -> Self {
        let n_rows = group.design.n_rows();
        let squares = group.design.alone_squares.iter();
        let roots: Vec<f64> = squares.map(|square| square.sqrt()).collect();
        let mut weights = group.weights.clone();
        for (row, &root) in roots.iter().enumerate() {
            let (signs, alphas) = (&group.signs[row], &group.alphas[row]);
            weights.push(std::array::from_fn(|l| root * (signs[l] * alphas[l])));
        }
        let values = (0..n_rows).map(|row| group.value(row)).collect();
        let n = weights.len();
        Newton {
            cost,
            running: *running,
            stuck: [false; L],
            roots,
            weights,
            values,
            curvatures: vec![[0.0; L]; n_rows],
            gradient: vec![[0.0; L]; n],
            gradient_squares: [0.0; L],
            objectives: [0.0; L],
            step: vec![[0.0; L]; n],
        }
    }

    fn find_gradient(&mut self, group: &mut Group<L>) {
        self.gradient.clone_from(&self.weights);
        let mut losses = [0.0; L];
        let n_columns = group.rows.n_columns();
        for row in 0..self.values.len() {
            let half_inverse = group.half_inverse_costs(row, self.cost);
            let signs = &group.signs[row];
            let mut factors = [0.0; L];
            for l in 0..L {
                let slack = (1.0 - signs[l] * self.values[row][l]).max(0.0);
                let curvature = 1.0 / half_inverse[l];
                losses[l] += 0.5 * curvature * slack * slack;
                let counts = self.running[l] && slack > 0.0;
                self.curvatures[row][l] = if counts { curvature } else { 0.0 };
                factors[l] = -signs[l] * self.curvatures[row][l] * slack;
            }
            if factors != [0.0; L] {
                let (columns, own) = self.gradient.split_at_mut(n_columns);
                group.rows.prepare(row);
                group.rows.add(row, &factors, columns);
                (0..L).for_each(|l| own[row][l] += self.roots[row] * factors[l]);
            }
        }
        let squares = dot(&self.weights, &self.weights);
        self.objectives = std::array::from_fn(|l| 0.5 * squares[l] + losses[l]);
        self.gradient_squares = dot(&self.gradient, &self.gradient);
    }

    /// Conjugate gradients; returns how many each machine took.
    fn find_step(&mut self, group: &mut Group<L>, schedule: Schedule<'_>) -> [usize; L] {
        let preconditioner = self.preconditioner(group);
        let divide = |residual: &Vector<L>, out: &mut Vector<L>| {
            let each = out.iter_mut().zip(residual).zip(&preconditioner);
            each.for_each(|((out, r), m)| (0..L).for_each(|l| out[l] = r[l] / m[l]));
        };
        let mut running = self.running;
        self.step.iter_mut().for_each(|step| *step = [0.0; L]);
        let mut residual = self.gradient.clone();
        residual.iter_mut().flatten().for_each(|r| *r = -*r);
        let mut direction = vec![[0.0; L]; residual.len()];
        divide(&residual, &mut direction);
        let mut preconditioned = direction.clone();
        let mut product = vec![[0.0; L]; residual.len()];
        let mut zr = dot(&preconditioned, &residual);
        let wanted: Lanes<L> =
            std::array::from_fn(|l| CG_TOLERANCE * CG_TOLERANCE * self.gradient_squares[l]);
        let mut n_steps = [0; L];
        for _ in 0..MOST_CG_STEPS {
            if schedule.is_stopped() {
                break;
            }
            self.multiply(group, &running, &direction, &mut product);
            let along = dot(&direction, &product);
            let mut lengths = [0.0; L];
            for l in 0..L {
                running[l] &= along[l] > 0.0 && zr[l] > 0.0;
                lengths[l] = if running[l] { zr[l] / along[l] } else { 0.0 };
                n_steps[l] += usize::from(running[l]);
            }
            add_scaled(&mut self.step, &lengths, &direction);
            add_scaled(&mut residual, &lengths.map(|length| -length), &product);
            let squares = dot(&residual, &residual);
            (0..L).for_each(|l| running[l] &= squares[l] > wanted[l]);
            if running == [false; L] {
                break;
            }
            divide(&residual, &mut preconditioned);
            let next = dot(&preconditioned, &residual);
            let each = direction.iter_mut().zip(&preconditioned);
            let betas: Lanes<L> =
                std::array::from_fn(|l| if zr[l] > 0.0 { next[l] / zr[l] } else { 0.0 });
            each.for_each(|(d, z)| (0..L).for_each(|l| d[l] = betas[l] * d[l] + z[l]));
            zr = next;
        }
        n_steps
    }

    /// The diagonal of the matrix.
    fn preconditioner(&self, group: &mut Group<L>) -> Vector<L> {
        let mut diagonal = vec![[1.0; L]; self.weights.len()];
        let (columns, own) = diagonal.split_at_mut(group.rows.n_columns());
        for (row, curvatures) in self.curvatures.iter().enumerate() {
            if *curvatures != [0.0; L] {
                group.rows.prepare(row);
                group.rows.add_squares(row, curvatures, columns);
                let square = self.roots[row] * self.roots[row];
                (0..L).for_each(|l| own[row][l] += square * curvatures[l]);
            }
        }
        diagonal
    }

    fn multiply(
        &self,
        group: &mut Group<L>,
        running: &[bool; L],
        direction: &Vector<L>,
        product: &mut Vector<L>,
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has AVX2, which is all the function asks for.
            unsafe { multiply_avx2(self, group, running, direction, product) };
            return;
        }
        multiply_portable(self, group, running, direction, product);
    }

    /// Goes along the step as far as the objective allows.
    fn search_line(&mut self, group: &mut Group<L>) {
        let n_columns = group.rows.n_columns();
        let (columns, own) = self.step.split_at(n_columns);
        let changes: Vec<Lanes<L>> = (0..self.values.len())
            .map(|row| {
                let mut change = group.rows.product(row, columns);
                (0..L).for_each(|l| change[l] += self.roots[row] * own[row][l]);
                change
            })
            .collect();
        let slopes = dot(&self.step, &self.gradient);
        let (along, squares) = (dot(&self.step, &self.weights), dot(&self.step, &self.step));
        let norms = dot(&self.weights, &self.weights);
        let mut open = self.running;
        let mut length = 1.0;
        let mut lengths = [0.0; L];
        for _ in 0..MOST_HALVINGS {
            let mut losses = [0.0; L];
            for (row, change) in changes.iter().enumerate() {
                let half_inverse = group.half_inverse_costs(row, self.cost);
                for l in 0..L {
                    let value = self.values[row][l] + length * change[l];
                    let slack = (1.0 - group.signs[row][l] * value).max(0.0);
                    losses[l] += 0.5 * slack * slack / half_inverse[l];
                }
            }
            for l in 0..L {
                let norm = norms[l] + 2.0 * length * along[l] + length * length * squares[l];
                let fall = losses[l] + 0.5 * norm - self.objectives[l];
                if open[l] && fall <= SUFFICIENT_DECREASE * length * slopes[l] {
                    open[l] = false;
                    lengths[l] = length;
                }
            }
            if open == [false; L] {
                break;
            }
            length *= 0.5;
        }
        (0..L).for_each(|l| self.stuck[l] |= open[l]);
        add_scaled(&mut self.weights, &lengths, &self.step);
        add_scaled(&mut self.values, &lengths, &changes);
    }

    /// Gives the group the weights, and dual values that belong to them.
    fn finish(self, group: &mut Group<L>, solved: &[bool; L]) {
        let (columns, own) = self.weights.split_at(group.rows.n_columns());
        for l in (0..L).filter(|&l| solved[l]) {
            group.is_primal[l] = true;
            for (to, from) in group.weights.iter_mut().zip(columns) {
                to[l] = from[l];
            }
            for row in 0..self.values.len() {
                let sign = group.signs[row][l];
                let root = self.roots[row];
                group.alphas[row][l] = if root > 0.0 {
                    sign * own[row][l] / root
                } else {
                    let slack = (1.0 - sign * self.values[row][l]).max(0.0);
                    slack / group.half_inverse_costs(row, self.cost)[l]
                };
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn multiply_avx2<const L: usize>(
    newton: &Newton<L>,
    group: &mut Group<L>,
    running: &[bool; L],
    direction: &Vector<L>,
    product: &mut Vector<L>,
) {
    multiply_portable(newton, group, running, direction, product);
}

/// `(I + 2 X_A^T C X_A) direction`.
#[inline(always)]
fn multiply_portable<const L: usize>(
    newton: &Newton<L>,
    group: &mut Group<L>,
    running: &[bool; L],
    direction: &Vector<L>,
    product: &mut Vector<L>,
) {
    product.clone_from(direction);
    let n_columns = group.rows.n_columns();
    let (columns, own) = direction.split_at(n_columns);
    let (out_columns, out_own) = product.split_at_mut(n_columns);
    for (row, curvatures) in newton.curvatures.iter().enumerate() {
        let mut factors = [0.0; L];
        (0..L).for_each(|l| factors[l] = if running[l] { curvatures[l] } else { 0.0 });
        if factors == [0.0; L] {
            continue;
        }
        let value = group.rows.product(row, columns);
        let root = newton.roots[row];
        for l in 0..L {
            factors[l] *= value[l] + root * own[row][l];
            out_own[row][l] += root * factors[l];
        }
        group.rows.add(row, &factors, out_columns);
    }
}

fn dot<const L: usize>(a: &[Lanes<L>], b: &[Lanes<L>]) -> Lanes<L> {
    let mut sums = [0.0; L];
    for (a, b) in a.iter().zip(b) {
        (0..L).for_each(|l| sums[l] += a[l] * b[l]);
    }
    sums
}

fn add_scaled<const L: usize>(a: &mut [Lanes<L>], factors: &Lanes<L>, b: &[Lanes<L>]) {
    for (a, b) in a.iter_mut().zip(b) {
        (0..L).for_each(|l| a[l] += factors[l] * b[l]);
    }
}
