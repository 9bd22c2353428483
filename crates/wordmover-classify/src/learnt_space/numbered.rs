//! Training documents over numbered words, under a linear map and factors that are learnt.

use std::collections::HashMap;

use rayon::prelude::*;
use wordmover::document::{Word, WordFactors};
use wordmover::space::WordSpace;
use wordmover::transport::{self, Workspace};
use wordmover::{Document, Result};

/// Documents whose words are rows of one matrix.
pub(crate) struct NumberedDocuments<'d> {
    words: Vec<Word<'d>>,
    /// Normalised vectors of the words, `dim` numbers each.
    vectors: Vec<f32>,
    dim: usize,
    documents: Vec<Bag>,
}

/// Words by number, and their weights before factors.
struct Bag {
    words: Vec<u32>,
    weights: Vec<f64>,
}

/// What is learnt: a map of the word vectors, and logarithms of factors of words' weights.
#[derive(Clone)]
pub(crate) struct Parameters {
    /// `dim` rows of `dim` numbers.
    pub map: Vec<f64>,
    /// One for each word.
    pub log_factors: Vec<f64>,
}

/// Documents as the parameters make them.
pub(crate) struct Mapped<'d> {
    documents: &'d NumberedDocuments<'d>,
    /// Mapped vectors of the words.
    vectors: Vec<f32>,
    /// Weights of each document's words.
    weights: Vec<Vec<f64>>,
    /// Mean vectors of the documents.
    centroids: Vec<f32>,
}

/// The exact distance of two documents, and what its derivatives need.
pub(crate) struct Plan {
    pub distance: f64,
    /// Words moved, mass, and cost.
    moves: Vec<(u32, u32, f64, f64)>,
    first_duals: Vec<f64>,
    second_duals: Vec<f64>,
}

/// Derivatives by the parameters, summed over pairs of documents.
pub(crate) struct Gradient {
    /// `dim` numbers a word: with the mapped vectors, the derivative by the map.
    pulls: Vec<f64>,
    pub log_factors: Vec<f64>,
}

impl<'d> NumberedDocuments<'d> {
    pub fn new(space: &WordSpace, documents: &'d [Document]) -> Result<Self> {
        let mut numbers: HashMap<Word, u32> = HashMap::new();
        let mut words = Vec::new();
        let bags = documents.iter().map(|document| Bag {
            words: (document.words())
                .map(|word| {
                    *numbers.entry(word).or_insert_with(|| {
                        words.push(word);
                        words.len() as u32 - 1
                    })
                })
                .collect(),
            weights: document.weights().to_vec(),
        });
        let documents = bags.collect();
        Ok(NumberedDocuments {
            vectors: space.gather(words.iter().copied())?,
            dim: space.dim(),
            words,
            documents,
        })
    }

    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// The parameters that change nothing.
    pub fn identity(&self) -> Parameters {
        let mut map = vec![0.0; self.dim * self.dim];
        map.iter_mut()
            .step_by(self.dim + 1)
            .for_each(|entry| *entry = 1.0);
        Parameters {
            map,
            log_factors: vec![0.0; self.words.len()],
        }
    }

    /// `factors` times those that were learnt.
    pub fn factors(&self, parameters: &Parameters, factors: &WordFactors) -> WordFactors {
        let mut product = factors.clone();
        for (&word, &logarithm) in self.words.iter().zip(&parameters.log_factors) {
            product.insert(word, factors.of(word) * libm::exp(logarithm));
        }
        product
    }

