//! Keeps a file that is cut short under the server from killing it.
//!
//! Reading a page of a memory map whose file was truncated raises SIGBUS. A bundle should be replaced by renaming,
//! but someone will copy over it one day. The handler here puts a page of zeros where the file's page was
//! and sets the map's `torn` flag; readers check the flag after reading and answer `bundle_unavailable`.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use memmap2::Mmap;

/// Maps that may be open at once: the one that serves, those that old requests still hold, the one being loaded.
const SLOTS: usize = 64;

struct Slot {
    start: AtomicUsize,
    length: AtomicUsize,
    torn: AtomicBool,
}

static SLOTS_IN_USE: [Slot; SLOTS] =
    [const { Slot { start: AtomicUsize::new(0), length: AtomicUsize::new(0), torn: AtomicBool::new(false) } }; SLOTS];
static TAKING: Mutex<()> = Mutex::new(());
static INSTALL: Once = Once::new();

/// The map as one piece of bytes that many may hold.
#[derive(Clone)]
pub struct SharedMap(pub std::sync::Arc<GuardedMap>);

impl std::ops::Deref for SharedMap {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

// SAFETY: the map is behind an `Arc` and is never remapped, so its bytes stay where they are while any clone lives.
unsafe impl stable_deref_trait::StableDeref for SharedMap {}

/// A memory map of a whole file that survives the file being cut short.
pub struct GuardedMap {
    map: Mmap,
    slot: Option<usize>,
}

impl GuardedMap {
    pub fn of(file: &std::fs::File) -> std::io::Result<Self> {
        INSTALL.call_once(install);
        // SAFETY: the map is read-only and private to us. Another process may still change the file: every reader of
        // these bytes is bounds-checked and takes any content, and a shrunken file is what this module is for.
        let map = unsafe { Mmap::map(file)? };
        let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = SLOTS_IN_USE.iter().position(|s| s.start.load(Ordering::Acquire) == 0);
        if let Some(slot) = slot {
            let s = &SLOTS_IN_USE[slot];
            s.torn.store(false, Ordering::Release);
            s.length.store(map.len(), Ordering::Release);
            s.start.store(map.as_ptr() as usize, Ordering::Release);
        }
        Ok(GuardedMap { map, slot })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Whether a page was found missing: nothing read from this map can be trusted any more.
    pub fn torn(&self) -> bool {
        self.slot.is_some_and(|slot| SLOTS_IN_USE[slot].torn.load(Ordering::Acquire))
    }
}

impl Drop for GuardedMap {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            SLOTS_IN_USE[slot].start.store(0, Ordering::Release);
        }
    }
}

fn install() {
    // SAFETY: sigaction gets a zeroed, then filled, structure and a handler with the SA_SIGINFO signature; the handler
    // calls only async-signal-safe functions.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
    }
}

extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo_t to an SA_SIGINFO handler.
    let address = unsafe { (*info).si_addr() } as usize;
    for slot in &SLOTS_IN_USE {
        let (start, length) = (slot.start.load(Ordering::Acquire), slot.length.load(Ordering::Acquire));
        if start != 0 && (start..start.saturating_add(length)).contains(&address) {
            // SAFETY: sysconf and mmap are plain system calls; the page replaced lies inside our own read-only map.
            let replaced = unsafe {
                let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
                let fixed = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
                libc::mmap((address & !(page - 1)) as *mut _, page, libc::PROT_READ, fixed, -1, 0)
            };
            if replaced != libc::MAP_FAILED {
                slot.torn.store(true, Ordering::Release);
                return;
            }
        }
    }
    // Not ours: fall back to the default action, which the faulting instruction then meets.
    // SAFETY: restoring the default handler is async-signal-safe.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}
