//! Several machines that are solved together, a lane each.

use super::design::{Design, HeldOut, Weight};
use super::lanes::Lanes;
use super::params::{ClassWeights, LinearParams};
use super::row_access::RowAccess;
use super::targets::Targets;

/// The state of up to `L` machines.
#[derive(Debug)]
pub(crate) struct Group<'a, const L: usize> {
    pub design: &'a Design<'a>,
    pub n_lanes: usize,
    /// Shared sparse columns, dense columns, bias.
    pub weights: Vec<Lanes<L>>,
    /// Dual values, for each row.
    pub alphas: Vec<Lanes<L>>,
    /// +1 for the rows of a machine's class, -1 for others.
    pub signs: Vec<Lanes<L>>,
    /// Each row's product with itself.
    pub squares: Vec<f64>,
    /// One over twice the weight of each row: `1 / (2 C_i)` is this, divided by C and by
    /// the weight of the row's side in the machine.
    pub half_inverses: Vec<f64>,
    /// One over the weight of the rows of the class, and of the others.
    pub side_inverses: [Lanes<L>; 2],
    pub rows: RowAccess<'a>,
    /// Machines whose weights were found in the primal: they are not the sum of their rows
    /// times dual values.
    pub is_primal: [bool; L],
}

impl<'a, const L: usize> Group<'a, L> {
    /// The machines from `first` on, at 0.
    pub fn new(
        design: &'a Design<'a>,
        targets: &Targets,
        params: &LinearParams,
        first: usize,
        n_lanes: usize,
    ) -> Self {
        let n = design.n_rows();
        let rows = RowAccess::new(design, params);
        let bias = rows.bias;
        let mut signs = vec![[-1.0; L]; n];
        for (signs, &row) in signs.iter_mut().zip(design.rows()) {
            for &position in targets.positions(row) {
                let lane = (position as usize).checked_sub(first);
                if let Some(sign) = lane.and_then(|lane| signs[..n_lanes].get_mut(lane)) {
                    *sign = 1.0;
                }
            }
        }
        let dense_weight = params.dense_weight;
        let of_dense = dense_weight * dense_weight;
        let each = design.sparse_squares.iter().zip(&design.dense_squares);
        let squares = each.map(|(sparse, dense)| sparse + of_dense * dense + bias * bias);
        let each = design.rows().iter();
        let half_inverses = each.map(|&row| 0.5 / targets.row_weight(row));
        Group {
            design,
            n_lanes,
            weights: vec![[0.0; L]; rows.n_columns()],
            alphas: vec![[0.0; L]; n],
            signs,
            squares: squares.collect(),
            half_inverses: half_inverses.collect(),
            side_inverses: side_inverses(design, targets, &params.class_weights, first, n_lanes),
            rows,
            is_primal: [false; L],
        }
    }

    /// `1 / (2 C_i)` of a row in each machine.
    #[inline(always)]
    pub fn half_inverse_costs(&self, row: usize, cost: f64) -> Lanes<L> {
        let of_row = self.half_inverses[row] / cost;
        let [positive, negative] = &self.side_inverses;
        let signs = &self.signs[row];
        std::array::from_fn(|l| {
            of_row
                * if signs[l] > 0.0 {
                    positive[l]
                } else {
                    negative[l]
                }
        })
    }

    /// Each machine's value of a training row; prepares it for [`add_row`](Self::add_row).
    #[inline(always)]
    pub fn value(&mut self, row: usize) -> Lanes<L> {
        let mut value = self.rows.product(row, &self.weights);
        let alone = self.design.alone_squares[row];
        let (signs, alphas) = (&self.signs[row], &self.alphas[row]);
        for l in 0..L {
            value[l] += alone * (signs[l] * alphas[l]);
        }
        value
    }

    /// Adds multiples of the row whose value was taken last to the weights.
    #[inline(always)]
    pub fn add_row(&mut self, row: usize, factors: &Lanes<L>) {
        self.rows.add(row, factors, &mut self.weights);
    }

    /// Multiplies weights and dual values.
    pub fn multiply(&mut self, factors: &Lanes<L>) {
        for lanes in self.weights.iter_mut().chain(&mut self.alphas) {
            (0..L).for_each(|l| lanes[l] *= factors[l]);
        }
    }