    pub fn mapped(&'d self, parameters: &Parameters) -> Mapped<'d> {
        let dim = self.dim;
        let map: Vec<f32> = parameters.map.iter().map(|&x| x as f32).collect();
        let mut vectors = vec![0.0; self.vectors.len()];
        vectors
            .par_chunks_exact_mut(dim)
            .zip(self.vectors.par_chunks_exact(dim))
            .for_each(|(mapped, vector)| {
                for (out, row) in mapped.iter_mut().zip(map.chunks_exact(dim)) {
                    *out = dot(row, vector);
                }
            });
        let factors: Vec<f64> = parameters
            .log_factors
            .iter()
            .map(|&x| libm::exp(x))
            .collect();
        let weights = self.documents.par_iter().map(|bag| {
            let weighted = bag.words.iter().zip(&bag.weights);
            let weighted = weighted.map(|(&word, weight)| weight * factors[word as usize]);
            let mut weights: Vec<f64> = weighted.collect();
            let total: f64 = weights.iter().sum();
            weights.iter_mut().for_each(|weight| *weight /= total);
            weights
        });
        let weights: Vec<Vec<f64>> = weights.collect();
        let mut centroids = vec![0.0f32; self.len() * dim];
        centroids
            .par_chunks_exact_mut(dim)
            .zip(self.documents.par_iter().zip(&weights))
            .for_each(|(centroid, (bag, weights))| {
                for (&word, &weight) in bag.words.iter().zip(weights) {
                    let vector = &vectors[word as usize * dim..][..dim];
                    for (sum, x) in centroid.iter_mut().zip(vector) {
                        *sum += weight as f32 * x;
                    }
                }
            });
        Mapped {
            documents: self,
            vectors,
            weights,
            centroids,
        }
    }
}

impl Mapped<'_> {
    /// The other documents, nearest mean vector first, as far as `n` of them, and as many of
    /// the same class as are needed for `n_same`.
    pub fn candidates(
        &self,
        query: usize,
        labels: &[usize],
        n: usize,
        n_same: usize,
    ) -> Vec<usize> {
        let dim = self.documents.dim;
        let centroid = |i: usize| &self.centroids[i * dim..][..dim];
        let from = centroid(query);
        let others = (0..labels.len()).filter(|&i| i != query);
        let mut others: Vec<(f32, usize)> = others
            .map(|i| (squared_distance(from, centroid(i)), i))
            .collect();
        others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let is_same = |&(_, i): &(f32, usize)| labels[i] == labels[query];
        let n = n.min(others.len());
        let (near, far) = others.split_at(n);
        let n_missing = n_same.saturating_sub(near.iter().filter(|other| is_same(other)).count());
        let more = far.iter().filter(|other| is_same(other)).take(n_missing);
        near.iter().chain(more).map(|&(_, i)| i).collect()
    }

    pub fn plan(&self, first: usize, second: usize, workspace: &mut Workspace) -> Result<Plan> {
        let (x, y) = (
            &self.documents.documents[first],
            &self.documents.documents[second],
        );
        let costs: Vec<f64> = x
            .words
            .iter()
            .flat_map(|&from| y.words.iter().map(move |&to| self.cost(from, to)))
            .collect();
        let (supply, demand) = (&self.weights[first], &self.weights[second]);
        let solution = transport::solve_with(&costs, supply, demand, workspace)?;
        let moves = solution.flows.iter().map(|flow| {
            let (i, j) = (flow.from as usize, flow.to as usize);
            let cost = costs[i * y.words.len() + j];
            (x.words[i], y.words[j], flow.mass, cost)
        });
        Ok(Plan {
            distance: solution.cost,
            moves: moves.collect(),
            first_duals: solution.supply_duals,
            second_duals: solution.demand_duals,
        })
    }

    fn cost(&self, from: u32, to: u32) -> f64 {
        let dim = self.documents.dim;
        let vector = |word: u32| &self.vectors[word as usize * dim..][..dim];
        f64::from(squared_distance(vector(from), vector(to))).sqrt()
    }

    pub fn gradient(&self) -> Gradient {
        Gradient {
            pulls: vec![0.0; self.vectors.len()],
            log_factors: vec![0.0; self.documents.words.len()],
        }
    }

