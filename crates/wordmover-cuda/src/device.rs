//! One GPU, opened.

use std::sync::{Arc, Mutex};

use cudarc::driver::{CudaContext, result, sys};

use crate::batch::BatchMemory;
use crate::error::{Doing, Error, Result};
use crate::kernels::Kernels;
use crate::run::Memory;

/// A GPU, with the kernels and the memory it works with. Calls take turns.
#[derive(Debug)]
pub struct Device {
    // Memory goes before the context it is of.
    pub(crate) memory: Mutex<Memory>,
    pub(crate) batch: Mutex<BatchMemory>,
    pub(crate) kernels: Kernels,
    pub(crate) context: Arc<CudaContext>,
    /// Bytes of shared memory a block may have.
    pub(crate) shared_bytes: usize,
    pub(crate) n_multiprocessors: usize,
    /// Bytes of memory of the GPU.
    pub(crate) memory_bytes: usize,
}

impl Device {
    /// Whether a CUDA driver is installed; there may still be no GPU.
    #[must_use]
    pub fn has_driver() -> bool {
        // SAFETY: loads the driver's library and closes it again, which runs its initialisers
        // as every use of CUDA does.
        unsafe { sys::is_culib_present() }
    }

    /// Opens a GPU; 0 is the first.
    ///
    /// # Errors
    ///
    /// [`Error::NoDriver`], [`Error::NoDevice`], or what the driver says.
    pub fn open(ordinal: usize) -> Result<Device> {
        // Everything in cudarc panics where there is no driver.
        if !Self::has_driver() {
            return Err(Error::NoDriver);
        }
        let found = CudaContext::device_count().doing("counting GPUs")?;
        if ordinal as u64 >= found.max(0) as u64 {
            let found = found.max(0) as usize;
            return Err(Error::NoDevice { ordinal, found });
        }
        let context = CudaContext::new(ordinal).doing("opening the GPU")?;
        let attribute = |attribute, least: i32| -> Result<usize> {
            let value = context.attribute(attribute).doing("asking about the GPU")?;
            Ok(value.max(least) as usize)
        };
        use sys::CUdevice_attribute_enum as Attribute;
        let shared_bytes = attribute(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            48 << 10,
        )?;
        let n_multiprocessors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1)?;
        let (_, memory_bytes) = result::mem_get_info().doing("asking about the GPU")?;
        Ok(Device {
            memory: Mutex::new(Memory::new(&context)?),
            batch: Mutex::new(BatchMemory::new(&context)?),
            kernels: Kernels::new(&context),
            context,
            shared_bytes,
            n_multiprocessors,
            memory_bytes,
        })
    }

    /// What the driver calls the GPU.
    ///
    /// # Errors
    ///
    /// What the driver says.
    pub fn name(&self) -> Result<String> {
        self.context.name().doing("asking for the GPU's name")
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // Memory can be freed only by a thread the context is bound to.
        let _ = self.context.bind_to_thread();
    }
}
