//! The kernels: modules, functions, launches.

use std::sync::{Arc, OnceLock};

use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaStream, DeviceRepr, LaunchArgs, LaunchConfig, sys,
};
use cudarc::nvrtc::Ptx;

use crate::error::{Doing, Result};

/// Made by `kernels/make_ptx.py`.
const FEW_SINKS: &str = include_str!("../kernels/few_sinks.ptx");
const MANY_SINKS: &str = include_str!("../kernels/many_sinks.ptx");
const BATCH: &str = include_str!("../kernels/batch.ptx");

/// `Work` of `kernels/kernels.cu`; see there. Pointers are addresses on the device.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Work {
    pub table: u64,
    pub pitch: u32,
    pub first_column: u32,
    pub longest: u64,
    pub starts: u64,
    pub rows: u64,
    pub masses: u64,
    pub totals: u64,
    pub weights: u64,
    pub documents: u64,
    pub targets: u64,
    pub n_tiles: u32,
    pub tiles_per_block: u32,
    pub n_sinks: u32,
    pub distances: u64,
    pub n_targets: u32,
    pub first_document: u32,
    pub again: u64,
    pub n_again: u64,
    pub most_again: u32,
    pub shared_bytes: u32,
    pub n_failed: u64,
}

// SAFETY: plain numbers in the order and with the padding of the kernels' structure.
unsafe impl DeviceRepr for Work {}

/// `Given` of `kernels/shortest_paths.h`; see there.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Given {
    pub costs: u64,
    pub nodes: u64,
    pub sinks: u64,
    pub memory: u64,
    pub least: f64,
    pub scale: f64,
    pub n_sources: u32,
    pub n_sinks: u32,
}

/// `Batch` of `kernels/batch.cu`; see there. Pointers are addresses on the device.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Batch {
    pub problems: u64,
    pub order: u64,
    pub costs: u64,
    pub turned: u64,
    pub masses: u64,
    pub memory: u64,
    pub arc_masses: u64,
    pub arcs: u64,
    pub duals: u64,
    pub n_arcs: u64,
}

// SAFETY: plain numbers in the order of the kernels' structure.
unsafe impl DeviceRepr for Batch {}

/// The kernels, each part loaded when it is first needed: the driver compiles PTX on loading.
#[derive(Debug)]
pub(crate) struct Kernels {
    context: Arc<CudaContext>,
    few_sinks: OnceLock<Arc<CudaModule>>,
    many_sinks: OnceLock<Arc<CudaModule>>,
    batch: OnceLock<Arc<CudaModule>>,
}

impl Kernels {
    pub fn new(context: &Arc<CudaContext>) -> Self {
        Kernels {
            context: context.clone(),
            few_sinks: OnceLock::new(),
            many_sinks: OnceLock::new(),
            batch: OnceLock::new(),
        }
    }

    /// A kernel of the part for `n_sinks` sinks that may take `shared_bytes`.
    pub fn function(
        &self,
        name: &str,
        n_sinks: usize,
        shared_bytes: usize,
    ) -> Result<CudaFunction> {
        match n_sinks > 8 {
            true => self.function_of(&self.many_sinks, MANY_SINKS, name, shared_bytes),
            false => self.function_of(&self.few_sinks, FEW_SINKS, name, shared_bytes),
        }
    }

    /// A kernel for batches of transport problems.
    pub fn batch_function(&self, name: &str, shared_bytes: usize) -> Result<CudaFunction> {
        self.function_of(&self.batch, BATCH, name, shared_bytes)
    }

    fn function_of(
        &self,
        module: &OnceLock<Arc<CudaModule>>,
        ptx: &str,
        name: &str,
        shared_bytes: usize,
    ) -> Result<CudaFunction> {
        let module = match module.get() {
            Some(module) => module,
            None => {
                let loaded = self.context.load_module(Ptx::from_src(ptx));
                module.get_or_init({
                    let loaded = loaded.doing("compiling the kernels")?;
                    || loaded
                })
            }
        };
        let function = module.load_function(name).doing("finding a kernel")?;
        if shared_bytes > 48 << 10 {
            let attribute =
                sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            function
                .set_attribute(attribute, shared_bytes as i32)
                .doing("reserving shared memory")?;
        }
        Ok(function)
    }
}

/// Grid, threads a block, bytes of shared memory.
pub(crate) fn shape(grid: (usize, usize), threads: usize, shared_bytes: usize) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (grid.0 as u32, grid.1 as u32, 1),
        block_dim: (threads as u32, 1, 1),
        shared_mem_bytes: shared_bytes as u32,
    }
}

/// Launches a kernel with the arguments that `arguments` adds.
///
/// # Safety
///
/// They are those of the kernel, and memory they point to is as long as the kernel takes it to
/// be, and lives until the stream has been waited for.
pub(crate) unsafe fn launch<'a>(
    stream: &'a CudaStream,
    function: &'a CudaFunction,
    shape: LaunchConfig,
    arguments: impl FnOnce(&mut LaunchArgs<'a>),
) -> Result<()> {
    let mut builder = stream.launch_builder(function);
    arguments(&mut builder);
    // SAFETY: the caller's promise.
    unsafe { builder.launch(shape) }.doing("starting a kernel")?;
    Ok(())
}
