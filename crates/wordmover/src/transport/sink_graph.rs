//! The exact solver: surplus moves along shortest paths in the graph of sinks.
//!
//! A basic optimal plan onto `m` sinks splits at most `m - 1` sources; every
//! other source goes whole to one sink. So the state worth keeping is, per sink,
//! the list of sources it receives from, and the work worth doing is between
//! sinks, of which there are few.
//!
//! ```text
//! v[k]  <- weighted mean of column k                    a dual value per sink
//! send every source i to argmin_k (C[i][k] - v[k])      optimal for its own loads
//! while some sink s holds more than its demand:
//!     r[j][k] = min over i in list j of (C[i][k] - C[i][j]) + v[j] - v[k]  >= 0
//!     Dijkstra from s over r until the first sink t below its demand
//!     v[k] += dist[k] - dist[t]   for every sink nearer than t
//!     move along the path what s has too much, t too little, or the
//!     smallest piece on the way, whichever is least
//! ```
//!
//! Every step keeps each source on a sink of least `C[i][k] - v[k]`, which is
//! complementary slackness: when no surplus is left, the plan is optimal and `v`
//! proves it. The mean start removes the systematic difference between sinks;
//! starting from nearest sinks instead takes about one augmentation per source.
//!
//! Two things make it end for every input.
//!
//! - Among paths of equal length the one with fewest edges is taken. Real
//!   documents tie often, and inside a tie the augmentations solve a maximum flow,
//!   for which arbitrary paths need not even end (Ford and Fulkerson) while
//!   shortest ones do (Edmonds and Karp).
//! - A tie must be seen as one. Costs and masses are rounded to a grid so coarse
//!   that every sum the algorithm forms is exact in double precision, and so fine
//!   (2^-48 of the largest cost, 2^-52 of the total mass) that it does not matter.
//!   Without rounding errors, lengths are never negative, mass is conserved to the
//!   last bit, and no crumb of mass is left to chase. The cost of the plan is
//!   summed from the costs as given.
//!
//! Why sums fit: some sink is below its demand until the end, its dual value is
//! still the one of the start, and every other is within twice the largest cost
//! of it; so is every path length.
//!
//! The rows of `r` are made only when Dijkstra reaches their sink and kept until
//! a source leaves its list. All memory is reused between problems.

use super::TransportProblem;

/// Bits of the cost grid below the largest cost, and of the mass grid below the total.
const COST_BITS: i32 = 48;
const MASS_BITS: i32 = 52;

/// No known problem needs more than a few augmentations per source and sink.
const AUGMENTATIONS_PER_POINT: usize = 10_000;

/// The solver's memory, reused from problem to problem so that the inner loop of
/// an embedding does not allocate.
///
/// For one problem [`super::solve`] is simpler; it also validates.
#[derive(Debug, Default)]
pub struct Workspace {
    n_sources: usize,
    n_sinks: usize,
    /// The costs on their grid.
    costs: Vec<f64>,
    /// Dual value per sink.
    duals: Vec<f64>,
    /// Load minus demand per sink.
    surplus: Vec<f64>,
    /// Sources and masses of sink `j`: `lists[j * n_sources ..][.. list_len[j]]`.
    list_source: Vec<u32>,
    list_mass: Vec<f64>,
    list_len: Vec<u32>,
    /// Cheapest way to move a source from sink `j` to `k`, without duals.
    edge_cost: Vec<f64>,
    edge_source: Vec<u64>,
    edges_known: Vec<bool>,
    /// Dijkstra over the sinks.
    distance: Vec<f64>,
    hops: Vec<u32>,
    parent: Vec<u32>,
    settled: Vec<bool>,
    order: Vec<u32>,
}

impl Workspace {
    /// The optimal cost of one problem: `costs` row-major, a row per source.
    ///
    /// Meant for callers that built the problem themselves: weights must be
    /// positive and balanced and costs finite. Otherwise the result is
    /// unspecified, or the call panics.
    ///
    /// # Errors
    ///
    /// [`TransportProblem::NotSolved`] instead of a number that is not optimal.
    ///
    /// # Panics
    ///
    /// If the shape of `costs` does not fit the weights, or there is no sink.
    pub fn solve(
        &mut self,
        costs: &[f64],
        supply: &[f64],
        demand: &[f64],
    ) -> Result<f64, TransportProblem> {
        let n_sinks = demand.len();
        assert!(n_sinks > 0, "at least one sink");
        assert_eq!(costs.len(), supply.len() * n_sinks, "cost matrix shape");
        self.start(costs, supply, demand);
        let limit = AUGMENTATIONS_PER_POINT * (supply.len() + n_sinks);
        let mut augmentations = 0;
        for sink in 0..n_sinks {
            while self.surplus[sink] > 0.0 {
                let target = self.shortest_path(sink);
                let not_solved = TransportProblem::NotSolved {
                    augmentations,
                    sources: supply.len(),
                    sinks: n_sinks,
                };
                augmentations += 1;
                match target {
                    Some(target) if augmentations <= limit => self.augment(sink, target),
                    _ => return Err(not_solved),
                }
            }
        }
        Ok(self.cost(costs))
    }