    /// Adds `scale` times the derivative of a distance. By the envelope theorem, the plan and
    /// the duals stay as they are: the derivative by a cost is the mass that is moved at it,
    /// by a mass its dual value.
    pub fn add(&self, gradient: &mut Gradient, pair: (usize, usize), plan: &Plan, scale: f64) {
        let dim = self.documents.dim;
        let original = |word: u32| &self.documents.vectors[word as usize * dim..][..dim];
        for &(from, to, mass, cost) in &plan.moves {
            if from == to || cost == 0.0 {
                continue;
            }
            let pull = scale * mass / cost;
            for (k, (a, b)) in original(from).iter().zip(original(to)).enumerate() {
                let pulled = pull * f64::from(a - b);
                gradient.pulls[from as usize * dim + k] += pulled;
                gradient.pulls[to as usize * dim + k] -= pulled;
            }
        }
        for (document, duals) in [(pair.0, &plan.first_duals), (pair.1, &plan.second_duals)] {
            let weights = &self.weights[document];
            let mean: f64 = weights.iter().zip(duals).map(|(a, u)| a * u).sum();
            let words = &self.documents.documents[document].words;
            for ((&word, weight), dual) in words.iter().zip(weights).zip(duals) {
                gradient.log_factors[word as usize] += scale * weight * (dual - mean);
            }
        }
    }

