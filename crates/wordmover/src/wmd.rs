//! Word Mover's Distance: documents, ground costs and transport joined
//! (section 2 of the paper).
//!
//! Where the ground cost is a metric, as the Euclidean is, mass that two documents share on
//! the same word may stay where it is: it is taken out first, which makes identical
//! documents exactly 0 apart and leaves a smaller problem. With other costs, a detour over a
//! shared word may cost less than the way, so nothing is taken out. The two documents are
//! put in one fixed order before solving, so the distance is symmetric to the
//! last bit.

mod partial;

pub use partial::{PartialWordTransport, partial_transport};

use crate::document::{Document, Word};
use crate::error::{Error, Result};
use crate::ground::direct::{self, Columns};
use crate::space::WordSpace;
use crate::transport::{self, Certificate, Flow, Solution, Workspace};

/// Remaining mass below this is rounding: documents have mass one.
const ROUNDING: f64 = 1e-15;

/// Mass that moves from a word of one document to a word of the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordMove {
    /// Position of the word in the first document.
    pub from: u32,
    /// Position of the word in the second document.
    pub to: u32,
    /// How much moves, out of 1.
    pub mass: f64,
    /// Distance between the two words; 0 for a word that stays.
    pub cost: f64,
}

/// The distance between two documents with the plan that attains it and the dual
/// values that prove it.
#[derive(Debug, Clone, PartialEq)]
pub struct WordTransport {
    /// The Word Mover's Distance: the sum of mass times cost over the moves.
    pub distance: f64,
    /// The plan, ordered by the words of the first document, then the second.
    pub moves: Vec<WordMove>,
    /// One dual value per word of the first document.
    pub first_duals: Vec<f64>,
    /// One dual value per word of the second document.
    pub second_duals: Vec<f64>,
}

/// The Word Mover's Distance between two documents.
///
/// # Errors
///
/// [`Error::EmptyDocument`] if one has no word; [`Error::InvalidVectors`].
pub fn distance(space: &WordSpace, first: &Document, second: &Document) -> Result<f64> {
    let (first, second, _) = in_order(first, second);
    if !space.metric().has_triangle_inequality() {
        let costs = full_costs(space, first, second)?;
        let (supply, demand) = (first.weights(), second.weights());
        let workspace = &mut Workspace::default();
        return Ok(transport::cost(&costs, supply, demand, workspace)?);
    }
    match CostedRemainder::of(space, first, second)? {
        Some(problem) => Ok(problem.solve(&mut Workspace::default())?),
        None => Ok(0.0),
    }
}

/// The Word Mover's Distance with its transport plan and dual values.
///
/// # Errors
///
/// As [`distance`].
pub fn transport(space: &WordSpace, first: &Document, second: &Document) -> Result<WordTransport> {
    let (x, y, exchanged) = in_order(first, second);
    let mut plan = transport_in_order(space, x, y)?;
    if exchanged {
        for step in &mut plan.moves {
            std::mem::swap(&mut step.from, &mut step.to);
        }
        std::mem::swap(&mut plan.first_duals, &mut plan.second_duals);
    }
    plan.moves.sort_unstable_by_key(|step| (step.from, step.to));
    Ok(plan)
}

impl WordTransport {
    /// Checks the plan against the whole problem, shared words included.
    ///
    /// # Errors
    ///
    /// As [`distance`].
    ///
    /// # Panics
    ///
    /// If the plan is not one between these two documents.
    pub fn certificate(
        &self,
        space: &WordSpace,
        first: &Document,
        second: &Document,
    ) -> Result<Certificate> {
        let costs = full_costs(space, first, second)?;
        let solution = Solution {
            cost: self.distance,
            flows: self
                .moves
                .iter()
                .map(|step| Flow {
                    from: step.from,
                    to: step.to,
                    mass: step.mass,
                })
                .collect(),
            supply_duals: self.first_duals.clone(),
            demand_duals: self.second_duals.clone(),
        };
        Ok(Certificate::check(
            &costs,
            first.weights(),
            second.weights(),
            &solution,
        ))
    }
}

