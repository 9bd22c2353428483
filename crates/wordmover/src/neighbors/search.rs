//! One query against the corpus.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::bounds::{Costs, DualBound};
use super::nearest_words::QueryPanels;
use super::{Loaded, Neighbor, RelaxedTerms, SearchStatistics, SearchedCorpus, radius};
use crate::document::Document;
use crate::error::Result;
use crate::ground::direct::{self, Columns};
use crate::transport::Workspace;
use crate::wmd::{self, Remainder};

/// A bound is taken to exceed a distance only if it does by this share of it ...
const RELATIVE_SLACK: f64 = 1e-9;

/// ... and this share of the greatest possible ground cost. Weights of a document may
/// sum to one only within 1e-9, and mass that one side lacks may go anywhere.
const SLACK: f64 = 1e-8;

/// No row of costs yet.
const NONE: u32 = u32::MAX;

/// What one thread reuses from query to query.
#[derive(Default)]
pub(crate) struct Search {
    table: CostTable,
    /// By corpus word: lower bound of the distance to the nearest word of the query other
    /// than itself.
    nearest: Vec<f64>,
    /// By corpus word: its weight in the query.
    kept: Vec<f64>,
    pair: Pair,
    bounds: BoundTable,
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
        self.table.reset(index, query, &vectors);
        self.bounds.reset(index, query, &vectors);
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
            if stage == Stage::Relaxed {
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
                    queue.push(Reverse((ranked, Stage::Dual)));
                    continue;
                }
            }
            statistics.solved += 1;
            self.pair.find_costs(index, words, &mut self.table);
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
        self.table.reset(index, query, &vectors);
        self.bounds.reset(index, query, &vectors);
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
            self.pair.find_costs(index, words, &mut self.table);
            let (costs, supply, demand) = self.pair.problem();
            best.offer(
                candidate as u32,
                self.workspace.solve(costs, supply, demand)?,
            );
        }
        Ok((best.into_neighbors(), statistics))
    }

    /// How near the corpus' words can be to the nearest of the query's.
    ///
    /// A word of both documents keeps the mass that both have there, and the rest
    /// must go to another word. So it is not its own nearest, and only the excess
    /// over the query's weight counts: a better bound than the plain relaxed one.
    fn measure_words(&mut self, index: &impl SearchedCorpus, query: &Document) {
        let panels = &self.bounds.panels;
        self.nearest.clear();
        self.nearest.resize(index.n_words(), 0.0);
        for block in index.word_blocks() {
            let bounds = &mut self.nearest[block.first..][..block.squared_lengths.len()];
            panels.bounds(&block.vectors, &block.squared_lengths, bounds);
        }
        self.kept.clear();
        self.kept.resize(index.n_words(), 0.0);
        for (own, (word, &weight)) in query.words().zip(query.weights()).enumerate() {
            if let Some(number) = index.number(word) {
                self.kept[number as usize] = weight;
                self.table.ensure(index, [number]);
                let costs = self.table.row(number).iter().enumerate();
                let others = costs.filter(|&(j, _)| j != own).map(|(_, &cost)| cost);
                let nearest = others.fold(f64::INFINITY, f64::min);
                // A query of this one word leaves nothing to move.
                self.nearest[number as usize] = if nearest.is_finite() { nearest } else { 0.0 };
            }
        }
    }

    /// All documents that have words and may be found, with their relaxed distances.
    fn first_bounds(
        &self,
        index: &impl SearchedCorpus,
        may_find: impl Fn(usize) -> bool,
    ) -> Result<Queue> {
        let terms = RelaxedTerms {
            nearest: &self.nearest,
            kept: &self.kept,
        };
        let mut bounded = Vec::with_capacity(index.n_documents());
        for i in (0..index.n_documents()).filter(|&i| may_find(i)) {
            if let Some(distance) = index.relaxed_distance(i, terms)? {
                let index = i as u32;
                bounded.push(Reverse((Ranked { distance, index }, Stage::Relaxed)));
            }
        }
        Ok(bounded.into())
    }
}

/// The transport problem between the query and one document.
#[derive(Default)]
struct Pair {
    remainder: Remainder,
    /// Whether the sources are words of the query.
    from_query: bool,
    costs: Vec<f64>,
    /// For the bound: rows of the document's words, and what the query's words demand.
    rows: Vec<u32>,
    demand: Vec<f64>,
    dual_bound: DualBound,
}

