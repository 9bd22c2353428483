//! Steps along the gradient.

use rayon::prelude::*;
use wordmover::Document;
use wordmover::document::WordFactors;
use wordmover::space::WordSpace;
use wordmover::transport::Workspace;
use wordmover_learn::split;

use super::numbered::{NumberedDocuments, Parameters, Plan};
use crate::error::Result;
use crate::params::Learn;

/// After so many steps the space is judged on documents held out.
pub(crate) const STEPS_A_ROUND: usize = 25;

/// Documents a step learns from.
const BATCH: usize = 32;

/// Others that each is compared with: the nearest, and so many of its class at least.
const NEAREST: usize = 16;
const NEAREST_OF_CLASS: usize = 4;

/// The scale of nearness, in deviations of the distances to the others.
const TEMPERATURE: f64 = 2.0;

/// Length of a step relative to the map's norm, and of one of a factor's logarithm.
const MAP_STEP: f64 = 0.005;
const FACTOR_STEP: f64 = 0.01;

/// How much of the last step's direction is kept.
const MOMENTUM: f64 = 0.8;

/// Factors are within a tenth and ten, as S-WMD's within a hundredth and ten.
const GREATEST_LOG_FACTOR: f64 = std::f64::consts::LN_10;

pub(crate) struct Learner<'d> {
    documents: NumberedDocuments<'d>,
    labels: &'d [usize],
    learn: Learn,
    parameters: Parameters,
    map_direction: Vec<f64>,
    factor_direction: Vec<f64>,
    /// Documents in the order in which they are taken.
    order: Vec<usize>,
    n_taken: usize,
    temperature: Option<f64>,
}

impl<'d> Learner<'d> {
    pub fn new(
        space: &WordSpace,
        documents: &'d [Document],
        labels: &'d [usize],
        learn: Learn,
        seed: u64,
    ) -> Result<Self> {
        let numbered = NumberedDocuments::new(space, documents)?;
        let parameters = numbered.identity();
        Ok(Learner {
            labels,
            learn,
            map_direction: vec![0.0; parameters.map.len()],
            factor_direction: vec![0.0; parameters.log_factors.len()],
            parameters,
            order: split::shuffled(labels.len(), seed),
            documents: numbered,
            n_taken: 0,
            temperature: None,
        })
    }

    /// One step; gives the mean loss before it.
    pub fn step(&mut self) -> Result<f64> {
        let documents = &self.documents;
        let mapped = documents.mapped(&self.parameters);
        let labels = self.labels;
        let batch: Vec<usize> = (self.n_taken..self.n_taken + BATCH.min(documents.len()))
            .map(|i| self.order[i % self.order.len()])
            .collect();
        self.n_taken += batch.len();
        let plans = batch
            .par_iter()
            .map_init(Workspace::default, |workspace, &query| {
                let others = mapped.candidates(query, labels, NEAREST, NEAREST_OF_CLASS);
                let plan = |other: usize| Ok((other, mapped.plan(query, other, workspace)?));
                others
                    .into_iter()
                    .map(plan)
                    .collect::<Result<Vec<(usize, Plan)>>>()
            });
        let plans: Vec<Vec<(usize, Plan)>> = plans.collect::<Result<_>>()?;
        let temperature = *self.temperature.get_or_insert_with(|| {
            let spreads: f64 = plans.iter().map(|plans| spread(plans)).sum();
            (TEMPERATURE * spreads / plans.len() as f64).max(f64::MIN_POSITIVE)
        });

        let mut gradient = mapped.gradient();
        let mut total = 0.0;
        for (&query, plans) in batch.iter().zip(&plans) {
            let is_same: Vec<bool> = plans
                .iter()
                .map(|&(i, _)| labels[i] == labels[query])
                .collect();
            let distances: Vec<f64> = plans.iter().map(|(_, plan)| plan.distance).collect();
            let Some((loss, slopes)) = neighborhood_loss(&distances, &is_same, temperature) else {
                continue;
            };
            total += loss;
            for ((other, plan), slope) in plans.iter().zip(slopes) {
                // What hardly matters is most of the work.
                if slope.abs() * temperature > 1e-4 {
                    mapped.add(&mut gradient, (query, *other), plan, slope);
                }
            }
        }
        if self.learn.has_metric() {
            let slope = mapped.map_gradient(&gradient);
            follow(&mut self.map_direction, &slope);
            let norm = norm(&self.map_direction);
            if norm > 0.0 {
                let step = MAP_STEP * self::norm(&self.parameters.map) / norm;
                for (entry, x) in self.parameters.map.iter_mut().zip(&self.map_direction) {
                    *entry -= step * x;
                }
            }
        }
        if self.learn.has_weights() {
            follow(&mut self.factor_direction, &gradient.log_factors);
            // Relative to the typical word that the step has seen.
            let squares = self
                .factor_direction
                .iter()
                .map(|x| x * x)
                .filter(|&x| x > 0.0);
            let (n, sum) = squares.fold((0usize, 0.0), |(n, sum), x| (n + 1, sum + x));
            if n > 0 {
                let scale = (sum / n as f64).sqrt();
                for (value, x) in self
                    .parameters
                    .log_factors
                    .iter_mut()
                    .zip(&self.factor_direction)
                {
                    let step = FACTOR_STEP * (x / scale).clamp(-3.0, 3.0);
                    *value = (*value - step).clamp(-GREATEST_LOG_FACTOR, GREATEST_LOG_FACTOR);
                }
            }
        }
        Ok(total / batch.len() as f64)
    }