/// Euclidean distance between the weighted mean vectors: where the metric is Euclidean, a lower
/// bound on the Word Mover's Distance that costs next to nothing.
///
/// # Errors
///
/// As [`distance`].
pub fn word_centroid_distance(
    space: &WordSpace,
    first: &Document,
    second: &Document,
) -> Result<f64> {
    not_empty(first)?;
    not_empty(second)?;
    let (a, b) = (centroid(space, first)?, centroid(space, second)?);
    Ok(a.iter()
        .zip(&b)
        .map(|(x, y)| (x - y) * (x - y))
        .sum::<f64>()
        .sqrt())
}

/// The relaxed Word Mover's Distance from either side: every word of one document
/// to the nearest of the other. Both are lower bounds; the greater is the better.
///
/// # Errors
///
/// As [`distance`].
pub fn relaxed_distances(
    space: &WordSpace,
    first: &Document,
    second: &Document,
) -> Result<(f64, f64)> {
    let costs = full_costs(space, first, second)?;
    Ok((
        transport::relaxed_from_supply(&costs, first.weights(), second.len()),
        transport::relaxed_from_demand(&costs, second.weights()),
    ))
}

/// The document of the word rotator's distance (Yokoi et al., 2020): every word weighs, beside
/// what it did, the length of its vector, which says how much the word means. With that and the
/// [cosine](crate::space::Metric::Cosine) as the ground cost, [`distance`] is the word rotator's
/// distance; the space must keep the lengths of the vectors.
///
/// # Errors
///
/// [`Error::InvalidVectors`].
pub fn word_rotator_document(space: &WordSpace, document: &Document) -> Result<Document> {
    let mut vector = vec![0.0; space.dim()];
    document.reweighted(|word| {
        space.copy_vector(word, &mut vector)?;
        let squared: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        Ok(squared.sqrt())
    })
}

/// What is left to move once shared words have kept their common mass. The side
/// with fewer words is the one of the sinks.
///
/// Everything that computes a distance starts from here and from [`in_order`]:
/// that is what makes the same pair give the same bits everywhere.
#[derive(Debug, Default)]
pub(crate) struct Remainder {
    pub sources: Side,
    pub sinks: Side,
    /// Whether the sources are words of the first document.
    pub from_first: bool,
}

/// Words of one document and the mass each still has to move.
#[derive(Debug, Default)]
pub(crate) struct Side {
    /// Where the words stand in the document.
    pub positions: Vec<u32>,
    pub masses: Vec<f64>,
}

impl Remainder {
    /// Becomes the remainder of two documents; false when nothing is left.
    pub fn set(&mut self, first: &Document, second: &Document) -> bool {
        self.sources.clear();
        self.sinks.clear();
        for Meeting { at, weights, .. } in merged(first, second) {
            let (a, b) = weights;
            if a - b > ROUNDING {
                self.sources.push(at.0, a - b);
            } else if b - a > ROUNDING {
                self.sinks.push(at.1, b - a);
            }
        }
        self.from_first = self.sources.len() >= self.sinks.len();
        if !self.from_first {
            std::mem::swap(&mut self.sources, &mut self.sinks);
        }
        self.sinks.len() > 0
    }
}

impl Side {
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    fn clear(&mut self) {
        self.positions.clear();
        self.masses.clear();
    }

    fn push(&mut self, position: usize, mass: f64) {
        self.positions.push(position as u32);
        self.masses.push(mass);
    }

    fn words<'d>(
        &'d self,
        document: &'d Document,
    ) -> impl ExactSizeIterator<Item = Word<'d>> + Clone {
        let positions = self.positions.iter();
        positions.map(|&position| document.word(position as usize))
    }
}

