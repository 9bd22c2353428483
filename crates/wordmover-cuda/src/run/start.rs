//! The launches of a part.

use cudarc::driver::{CudaStream, PushKernelArg, result};

use super::{MOST_AGAIN, Memory, Part};
use crate::device::Device;
use crate::error::{Doing, Result};
use crate::kernels::{Work, launch, shape};
use crate::plan::{self, Class, Group, Layout, Shape};

impl Device {
    /// Launches all solves of a part, and the copy of its distances.
    #[expect(clippy::too_many_arguments)]
    pub(super) fn start_part(
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
}
