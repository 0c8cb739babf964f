//! Runs operations over the bundle that is open now: under the concurrency limits, off the async
//! workers, until a deadline. A permit belongs to the work, not to the caller: whoever goes away
//! gives it back when the work has stopped, which the cancellation token sees to.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use tokio_util::sync::CancellationToken;

use crate::api::{Arguments, Budget, CallerInfo, Context, Cost, Error, Operation, Outcome, Result};
use crate::bundle::{Bundle, BundleError};
use crate::client_config::ClientConfigs;
use crate::limits::{ConcurrencyLimit, ConcurrencySettings};
use crate::toolsets::Toolsets;

/// The open bundle, swapped as a whole, and everything that runs operations over it.
pub struct Executor {
    current: ArcSwap<Bundle>,
    pub toolsets: Toolsets,
    client_configs: OnceLock<Arc<ClientConfigs>>,
    budget: Budget,
    settings: ConcurrencySettings,
    searches: ConcurrencyLimit,
    /// Lists, counts, dossiers.
    queries: ConcurrencyLimit,
    external: ConcurrencyLimit,
    /// Threads for work that blocks. Not the workers' own pools: compression runs there, and must
    /// not wait for searches.
    threads: WorkThreads,
}

/// The blocking threads of a runtime that runs nothing else.
struct WorkThreads(Option<tokio::runtime::Runtime>);

impl WorkThreads {
    fn new(most: usize) -> std::io::Result<WorkThreads> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(most)
            .thread_name("josh-work")
            .build()?;
        Ok(WorkThreads(Some(runtime)))
    }

    async fn run<T: Send + 'static>(
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

impl Executor {
    pub fn new(
        bundle: Bundle,
        toolsets: Toolsets,
        budget: Budget,
        settings: ConcurrencySettings,
    ) -> std::io::Result<Executor> {
        // As many as there are permits: whoever has one never waits for a thread.
        let threads = WorkThreads::new(3 * settings.max_concurrent)?;
        Ok(Executor {
            current: ArcSwap::from_pointee(bundle),
            toolsets,
            client_configs: OnceLock::new(),
            budget,
            settings,
            searches: ConcurrencyLimit::new("searches", settings),
            queries: ConcurrencyLimit::new("queries", settings),
            external: ConcurrencyLimit::new("external", settings),
            threads,
        })
    }

    pub fn bundle(&self) -> Arc<Bundle> {
        self.current.load_full()
    }

    /// Hands out configuration for clients from now on. It names the address of the server, which
    /// is known when the server listens.
    pub fn hand_out(&self, configs: ClientConfigs) {
        // Only the first counts: nothing hands out two.
        let _ = self.client_configs.set(Arc::new(configs));
    }

    pub fn client_configs(&self) -> Option<&Arc<ClientConfigs>> {
        self.client_configs.get()
    }

    /// Opens the file again; the old bundle stays in service if the new one can't be used.
    pub fn reload(&self) -> Result<Arc<Bundle>, BundleError> {
        let bundle = Arc::new(self.bundle().open_again()?);
        bundle.prepare_search();
        self.current.store(bundle.clone());
        Ok(bundle)
    }

    /// The context of a call over this bundle.
    pub fn context(&self, bundle: Arc<Bundle>, caller: CallerInfo) -> Context {
        Context {
            bundle,
            client_configs: self.client_configs.get().cloned(),
            deadline: caller.started + self.settings.timeout,
            caller,
            cancellation: CancellationToken::new(),
            budget: self.budget,
        }
    }

    /// Runs an operation. When the caller goes away, or time is up, the work stops.
    pub async fn execute(
        &self,
        operation: &'static Operation,
        arguments: Arguments,
        context: Context,
    ) -> Result<Outcome> {
        let run = operation.run;
        let cost = operation.cost_with.map_or(operation.cost, |cost_with| cost_with(&arguments));
        self.run(cost, context, move |context| run(arguments, context)).await
    }

    /// Runs work of this cost.
    pub async fn run<T: Send + 'static>(
        &self,
        cost: Cost,
        context: Context,
        work: impl FnOnce(&Arc<Context>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let limit = match cost {
            Cost::Lookup => return run_here(&Arc::new(context), work),
            Cost::Query => &self.queries,
            Cost::Search => &self.searches,
            Cost::External => &self.external,
        };
        let late = context.late();
        let deadline = tokio::time::Instant::from_std(context.deadline);
        match tokio::time::timeout_at(deadline, self.run_within(limit, context, work)).await {
            Ok(result) => result,
            Err(_) => Err(late),
        }
    }

    async fn run_within<T: Send + 'static>(
        &self,
        limit: &ConcurrencyLimit,
        context: Context,
        work: impl FnOnce(&Arc<Context>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = limit.acquire().await?;
        // Dropped with this future, that is, when nobody waits any more.
        let _guard = context.cancellation.clone().drop_guard();
        let span = tracing::Span::current();
        let work = move || {
            let _permit = permit;
            let context = Arc::new(context);
            span.in_scope(|| {
                context.check()?;
                work(&context).map_err(|error| context.classify(error))
            })
        };
        self.threads.run(work).await
    }
}

/// Runs work on this thread. On a blocking thread a panic ends the task; here it would end a
/// worker, and nobody would get an answer.
fn run_here<T>(context: &Arc<Context>, work: impl FnOnce(&Arc<Context>) -> Result<T>) -> Result<T> {
    let run = AssertUnwindSafe(|| work(context).map_err(|error| context.classify(error)));
    catch_unwind(run).unwrap_or_else(|_| Err(Error::internal("a panic; see the log above")))
}