impl Pair {
    /// The remainder of the two, exactly as [`wmd::distance`] makes it; false when
    /// nothing is left to move.
    fn set(&mut self, query: &Document, document: &Document) -> bool {
        let (first, second, exchanged) = wmd::in_order(query, document);
        let any = self.remainder.set(first, second);
        self.from_query = self.remainder.from_first != exchanged;
        any
    }

    /// A lower bound of its cost, or one that is above `enough`. The sources are the
    /// document's words, whose costs are rows of the table as they are.
    fn bound(
        &mut self,
        index: &impl SearchedCorpus,
        words: &[u32],
        table: &mut BoundTable,
        enough: f64,
    ) -> f64 {
        let Remainder { sources, sinks, .. } = &self.remainder;
        let (of_query, of_document) = match self.from_query {
            true => (sources, sinks),
            false => (sinks, sources),
        };
        let numbers = of_document.positions.iter().map(|&at| words[at as usize]);
        table.ensure(index, numbers.clone());
        self.rows.clear();
        self.rows
            .extend(numbers.map(|number| table.rows[number as usize]));
        self.demand.clear();
        self.demand.resize(table.n_words, 0.0);
        for (&at, &mass) in of_query.positions.iter().zip(&of_query.masses) {
            self.demand[at as usize] = mass;
        }
        let costs = Costs {
            table: &table.costs,
            width: table.panels.width(),
            rows: &self.rows,
        };
        self.dual_bound
            .lower_bound(costs, &of_document.masses, &self.demand, enough)
    }

    /// Its ground costs, a row a source. A distance between two words is one sum of
    /// squares in the order of the coordinates, so either direction has the same bits.
    fn find_costs(&mut self, index: &impl SearchedCorpus, words: &[u32], table: &mut CostTable) {
        let Remainder { sources, sinks, .. } = &self.remainder;
        self.costs.clear();
        if self.from_query {
            let numbers = sinks.positions.iter().map(|&at| words[at as usize]);
            table.ensure(index, numbers.clone());
            self.costs.resize(sources.len() * sinks.len(), 0.0);
            for (sink, number) in numbers.enumerate() {
                let row = table.row(number);
                let column = self.costs[sink..].iter_mut().step_by(sinks.len());
                for (cost, &source) in column.zip(&sources.positions) {
                    *cost = row[source as usize];
                }
            }
        } else {
            let numbers = sources.positions.iter().map(|&at| words[at as usize]);
            table.ensure(index, numbers.clone());
            for number in numbers {
                let row = table.row(number);
                let costs = sinks.positions.iter().map(|&sink| row[sink as usize]);
                self.costs.extend(costs);
            }
        }
    }

    /// Costs, supplies and demands.
    fn problem(&self) -> (&[f64], &[f64], &[f64]) {
        let Remainder { sources, sinks, .. } = &self.remainder;
        (&self.costs, &sources.masses, &sinks.masses)
    }
}

/// Lower bounds of the ground costs from words of the corpus to the words of the query, in
/// single precision; a row is computed when it is first needed.
#[derive(Default)]
struct BoundTable {
    n_words: usize,
    panels: QueryPanels,
    /// By corpus word: its row, or [`NONE`].
    rows: Vec<u32>,
    costs: Vec<f32>,
    missing: Vec<f32>,
}

impl BoundTable {
    fn reset(&mut self, index: &impl SearchedCorpus, query: &Document, vectors: &[f32]) {
        self.n_words = query.len();
        self.panels = QueryPanels::new(vectors, index.space().dim());
        self.rows.clear();
        self.rows.resize(index.n_words(), NONE);
        self.costs.clear();
    }

    /// Computes the rows of these words where that was not done yet.
    fn ensure(&mut self, index: &impl SearchedCorpus, numbers: impl IntoIterator<Item = u32>) {
        let width = self.panels.width();
        let start = self.costs.len();
        append_missing(
            index,
            numbers,
            &mut self.rows,
            start / width,
            &mut self.missing,
        );
        if !self.missing.is_empty() {
            let n_missing = self.missing.len() / index.space().dim();
            self.costs.resize(start + n_missing * width, 0.0);
            self.panels.costs(&self.missing, &mut self.costs[start..]);
        }
    }
}

/// Numbers the rows of words that have none yet, from `n_rows` on, and gathers their vectors.
fn append_missing(
    index: &impl SearchedCorpus,
    numbers: impl IntoIterator<Item = u32>,
    rows: &mut [u32],
    n_rows: usize,
    missing: &mut Vec<f32>,
) {
    missing.clear();
    let mut next = n_rows as u32;
    for number in numbers {
        let row = &mut rows[number as usize];
        if *row == NONE {
            *row = next;
            next += 1;
            index.append_vector(number, missing);
        }
    }
}

