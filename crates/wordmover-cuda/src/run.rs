//! Distances in blocks: what is copied, launched and waited for when.
//!
//! A block of documents and a range of random documents share one table of ground costs. The
//! documents of a block go in parts; while the device solves one part, the distances of the
//! part before are copied and checked. Memory on both sides is one block, one table and two
//! parts, however many documents and random documents there are.

use std::ops::Range;
use std::sync::{Arc, PoisonError};

use cudarc::driver::{CudaContext, CudaStream, PushKernelArg, result};
use rayon::prelude::*;
use wordmover::transport::Workspace;

use crate::arena::{DeviceBuffer, PinnedBuffer};
use crate::block::{Block, Numbers};
use crate::device::Device;
use crate::error::{Doing, Error, Result};
use crate::input::{Bags, RandomDocuments, Statistics, expect};
use crate::kernels::{Work, launch, shape};
use crate::plan::{self, Class, Group, Layout, Shape};
use crate::reference::{distance_on_host, longest};

/// Bytes of the table of ground costs, and of the distances of a part.
const TABLE_BYTES: usize = 2 << 30;
const PART_BYTES: usize = 32 << 20;

/// Columns of a table, and random documents to a row of a part.
const MOST_COLUMNS: usize = 1 << 18;

/// Problems that may be tried a second time, for each part.
const MOST_AGAIN: usize = 1 << 20;

/// Streams besides its own among which the launches of a part take turns.
const HELPERS: usize = 3;

/// Distances of every part that are compared with the CPU's, and by how much they may differ.
const SAMPLE: usize = 16;
const TOLERANCE: f32 = 1e-6;

/// What is kept between calls.
#[derive(Debug)]
pub(crate) struct Memory {
    streams: [Arc<CudaStream>; 2],
    /// Further streams for the launches of each part: one alone would wait for the last blocks
    /// of every launch.
    helpers: [[Arc<CudaStream>; HELPERS]; 2],
    words: DeviceBuffer,
    word_squares: DeviceBuffer,
    columns: DeviceBuffer,
    column_squares: DeviceBuffer,
    table: DeviceBuffer,
    longest: DeviceBuffer,
    starts: DeviceBuffer,
    rows: DeviceBuffer,
    masses: DeviceBuffer,
    totals: DeviceBuffer,
    weights: DeviceBuffer,
    documents: DeviceBuffer,
    targets: DeviceBuffer,
    parts: [PartMemory; 2],
}

/// What a part in flight needs.
#[derive(Debug, Default)]
struct PartMemory {
    distances: DeviceBuffer,
    again: DeviceBuffer,
    /// Numbers of problems to be tried again, and of those that failed.
    counters: DeviceBuffer,
    on_host: PinnedBuffer,
    counters_on_host: PinnedBuffer,
}

