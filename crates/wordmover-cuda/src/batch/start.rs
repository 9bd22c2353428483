//! The beginning of a part: its problems in integers, copied, launched.

use std::ops::Range;

use cudarc::driver::PushKernelArg;
use rayon::prelude::*;

use super::memory::{BatchMemory, PartMemory};
use super::problem::{self, Fitted, TransportProblem};
use super::{OnDevice, Part};
use crate::device::Device;
use crate::error::{Doing, Result};
use crate::kernels::{Batch, Given, launch, shape};

/// Costs copied at once, through page-locked memory.
pub(super) const CHUNK: usize = 4 << 20;

/// Costs one thread copies at once.
const PIECE: usize = 1 << 15;

/// Threads a block for up to so many sources or sinks; the first with a kernel of its own, for
/// one warp. Twice as many are as fast or slower, up to 1.6 times, once all multiprocessors have
/// work.
const SIZES: [(usize, usize); CLASSES - 1] = [
    (96, 32),
    (192, 64),
    (384, 128),
    (1024, 256),
    (usize::MAX, 512),
];

/// Kinds of launches: one for each size, and one for problems beyond shared memory.
pub(super) const CLASSES: usize = 6;

/// Rows of a problem that are copied together.
struct Piece<'a> {
    /// Number on the device.
    number: usize,
    first_row: usize,
    out: &'a mut [f64],
}

impl Device {
    /// Copies and launches the problems of a part.
    pub(super) fn start_part_of(
        &self,
        memory: &mut BatchMemory,
        slot: usize,
        problems: &[TransportProblem],
        range: Range<usize>,
    ) -> Result<Part> {
        let most_costs = self.most_bytes() / 8;
        let fitted: Vec<Option<Fitted>> = problems[range.clone()]
            .par_iter()
            .with_min_len(16)
            .map(|problem| Fitted::new(problem, most_costs))
            .collect();
        let mut part = Part {
            problems: range.clone(),
            fitted: Vec::with_capacity(fitted.len()),
        };
        let (mut first_node, mut first_column) = (0, 0);
        for (index, fitted) in range.zip(fitted) {
            let Some(fitted) = fitted else { continue };
            let on_device = OnDevice {
                index,
                fitted,
                range: problem::Range::default(),
                scale: None,
                first_node,
                first_column,
            };
            first_node = on_device.end_of_nodes();
            first_column = on_device.end_of_columns();
            part.fitted.push(on_device);
        }
        if part.fitted.is_empty() {
            return Ok(part);
        }
        memory.reserve_chunks()?;
        self.copy_costs(memory, slot, problems, &mut part)?;
        let stream = memory.streams[slot].clone();
        for copies in &memory.copies {
            stream.join(copies).doing("joining streams")?;
        }
        let buffers = &mut memory.parts[slot];
        let (given, classes, memory_bytes) = self.layout(&mut part);
        let masses: Vec<i64> = part
            .fitted
            .iter()
            .flat_map(|on_device| on_device.fitted.masses.iter().copied())
            .collect();
        let order: Vec<u32> = classes
            .iter()
            .flat_map(|class| class.iter().copied())
            .collect();
        let n_costs: usize = part.fitted.iter().map(OnDevice::n_costs).sum();
        let (n_nodes, n_columns, n_problems) = (masses.len(), first_column, part.fitted.len());
        let batch = Batch {
            problems: buffers.problems.upload(&stream, &given)?,
            order: buffers.order.upload(&stream, &order)?,
            costs: buffers.costs.reserve(0)?,
            turned: buffers.turned.reserve(8 * n_costs)?,
            masses: buffers.masses.upload(&stream, &masses)?,
            memory: buffers.memory.reserve(memory_bytes)?,
            arc_masses: buffers.arc_masses.reserve(8 * n_nodes)?,
            arcs: buffers.arcs.reserve(4 * n_nodes)?,
            duals: buffers.duals.reserve(8 * n_columns)?,
            n_arcs: buffers.n_arcs.reserve(4 * n_problems)?,
        };
        let mut first = 0;
        for (number, class) in classes.iter().enumerate() {
            if class.is_empty() {
                continue;
            }
            let side = &memory.launches[slot][number];
            side.join(&stream).doing("joining streams")?;
            let work = Batch {
                order: batch.order + 4 * first as u64,
                ..batch
            };
            self.launch_class(side, work, number, class, &part)?;
            stream.join(side).doing("joining streams")?;
            first += class.len();
        }
        download(buffers, &stream, batch, n_nodes, n_columns, n_problems)?;
        Ok(part)
    }