/// Ground costs from words of the corpus to the words of the query; a row is computed
/// when it is first needed.
#[derive(Default)]
struct CostTable {
    n_words: usize,
    columns: Columns,
    /// By corpus word: its row, or [`NONE`].
    rows: Vec<u32>,
    costs: Vec<f64>,
    missing: Vec<f32>,
}

impl CostTable {
    fn reset(&mut self, index: &impl SearchedCorpus, query: &Document, vectors: &[f32]) {
        self.n_words = query.len();
        self.columns = Columns::new(vectors, index.space().dim());
        self.rows.clear();
        self.rows.resize(index.n_words(), NONE);
        self.costs.clear();
    }

    /// Computes the rows of these words where that was not done yet.
    fn ensure(&mut self, index: &impl SearchedCorpus, numbers: impl IntoIterator<Item = u32>) {
        let width = self.columns.width();
        let start = self.costs.len();
        append_missing(
            index,
            numbers,
            &mut self.rows,
            start / width,
            &mut self.missing,
        );
        if !self.missing.is_empty() {
            let n_missing = self.missing.len() / index.space().dim();
            self.costs.resize(start + n_missing * width, 0.0);
            let new = &mut self.costs[start..];
            direct::costs(&self.missing, &self.columns, new);
        }
    }

    /// Costs from a word to the query's words.
    fn row(&self, number: u32) -> &[f64] {
        let row = self.rows[number as usize] as usize;
        &self.costs[row * self.columns.width()..][..self.n_words]
    }
}

/// A document with its distance, or a bound of it: ordered by distance, then index.
#[derive(Clone, Copy)]
struct Ranked {
    distance: f64,
    index: u32,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let distances = self.distance.total_cmp(&other.distance);
        distances.then_with(|| self.index.cmp(&other.index))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

/// Which bound a document waits with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Relaxed,
    Dual,
}

/// Documents still to be looked at; the least bound comes out first.
type Queue = BinaryHeap<Reverse<(Ranked, Stage)>>;

/// The nearest documents found so far, the farthest of them on top.
struct Best {
    k: usize,
    heap: BinaryHeap<Ranked>,
}

impl Best {
    fn new(k: usize) -> Self {
        Best {
            k,
            heap: BinaryHeap::with_capacity(k + 1),
        }
    }

    /// What a document has to reach to be among them.
    fn distance(&self) -> f64 {
        match self.heap.peek() {
            Some(farthest) if self.heap.len() == self.k => farthest.distance,
            _ => f64::INFINITY,
        }
    }

    fn offer(&mut self, index: u32, distance: f64) {
        self.heap.push(Ranked { distance, index });
        if self.heap.len() > self.k {
            self.heap.pop();
        }
    }

    fn into_neighbors(self) -> Vec<Neighbor> {
        let sorted = self.heap.into_sorted_vec().into_iter();
        let neighbors = sorted.map(|Ranked { distance, index }| Neighbor {
            index: index as usize,
            distance,
        });
        neighbors.collect()
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

        /// Shared words keep their mass, so the first bound is also no worse than the
        /// plain relaxed distance.
        #[test]
        fn first_bounds_lie_between_the_relaxed_and_the_exact_distance(
            query in documents(),
            corpus in prop::collection::vec(documents(), 1..8),
        ) {
            let space = space();
            let index = WmdIndex::new(space.clone(), corpus.clone()).unwrap();
            let mut search = Search::default();
            let vectors = space.gather(query.words()).unwrap();
            search.table.reset(&index, &query, &vectors);
            search.bounds.reset(&index, &query, &vectors);
            search.measure_words(&index, &query);
            let queue = search.first_bounds(&index, |_| true).unwrap();
            prop_assert_eq!(queue.len(), corpus.len());
            for Reverse((bounded, _)) in queue {
                let document = &corpus[bounded.index as usize];
                let exact = wmd::distance(&space, &query, document).unwrap();
                let (_, relaxed) = wmd::relaxed_distances(&space, &query, document).unwrap();
                prop_assert!(bounded.distance <= exact + 1e-12);
                // Single precision costs something; words that coincide, the most.
                prop_assert!(bounded.distance >= relaxed - 0.02);
            }
        }
    }
}
