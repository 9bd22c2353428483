//! One query against the corpus.

use std::cmp::Reverse;

use super::bounds::{Costs, DualBound};
use super::cost_table::CostTable;
use super::pair::Pair;
use super::query_panels::QueryPanels;
use super::queue::{Best, Queue, Ranked, Stage};
use super::{BoundTerms, Loaded, Neighbor, SearchStatistics, SearchedCorpus, radius};
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

/// What one thread reuses from query to query.
#[derive(Default)]
pub(crate) struct Search {
    costs: CostTable<Columns>,
    bounds: CostTable<QueryPanels>,
    query_duals: DualBound,
    /// The [terms](BoundTerms) of the first bounds.
    query: f64,
    duals: Vec<f32>,
    kept: Vec<f64>,
    kept_duals: Vec<f64>,
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

        let mut queue = self.first_bounds(index, may_find)?;
        statistics.pairs = queue.len() as u64;
        let mut best = Best::new(k.min(queue.len()));
        while let Some(Reverse((next, stage))) = queue.pop() {
            let limit = best.distance() * (1.0 + RELATIVE_SLACK) + slack;
            if next.distance > limit {
                break;
            }
            let (document, words) = index.document(next.index as usize, &mut self.loaded)?;
            if !self.pair.set(query, document) {
                best.offer(next.index, 0.0);
                continue;
            }
            if stage == Stage::First {
                statistics.bounded_again += 1;
                let bound = self.pair.bound(index, words, &mut self.bounds, limit);
                if bound > limit {
                    continue;
                }
                // Others may be nearer: a problem is solved when it is the first in line.
                let is_first =
                    |Reverse((other, _)): &Reverse<(Ranked, Stage)>| bound <= other.distance;
                if !queue.peek().is_none_or(is_first) {
                    let ranked = Ranked {
                        distance: bound,
                        index: next.index,
                    };
                    queue.push(Reverse((ranked, Stage::Second)));
                    continue;
                }
            }
            statistics.solved += 1;
            self.pair.find_costs(index, words, &mut self.costs);
            let (costs, supply, demand) = self.pair.problem();
            best.offer(next.index, self.workspace.solve(costs, supply, demand)?);
        }
        Ok((best.into_neighbors(), statistics))
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
        let mut sinks = query_duals.sink_duals().to_vec();
        if !sinks[..query.len()].iter().all(|dual| dual.is_finite()) {
            // Vectors beyond all measure. The bounds of these duals are the relaxed distances.
            sinks[..query.len()].fill(0.0);
        }

        self.duals.clear();
        self.duals.resize(index.n_words(), 0.0);
        for block in index.word_blocks() {
            let duals = &mut self.duals[block.first..][..block.squared_lengths.len()];
            panels.source_duals(&sinks, &block.vectors, &block.squared_lengths, duals);
        }
        self.kept.clear();
        self.kept.resize(index.n_words(), 0.0);
        self.kept_duals.clear();
        self.kept_duals.resize(index.n_words(), 0.0);
        self.query = 0.0;
        for (own, (word, &weight)) in query.words().zip(query.weights()).enumerate() {
            self.query += weight * f64::from(sinks[own]);
            if let Some(number) = index.number(word) {
                self.kept[number as usize] = weight;
                self.kept_duals[number as usize] = f64::from(sinks[own]);
                // Its excess is nothing that the word itself still demands.
                self.bounds.ensure(index, [number]);
                let costs = self.bounds.row(number).iter().zip(&sinks).enumerate();
                let others = costs.filter(|&(j, _)| j != own);
                let least = others.fold(f32::INFINITY, |least, (_, (cost, dual))| {
                    least.min(cost - dual)
                });
                // A query of this one word leaves nothing to move.
                self.duals[number as usize] = match least.is_finite() {
                    true => least - 2.0 * f32::EPSILON * least.abs(),
                    false => 0.0,
                };
            }
        }
    }

    /// All documents that have words and may be found, with their first bounds.
    fn first_bounds(
        &self,
        index: &impl SearchedCorpus,
        may_find: impl Fn(usize) -> bool,
    ) -> Result<Queue> {
        let terms = BoundTerms {
            query: self.query,
            duals: &self.duals,
            kept: &self.kept,
            kept_duals: &self.kept_duals,
        };
        let mut bounded = Vec::with_capacity(index.n_documents());
        for i in (0..index.n_documents()).filter(|&i| may_find(i)) {
            if let Some(distance) = index.first_bound(i, terms)? {
                let index = i as u32;
                bounded.push(Reverse((Ranked { distance, index }, Stage::First)));
            }
        }
        Ok(bounded.into())
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
            let queue = search.first_bounds(&index, |_| true).unwrap();
            prop_assert_eq!(queue.len(), corpus.len());
            for Reverse((bounded, _)) in queue {
                let document = &corpus[bounded.index as usize];
                let exact = wmd::distance(&space, &query, document).unwrap();
                prop_assert!(bounded.distance <= exact + SLACK, "{} {}", bounded.distance, exact);
            }
        }
    }
}
