//! Memory on the device and page-locked memory on the host, kept from call to call.

use std::ffi::c_void;

use cudarc::driver::{CudaStream, result, sys};

use crate::error::{Doing, Result};

/// Device memory that only grows.
#[derive(Debug, Default)]
pub(crate) struct DeviceBuffer {
    address: u64,
    bytes: usize,
}

impl DeviceBuffer {
    /// The address of at least so many bytes, whose content is lost if there were fewer.
    pub fn reserve(&mut self, bytes: usize) -> Result<u64> {
        if bytes > self.bytes {
            self.release();
            // SAFETY: the context is bound to the thread (Device::distances); the memory is
            // written before it is read.
            self.address =
                unsafe { result::malloc_sync(bytes) }.doing("allocating device memory")?;
            self.bytes = bytes;
        }
        Ok(self.address)
    }

    /// Copies a slice to the beginning, after what the stream has to do before.
    pub fn upload<T: Copy>(&mut self, stream: &CudaStream, values: &[T]) -> Result<u64> {
        let address = self.reserve(size_of_val(values).max(16))?;
        // SAFETY: there is room, and from pageable memory the driver has read all when the call
        // returns.
        unsafe { result::memcpy_htod_async(address, values, stream.cu_stream()) }
            .doing("copying to the device")?;
        Ok(address)
    }

    fn release(&mut self) {
        if self.bytes > 0 {
            // SAFETY: allocated above and not freed yet. Freeing waits for work that uses it.
            // An error here is one of work before, which has been or will be reported there.
            let _ = unsafe { result::free_sync(self.address) };
            self.bytes = 0;
        }
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        self.release();
    }
}

/// Page-locked numbers that only grow.
#[derive(Debug)]
pub(crate) struct PinnedBuffer<T = f32> {
    first: *mut T,
    len: usize,
}

// SAFETY: the memory is owned, like that of a Vec.
unsafe impl<T: Send> Send for PinnedBuffer<T> {}

impl<T> Default for PinnedBuffer<T> {
    fn default() -> Self {
        PinnedBuffer {
            first: std::ptr::null_mut(),
            len: 0,
        }
    }
}

/// Numbers of which every pattern of bits is one.
pub(crate) trait Number: Copy {}

impl Number for f32 {}
impl Number for f64 {}
impl Number for i32 {}
impl Number for i64 {}
impl Number for u32 {}

impl<T: Number> PinnedBuffer<T> {
    /// Makes room for so many numbers.
    pub fn reserve(&mut self, len: usize) -> Result<()> {
        if len > self.len {
            self.release();
            // SAFETY: the context is bound to the thread.
            let memory = unsafe { result::malloc_host(size_of::<T>() * len, 0) };
            self.first = memory.doing("allocating page-locked memory")?.cast();
            self.len = len;
            // SAFETY: so many numbers were allocated; none is read before it is set.
            unsafe { self.first.write_bytes(0, len) };
        }
        Ok(())
    }

    /// The first of them.
    pub fn values(&self, len: usize) -> &[T] {
        assert!(len <= self.len, "reserved");
        if len == 0 {
            return &[];
        }
        // SAFETY: allocated and set in `reserve`.
        unsafe { std::slice::from_raw_parts(self.first, len) }
    }

    /// The first of them, to be written.
    pub fn values_mut(&mut self, len: usize) -> &mut [T] {
        assert!(len <= self.len, "reserved");
        if len == 0 {
            return &mut [];
        }
        // SAFETY: allocated and set in `reserve`, and borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.first, len) }
    }

    /// Copies from the device to the beginning, in the stream's time.
    ///
    /// # Safety
    ///
    /// So many numbers are at `address`, and nobody reads these here until the stream has been
    /// waited for.
    pub unsafe fn download(&mut self, stream: &CudaStream, address: u64, len: usize) -> Result<()> {
        assert!(len <= self.len, "reserved");
        // SAFETY: room is checked; the rest is the caller's promise.
        let status = unsafe {
            let bytes = size_of::<T>() * len;
            sys::cuMemcpyDtoHAsync_v2(self.first.cast(), address, bytes, stream.cu_stream())
        };
        status.result().doing("copying from the device")
    }

    /// Copies from the beginning to the device, in the stream's time.
    ///
    /// # Safety
    ///
    /// There is room for so many numbers at `address`, and nobody writes these here until the
    /// stream has been waited for.
    pub unsafe fn upload(&self, stream: &CudaStream, address: u64, len: usize) -> Result<()> {
        assert!(len <= self.len, "reserved");
        // SAFETY: they are here; the rest is the caller's promise.
        let status = unsafe {
            let bytes = size_of::<T>() * len;
            sys::cuMemcpyHtoDAsync_v2(address, self.first.cast(), bytes, stream.cu_stream())
        };
        status.result().doing("copying to the device")
    }
}

impl<T> PinnedBuffer<T> {
    fn release(&mut self) {
        if self.len > 0 {
            // SAFETY: allocated above and not freed yet.
            let _ = unsafe { result::free_host(self.first.cast::<c_void>()) };
            self.len = 0;
        }
    }
}

impl<T> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        self.release();
    }
}
