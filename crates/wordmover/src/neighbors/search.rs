//! One query against the corpus.

use super::bounds::{Costs, DualBound};
use super::cost_table::CostTable;
use super::pair::Pair;
use super::query_panels::QueryPanels;
use super::queue::{Best, Queue, Ranked, Stage};
use super::{Loaded, Neighbor, SearchStatistics, SearchedCorpus, WordDuals, radius};
use crate::document::Document;
use crate::error::Result;
use crate::ground::direct::Columns;
use crate::transport::Workspace;

/// A bound is taken to exceed a distance only if it does by this share of it ...
const RELATIVE_SLACK: f64 = 1e-9;

/// ... and this share of the greatest possible ground cost. Weights of a document may
/// sum to one only within 1e-9, and mass that one side lacks may go anywhere.
const SLACK: f64 = 1e-7;

/// Steps up to the duals of the query's words, which are the same for all documents.
const STEPS: usize = 48;

/// Words whose duals are computed at once: their vectors stay in the first cache.
const WORDS_AT_ONCE: usize = 48;

/// Rare words of a document whose duals are computed before its bound is looked at again.
const RARE_WORDS_AT_ONCE: usize = 6;

/// Documents that are looked at to find `k`, before the first of them are solved, as a multiple
/// of `k`. What is known of the k-th best distance then ends most of the work on others early.
const SEEDS: usize = 4;

/// Vectors of some words, gathered, and what is computed of them.
#[derive(Default)]
struct WordsAtOnce {
    vectors: Vec<f32>,
    squared_lengths: Vec<f32>,
    duals: Vec<f32>,
}

/// What one thread reuses from query to query.
#[derive(Default)]
pub(crate) struct Search {
    costs: CostTable<Columns>,
    bounds: CostTable<QueryPanels>,
    query_duals: DualBound,
    /// The duals of the query's words for all documents, and of the corpus' words with them.
    sink_duals: Vec<f32>,
    duals: WordDuals,
    words: WordsAtOnce,
    missing: Vec<(u32, f64)>,
    pair: Pair,
    workspace: Workspace,
    loaded: Loaded,
}

impl Search {
    /// The nearest of the documents that may be found, and what it took to find them.
    pub fn run(
        &mut self,
        index: &impl SearchedCorpus,
        query: &Document,
        k: usize,
        may_find: impl Fn(usize) -> bool,
    ) -> Result<(Vec<Neighbor>, SearchStatistics)> {
        let mut statistics = SearchStatistics {
            queries: 1,
            ..SearchStatistics::default()
        };
        if query.is_empty() {
            return Ok((Vec::new(), statistics));
        }
        let vectors = index.space().gather(query.words())?;
        let slack = SLACK * (index.radius() + radius(&vectors, index.space().dim()));
        self.costs.reset(index, &vectors);
        self.bounds.reset(index, &vectors);
        self.measure_words(index, query);

        let mut queue = self.loose_bounds(index, may_find)?;
        statistics.pairs = queue.len() as u64;
        let mut best = Best::new(k.min(queue.len()));
        // The first documents wait for each other here, and then nobody does any more.
        let mut seeds = Vec::new();
        let mut n_seeds = SEEDS.saturating_mul(k);
        loop {
            // Documents equal to the query may have been enough: seeds can still tie with them.
            let is_enough = best.distance().is_finite();
            if !seeds.is_empty() && (queue.len() == 0 || seeds.len() == n_seeds || is_enough) {
                // Those with the least bounds; the others come when it is their turn.
                seeds.sort_unstable();
                for seed in seeds.drain(..) {
                    match best.distance().is_finite() {
                        true => queue.push(seed, Stage::Second),
                        false => {
                            self.solve(index, query, seed.index, &mut best, &mut statistics)?
                        }
                    }
                }
                n_seeds = 0;
            }
            let Some((next, stage)) = queue.pop() else {
                break;
            };
            let limit = best.distance() * (1.0 + RELATIVE_SLACK) + slack;
            if next.distance > limit {
                break;
            }
            // Others may be nearer: whatever takes long is done for the first in line.
            let next_bound = queue.next_bound();
            let ranked = |distance| Ranked { distance, ..next };
            if stage == Stage::Loose {
                let enough = if limit.is_finite() { limit } else { next_bound };
                let (bound, is_done) = self.first_bound(index, next.index as usize, enough)?;
                if bound > limit {
                    continue;
                }
                if bound > next_bound || !is_done {
                    let stage = if is_done { Stage::First } else { Stage::Loose };
                    queue.push(ranked(bound), stage);
                    continue;
                }
            }
            if stage != Stage::Second {
                let (document, words) = index.document(next.index as usize, &mut self.loaded)?;
                if !self.pair.set(query, document) {
                    best.offer(next.index, 0.0);
                    continue;
                }
                statistics.bounded_again += 1;
                let bound = self.pair.bound(index, words, &mut self.bounds, limit);
                if bound > limit {
                    continue;
                }
                if seeds.len() < n_seeds {
                    seeds.push(ranked(bound));
                    continue;
                }
                if bound > next_bound {
                    queue.push(ranked(bound), Stage::Second);
                    continue;
                }
            }
            self.solve(index, query, next.index, &mut best, &mut statistics)?;
        }
        Ok((best.into_neighbors(), statistics))
    }

