//! Memory maps that survive their file being truncated.
//!
//! Reading a page of a memory map past the end of its file raises SIGBUS, which would kill the
//! server. A bundle should be replaced by renaming a new file over it, but someone will copy over
//! it one day. The signal handler here maps a page of zeros in place of the missing one and sets
//! the map's `truncated` flag. It does not check the flag: readers do that after reading, with
//! `Bundle::ensure_intact`.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};

use memmap2::Mmap;

/// A memory map that is cheap to clone.
#[derive(Clone)]
pub struct SharedMap(pub Arc<GuardedMap>);

impl SharedMap {
    pub fn of(file: &File) -> io::Result<SharedMap> {
        Ok(SharedMap(Arc::new(GuardedMap::of(file)?)))
    }
}

impl std::ops::Deref for SharedMap {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

// SAFETY: the map is behind an `Arc` and is never remapped, so its bytes stay where they are while
// any clone lives.
unsafe impl stable_deref_trait::StableDeref for SharedMap {}

/// A read-only memory map of a whole file, registered with the signal handler.
pub struct GuardedMap {
    map: Mmap,
    slot: &'static Slot,
}

impl GuardedMap {
    pub fn of(file: &File) -> io::Result<Self> {
        static INSTALL: Once = Once::new();
        INSTALL.call_once(install_handler);
        // SAFETY: the map is read-only and private to us. Another process may still change the
        // file: every reader of these bytes checks bounds and accepts any content, and a truncated
        // file is what this module is for.
        let map = unsafe { Mmap::map(file)? };
        let slot = register(map.as_ptr() as usize, map.len());
        Ok(GuardedMap { map, slot })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Whether a page was found missing. From then on nothing read from this map can be trusted.
    pub fn truncated(&self) -> bool {
        self.slot.truncated.load(Ordering::Acquire)
    }
}

impl Drop for GuardedMap {
    fn drop(&mut self) {
        self.slot.start.store(0, Ordering::Release);
    }
}

/// What the signal handler needs to know about a map. A slot whose `start` is 0 is free.
struct Slot {
    start: AtomicUsize,
    length: AtomicUsize,
    truncated: AtomicBool,
}

/// More maps than this are open at once only if old requests hold on to many replaced bundles.
const BLOCK_SLOTS: usize = 64;

/// Slots are added in blocks that are never freed or moved, so that the signal handler can walk
/// them without a lock.
struct Block {
    slots: [Slot; BLOCK_SLOTS],
    next: OnceLock<Box<Block>>,
}

impl Block {
    const fn new() -> Block {
        let slots = [const {
            Slot {
                start: AtomicUsize::new(0),
                length: AtomicUsize::new(0),
                truncated: AtomicBool::new(false),
            }
        }; BLOCK_SLOTS];
        Block { slots, next: OnceLock::new() }
    }
}

static FIRST_BLOCK: Block = Block::new();

fn blocks() -> impl Iterator<Item = &'static Block> {
    std::iter::successors(Some(&FIRST_BLOCK), |block| block.next.get().map(Box::as_ref))
}

/// Takes a free slot for a map, and adds a block if there is none.
fn register(start: usize, length: usize) -> &'static Slot {
    static REGISTERING: Mutex<()> = Mutex::new(());
    let _registering = REGISTERING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut block = &FIRST_BLOCK;
    let slot = loop {
        if let Some(free) = block.slots.iter().find(|s| s.start.load(Ordering::Acquire) == 0) {
            break free;
        }
        block = block.next.get_or_init(|| Box::new(Block::new()));
    };
    slot.truncated.store(false, Ordering::Release);
    slot.length.store(length, Ordering::Release);
    slot.start.store(start, Ordering::Release);
    slot
}

fn install_handler() {
    // SAFETY: sigaction gets a zeroed, then filled, structure and a handler with the SA_SIGINFO
    // signature; the handler calls only async-signal-safe functions.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
    }
}

/// Only atomic loads and system calls: nothing here allocates or waits.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo_t to an SA_SIGINFO handler.
    let address = unsafe { (*info).si_addr() } as usize;
    for slot in blocks().flat_map(|block| &block.slots) {
        let (start, length) =
            (slot.start.load(Ordering::Acquire), slot.length.load(Ordering::Acquire));
        if start != 0 && (start..start.saturating_add(length)).contains(&address) {
            // SAFETY: sysconf and mmap are plain system calls; the page replaced lies inside our
            // own read-only map.
            let replaced = unsafe {
                let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
                let fixed = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
                libc::mmap((address & !(page - 1)) as *mut _, page, libc::PROT_READ, fixed, -1, 0)
            };
            if replaced != libc::MAP_FAILED {
                slot.truncated.store(true, Ordering::Release);
                return;
            }
        }
    }
    // Not one of our maps: restore the default action, which the repeated instruction then meets.
    // SAFETY: restoring the default handler is async-signal-safe.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(file: &File) -> GuardedMap {
        GuardedMap::of(file).unwrap()
    }

    /// Given more maps than one block has slots, when their file is truncated, then reading any of
    /// them gives zeros and sets its flag, and maps of other files are unaffected.
    #[test]
    fn every_map_is_guarded_however_many_are_open() {
        let (cut, whole) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        for file in [&cut, &whole] {
            file.set_len(64 * 1024).unwrap();
            std::os::unix::fs::FileExt::write_all_at(file, b"x", 64 * 1024 - 1).unwrap();
        }
        let maps: Vec<_> = (0..3 * BLOCK_SLOTS).map(|_| (mapped(&cut), mapped(&whole))).collect();
        cut.set_len(0).unwrap();
        for (cut, whole) in &maps {
            assert!(!cut.truncated());
            assert_eq!((cut.bytes().last(), whole.bytes().last()), (Some(&0), Some(&b'x')));
            assert!(cut.truncated() && !whole.truncated());
        }
        drop(maps);
        let again = mapped(&whole);
        assert!(!again.truncated(), "a slot that is used again starts afresh");
    }
}
