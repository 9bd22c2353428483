//! Counts what the current thread allocates, so that tests can tell whether a
//! small file with a large header makes the library reserve memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

fn note(size: usize) {
    // During the end of a thread the cell is gone; nobody is counting then.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: everything is passed on to the system's allocator unchanged; the
// counter neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The size of the largest single allocation that `work` makes on this thread.
pub fn largest_during<T>(work: impl FnOnce() -> T) -> (T, usize) {
    LARGEST.set(0);
    let outcome = work();
    (outcome, LARGEST.get())
}

#[test]
fn a_large_allocation_is_noticed() {
    let (_, largest) = largest_during(|| Vec::<u8>::with_capacity(12_345_678));
    assert_eq!(largest, 12_345_678);
}
