//! Distances in blocks: what is copied, launched and waited for when.
//!
//! A block of documents and a range of random documents share one table of ground costs. The
//! documents of a block go in parts; while the device solves one part, the distances of the
//! part before are copied and checked. Memory on both sides is one block, one table and two
//! parts, however many documents and random documents there are.

mod finish;
mod memory;
mod start;
mod table;

use std::ops::Range;
use std::sync::PoisonError;

use crate::block::{Block, Numbers};
use crate::device::Device;
use crate::error::{Doing, Result};
use crate::input::{Bags, RandomDocuments, Statistics, expect};
use crate::kernels::Work;
use crate::plan::{self, Layout};
use crate::reference::longest;

pub(crate) use memory::Memory;

/// Bytes of the table of ground costs, and of the distances of a part.
const TABLE_BYTES: usize = 2 << 30;
const PART_BYTES: usize = 32 << 20;

/// Columns of a table, and random documents to a row of a part.
const MOST_COLUMNS: usize = 1 << 18;

/// Problems that may be tried a second time, for each part.
const MOST_AGAIN: usize = 1 << 20;

/// The call's input.
#[derive(Clone, Copy)]
struct Input<'a> {
    word_vectors: &'a [f32],
    dim: usize,
    bags: Bags<'a>,
    random: RandomDocuments<'a>,
}

/// A part in flight.
struct Part {
    /// Rows of the output, and columns.
    documents: Range<usize>,
    random: Range<usize>,
    /// Documents for which shared memory is too small, with the numbers of sinks for which it is.
    too_long: Vec<(usize, usize)>,
}

impl Device {
    /// Distances from every bag to every random document, row by row: what the library's
    /// features are made of, in single precision. `word_vectors` holds a vector of `dim`
    /// coordinates for every word id. An empty bag is infinitely far from everything.
    ///
    /// Distances agree with the library's to 1e-6 of their value, and as a rule to the last
    /// bit; a sample of them is compared in every call.
    ///
    /// # Errors
    ///
    /// Input that does not fit together, what the driver says, and [`crate::Error::Disagreement`].
    ///
    /// # Panics
    ///
    /// If `dim` is 0 or `out` does not have `bags.len() * random.len()` places.
    pub fn distances(
        &self,
        word_vectors: &[f32],
        dim: usize,
        bags: Bags,
        random: RandomDocuments,
        out: &mut [f32],
    ) -> Result<Statistics> {
        assert!(dim > 0, "vectors have coordinates");
        assert_eq!(out.len(), bags.len() * random.len(), "output shape");
        let n_words = word_vectors.len() / dim;
        expect("coordinates of words", n_words * dim, word_vectors.len())?;
        bags.check(n_words)?;
        random.check(dim)?;
        let input = Input {
            word_vectors,
            dim,
            bags,
            random,
        };
        // A call that panicked left nothing behind that the next would read.
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        self.context.bind_to_thread().doing("turning to the GPU")?;
        let result = self.all_blocks(&mut memory, input, out);
        // Nothing may be in flight when buffers are used again.
        for stream in memory.streams.iter().chain(memory.helpers.as_flattened()) {
            stream.synchronize().doing("waiting for the GPU")?;
        }
        result
    }

    fn all_blocks(&self, memory: &mut Memory, input: Input, out: &mut [f32]) -> Result<Statistics> {
        let Input { bags, random, .. } = input;
        let mut statistics = Statistics {
            distances: out.len() as u64,
            ..Statistics::default()
        };
        if out.is_empty() {
            return Ok(statistics);
        }
        let squares = [
            longest(input.word_vectors, input.dim).to_bits(),
            longest(random.vectors, input.dim).to_bits(),
        ];
        memory.longest.upload(&memory.streams[0], &squares)?;
        let mut numbers = Numbers::new(input.word_vectors.len() / input.dim);
        let mut next = 0;
        while next < bags.len() {
            let block = numbers.block(&bags, next);
            next = block.documents.end;
            self.upload_block(memory, input, &block)?;
            let most_columns = (TABLE_BYTES / 4 / block.words.len().max(1)).min(MOST_COLUMNS);
            let mut start = 0;
            while start < random.len() {
                let range = start..range_end(&random, start, most_columns);
                start = range.end;
                self.one_table(memory, input, &block, range, out, &mut statistics)?;
            }
        }
        Ok(statistics)
    }

    /// All documents of a block with the random documents of a range.
    fn one_table(
        &self,
        memory: &mut Memory,
        input: Input,
        block: &Block,
        range: Range<usize>,
        out: &mut [f32],
        statistics: &mut Statistics,
    ) -> Result<()> {
        let layout = Layout::new(&input.random, range.clone());
        let work = self.ground_costs(memory, input, block, &layout)?;
        let rows_per_part = (PART_BYTES / 4 / range.len()).max(1);
        let mut sorted: Vec<u32> = Vec::with_capacity(block.documents.len());
        let mut parts = Vec::new();
        for start in (0..block.documents.len()).step_by(rows_per_part) {
            let documents = start..(start + rows_per_part).min(block.documents.len());
            let first = sorted.len();
            sorted.extend(
                documents
                    .clone()
                    .filter(|&d| block.length(d) > 0)
                    .map(|d| d as u32),
            );
            let classes = plan::classes(&mut sorted[first..], |d| block.length(d as usize));
            parts.push((documents, first, classes));
        }
        memory.documents.upload(&memory.streams[0], &sorted)?;
        let ready = memory.streams[1].join(&memory.streams[0]);
        ready.doing("joining streams")?;

        let mut in_flight: Option<(usize, Part)> = None;
        for (number, (documents, first, classes)) in parts.into_iter().enumerate() {
            let slot = number % 2;
            let mut part = Part {
                documents: block.documents.start + documents.start
                    ..block.documents.start + documents.end,
                random: range.clone(),
                too_long: Vec::new(),
            };
            let part_work = Work {
                first_document: documents.start as u32,
                n_targets: range.len() as u32,
                ..work
            };
            let sorted = &sorted[first..];
            self.start_part(
                memory, slot, part_work, &layout, sorted, first, &classes, &mut part,
            )?;
            if let Some((slot, part)) = in_flight.replace((slot, part)) {
                self.finish_part(memory, slot, &part, input, &layout, out, statistics)?;
            }
        }
        if let Some((slot, part)) = in_flight {
            self.finish_part(memory, slot, &part, input, &layout, out, statistics)?;
        }
        Ok(())
    }
}

/// Where the range of random documents that begins at `start` ends: as many as have room in
/// `most_columns`, at least one.
fn range_end(random: &RandomDocuments, start: usize, most_columns: usize) -> usize {
    let mut columns = 0;
    let mut end = start;
    while end < random.len() {
        // Places between tiles stay empty: a quarter more and a few are enough.
        columns += random.n_sinks(end) * 5 / 4 + 1;
        if columns > most_columns && end > start {
            break;
        }
        end += 1;
    }
    end
}