    /// The plan of the problem solved last: source, sink and mass, in no
    /// particular order.
    pub fn flows(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.n_sinks).flat_map(move |sink| {
            let list = self.list(sink);
            let sources = &self.list_source[list.clone()];
            sources
                .iter()
                .zip(&self.list_mass[list])
                .map(move |(&source, &mass)| (source as usize, sink, mass))
        })
    }

    /// Dual values of the sinks of the problem solved last. The dual value of a
    /// source is the least `cost - sink dual` of its row.
    #[must_use]
    pub fn sink_duals(&self) -> &[f64] {
        &self.duals
    }

    /// Rounds the problem, takes the column means, and puts every source on its best
    /// sink for them.
    fn start(&mut self, costs: &[f64], supply: &[f64], demand: &[f64]) {
        let (n, m) = (supply.len(), demand.len());
        self.n_sources = n;
        self.n_sinks = m;
        refill(&mut self.duals, m, 0.0);
        refill(&mut self.list_len, m, 0);
        refill(&mut self.edges_known, m, false);
        // Only grown: entries beyond a list's length are never read.
        grow(&mut self.list_source, n * m, 0);
        grow(&mut self.list_mass, n * m, 0.0);
        grow(&mut self.edge_cost, m * m, 0.0);
        grow(&mut self.edge_source, m * m, 0);

        let largest = costs
            .iter()
            .fold(0.0, |most: f64, cost| most.max(cost.abs()));
        let cost_grid = Grid::below(largest, COST_BITS);
        self.costs.clear();
        self.costs
            .extend(costs.iter().map(|&cost| cost_grid.round(cost)));

        let total: f64 = supply.iter().sum();
        let mass_grid = Grid::below(total, MASS_BITS);
        self.surplus.clear();
        self.surplus
            .extend(demand.iter().map(|&demand| -mass_grid.round(demand)));
        let rounded = |mass: &f64| mass_grid.round(*mass);
        let left_over: f64 =
            supply.iter().map(rounded).sum::<f64>() + self.surplus.iter().sum::<f64>();
        let largest_demand = self.surplus.iter_mut().min_by(|a, b| a.total_cmp(b));
        *largest_demand.expect("at least one sink") -= left_over;

        for (row, &mass) in self.costs.chunks_exact(m).zip(supply) {
            for (dual, cost) in self.duals.iter_mut().zip(row) {
                *dual += mass * cost;
            }
        }
        for dual in &mut self.duals {
            *dual = cost_grid.round(*dual / total);
        }
        for (source, mass) in supply.iter().map(rounded).enumerate() {
            if mass > 0.0 {
                let row = &self.costs[source * m..][..m];
                let best = nearest(row, &self.duals);
                self.push(best, source as u32, mass);
                self.surplus[best] += mass;
            }
        }
    }

    /// Dijkstra from an overfull sink to the nearest underfull one, and the new
    /// dual values. `None` when no sink is underfull.
    fn shortest_path(&mut self, from: usize) -> Option<usize> {
        let m = self.n_sinks;
        refill(&mut self.distance, m, f64::INFINITY);
        refill(&mut self.hops, m, u32::MAX);
        refill(&mut self.parent, m, u32::MAX);
        refill(&mut self.settled, m, false);
        self.order.clear();
        self.distance[from] = 0.0;
        self.hops[from] = 0;
        let mut here = from;
        loop {
            self.settled[here] = true;
            let so_far = self.distance[here];
            if self.surplus[here] < 0.0 {
                for &sink in &self.order {
                    let sink = sink as usize;
                    self.duals[sink] += self.distance[sink] - so_far;
                }
                return Some(here);
            }
            self.order.push(here as u32);
            self.find_edges(here);

            let dual = self.duals[here];
            let hops = self.hops[here] + 1;
            let edges = &self.edge_cost[here * m..(here + 1) * m];
            let mut next = None;
            let mut least = (f64::INFINITY, u32::MAX);
            for k in 0..m {
                if self.settled[k] {
                    continue;
                }
                let through = (so_far + (edges[k] + dual - self.duals[k]), hops);
                if through < (self.distance[k], self.hops[k]) {
                    (self.distance[k], self.hops[k]) = through;
                    self.parent[k] = here as u32;
                }
                if (self.distance[k], self.hops[k]) < least {
                    least = (self.distance[k], self.hops[k]);
                    next = Some(k);
                }
            }
            here = next?;
        }
    }

    /// Moves mass along the path found last.
    fn augment(&mut self, from: usize, target: usize) {
        let m = self.n_sinks;
        let mut amount = self.surplus[from].min(-self.surplus[target]);
        let mut sink = target;
        while sink != from {
            let before = self.parent[sink] as usize;
            let source = self.edge_source[before * m + sink] as u32;
            let position = self.position(before, source).expect("an edge's source");
            amount = amount.min(self.list_mass[before * self.n_sources + position]);
            sink = before;
        }
        let mut sink = target;
        while sink != from {
            let before = self.parent[sink] as usize;
            let source = self.edge_source[before * m + sink] as u32;
            let position = self.position(before, source).expect("an edge's source");
            let mass = self.list_mass[before * self.n_sources + position];
            if amount == mass {
                self.remove(before, position);
            } else {
                self.list_mass[before * self.n_sources + position] = mass - amount;
            }
            match self.position(sink, source) {
                Some(there) => self.list_mass[sink * self.n_sources + there] += amount,
                None => {
                    self.push(sink, source, amount);
                    self.offer_edges(sink, source);
                }
            }
            sink = before;
        }
        self.surplus[from] -= amount;
        self.surplus[target] += amount;
    }

    /// Makes row `sink` of the edges from its list, unless it is known.
    fn find_edges(&mut self, sink: usize) {
        if self.edges_known[sink] {
            return;
        }
        self.edges_known[sink] = true;
        let m = self.n_sinks;
        self.edge_cost[sink * m..(sink + 1) * m].fill(f64::INFINITY);
        for index in self.list(sink) {
            let source = self.list_source[index];
            self.offer_edges(sink, source);
        }
    }

    /// Lets one more source of `sink` compete for its edges.
    fn offer_edges(&mut self, sink: usize, source: u32) {
        if !self.edges_known[sink] {
            return;
        }
        let m = self.n_sinks;
        let row = &self.costs[source as usize * m..][..m];
        let here = row[sink];
        let edges = &mut self.edge_cost[sink * m..][..m];
        let sources = &mut self.edge_source[sink * m..][..m];
        for k in 0..m {
            let cost = row[k] - here;
            let better = cost < edges[k];
            edges[k] = if better { cost } else { edges[k] };
            sources[k] = if better {
                u64::from(source)
            } else {
                sources[k]
            };
        }
    }

    fn list(&self, sink: usize) -> std::ops::Range<usize> {
        let start = sink * self.n_sources;
        start..start + self.list_len[sink] as usize
    }

    fn position(&self, sink: usize, source: u32) -> Option<usize> {
        self.list_source[self.list(sink)]
            .iter()
            .position(|&there| there == source)
    }

    fn push(&mut self, sink: usize, source: u32, mass: f64) {
        let end = self.list(sink).end;
        self.list_source[end] = source;
        self.list_mass[end] = mass;
        self.list_len[sink] += 1;
    }

    fn remove(&mut self, sink: usize, position: usize) {
        let list = self.list(sink);
        let (here, last) = (list.start + position, list.end - 1);
        self.list_source[here] = self.list_source[last];
        self.list_mass[here] = self.list_mass[last];
        self.list_len[sink] -= 1;
        self.edges_known[sink] = false;
    }

    fn cost(&self, costs: &[f64]) -> f64 {
        let m = self.n_sinks;
        let mut cost = 0.0;
        for sink in 0..m {
            for index in self.list(sink) {
                cost += self.list_mass[index] * costs[self.list_source[index] as usize * m + sink];
            }
        }
        cost
    }
}

