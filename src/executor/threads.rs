//! Threads for work that blocks, one pool for each latency class. Not the workers' own pools:
//! compression runs there, and must not wait for searches.

use crate::api::{Error, Result};
use crate::priority::{self, Priority};

/// The blocking threads of a runtime that runs nothing else.
pub struct WorkThreads(Option<tokio::runtime::Runtime>);

impl WorkThreads {
    /// As many threads as there are permits for the work: whoever has one never waits for a thread.
    pub fn new(name: &str, most: usize, priority: Priority) -> std::io::Result<WorkThreads> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(most)
            .thread_name(name)
            .on_thread_start(move || priority::set(priority))
            .build()?;
        Ok(WorkThreads(Some(runtime)))
    }

    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let runtime = self.0.as_ref().ok_or_else(|| Error::internal("no threads for work"))?;
        runtime.spawn_blocking(work).await.map_err(Error::internal)?
    }
}

impl Drop for WorkThreads {
    fn drop(&mut self) {
        // Without waiting: the last owner may be a task.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
