//! The transport problem between the query and one document.

use super::SearchedCorpus;
use super::bounds::{Costs, DualBound};
use super::cost_table::CostTable;
use super::query_panels::QueryPanels;
use crate::document::Document;
use crate::ground::direct::Columns;
use crate::wmd::{self, Remainder};

/// Steps of the second bound at most. On OHSUMED, 19 neighbours, of 100 documents that pass
/// the first bound, 43 pass the second without any step, 14 with 10, 12 with 20; 9 are
/// neighbours.
const STEPS: usize = 20;

#[derive(Default)]
pub(super) struct Pair {
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
    pub fn set(&mut self, query: &Document, document: &Document) -> bool {
        let (first, second, exchanged) = wmd::in_order(query, document);
        let any = self.remainder.set(first, second);
        self.from_query = self.remainder.from_first != exchanged;
        any
    }

    /// A lower bound of its cost, or one that is above `enough`. The sources are the
    /// document's words, whose costs are rows of the table as they are.
    pub fn bound(
        &mut self,
        index: &impl SearchedCorpus,
        words: &[u32],
        table: &mut CostTable<QueryPanels>,
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
            .extend(numbers.map(|number| table.row_number(number)));
        self.demand.clear();
        self.demand.resize(table.n_words(), 0.0);
        for (&at, &mass) in of_query.positions.iter().zip(&of_query.masses) {
            self.demand[at as usize] = mass;
        }
        let costs = Costs {
            table: table.costs(),
            width: table.query.width(),
            rows: &self.rows,
        };
        self.dual_bound
            .lower_bound(costs, &of_document.masses, &self.demand, STEPS, enough)
    }

    /// Its ground costs, a row a source. A distance between two words is one sum of
    /// squares in the order of the coordinates, so either direction has the same bits.
    pub fn find_costs(
        &mut self,
        index: &impl SearchedCorpus,
        words: &[u32],
        table: &mut CostTable<Columns>,
    ) {
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
    pub fn problem(&self) -> (&[f64], &[f64], &[f64]) {
        let Remainder { sources, sinks, .. } = &self.remainder;
        (&self.costs, &sources.masses, &sinks.masses)
    }
}