    /// The derivative by the map.
    pub fn map_gradient(&self, gradient: &Gradient) -> Vec<f64> {
        let dim = self.documents.dim;
        // Few enough parts that they fit into memory, whatever the number of words.
        let part = self.documents.words.len().div_ceil(64).max(1) * dim;
        let parts = self
            .vectors
            .par_chunks(part)
            .zip(gradient.pulls.par_chunks(part));
        let parts = parts.map(|(vectors, pulls)| {
            let mut sum = vec![0.0; dim * dim];
            for (vector, pull) in vectors.chunks_exact(dim).zip(pulls.chunks_exact(dim)) {
                if pull.iter().all(|&x| x == 0.0) {
                    continue;
                }
                for (row, &x) in sum.chunks_exact_mut(dim).zip(vector) {
                    let x = f64::from(x);
                    for (sum, pull) in row.iter_mut().zip(pull) {
                        *sum += x * pull;
                    }
                }
            }
            sum
        });
        let parts: Vec<Vec<f64>> = parts.collect();
        let mut total = vec![0.0; dim * dim];
        for part in parts {
            total.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        total
    }
}

fn dot(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    for (x, y) in x.chunks_exact(8).zip(y.chunks_exact(8)) {
        for k in 0..8 {
            sums[k] += x[k] * y[k];
        }
    }
    let rest = x.len() / 8 * 8;
    let rest: f32 = x[rest..].iter().zip(&y[rest..]).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

fn squared_distance(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    for (x, y) in x.chunks_exact(8).zip(y.chunks_exact(8)) {
        for k in 0..8 {
            sums[k] += (x[k] - y[k]) * (x[k] - y[k]);
        }
    }
    let rest = x.len() / 8 * 8;
    let rest: f32 = x[rest..]
        .iter()
        .zip(&y[rest..])
        .map(|(x, y)| (x - y) * (x - y))
        .sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wordmover::WordVectors;
    use wordmover::space::Normalization;

    use super::*;

    const DIM: usize = 3;

    /// Vectors and weights without pattern, so that no plan is degenerate.
    fn number(i: usize) -> f64 {
        let i = i as f64;
        libm::sin(12.9898 * i + 4.1414 * i * i)
    }

    fn space() -> WordSpace {
        let words = (0..9).map(|i| format!("w{i}")).collect();
        let rows = (0..9 * DIM).map(|i| number(i) as f32).collect();
        let vectors = WordVectors::from_rows("nine", words, rows, DIM).unwrap();
        WordSpace::new(Arc::new(vectors), Normalization::None, &[]).unwrap()
    }

    fn documents() -> Vec<Document> {
        let of = |words: &[u32]| {
            let weight = |w: u32| 1.0 + number(w as usize).abs();
            let total: f64 = words.iter().map(|&w| weight(w)).sum();
            Document::from_weights(words.iter().map(|&w| (w, weight(w) / total))).unwrap()
        };
        vec![of(&[0, 1, 2, 3, 4]), of(&[3, 5, 6, 7]), of(&[0, 6, 8])]
    }

    fn parameters(numbered: &NumberedDocuments) -> Parameters {
        let mut parameters = numbered.identity();
        let map = parameters.map.iter_mut().enumerate();
        map.for_each(|(i, x)| *x += 0.3 * number(100 + i));
        let factors = parameters.log_factors.iter_mut().enumerate();
        factors.for_each(|(i, x)| *x += 0.5 * number(200 + i));
        parameters
    }

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        let (space, documents) = (space(), documents());
        let numbered = NumberedDocuments::new(&space, &documents).unwrap();
        let parameters = parameters(&numbered);
        for pair in [(0, 1), (0, 2), (1, 2)] {
            let distance = |parameters: &Parameters| {
                let mapped = numbered.mapped(parameters);
                let plan = mapped.plan(pair.0, pair.1, &mut Workspace::default());
                plan.unwrap().distance
            };
            let mapped = numbered.mapped(&parameters);
            let plan = mapped.plan(pair.0, pair.1, &mut Workspace::default());
            let mut gradient = mapped.gradient();
            mapped.add(&mut gradient, pair, &plan.unwrap(), 1.0);
            // Vectors are mapped in single precision, so steps are not small.
            let h = 1e-3;
            let slope = |change: &dyn Fn(&mut Parameters, f64)| {
                let (mut less, mut more) = (parameters.clone(), parameters.clone());
                change(&mut less, -h);
                change(&mut more, h);
                (distance(&more) - distance(&less)) / (2.0 * h)
            };
            for (i, found) in mapped.map_gradient(&gradient).into_iter().enumerate() {
                let due = slope(&|parameters, h| parameters.map[i] += h);
                assert!(
                    (found - due).abs() < 1e-3,
                    "{pair:?} map {i}: {found} {due}"
                );
            }
            for (i, &found) in gradient.log_factors.iter().enumerate() {
                let due = slope(&|parameters, h| parameters.log_factors[i] += h);
                assert!(
                    (found - due).abs() < 1e-3,
                    "{pair:?} word {i}: {found} {due}"
                );
            }
            assert!(gradient.log_factors.iter().any(|x| x.abs() > 0.01));
        }
    }

    #[test]
    fn a_space_with_the_map_has_the_same_distances() {
        let (space, documents) = (space(), documents());
        let numbered = NumberedDocuments::new(&space, &documents).unwrap();
        let mut parameters = parameters(&numbered);
        parameters.log_factors.fill(0.0);
        let mapped = numbered.mapped(&parameters);
        let plan = mapped.plan(0, 1, &mut Workspace::default()).unwrap();
        let map: Vec<f32> = parameters.map.iter().map(|&x| x as f32).collect();
        let space = space.with_map(Some(map.into()));
        let distance = wordmover::wmd::distance(&space, &documents[0], &documents[1]).unwrap();
        assert!((plan.distance - distance).abs() < 1e-6);
    }

    #[test]
    fn candidates_are_the_nearest_and_some_of_the_own_class() {
        let (space, documents) = (space(), documents());
        let numbered = NumberedDocuments::new(&space, &documents).unwrap();
        let mapped = numbered.mapped(&numbered.identity());
        let nearest = mapped.candidates(0, &[0, 1, 1], 1, 0);
        assert_eq!(nearest.len(), 1);
        let other = 3 - nearest[0];
        let mut labels = [0, 1, 1];
        labels[other] = 0;
        assert_eq!(mapped.candidates(0, &labels, 1, 1), [nearest[0], other]);
        assert_eq!(mapped.candidates(0, &[0, 1, 2], 5, 5).len(), 2);
    }
}
