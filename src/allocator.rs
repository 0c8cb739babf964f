//! The allocator of the binary: mimalloc in small pages, which can be told to overwrite memory that
//! is given back. A server with forms tells it so: somebody's data pass through buffers of
//! connections, parsers and messages, of which ours are the fewest, and each of them ends here.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};

use mimalloc::MiMalloc;

static WIPES: AtomicBool = AtomicBool::new(false);

pub struct Allocator;

/// From now on memory is overwritten with zeros before it is given back.
pub fn wipe_from_now_on() {
    WIPES.store(true, Ordering::Relaxed);
}

/// From now on memory comes in small pages. mimalloc asks for huge ones, and a server whose data
/// are in a memory map would fill little of each.
pub fn use_small_pages() {
    #[cfg(target_os = "linux")]
    // SAFETY: takes numbers only. Where the kernel has no huge pages it does nothing.
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
    }
}

/// Overwrites memory, whether or not anybody reads it again.
///
/// # Safety
/// The block must be writable for so many bytes, and nobody else's.
unsafe fn wipe(block: *mut u8, bytes: usize) {
    // SAFETY: as the caller promises.
    unsafe { block.write_bytes(0, bytes) };
    compiler_fence(Ordering::SeqCst);
}

// SAFETY: everything is mimalloc's; blocks are only written to while they are the caller's.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as our caller promises, here and below.
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see above.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block has the size of its layout and is given back by its owner.
        unsafe {
            if WIPES.load(Ordering::Relaxed) {
                wipe(block, layout.size());
            }
            MiMalloc.dealloc(block, layout);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the new block is as large as asked for, and both are the caller's alone.
        unsafe {
            if !WIPES.load(Ordering::Relaxed) {
                return MiMalloc.realloc(block, layout, size);
            }
            // mimalloc would leave a copy behind when it moves a block.
            let moved = MiMalloc.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Given an allocator that wipes, when a block grows, shrinks and is given back, then its
    /// content moves with it, and nothing of it stays where it was.
    #[test]
    fn what_is_given_back_is_overwritten() {
        wipe_from_now_on();
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        // SAFETY: blocks are used within their layouts. Memory that was given back is only read,
        // and still belongs to mimalloc, which writes its own list into the first bytes.
        unsafe {
            let rest = |block: *const u8| std::slice::from_raw_parts(block.add(16), 84).to_vec();
            let small = Allocator.alloc(layout(100));
            small.write_bytes(b'x', 100);
            let large = Allocator.realloc(small, layout(100), 5000);
            assert_eq!((rest(small), rest(large)), (vec![0; 84], vec![b'x'; 84]));
            let again = Allocator.realloc(large, layout(5000), 120);
            assert_eq!((rest(large), rest(again)), (vec![0; 84], vec![b'x'; 84]));
            Allocator.dealloc(again, layout(120));
            assert_eq!(rest(again), vec![0; 84]);
            let zeroed = Allocator.alloc_zeroed(layout(100));
            assert_eq!(rest(zeroed), vec![0; 84]);
            Allocator.dealloc(zeroed, layout(100));
        }
    }
}
