//! Threads for work that blocks, one pool for each latency class. Not the workers' own pools:
//! compression runs there, and must not wait for searches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::api::{Error, Result};
use crate::priority::{self, Priority};

type Work = Box<dyn FnOnce() + Send>;

/// Threads that wait for work. They end when this is dropped and the work is done.
pub struct WorkThreads(Sender<Work>);

impl WorkThreads {
    /// As many threads as there are permits for the work: whoever has one never waits for a thread.
    /// All start now. Later there may be none to be had, and work that waits for one would keep its
    /// permit for ever.
    pub fn new(name: &str, most: usize, priority: Priority) -> std::io::Result<WorkThreads> {
        let (sender, waiting) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..most {
            let waiting = waiting.clone();
            std::thread::Builder::new().name(name.to_string()).spawn(move || {
                priority::set(priority);
                run_all(&waiting);
            })?;
        }
        Ok(WorkThreads(sender))
    }

    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        // Whoever waited may be gone.
        let work = Box::new(move || drop(answer.send(work())));
        self.0.send(work).map_err(|_| Error::internal("no threads for work"))?;
        answered.await.map_err(|_| Error::internal("a panic; see the log above"))?
    }
}

fn run_all(waiting: &Mutex<Receiver<Work>>) {
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else { return };
        // Its caller gets an error; the thread is there for the next.
        let _ = catch_unwind(AssertUnwindSafe(work));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Given one thread, when work panics, then its caller gets an error and the next one is run.
    #[test]
    fn a_panic_costs_no_thread() {
        let threads = WorkThreads::new("test", 1, Priority::Queries).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let panicked = runtime.block_on(threads.run(|| -> Result<u8> { panic!("on purpose") }));
        assert!(panicked.is_err());
        assert_eq!(runtime.block_on(threads.run(|| Ok(7))).unwrap(), 7);
    }
}
