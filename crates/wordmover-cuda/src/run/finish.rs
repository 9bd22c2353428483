//! The end of a part: its distances copied, what is left over solved, a sample compared.

use rayon::prelude::*;
use wordmover::transport::Workspace;

use super::{Input, Memory, Part};
use crate::device::Device;
use crate::error::{Doing, Error, Result};
use crate::input::Statistics;
use crate::plan::Layout;
use crate::reference::distance_on_host;

/// Distances of every part that are compared with the CPU's, and by how much they may differ.
const SAMPLE: usize = 16;
const TOLERANCE: f32 = 1e-6;

impl Device {
    /// Waits for a part, copies its distances, solves what is left over, compares a sample.
    #[expect(clippy::too_many_arguments)]
    pub(super) fn finish_part(
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
        let found = part_memory.on_host.values(part.documents.len() * width);
        let n_failed = part_memory.counters_on_host.values(2)[1].to_bits();
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