impl Memory {
    pub fn new(context: &Arc<CudaContext>) -> Result<Self> {
        let stream = || context.new_stream().doing("making a stream");
        let helpers =
            || -> Result<[Arc<CudaStream>; HELPERS]> { Ok([stream()?, stream()?, stream()?]) };
        Ok(Memory {
            streams: [stream()?, stream()?],
            helpers: [helpers()?, helpers()?],
            words: DeviceBuffer::default(),
            word_squares: DeviceBuffer::default(),
            columns: DeviceBuffer::default(),
            column_squares: DeviceBuffer::default(),
            table: DeviceBuffer::default(),
            longest: DeviceBuffer::default(),
            starts: DeviceBuffer::default(),
            rows: DeviceBuffer::default(),
            masses: DeviceBuffer::default(),
            totals: DeviceBuffer::default(),
            weights: DeviceBuffer::default(),
            documents: DeviceBuffer::default(),
            targets: DeviceBuffer::default(),
            parts: Default::default(),
        })
    }
}

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
    /// Input that does not fit together, what the driver says, and [`Error::Disagreement`].
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

    /// Copies words and documents of a block to the device.
    fn upload_block(&self, memory: &mut Memory, input: Input, block: &Block) -> Result<()> {
        let Input { dim, bags, .. } = input;
        let stream = memory.streams[0].clone();
        let mut vectors = vec![0f32; block.words.len() * dim];
        vectors
            .par_chunks_exact_mut(dim)
            .zip(&block.words)
            .with_min_len(256)
            .for_each(|(vector, &word)| {
                let at = word as usize * dim;
                vector.copy_from_slice(&input.word_vectors[at..at + dim]);
            });
        memory.words.upload(&stream, &vectors)?;
        let squares = memory.word_squares.reserve(4 * block.words.len().max(4))?;
        self.square(
            &stream,
            memory.words.reserve(0)?,
            block.words.len(),
            dim,
            squares,
        )?;
        memory.starts.upload(&stream, &block.starts)?;
        memory.rows.upload(&stream, &block.rows)?;
        memory.masses.upload(&stream, &block.masses)?;
        memory.totals.upload(&stream, &block.totals)?;
        let places = bags.starts[block.documents.start]..bags.starts[block.documents.end];
        memory.weights.upload(&stream, &bags.weights[places])?;
        Ok(())
    }

    /// Squared lengths of vectors on the device.
    fn square(
        &self,
        stream: &CudaStream,
        vectors: u64,
        n: usize,
        dim: usize,
        squares: u64,
    ) -> Result<()> {
        if n == 0 {
            return Ok(());
        }
        let function = self.kernels.function("squared_lengths", 1, 0)?;
        let (n, dim) = (n as u32, dim as u32);
        let shape = shape((n.div_ceil(128) as usize, 1), 128, 0);
        // SAFETY: `n` vectors are there, and room for `n` squares.
        unsafe {
            launch(stream, &function, shape, |arguments| {
                arguments.arg(&vectors).arg(&n).arg(&dim).arg(&squares);
            })
        }
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

    /// The table, and work that refers to it.
    fn ground_costs(
        &self,
        memory: &mut Memory,
        input: Input,
        block: &Block,
        layout: &Layout,
    ) -> Result<Work> {
        let Input { dim, random, .. } = input;
        let stream = memory.streams[0].clone();
        let n_columns = layout.columns.len();
        let mut vectors = vec![0f32; n_columns * dim];
        vectors
            .par_chunks_exact_mut(dim)
            .zip(&layout.columns)
            .with_min_len(256)
            .for_each(|(vector, &word)| {
                if let Some(word) = word {
                    let at = word as usize * dim;
                    vector.copy_from_slice(&random.vectors[at..at + dim]);
                }
            });
        memory.columns.upload(&stream, &vectors)?;
        let columns = memory.columns.reserve(0)?;
        let column_squares = memory.column_squares.reserve(4 * n_columns.max(4))?;
        self.square(&stream, columns, n_columns, dim, column_squares)?;
        let n_words = block.words.len();
        let work = Work {
            table: memory.table.reserve(4 * (n_words * n_columns).max(4))?,
            pitch: n_columns as u32,
            longest: memory.longest.reserve(0)?,
            starts: memory.starts.reserve(0)?,
            rows: memory.rows.reserve(0)?,
            masses: memory.masses.reserve(0)?,
            totals: memory.totals.reserve(0)?,
            weights: memory.weights.reserve(0)?,
            targets: memory.targets.upload(&stream, &layout.targets)?,
            most_again: MOST_AGAIN as u32,
            ..Work::default()
        };
        if n_words * n_columns > 0 {
            let function = self.kernels.function("ground_costs", 1, 0)?;
            let grid = (n_columns.div_ceil(128), n_words.div_ceil(128));
            let words = memory.words.reserve(0)?;
            let word_squares = memory.word_squares.reserve(0)?;
            let (n_words, n_columns, dim) = (n_words as u32, n_columns as u32, dim as u32);
            // SAFETY: the sizes are those of the buffers above.
            unsafe {
                launch(&stream, &function, shape(grid, 256, 0), |arguments| {
                    arguments.arg(&words).arg(&word_squares).arg(&n_words);
                    arguments.arg(&columns).arg(&column_squares).arg(&n_columns);
                    arguments.arg(&dim).arg(&work.longest).arg(&work.table);
                })
            }?;
        }
        Ok(work)
    }

    /// Launches all solves of a part, and the copy of its distances.
    #[expect(clippy::too_many_arguments)]
    fn start_part(
        &self,
        memory: &mut Memory,
        slot: usize,
        mut work: Work,
        layout: &Layout,
        sorted: &[u32],
        first: usize,
        classes: &[Class],
        part: &mut Part,
    ) -> Result<()> {
        let stream = memory.streams[slot].clone();
        let documents = memory.documents.reserve(0)?;
        let part_memory = &mut memory.parts[slot];
        let n_distances = part.documents.len() * part.random.len();
        work.distances = part_memory.distances.reserve(4 * n_distances)?;
        work.again = part_memory.again.reserve(16 * MOST_AGAIN)?;
        work.n_again = part_memory.counters.reserve(16)?;
        work.n_failed = work.n_again + 4;
        part_memory.on_host.reserve(n_distances)?;
        part_memory.counters_on_host.reserve(2)?;
        // SAFETY: two counters are there.
        unsafe { result::memset_d8_async(work.n_again, 0, 8, stream.cu_stream()) }
            .doing("clearing counters")?;
        let helpers = &memory.helpers[slot];
        for helper in helpers {
            helper.join(&stream).doing("joining streams")?;
        }
        let mut streams = helpers.iter().chain([&stream]).cycle();
        let mut again = [0; 2];
        for class in classes {
            for group in &layout.groups {
                let Shape { n_sinks, .. } = group.shape;
                let lanes = match n_sinks {
                    1 => Some(1),
                    _ => group.shape.lanes_for(class.longest, self.shared_bytes),
                };
                let Some(lanes) = lanes else {
                    let documents = &sorted[class.documents.clone()];
                    let start = part.documents.start - work.first_document as usize;
                    let too_long = documents.iter().map(|&d| (start + d as usize, n_sinks));
                    part.too_long.extend(too_long);
                    continue;
                };
                work.documents = documents + 4 * (first + class.documents.start) as u64;
                if let Some(stream) = streams.next() {
                    self.solve(stream, work, group, class, lanes)?;
                }
                let is_many = usize::from(n_sinks > 8);
                if n_sinks > 1 {
                    let bytes = plan::again_bytes(class.longest, n_sinks);
                    again[is_many] = bytes.min(self.shared_bytes).max(again[is_many]);
                }
            }
        }
        for helper in helpers {
            stream.join(helper).doing("joining streams")?;
        }
        for (is_many, bytes) in again.into_iter().enumerate() {
            if bytes > 0 {
                work.shared_bytes = bytes as u32;
                let n_sinks = [8, 32][is_many];
                let function = self.kernels.function("solve_again", n_sinks, bytes)?;
                let shape = shape((8 * self.n_multiprocessors, 1), 32, bytes);
                // SAFETY: the buffers are those of the part; the list has at most MOST_AGAIN.
                unsafe {
                    launch(&stream, &function, shape, |arguments| {
                        arguments.arg(&work);
                    })
                }?;
            }
        }
        // SAFETY: sizes as reserved; `finish_part` waits before it reads.
        unsafe {
            part_memory
                .on_host
                .download(&stream, work.distances, n_distances)?;
            part_memory
                .counters_on_host
                .download(&stream, work.n_again, 2)
        }
    }

    /// Launches one class of documents with one group of random documents.
    fn solve(
        &self,
        stream: &CudaStream,
        mut work: Work,
        group: &Group,
        class: &Class,
        lanes: usize,
    ) -> Result<()> {
        let Shape {
            n_sinks,
            d,
            problems,
            ..
        } = group.shape;
        work.first_column = group.first_column as u32;
        work.targets += 4 * group.first_target as u64;
        work.n_tiles = group.n_tiles as u32;
        work.n_sinks = n_sinks as u32;
        let n_documents = class.documents.len();
        let (name, threads, bytes, per_block) = match n_sinks {
            1 => ("solve_one_sink".to_owned(), 128, 0, 128),
            _ => {
                // Enough blocks to fill the GPU several times, but not more of them than that:
                // each reads its document first.
                let enough = n_documents * group.n_tiles / (64 * self.n_multiprocessors);
                let bytes = group.shape.shared_bytes(class.longest);
                let name = format!("solve_{d}_by_{lanes}");
                (name, problems * lanes, bytes, enough.clamp(1, 16))
            }
        };
        work.tiles_per_block = per_block as u32;
        let function = self.kernels.function(&name, n_sinks, bytes)?;
        let grid = (n_documents, group.n_tiles.div_ceil(per_block));
        // SAFETY: the part's and the block's buffers, with the class's documents and the
        // group's columns and targets inside them.
        unsafe {
            launch(
                stream,
                &function,
                shape(grid, threads, bytes),
                |arguments| {
                    arguments.arg(&work);
                },
            )
        }
    }

    /// Waits for a part, copies its distances, solves what is left over, compares a sample.
    #[expect(clippy::too_many_arguments)]
    fn finish_part(
        &self,
        memory: &Memory,
        slot: usize,
        part: &Part,
        input: Input,
        layout: &Layout,
        out: &mut [f32],
        statistics: &mut Statistics,
    ) -> Result<()> {
        let stream = &memory.streams[slot];
        stream.synchronize().doing("solving transport problems")?;
        let part_memory = &memory.parts[slot];
        let (n_random, width) = (input.random.len(), part.random.len());
        let found = part_memory.on_host.floats(part.documents.len() * width);
        let n_failed = part_memory.counters_on_host.floats(2)[1].to_bits();
        let out = &mut out[part.documents.start * n_random..part.documents.end * n_random];
        out.par_chunks_exact_mut(n_random)
            .zip(found.par_chunks_exact(width))
            .zip(part.documents.clone())
            .with_min_len(16)
            .for_each(|((out, found), document)| {
                let out = &mut out[part.random.clone()];
                match input.bags.bag(document).0.is_empty() {
                    true => out.fill(f32::INFINITY),
                    false => out.copy_from_slice(found),
                }
            });
        let mut left_over = self.left_over(part, input, layout);
        if n_failed > 0 {
            for (row, document) in found.chunks_exact(width).zip(part.documents.clone()) {
                let is_empty = input.bags.bag(document).0.is_empty();
                let failed = row.iter().zip(part.random.clone());
                let failed = failed.filter(|(distance, _)| !is_empty && distance.is_nan());
                left_over.extend(failed.map(|(_, random)| (document, random)));
            }
            left_over.sort_unstable();
            left_over.dedup();
        }
        statistics.on_host += left_over.len() as u64;
        let solved = left_over
            .into_par_iter()
            .map_init(Workspace::default, |workspace, problem| {
                Ok((problem, input.on_host(problem, workspace)?))
            })
            .collect::<Result<Vec<_>>>()?;
        for ((document, random), distance) in solved {
            out[(document - part.documents.start) * n_random + random] = distance;
        }
        statistics.compared += input.compare(part, out)?;
        Ok(())
    }

    /// Problems that were not given to the device.
    fn left_over(&self, part: &Part, input: Input, layout: &Layout) -> Vec<(usize, usize)> {
        let mut problems = Vec::new();
        for &(document, n_sinks) in &part.too_long {
            let random = part.random.clone();
            let random = random.filter(|&j| input.random.n_sinks(j) == n_sinks);
            problems.extend(random.map(|random| (document, random)));
        }
        for document in part.documents.clone() {
            if !layout.too_long.is_empty() && !input.bags.bag(document).0.is_empty() {
                problems.extend(layout.too_long.iter().map(|&random| (document, random)));
            }
        }
        problems
    }
}