    /// Copies all costs of a part, chunk by chunk, and finds their ranges.
    fn copy_costs(
        &self,
        memory: &mut BatchMemory,
        slot: usize,
        problems: &[TransportProblem],
        part: &mut Part,
    ) -> Result<()> {
        let n_costs: usize = part.fitted.iter().map(OnDevice::n_costs).sum();
        let address = memory.parts[slot].costs.reserve(8 * n_costs.max(2))?;
        let (mut number, mut row) = (0, 0);
        let (mut chunk, mut done) = (0, 0);
        while number < part.fitted.len() {
            let copies = memory.copies[chunk].clone();
            copies.synchronize().doing("copying costs")?;
            let buffer = memory.chunks[chunk].values_mut(CHUNK);
            let mut pieces = Vec::new();
            let mut rest = &mut buffer[..];
            while number < part.fitted.len() {
                let Fitted {
                    n_rows, n_columns, ..
                } = part.fitted[number].fitted;
                // A row always has room in an empty chunk: there are fewer than 2^16 columns.
                let most = (rest.len() / n_columns).min((PIECE / n_columns).max(1));
                let n = most.min(n_rows - row);
                if n == 0 {
                    break;
                }
                let (out, after) = rest.split_at_mut(n * n_columns);
                rest = after;
                pieces.push(Piece {
                    number,
                    first_row: row,
                    out,
                });
                row += n;
                if row == n_rows {
                    (number, row) = (number + 1, 0);
                }
            }
            let n_left = rest.len();
            let ranges: Vec<(usize, problem::Range)> = pieces
                .into_par_iter()
                .with_min_len(4)
                .map(|piece| {
                    let OnDevice { index, fitted, .. } = &part.fitted[piece.number];
                    let problem = &problems[*index];
                    let range = fitted.copy_rows(problem, piece.first_row, piece.out);
                    (piece.number, range)
                })
                .collect();
            for (number, range) in ranges {
                part.fitted[number].range.join(range);
            }
            let n_copied = CHUNK - n_left;
            // SAFETY: the costs have room for all chunks one after the other, and the chunk is
            // written again only after the stream has been waited for.
            unsafe { memory.chunks[chunk].upload(&copies, address + 8 * done as u64, n_copied) }?;
            done += n_copied;
            chunk = 1 - chunk;
        }
        Ok(())
    }

    /// Where problems lie, which of them each launch solves, and bytes of memory for those
    /// beyond shared memory. Large ones go first. A problem whose costs the library would refuse
    /// is in no launch.
    fn layout(&self, part: &mut Part) -> (Vec<Given>, [Vec<u32>; CLASSES], usize) {
        let mut classes: [Vec<u32>; CLASSES] = Default::default();
        let (mut costs, mut memory) = (0, 0);
        let mut given = Vec::with_capacity(part.fitted.len());
        for (number, on_device) in part.fitted.iter_mut().enumerate() {
            let bytes = on_device.fitted.memory_bytes();
            let Fitted {
                n_rows, n_columns, ..
            } = on_device.fitted;
            let width = n_rows.max(n_columns);
            let class = match bytes <= self.shared_bytes {
                true => SIZES.iter().position(|&(most, _)| width <= most),
                false => None,
            };
            let class = class.unwrap_or(CLASSES - 1);
            given.push(Given {
                costs: costs as u64,
                nodes: on_device.first_node as u64,
                sinks: on_device.first_column as u64,
                memory: memory as u64,
                least: on_device.range.least,
                scale: 0.0,
                n_sources: on_device.fitted.n_rows as u32,
                n_sinks: on_device.fitted.n_columns as u32,
            });
            costs += on_device.n_costs();
            if class == CLASSES - 1 {
                memory += bytes;
            }
            on_device.scale = on_device.range.scale();
            if let Some(scale) = on_device.scale {
                given[number].scale = scale;
                classes[class].push(number as u32);
            }
        }
        for class in &mut classes {
            class.sort_by_key(|&number| std::cmp::Reverse(part.fitted[number as usize].n_costs()));
        }
        (given, classes, memory.max(16))
    }

    fn launch_class(
        &self,
        stream: &cudarc::driver::CudaStream,
        work: Batch,
        number: usize,
        class: &[u32],
        part: &Part,
    ) -> Result<()> {
        let bytes = |&number: &u32| part.fitted[number as usize].fitted.memory_bytes();
        let most = class.iter().map(bytes).max().unwrap_or(0);
        let (name, threads, bytes) = match number {
            0 => ("transport_by_warp", 32, most),
            _ if number < CLASSES - 1 => ("transport_by_block", SIZES[number].1, most),
            _ => ("transport_in_memory", 1024, 0),
        };
        let function = self.kernels.batch_function(name, bytes)?;
        // SAFETY: the buffers are those of the part, with room for all of its problems, and the
        // block has shared memory for the largest of the class.
        unsafe {
            launch(
                stream,
                &function,
                shape((class.len(), 1), threads, bytes),
                |arguments| {
                    arguments.arg(&work);
                },
            )
        }
    }
}

impl OnDevice {
    fn n_costs(&self) -> usize {
        self.fitted.n_rows * self.fitted.n_columns
    }
}

/// Copies what is found back, when it has been found.
fn download(
    buffers: &mut PartMemory,
    stream: &cudarc::driver::CudaStream,
    batch: Batch,
    n_nodes: usize,
    n_columns: usize,
    n_problems: usize,
) -> Result<()> {
    buffers.arc_masses_on_host.reserve(n_nodes)?;
    buffers.arcs_on_host.reserve(n_nodes)?;
    buffers.duals_on_host.reserve(n_columns)?;
    buffers.n_arcs_on_host.reserve(n_problems)?;
    // SAFETY: sizes as reserved on both sides; `proven_part` waits before it reads.
    unsafe {
        buffers
            .arc_masses_on_host
            .download(stream, batch.arc_masses, n_nodes)?;
        buffers.arcs_on_host.download(stream, batch.arcs, n_nodes)?;
        buffers
            .duals_on_host
            .download(stream, batch.duals, n_columns)?;
        buffers
            .n_arcs_on_host
            .download(stream, batch.n_arcs, n_problems)
    }
}