    /// The map, row by row; none where only weights are learnt.
    pub fn map(&self) -> Option<Vec<f32>> {
        let entries = self.parameters.map.iter().map(|&x| x as f32);
        self.learn.has_metric().then(|| entries.collect())
    }

    /// `factors` times those that were learnt.
    pub fn factors(&self, factors: &WordFactors) -> WordFactors {
        self.documents.factors(&self.parameters, factors)
    }
}

/// The negative logarithm of the probability to pick a neighbour of the same class, where
/// nearer ones are picked more often, and its derivatives by the distances. None where there
/// is nothing of the same class.
fn neighborhood_loss(
    distances: &[f64],
    is_same: &[bool],
    temperature: f64,
) -> Option<(f64, Vec<f64>)> {
    let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let parts = distances
        .iter()
        .map(|d| libm::exp((least - d) / temperature));
    let parts: Vec<f64> = parts.collect();
    let all: f64 = parts.iter().sum();
    let same = parts.iter().zip(is_same).filter(|(_, is_same)| **is_same);
    let same: f64 = same.map(|(part, _)| part).sum();
    if same <= 0.0 {
        return None;
    }
    let slope = |(part, &is_same): (&f64, &bool)| {
        let own = if is_same { part / same } else { 0.0 };
        (own - part / all) / temperature
    };
    Some((
        libm::log(all / same),
        parts.iter().zip(is_same).map(slope).collect(),
    ))
}

fn follow(direction: &mut [f64], slope: &[f64]) {
    for (direction, slope) in direction.iter_mut().zip(slope) {
        *direction = MOMENTUM * *direction + slope;
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn spread(plans: &[(usize, Plan)]) -> f64 {
    let n = plans.len().max(1) as f64;
    let mean = plans.iter().map(|(_, plan)| plan.distance).sum::<f64>() / n;
    let squares = plans
        .iter()
        .map(|(_, plan)| (plan.distance - mean) * (plan.distance - mean));
    (squares.sum::<f64>() / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_of_the_loss_are_those_of_finite_differences() {
        let distances = [0.7, 0.9, 0.4, 1.3, 0.8];
        let is_same = [true, false, false, true, false];
        let (loss, slopes) = neighborhood_loss(&distances, &is_same, 0.2).unwrap();
        assert!(loss > 0.0);
        for (i, slope) in slopes.iter().enumerate() {
            let at = |h: f64| {
                let mut moved = distances;
                moved[i] += h;
                neighborhood_loss(&moved, &is_same, 0.2).unwrap().0
            };
            let due = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - due).abs() < 1e-8, "{slope} {due}");
        }
        assert_eq!(neighborhood_loss(&distances, &[false; 5], 0.2), None);
    }
}
