//! What is kept between calls.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};

use crate::arena::{DeviceBuffer, PinnedBuffer};
use crate::error::{Doing, Result};

/// Streams besides its own among which the launches of a part take turns.
const HELPERS: usize = 3;

/// What is kept between calls.
#[derive(Debug)]
pub(crate) struct Memory {
    pub streams: [Arc<CudaStream>; 2],
    /// Further streams for the launches of each part: one alone would wait for the last blocks
    /// of every launch.
    pub helpers: [[Arc<CudaStream>; HELPERS]; 2],
    pub words: DeviceBuffer,
    pub word_squares: DeviceBuffer,
    pub columns: DeviceBuffer,
    pub column_squares: DeviceBuffer,
    pub table: DeviceBuffer,
    pub longest: DeviceBuffer,
    pub starts: DeviceBuffer,
    pub rows: DeviceBuffer,
    pub masses: DeviceBuffer,
    pub totals: DeviceBuffer,
    pub weights: DeviceBuffer,
    pub documents: DeviceBuffer,
    pub targets: DeviceBuffer,
    pub parts: [PartMemory; 2],
}

/// What a part in flight needs.
#[derive(Debug, Default)]
pub(crate) struct PartMemory {
    pub distances: DeviceBuffer,
    pub again: DeviceBuffer,
    /// Numbers of problems to be tried again, and of those that failed.
    pub counters: DeviceBuffer,
    pub on_host: PinnedBuffer,
    pub counters_on_host: PinnedBuffer,
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
