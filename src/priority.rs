//! Which threads get a core first. Look-ups are answered on threads of normal priority; what takes
//! longer runs below them, so that a full load of it does not make them wait.

/// The latency class of a thread's work, from the shortest to the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Lists, counts and sums, and DuckDB's own threads.
    Queries,
    Searches,
    /// Runs of forms: waiting for a browser, mostly.
    Forms,
}

impl Priority {
    /// Small steps: at 10, searches came to a fifth beside look-ups, whose p99 was no better for
    /// it, and other programs on the machine could starve them.
    const fn niceness(self) -> i32 {
        match self {
            Priority::Queries => 1,
            Priority::Searches => 4,
            Priority::Forms => 10,
        }
    }
}

/// Gives this thread, and those that it starts, a priority below the normal one. Elsewhere than on
/// Linux a thread has no niceness of its own, and all stay equal.
pub fn set(priority: Priority) {
    #[cfg(target_os = "linux")]
    // SAFETY: takes numbers only; 0 is the calling thread. It can fail where the process is nicer
    // already, and then the thread keeps that.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, priority.niceness());
    }
    #[cfg(not(target_os = "linux"))]
    let _ = priority.niceness();
}

/// Gives a process, and those that it will start, cores only while nobody else wants them: anything
/// else that wakes up takes the core at once. Where the kernel refuses that, they get as little as
/// niceness allows. Called between fork and exec: takes no memory and no lock.
pub fn only_idle_cores() {
    #[cfg(target_os = "linux")]
    // SAFETY: takes numbers, and a structure that the call reads and does not keep; 0 is the
    // calling process.
    unsafe {
        let mut parameters: libc::sched_param = std::mem::zeroed();
        parameters.sched_priority = 0;
        if libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameters) == 0 {
            return;
        }
    }
    // SAFETY: takes numbers only; a higher niceness is always allowed.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
}
