//! What is kept between batches.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};

use super::start::{CHUNK, CLASSES};
use crate::arena::{DeviceBuffer, PinnedBuffer};
use crate::error::{Doing, Result};

/// What is kept between batches.
#[derive(Debug)]
pub(crate) struct BatchMemory {
    /// Of parts.
    pub streams: [Arc<CudaStream>; 2],
    /// For the launches of each part, which run side by side.
    pub launches: [[Arc<CudaStream>; CLASSES]; 2],
    /// For copies of costs, each from memory of its own.
    pub copies: [Arc<CudaStream>; 2],
    pub chunks: [PinnedBuffer<f64>; 2],
    pub parts: [PartMemory; 2],
}

/// What a part in flight needs.
#[derive(Debug, Default)]
pub(crate) struct PartMemory {
    pub problems: DeviceBuffer,
    pub order: DeviceBuffer,
    pub costs: DeviceBuffer,
    pub turned: DeviceBuffer,
    pub masses: DeviceBuffer,
    pub memory: DeviceBuffer,
    pub arc_masses: DeviceBuffer,
    pub arcs: DeviceBuffer,
    pub duals: DeviceBuffer,
    pub n_arcs: DeviceBuffer,
    pub arc_masses_on_host: PinnedBuffer<i64>,
    pub arcs_on_host: PinnedBuffer<u32>,
    pub duals_on_host: PinnedBuffer<i64>,
    pub n_arcs_on_host: PinnedBuffer<i32>,
}

impl BatchMemory {
    pub fn new(context: &Arc<CudaContext>) -> Result<Self> {
        let stream = || context.new_stream().doing("making a stream");
        let launches = || -> Result<[Arc<CudaStream>; CLASSES]> {
            let streams: Result<Vec<_>> = (0..CLASSES).map(|_| stream()).collect();
            Ok(streams?.try_into().expect("as many"))
        };
        Ok(BatchMemory {
            streams: [stream()?, stream()?],
            launches: [launches()?, launches()?],
            copies: [stream()?, stream()?],
            chunks: Default::default(),
            parts: Default::default(),
        })
    }

    /// Makes room for the chunks, which only batches need.
    pub fn reserve_chunks(&mut self) -> Result<()> {
        self.chunks
            .iter_mut()
            .try_for_each(|chunk| chunk.reserve(CHUNK))
    }

    /// Waits for everything.
    pub fn wait(&self) -> Result<()> {
        let launches = self.launches.as_flattened();
        for stream in self.streams.iter().chain(launches).chain(&self.copies) {
            stream.synchronize().doing("waiting for the GPU")?;
        }
        Ok(())
    }
}