/// A remainder with its ground costs: what the solver needs.
struct CostedRemainder {
    remainder: Remainder,
    columns: Columns,
    costs: Vec<f64>,
}

impl CostedRemainder {
    /// `None` when nothing is left to move.
    fn of(space: &WordSpace, first: &Document, second: &Document) -> Result<Option<Self>> {
        not_empty(first)?;
        not_empty(second)?;
        let mut remainder = Remainder::default();
        if !remainder.set(first, second) {
            return Ok(None);
        }
        let (there, here) = if remainder.from_first {
            (first, second)
        } else {
            (second, first)
        };
        let sinks = space.gather(remainder.sinks.words(here))?;
        let columns = Columns::with_metric(&sinks, space.dim(), space.metric());
        let sources = remainder.sources.words(there);
        let costs = costs_to(space, sources, &columns, remainder.sinks.len())?;
        Ok(Some(CostedRemainder {
            remainder,
            columns,
            costs,
        }))
    }

    fn solve(&self, workspace: &mut Workspace) -> Result<f64> {
        let Remainder { sources, sinks, .. } = &self.remainder;
        Ok(workspace.solve(&self.costs, &sources.masses, &sinks.masses)?)
    }
}

fn transport_in_order(
    space: &WordSpace,
    first: &Document,
    second: &Document,
) -> Result<WordTransport> {
    if !space.metric().has_triangle_inequality() {
        return whole_transport(space, first, second);
    }
    let problem = CostedRemainder::of(space, first, second)?;
    let mut moves: Vec<WordMove> = merged(first, second)
        .map(|Meeting { at, weights }| WordMove {
            from: at.0 as u32,
            to: at.1 as u32,
            mass: weights.0.min(weights.1),
            cost: 0.0,
        })
        .filter(|step| step.mass > 0.0)
        .collect();
    let Some(problem) = problem else {
        return Ok(WordTransport {
            distance: 0.0,
            moves,
            first_duals: vec![0.0; first.len()],
            second_duals: vec![0.0; second.len()],
        });
    };
    let mut workspace = Workspace::default();
    let distance = problem.solve(&mut workspace)?;
    let from_first = problem.remainder.from_first;
    let (sources, sinks) = (&problem.remainder.sources, &problem.remainder.sinks);
    let n_sinks = sinks.len();
    for (source, sink, mass) in workspace.flows() {
        let (there, here) = (sources.positions[source], sinks.positions[sink]);
        let (from, to) = if from_first {
            (there, here)
        } else {
            (here, there)
        };
        let cost = problem.costs[source * n_sinks + sink];
        moves.push(WordMove {
            from,
            to,
            mass,
            cost,
        });
    }

    // The sinks' dual values make a potential on the whole space,
    //     f(z) = min over sinks s of (distance(z, s) - dual of s),
    // which nowhere falls faster than the distance grows. So f on the sources' side
    // and -f on the sinks' side are dual values for every word of both documents,
    // and a shared word gets two that cancel.
    let duals = workspace.sink_duals(&problem.costs);
    let potential = |document: &Document, sign: f64| -> Result<Vec<f64>> {
        let costs = costs_to(space, document.words(), &problem.columns, n_sinks)?;
        let nearest = costs.chunks_exact(n_sinks).map(|row| {
            let reduced = row.iter().zip(&duals).map(|(cost, dual)| cost - dual);
            sign * reduced.fold(f64::INFINITY, f64::min)
        });
        Ok(nearest.collect())
    };
    let sign = if from_first { 1.0 } else { -1.0 };
    Ok(WordTransport {
        distance,
        moves,
        first_duals: potential(first, sign)?,
        second_duals: potential(second, -sign)?,
    })
}

