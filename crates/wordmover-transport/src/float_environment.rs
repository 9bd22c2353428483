//! The floating-point arithmetic that results are defined by, whatever the caller's thread has
//! set.
//!
//! Two flags of the processor replace subnormal numbers by zero: on x86-64
//! denormals-are-zero and flush-to-zero of MXCSR, on AArch64 FZ of FPCR. Libraries compiled
//! with `-ffast-math` set them when they are loaded, PyTorch on demand, and every thread
//! inherits them from the one that starts it, those of a thread pool, too. Then results would
//! depend on what else is loaded, and integers that are kept in the bits of doubles would be
//! compared as zeros. So whatever calculates puts an [`IeeeArithmetic`] on its stack, which
//! clears the flags (and returns to rounding to nearest) and restores them when it is dropped.
//!
//! Why this and not arithmetic that needs no subnormal numbers: costs and features may
//! be subnormal themselves, and `exp` of a great distance is. Reading the flags takes some ten
//! cycles. The solvers compare integers as integers all the same, so that flags could cost
//! bits, but never an optimum.
//!
//! The Rust language assumes the default state. A thread that comes from elsewhere with
//! another one breaks that before our code runs; with the guard, what we calculate is
//! calculated as the language assumes.

use std::marker::PhantomData;

/// While it lives, the thread calculates by IEEE 754, with subnormal numbers.
///
/// ```
/// use wordmover_transport::float_environment::IeeeArithmetic;
///
/// let _ieee = IeeeArithmetic::enter();
/// assert!(f64::MIN_POSITIVE / 2.0 > 0.0);
/// ```
#[derive(Debug)]
pub struct IeeeArithmetic {
    /// What was found, if it was something else.
    found: Option<control::Register>,
    /// The flags are those of one thread: a pointer keeps the value on it.
    on_this_thread: PhantomData<*const ()>,
}

impl IeeeArithmetic {
    /// Clears the flags of this thread.
    #[inline(always)]
    pub fn enter() -> Self {
        let register = control::read();
        let found = (register & control::FLAGS != 0).then_some(register);
        if let Some(register) = found {
            control::write(register & !control::FLAGS);
        }
        IeeeArithmetic {
            found,
            on_this_thread: PhantomData,
        }
    }
}

impl Drop for IeeeArithmetic {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(register) = self.found {
            control::write(register);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod control {
    use std::arch::asm;

    pub type Register = u32;

    /// Flush-to-zero, the direction of rounding, denormals-are-zero.
    pub const FLAGS: Register = 0x8000 | 0x6000 | 0x40;

    #[inline(always)]
    pub fn read() -> Register {
        let mut register: Register = 0;
        // SAFETY: stores the control register, which every x86-64 processor has, to four bytes
        // that are ours.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack)) };
        register
    }

    #[inline(always)]
    pub fn write(register: Register) {
        // SAFETY: loads a value that was read before, with some flags cleared or not: no bit
        // is set that the processor does not know. Without `nomem`, so that no calculation
        // with values from memory is moved across it.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod control {
    use std::arch::asm;

    pub type Register = u64;

    /// Flush-to-zero (of half precision, too) and the direction of rounding.
    pub const FLAGS: Register = 1 << 24 | 1 << 19 | 3 << 22;

    #[inline(always)]
    pub fn read() -> Register {
        let register: Register;
        // SAFETY: reads the control register, which every AArch64 processor has.
        unsafe { asm!("mrs {}, fpcr", out(reg) register, options(nostack)) };
        register
    }

    #[inline(always)]
    pub fn write(register: Register) {
        // SAFETY: as on x86-64.
        unsafe { asm!("msr fpcr, {}", in(reg) register, options(nostack)) };
    }
}

/// Elsewhere there is nothing to read.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod control {
    pub type Register = u32;
    pub const FLAGS: Register = 0;

    #[inline(always)]
    pub fn read() -> Register {
        0
    }

    #[inline(always)]
    pub fn write(_: Register) {}
}

#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) mod tests {
    use std::hint::black_box;

    use super::*;

    /// Runs `work` in a thread whose subnormal numbers are zeros.
    pub(crate) fn without_subnormals<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                control::write(control::read() | 0x8040);
                let result = work();
                control::write(control::read() & !0x8040);
                result
            });
            thread.join().expect("the thread ends")
        })
    }

    #[test]
    fn flags_are_cleared_and_restored() {
        let half = || black_box(f64::MIN_POSITIVE) / black_box(2.0);
        without_subnormals(|| {
            assert_eq!(half().to_bits(), 0);
            {
                let _ieee = IeeeArithmetic::enter();
                assert!(half() > 0.0);
                let _again = IeeeArithmetic::enter();
                assert!(half() > 0.0);
            }
            assert_eq!(half().to_bits(), 0);
        });
        assert!(half() > 0.0);
    }
}
