//! What is copied to the device, and the table of ground costs.

use cudarc::driver::{CudaStream, PushKernelArg};
use rayon::prelude::*;

use super::{Input, MOST_AGAIN, Memory};
use crate::block::Block;
use crate::device::Device;
use crate::error::Result;
use crate::kernels::{Work, launch, shape};
use crate::plan::Layout;

impl Device {
    /// Copies words and documents of a block to the device.
    pub(super) fn upload_block(
        &self,
        memory: &mut Memory,
        input: Input,
        block: &Block,
    ) -> Result<()> {
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

    /// The table, and work that refers to it.
    pub(super) fn ground_costs(
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
}
