//! Word Mover's Distance: documents, ground costs and transport joined
//! (section 2 of the paper).
//!
//! The Euclidean ground cost is a metric, so mass that two documents share on the
//! same word may stay where it is: it is taken out first, which makes identical
//! documents exactly 0 apart and leaves a smaller problem. The two documents are
//! put in one fixed order before solving, so the distance is symmetric to the
//! last bit.

use crate::document::Document;
use crate::error::{Error, Result};
use crate::ground::{self, Columns};
use crate::space::WordSpace;
use crate::transport::{self, Certificate, Flow, Solution, Workspace};

/// Remaining mass below this is rounding: documents have mass one.
const ROUNDING: f64 = 1e-15;

/// Mass that moves from a word of one document to a word of the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordMove {
    /// Word id in the first document.
    pub from: u32,
    /// Word id in the second document.
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
    match Remainder::of(space, first, second)? {
        Some(remainder) => Ok(remainder.solve(&mut Workspace::default())?),
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
        let at = |document: &Document, word: u32| {
            document
                .words()
                .binary_search(&word)
                .expect("a word of the document") as u32
        };
        let solution = Solution {
            cost: self.distance,
            flows: self
                .moves
                .iter()
                .map(|step| Flow {
                    from: at(first, step.from),
                    to: at(second, step.to),
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

/// Distance between the weighted mean vectors: a lower bound on the Word Mover's
/// Distance that costs next to nothing.
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
    not_empty(first)?;
    not_empty(second)?;
    let costs = full_costs(space, first, second)?;
    Ok((
        transport::relaxed_from_supply(&costs, first.weights(), second.len()),
        transport::relaxed_from_demand(&costs, second.weights()),
    ))
}

/// What is left to move once shared words have kept their common mass, and its
/// ground costs. The side with fewer words is the one of the sinks.
struct Remainder {
    sources: Vec<(u32, f64)>,
    sinks: Vec<(u32, f64)>,
    /// Whether the sources are words of the first document.
    from_first: bool,
    columns: Columns,
    costs: Vec<f64>,
}

impl Remainder {
    /// `None` when nothing is left.
    fn of(space: &WordSpace, first: &Document, second: &Document) -> Result<Option<Self>> {
        not_empty(first)?;
        not_empty(second)?;
        let mut left = (Vec::new(), Vec::new());
        for (word, a, b) in merged(first, second) {
            if a - b > ROUNDING {
                left.0.push((word, a - b));
            } else if b - a > ROUNDING {
                left.1.push((word, b - a));
            }
        }
        if left.0.is_empty() || left.1.is_empty() {
            return Ok(None);
        }
        let from_first = left.0.len() >= left.1.len();
        let (sources, sinks) = if from_first { left } else { (left.1, left.0) };
        let columns = Columns::new(&space.gather(&ids(&sinks))?, space.dim());
        let costs = costs_to(space, &ids(&sources), &columns, sinks.len())?;
        Ok(Some(Remainder {
            sources,
            sinks,
            from_first,
            columns,
            costs,
        }))
    }

    fn solve(&self, workspace: &mut Workspace) -> Result<f64> {
        Ok(workspace.solve(&self.costs, &masses(&self.sources), &masses(&self.sinks))?)
    }
}

fn transport_in_order(
    space: &WordSpace,
    first: &Document,
    second: &Document,
) -> Result<WordTransport> {
    let remainder = Remainder::of(space, first, second)?;
    let mut moves: Vec<WordMove> = merged(first, second)
        .filter(|(_, a, b)| a.min(*b) > 0.0)
        .map(|(word, a, b)| WordMove {
            from: word,
            to: word,
            mass: a.min(b),
            cost: 0.0,
        })
        .collect();
    let Some(remainder) = remainder else {
        return Ok(WordTransport {
            distance: 0.0,
            moves,
            first_duals: vec![0.0; first.len()],
            second_duals: vec![0.0; second.len()],
        });
    };
    let mut workspace = Workspace::default();
    let distance = remainder.solve(&mut workspace)?;
    let n_sinks = remainder.sinks.len();
    for (source, sink, mass) in workspace.flows() {
        let (there, here) = (remainder.sources[source].0, remainder.sinks[sink].0);
        let (from, to) = if remainder.from_first {
            (there, here)
        } else {
            (here, there)
        };
        let cost = remainder.costs[source * n_sinks + sink];
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
    let duals = workspace.sink_duals();
    let potential = |document: &Document, sign: f64| -> Result<Vec<f64>> {
        let costs = costs_to(space, document.words(), &remainder.columns, n_sinks)?;
        let nearest = costs.chunks_exact(n_sinks).map(|row| {
            let reduced = row.iter().zip(&duals).map(|(cost, dual)| cost - dual);
            sign * reduced.fold(f64::INFINITY, f64::min)
        });
        Ok(nearest.collect())
    };
    let sign = if remainder.from_first { 1.0 } else { -1.0 };
    Ok(WordTransport {
        distance,
        moves,
        first_duals: potential(first, sign)?,
        second_duals: potential(second, -sign)?,
    })
}

/// The two documents in an order that depends on their content alone, and whether
/// that exchanged them.
fn in_order<'d>(a: &'d Document, b: &'d Document) -> (&'d Document, &'d Document, bool) {
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

/// All words of the two documents, ascending, with their weights in each.
fn merged<'d>(
    first: &'d Document,
    second: &'d Document,
) -> impl Iterator<Item = (u32, f64, f64)> + 'd {
    let pairs = |document: &'d Document| {
        document
            .words()
            .iter()
            .copied()
            .zip(document.weights().iter().copied())
    };
    let mut a = pairs(first).peekable();
    let mut b = pairs(second).peekable();
    std::iter::from_fn(move || match (a.peek().copied(), b.peek().copied()) {
        (None, None) => None,
        (Some((x, weight)), other) if other.is_none_or(|(y, _)| x < y) => {
            a.next();
            Some((x, weight, 0.0))
        }
        (other, Some((y, weight))) if other.is_none_or(|(x, _)| y < x) => {
            b.next();
            Some((y, 0.0, weight))
        }
        _ => {
            let ((x, weight), (_, other)) = a.next().zip(b.next())?;
            Some((x, weight, other))
        }
    })
}

fn full_costs(space: &WordSpace, first: &Document, second: &Document) -> Result<Vec<f64>> {
    let columns = Columns::new(&space.gather(second.words())?, space.dim());
    costs_to(space, first.words(), &columns, second.len())
}

/// Costs from `words` to the first `n_sinks` columns, without padding.
fn costs_to(
    space: &WordSpace,
    words: &[u32],
    columns: &Columns,
    n_sinks: usize,
) -> Result<Vec<f64>> {
    let width = columns.width();
    let mut padded = vec![0.0; words.len() * width];
    ground::costs(&space.gather(words)?, columns, &mut padded);
    let rows = padded.chunks_exact(width);
    Ok(rows
        .flat_map(|row| row[..n_sinks].iter().copied())
        .collect())
}

fn centroid(space: &WordSpace, document: &Document) -> Result<Vec<f64>> {
    let mut mean = vec![0.0; space.dim()];
    let mut vector = vec![0.0; space.dim()];
    for (&word, weight) in document.words().iter().zip(document.weights()) {
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

fn ids(words: &[(u32, f64)]) -> Vec<u32> {
    words.iter().map(|&(word, _)| word).collect()
}

fn masses(words: &[(u32, f64)]) -> Vec<f64> {
    words.iter().map(|&(_, mass)| mass).collect()
}