    /// Offers a document with its exact distance.
    fn solve(
        &mut self,
        index: &impl SearchedCorpus,
        query: &Document,
        document: u32,
        best: &mut Best,
        statistics: &mut SearchStatistics,
    ) -> Result<()> {
        let (loaded, words) = index.document(document as usize, &mut self.loaded)?;
        self.pair.set(query, loaded);
        statistics.solved += 1;
        self.pair.find_costs(index, words, &mut self.costs);
        let (costs, supply, demand) = self.pair.problem();
        best.offer(document, self.workspace.solve(costs, supply, demand)?);
        Ok(())
    }

    /// The nearest of the candidates, which are taken in their order: those likely to be
    /// near should come first. One whose bound is beyond the k-th best distance so far
    /// is not solved; costs are computed for words of candidates alone.
    pub fn rank(
        &mut self,
        index: &impl SearchedCorpus,
        query: &Document,
        k: usize,
        candidates: &[usize],
    ) -> Result<(Vec<Neighbor>, SearchStatistics)> {
        let mut statistics = SearchStatistics {
            queries: 1,
            ..SearchStatistics::default()
        };
        if query.is_empty() {
            return Ok((Vec::new(), statistics));
        }
        let vectors = index.space().gather(query.words())?;
        let slack = SLACK * (index.radius() + radius(&vectors, index.space().dim()));
        self.costs.reset(index, &vectors);
        self.bounds.reset(index, &vectors);
        let mut best = Best::new(k.min(candidates.len()));
        for &candidate in candidates {
            let (document, words) = index.document(candidate, &mut self.loaded)?;
            if document.is_empty() {
                continue;
            }
            statistics.pairs += 1;
            if !self.pair.set(query, document) {
                best.offer(candidate as u32, 0.0);
                continue;
            }
            let limit = best.distance() * (1.0 + RELATIVE_SLACK) + slack;
            if limit.is_finite() {
                statistics.bounded_again += 1;
                if self.pair.bound(index, words, &mut self.bounds, limit) > limit {
                    continue;
                }
            }
            statistics.solved += 1;
            self.pair.find_costs(index, words, &mut self.costs);
            let (costs, supply, demand) = self.pair.problem();
            best.offer(
                candidate as u32,
                self.workspace.solve(costs, supply, demand)?,
            );
        }
        Ok((best.into_neighbors(), statistics))
    }

    /// Finds duals of the words of the query and of the corpus, which are feasible for every
    /// document: see the [module](super).
    fn measure_words(&mut self, index: &impl SearchedCorpus, query: &Document) {
        let typical = index.typical_words();
        let numbers = typical.numbers.iter().copied();
        self.bounds.ensure(index, numbers.clone());
        let rows: Vec<u32> = numbers.map(|word| self.bounds.row_number(word)).collect();
        let panels = &self.bounds.query;
        let costs = Costs {
            table: self.bounds.costs(),
            width: panels.width(),
            rows: &rows,
        };
        let query_duals = &mut self.query_duals;
        query_duals.lower_bound(
            costs,
            &typical.weights,
            query.weights(),
            STEPS,
            f64::INFINITY,
        );
        self.sink_duals.clear();
        self.sink_duals.extend_from_slice(query_duals.sink_duals());
        if !self.sink_duals[..query.len()]
            .iter()
            .all(|dual| dual.is_finite())
        {
            // Vectors beyond all measure. The bounds of these duals are the relaxed distances.
            self.sink_duals[..query.len()].fill(0.0);
        }

        let values = query.weights().iter().zip(&self.sink_duals);
        let value: f64 = values
            .map(|(&weight, &dual)| weight * f64::from(dual))
            .sum();
        self.duals.reset(index.n_words(), value, &self.sink_duals);
        for numbers in index.frequent_words().chunks(WORDS_AT_ONCE) {
            self.find_duals(index, numbers);
        }
        for (own, (word, &weight)) in query.words().zip(query.weights()).enumerate() {
            if let Some(number) = index.number(word) {
                // Its excess is nothing that the word itself still demands.
                self.bounds.ensure(index, [number]);
                let costs = self
                    .bounds
                    .row(number)
                    .iter()
                    .zip(&self.sink_duals)
                    .enumerate();
                let others = costs.filter(|&(j, _)| j != own);
                let least = others.fold(f32::INFINITY, |least, (_, (cost, dual))| {
                    least.min(cost - dual)
                });
                // A query of this one word leaves nothing to move.
                let excess = match least.is_finite() {
                    true => least - 2.0 * f32::EPSILON * least.abs(),
                    false => 0.0,
                };
                self.duals
                    .keep(number, weight, self.sink_duals[own], excess);
            }
        }
    }