impl Input<'_> {
    /// A distance by the library's solver.
    fn on_host(
        &self,
        (document, random): (usize, usize),
        workspace: &mut Workspace,
    ) -> Result<f32> {
        let (words, weights) = self.bags.bag(document);
        let vector = |&word: &u32| {
            let at = word as usize * self.dim;
            &self.word_vectors[at..at + self.dim]
        };
        let vectors: Vec<f32> = words.iter().flat_map(vector).copied().collect();
        let random_words = self.random.words(random, self.dim);
        let distance = distance_on_host(&vectors, weights, random_words, self.dim, workspace);
        Ok(distance.map_err(wordmover::Error::from)?)
    }

    /// Compares some distances of a part, spread over documents and random documents.
    fn compare(&self, part: &Part, out: &[f32]) -> Result<u64> {
        let n_random = self.random.len();
        let mut workspace = Workspace::default();
        let mut compared = 0;
        for i in 0..SAMPLE {
            // Odd steps that have nothing to do with lengths: about the golden section.
            let at = |n: usize, seed: usize| (i * 2 + 1) * ((n * 5 / 8) | 1) * seed % n;
            let document = part.documents.start + at(part.documents.len(), 7);
            let random = part.random.start + at(part.random.len(), 11);
            if self.bags.bag(document).0.is_empty() {
                continue;
            }
            let found = out[(document - part.documents.start) * n_random + random];
            let expected = self.on_host((document, random), &mut workspace)?;
            let is_close = (found - expected).abs() <= TOLERANCE * expected;
            // Not a number is no agreement.
            if !is_close {
                return Err(Error::Disagreement {
                    document,
                    random,
                    found,
                    expected,
                });
            }
            compared += 1;
        }
        Ok(compared)
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
