//! Where distances to random documents and batches of transport problems are computed.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use wordmover::accelerator::Accelerator;
use wordmover::error_message;
use wordmover_cuda::Device;

/// The GPU this process opened, with the process' number: what a fork inherits is of no use.
static OPENED: Mutex<Option<(u32, Arc<Device>)>> = Mutex::new(None);

/// What stands for a device's name; nothing for the CPU.
pub fn open(name: &str) -> PyResult<Option<Arc<dyn Accelerator>>> {
    Ok(cuda_by_name(name)?.map(|device| device as Arc<dyn Accelerator>))
}

/// The GPU that a device's name stands for; none for the CPU.
pub fn cuda_by_name(name: &str) -> PyResult<Option<Arc<Device>>> {
    match name {
        "cpu" => Ok(None),
        "cuda" => Ok(Some(cuda().map_err(failed)?)),
        "auto" => Ok(cuda().ok()),
        _ => Err(PyValueError::new_err(format!(
            "device is '{name}': it must be 'cpu', 'cuda' or 'auto'"
        ))),
    }
}

/// What the GPU or its driver refuses, as Python sees it.
pub fn failed(error: wordmover_cuda::Error) -> PyErr {
    PyRuntimeError::new_err(error_message::of(&error))
}

fn cuda() -> Result<Arc<Device>, wordmover_cuda::Error> {
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((of, device)) = &*opened
        && *of == process
    {
        return Ok(device.clone());
    }
    let device = Arc::new(Device::open(0)?);
    // Dropping what another process opened would close its memory here: it is left alone.
    if let Some(inherited) = opened.replace((process, device.clone())) {
        std::mem::forget(inherited);
    }
    Ok(device)
}