    /// Squared length of each machine's weights, those of columns of one row among them.
    pub fn squared_norms(&self) -> Lanes<L> {
        let mut norms = [0.0; L];
        for weights in &self.weights {
            (0..L).for_each(|l| norms[l] += weights[l] * weights[l]);
        }
        for (alphas, alone) in self.alphas.iter().zip(&self.design.alone_squares) {
            (0..L).for_each(|l| norms[l] += alone * alphas[l] * alphas[l]);
        }
        norms
    }

    /// Each machine's value of rows held out.
    pub fn held_out_values(&mut self, held_out: &HeldOut) -> Vec<Lanes<L>> {
        let design = self.design;
        let mut values = Vec::with_capacity(held_out.rows.len());
        for (position, &row) in held_out.rows.iter().enumerate() {
            let (shared_row, dense_row) = (
                held_out.shared_row(position),
                design.blocks().dense_row(row),
            );
            let mut value = self.rows.product_of(shared_row, dense_row, &self.weights);
            let (rows, products) = held_out.alone_row(position);
            for (&row, product) in rows.iter().zip(products) {
                let (signs, alphas) = (&self.signs[row as usize], &self.alphas[row as usize]);
                (0..L).for_each(|l| value[l] += product * (signs[l] * alphas[l]));
            }
            values.push(value);
        }
        values
    }

    /// Weights for features as they came, and intercepts: `weight(column, lane, weight)`,
    /// dense columns behind the sparse ones.
    pub fn fold_back(&self, mut weight: impl FnMut(usize, usize, f64)) -> Vec<f64> {
        let design = self.design;
        let n_sparse = design.blocks().n_sparse();
        let (shared, dense) = self.weights.split_at(design.n_shared);
        let (dense, bias) = dense.split_at(design.n_dense());
        for (column, place) in design.sparse_columns() {
            for lane in 0..self.n_lanes {
                let found = match place {
                    Weight::At(place) => shared[place][lane],
                    Weight::OfRow { row, value } => {
                        value * (self.signs[row][lane] * self.alphas[row][lane])
                    }
                };
                weight(column, lane, found);
            }
        }
        let mut intercepts = vec![0.0; self.n_lanes];
        for (lane, intercept) in intercepts.iter_mut().enumerate() {
            *intercept = self.rows.bias * bias[0][lane];
            for (column, weights) in dense.iter().enumerate() {
                let scaled = weights[lane] * self.rows.factors[column];
                *intercept -= scaled * self.rows.means[column];
                weight(n_sparse + column, lane, scaled);
            }
        }
        intercepts
    }
}

/// One over the weights of the rows of each machine's class, and of the others.
fn side_inverses<const L: usize>(
    design: &Design,
    targets: &Targets,
    weights: &ClassWeights,
    first: usize,
    n_lanes: usize,
) -> [Lanes<L>; 2] {
    let classes = targets.classes();
    let mut inverses = [[1.0; L]; 2];
    if *weights == ClassWeights::Equal {
        return inverses;
    }
    let mut total = 0.0;
    let mut by_class = vec![0.0; classes.len()];
    for &row in design.rows() {
        let weight = targets.row_weight(row);
        total += weight;
        for &position in targets.positions(row) {
            by_class[position as usize] += weight;
        }
    }
    // A class without rows has nothing to weigh.
    let inverse = |position: usize| match weights {
        ClassWeights::Equal => 1.0,
        ClassWeights::Balanced if by_class[position] == 0.0 => 1.0,
        ClassWeights::Balanced if targets.is_one_each() => {
            classes.len() as f64 * by_class[position] / total
        }
        ClassWeights::Balanced => 2.0 * by_class[position] / total,
        ClassWeights::Given(given) => {
            let mut given = given.iter();
            let weight = given.find(|(class, _)| *class == classes[position]);
            1.0 / weight.map_or(1.0, |(_, weight)| *weight)
        }
    };
    for lane in 0..n_lanes {
        let position = first + lane;
        inverses[0][lane] = inverse(position);
        if targets.is_one_each() && classes.len() == 2 {
            inverses[1][lane] = inverse(1 - position);
        } else if !targets.is_one_each() && *weights == ClassWeights::Balanced {
            let rest = 2.0 * (total - by_class[position]) / total;
            inverses[1][lane] = if rest > 0.0 { rest } else { 1.0 };
        }
    }
    inverses
}