/// The sink of least reduced cost; the first of several.
fn nearest(row: &[f64], duals: &[f64]) -> usize {
    let mut best = 0;
    let mut least = f64::INFINITY;
    for (sink, (cost, dual)) in row.iter().zip(duals).enumerate() {
        let reduced = cost - dual;
        if reduced < least {
            least = reduced;
            best = sink;
        }
    }
    best
}

/// Multiples of a power of two.
#[derive(Clone, Copy)]
struct Grid {
    /// Adding it leaves no bits for anything finer than the grid.
    shift: f64,
}

impl Grid {
    /// The grid whose unit is `2^-bits` of the least power of two above `largest`.
    fn below(largest: f64, bits: i32) -> Self {
        let exponent = (largest.to_bits() >> 52) as i32 - 1023 + 1;
        Grid {
            shift: 1.5 * power_of_two(exponent - bits + 52),
        }
    }

    /// The nearest multiple; exact for values up to the one the grid was made for.
    fn round(self, value: f64) -> f64 {
        (value + self.shift) - self.shift
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

fn refill<T: Copy>(values: &mut Vec<T>, len: usize, value: T) {
    values.clear();
    values.resize(len, value);
}

fn grow<T: Copy>(values: &mut Vec<T>, len: usize, value: T) {
    if values.len() < len {
        values.resize(len, value);
    }
}