    /// Computes the duals of words that the query does not have, and leaves them in `words`.
    fn find_duals(&mut self, index: &impl SearchedCorpus, numbers: &[u32]) {
        let WordsAtOnce {
            vectors,
            squared_lengths,
            duals,
        } = &mut self.words;
        vectors.clear();
        for &number in numbers {
            index.append_vector(number, vectors);
        }
        squared_lengths.clear();
        squared_lengths.extend(numbers.iter().map(|&number| index.squared_length(number)));
        duals.clear();
        duals.resize(numbers.len(), 0.0);
        let panels = &self.bounds.query;
        panels.source_duals(&self.sink_duals, vectors, squared_lengths, duals);
        self.duals.set(numbers, duals);
    }

    /// All documents that have words and may be found, with their loose bounds.
    fn loose_bounds(
        &self,
        index: &impl SearchedCorpus,
        may_find: impl Fn(usize) -> bool,
    ) -> Result<Queue> {
        let mut bounded = Vec::with_capacity(index.n_documents());
        for i in (0..index.n_documents()).filter(|&i| may_find(i)) {
            if let Some(distance) = index.loose_bound(i, &self.duals)? {
                let index = i as u32;
                bounded.push(Ranked { distance, index });
            }
        }
        Ok(Queue::new(bounded))
    }

    /// The first bound of a document, and whether it is that; otherwise the duals of some of its
    /// rare words were not needed for a bound above `enough`.
    fn first_bound(
        &mut self,
        index: &impl SearchedCorpus,
        document: usize,
        enough: f64,
    ) -> Result<(f64, bool)> {
        let mut missing = std::mem::take(&mut self.missing);
        let mut bound = index.tight_bound(document, &self.duals, &mut missing)?;
        // Some documents have thousands of rare words, and should not come back as often.
        let at_once = RARE_WORDS_AT_ONCE.max(missing.len() / 8);
        let mut n_done = 0;
        while n_done < missing.len() && bound <= enough {
            let words = &missing[n_done..missing.len().min(n_done + at_once)];
            for words in words.chunks(WORDS_AT_ONCE) {
                let mut numbers = [0; WORDS_AT_ONCE];
                for (number, &(word, _)) in numbers.iter_mut().zip(words) {
                    *number = word;
                }
                self.find_duals(index, &numbers[..words.len()]);
                for (&(_, weight), &dual) in words.iter().zip(&self.words.duals) {
                    bound += self.duals.gain(weight, dual);
                }
            }
            n_done += words.len();
        }
        let is_done = n_done == missing.len();
        self.missing = missing;
        Ok((bound, is_done))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::neighbors::WmdIndex;
    use crate::space::{Normalization, WordSpace};
    use crate::vectors::WordVectors;
    use crate::wmd;

    const N_WORDS: u32 = 12;

    fn space() -> WordSpace {
        let words = (0..N_WORDS).map(|i| format!("w{i}")).collect();
        let matrix = (0..N_WORDS * 3)
            .map(|i| ((i * 7919 + i / 5) % 7) as f32)
            .collect();
        let vectors = WordVectors::from_rows("toy", words, matrix, 3).unwrap();
        WordSpace::new(Arc::new(vectors), Normalization::None, &[]).unwrap()
    }

    fn documents() -> impl Strategy<Value = Document> {
        prop::collection::btree_map(0..N_WORDS, 1..4u32, 1..6).prop_map(|counts| {
            let total = f64::from(counts.values().sum::<u32>());
            let weights = counts
                .iter()
                .map(|(&word, &n)| (word, f64::from(n) / total));
            Document::from_weights(weights).unwrap()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

        #[test]
        fn first_bounds_are_below_the_exact_distance(
            query in documents(),
            corpus in prop::collection::vec(documents(), 1..8),
        ) {
            let space = space();
            let index = WmdIndex::new(space.clone(), corpus.clone()).unwrap();
            let mut search = Search::default();
            let vectors = space.gather(query.words()).unwrap();
            search.costs.reset(&index, &vectors);
            search.bounds.reset(&index, &vectors);
            search.measure_words(&index, &query);
            let mut queue = search.loose_bounds(&index, |_| true).unwrap();
            prop_assert_eq!(queue.len(), corpus.len());
            while let Some((loose, _)) = queue.pop() {
                let document = loose.index as usize;
                let exact = wmd::distance(&space, &query, &corpus[document]).unwrap();
                let (early, _) = search.first_bound(&index, document, loose.distance).unwrap();
                let (first, is_done) = search.first_bound(&index, document, f64::INFINITY).unwrap();
                prop_assert!(is_done);
                prop_assert!(loose.distance <= early + 1e-12, "{} {}", loose.distance, early);
                prop_assert!(early <= first + 1e-12, "{} {}", early, first);
                prop_assert!(first <= exact + SLACK, "{} {}", first, exact);
            }
        }
    }
}
