//! Where distances are computed.

use std::sync::Arc;

use anyhow::Result;
use clap::{Args, ValueEnum};
use wordmover::accelerator::Accelerator;

/// Where distances are computed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Device")]
pub struct DeviceArguments {
    /// Where distances to random documents are computed; cuda gives the CPU's to 1e-6 of
    /// their value, and the same bits every time
    #[arg(long, value_enum, default_value = "cpu", value_name = "WHERE")]
    device: Device,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Device {
    /// On all cores
    Cpu,
    /// On the first CUDA GPU
    Cuda,
    /// On a GPU where there is one
    Auto,
}

impl DeviceArguments {
    /// The device asked for, unless it is the CPU.
    pub fn open(&self) -> Result<Option<Arc<dyn Accelerator>>> {
        match self.device {
            Device::Cpu => Ok(None),
            Device::Cuda => cuda().map(Some),
            Device::Auto => Ok(cuda().ok()),
        }
    }
}

#[cfg(feature = "cuda")]
fn cuda() -> Result<Arc<dyn Accelerator>> {
    Ok(Arc::new(wordmover_cuda::Device::open(0)?))
}

#[cfg(not(feature = "cuda"))]
fn cuda() -> Result<Arc<dyn Accelerator>> {
    anyhow::bail!("this program was built without CUDA; build it with --features cuda")
}