/// The plan of the whole problem, where shared mass may have to move.
fn whole_transport(
    space: &WordSpace,
    first: &Document,
    second: &Document,
) -> Result<WordTransport> {
    let costs = full_costs(space, first, second)?;
    let solution = transport::solve(&costs, first.weights(), second.weights())?;
    let moves = solution.flows.iter().map(|flow| WordMove {
        from: flow.from,
        to: flow.to,
        mass: flow.mass,
        cost: costs[flow.from as usize * second.len() + flow.to as usize],
    });
    Ok(WordTransport {
        distance: solution.cost,
        moves: moves.collect(),
        first_duals: solution.supply_duals,
        second_duals: solution.demand_duals,
    })
}

/// The two documents in an order that depends on their content alone, and whether
/// that exchanged them.
pub(crate) fn in_order<'d>(a: &'d Document, b: &'d Document) -> (&'d Document, &'d Document, bool) {
    let weights = || {
        let pairs = a.weights().iter().zip(b.weights());
        pairs
            .map(|(x, y)| x.total_cmp(y))
            .find(|order| order.is_ne())
    };
    let order = a
        .words()
        .cmp(b.words())
        .then_with(|| weights().unwrap_or(std::cmp::Ordering::Equal));
    if order.is_gt() {
        (b, a, true)
    } else {
        (a, b, false)
    }
}

/// A word of one of two documents, or of both.
struct Meeting {
    /// Its position in each, where it has one.
    at: (usize, usize),
    /// Its weight in each, 0 where it is not.
    weights: (f64, f64),
}

/// All words of the two documents, ascending.
fn merged<'d>(first: &'d Document, second: &'d Document) -> impl Iterator<Item = Meeting> + 'd {
    let mut at = (0, 0);
    std::iter::from_fn(move || {
        let next = |document: &'d Document, position: usize| {
            (position < document.len()).then(|| document.word(position))
        };
        let word = match (next(first, at.0), next(second, at.1)) {
            (None, None) => return None,
            (Some(x), Some(y)) => x.min(y),
            (Some(word), None) | (None, Some(word)) => word,
        };
        let here = at;
        let weight_in = |document: &'d Document, position: &mut usize| {
            if next(document, *position) != Some(word) {
                return 0.0;
            }
            *position += 1;
            document.weights()[*position - 1]
        };
        let weights = (weight_in(first, &mut at.0), weight_in(second, &mut at.1));
        Some(Meeting { at: here, weights })
    })
}

/// Costs from every word of the first document to every word of the second.
fn full_costs(space: &WordSpace, first: &Document, second: &Document) -> Result<Vec<f64>> {
    not_empty(first)?;
    not_empty(second)?;
    let vectors = space.gather(second.words())?;
    let columns = Columns::with_metric(&vectors, space.dim(), space.metric());
    costs_to(space, first.words(), &columns, second.len())
}

/// Costs from `words` to the first `n_sinks` columns, without padding.
fn costs_to<'w>(
    space: &WordSpace,
    words: impl ExactSizeIterator<Item = Word<'w>>,
    columns: &Columns,
    n_sinks: usize,
) -> Result<Vec<f64>> {
    let width = columns.width();
    let mut padded = vec![0.0; words.len() * width];
    direct::costs(&space.gather(words)?, columns, &mut padded);
    let rows = padded.chunks_exact(width);
    Ok(rows
        .flat_map(|row| row[..n_sinks].iter().copied())
        .collect())
}

fn centroid(space: &WordSpace, document: &Document) -> Result<Vec<f64>> {
    let mut mean = vec![0.0; space.dim()];
    let mut vector = vec![0.0; space.dim()];
    for (word, weight) in document.words().zip(document.weights()) {
        space.copy_vector(word, &mut vector)?;
        for (sum, &x) in mean.iter_mut().zip(&vector) {
            *sum += weight * f64::from(x);
        }
    }
    Ok(mean)
}

fn not_empty(document: &Document) -> Result<()> {
    if document.is_empty() {
        Err(Error::EmptyDocument)
    } else {
        Ok(())
    }
}
