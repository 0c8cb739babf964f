//! Runs operations over the bundle that is open now: under the concurrency limits, off the async
//! workers, until a deadline. A permit belongs to the work, not to the caller: whoever goes away
//! gives it back when the work has stopped, which the cancellation token sees to.

mod outcomes;
mod replaced;
mod threads;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use tokio_util::sync::CancellationToken;

use crate::api::argument::WHOLE_PAGE;
use crate::api::{Arguments, Budget, CallerInfo, Context, Cost, Error, Operation, Outcome, Result};
use crate::boj::Live;
use crate::bundle::{Bundle, BundleError};
use crate::client_config::ClientConfigs;
use crate::limits::{ConcurrencyLimit, ConcurrencySettings};
use crate::priority::Priority;
use crate::toolsets::Toolsets;
use crate::wizard::Forms;
use outcomes::Outcomes;
use replaced::Replaced;
use threads::WorkThreads;

/// The open bundle, swapped as a whole, and everything that runs operations over it.
pub struct Executor {
    current: ArcSwap<Served>,
    replaced: Replaced<Served>,
    pub toolsets: Toolsets,
    client_configs: OnceLock<Arc<ClientConfigs>>,
    boj: OnceLock<(Arc<Live>, Pool)>,
    forms: Option<(Arc<Forms>, Pool)>,
    /// Ends work outside the bundle when the server stops: it may take minutes.
    pub stop: CancellationToken,
    budget: Budget,
    settings: ConcurrencySettings,
    searches: Pool,
    /// Lists, counts, dossiers.
    queries: Pool,
    forms_timeout: Duration,
}

/// One latency class: how much of it runs at once, and where. What a server does not offer has
/// none.
struct Pool {
    limit: ConcurrencyLimit,
    threads: WorkThreads,
}

impl Pool {
    fn new(
        name: &'static str,
        settings: ConcurrencySettings,
        priority: Priority,
    ) -> std::io::Result<Pool> {
        let threads = WorkThreads::new(&format!("josh-{name}"), settings.max_concurrent, priority)?;
        Ok(Pool { limit: ConcurrencyLimit::new(name, settings), threads })
    }
}

/// An open bundle, and what was worked out from it.
struct Served {
    bundle: Arc<Bundle>,
    outcomes: Outcomes,
}

impl Served {
    fn new(bundle: Arc<Bundle>) -> Served {
        Served { bundle, outcomes: Outcomes::default() }
    }
}

impl Executor {
    pub fn new(
        bundle: Bundle,
        toolsets: Toolsets,
        budget: Budget,
        settings: ConcurrencySettings,
    ) -> std::io::Result<Executor> {
        Executor::with_forms(bundle, toolsets, budget, settings, None)
    }

    /// The same with forms of agencies, which have limits of their own.
    pub fn with_forms(
        bundle: Bundle,
        toolsets: Toolsets,
        budget: Budget,
        settings: ConcurrencySettings,
        forms: Option<Forms>,
    ) -> std::io::Result<Executor> {
        let runs = match forms.as_ref().map(|forms| &forms.options) {
            Some(forms) => ConcurrencySettings {
                max_concurrent: forms.at_once,
                timeout: forms.time,
                ..settings
            },
            None => settings,
        };
        let forms = forms.map(|forms| {
            let pool = Pool::new("forms", runs, Priority::Forms)?;
            std::io::Result::Ok((Arc::new(forms), pool))
        });
        Ok(Executor {
            forms: forms.transpose()?,
            stop: CancellationToken::new(),
            forms_timeout: runs.timeout,
            current: ArcSwap::from_pointee(Served::new(Arc::new(bundle))),
            replaced: Replaced::default(),
            toolsets,
            client_configs: OnceLock::new(),
            boj: OnceLock::new(),
            budget,
            settings,
            searches: Pool::new("searches", settings, Priority::Searches)?,
            queries: Pool::new("queries", settings, Priority::Queries)?,
        })
    }

    pub fn bundle(&self) -> Arc<Bundle> {
        self.current.load().bundle.clone()
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

    pub fn forms(&self) -> Option<&Arc<Forms>> {
        self.forms.as_ref().map(|(forms, _)| forms)
    }

    /// Lets the Bank of Japan be asked from now on.
    pub fn ask_bank(&self, live: Live) -> std::io::Result<()> {
        let pool = Pool::new("external", self.settings, Priority::Queries)?;
        // Only the first counts: nothing asks two.
        let _ = self.boj.set((Arc::new(live), pool));
        Ok(())
    }

    /// Opens the file again; the old bundle stays in service if the new one can't be used.
    pub fn reload(&self) -> Result<Arc<Bundle>, BundleError> {
        self.close_replaced();
        let bundle = Arc::new(self.bundle().open_again()?);
        bundle.prepare_search();
        let old = self.current.swap(Arc::new(Served::new(bundle.clone())));
        self.replaced.keep(old);
        Ok(bundle)
    }

    /// Whether a bundle that was replaced waits to be closed.
    pub fn has_replaced(&self) -> bool {
        !self.replaced.is_empty()
    }

    /// Closes replaced bundles that no call uses any more. Blocks for milliseconds.
    pub fn close_replaced(&self) {
        self.replaced.close_unused(|served| Arc::strong_count(&served.bundle) == 1);
    }

    /// The context of a call over this bundle.
    pub fn context(&self, bundle: Arc<Bundle>, caller: CallerInfo) -> Context {
        Context {
            bundle,
            client_configs: self.client_configs.get().cloned(),
            boj: self.boj.get().map(|(boj, _)| boj.clone()),
            forms: self.forms().cloned(),
            deadline: caller.started + self.settings.timeout,
            caller,
            cancellation: CancellationToken::new(),
            budget: self.budget,
            on_progress: None,
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
        let cost = cost_of(operation, &arguments);
        let served = self.current.load_full();
        let is_whole = arguments.has(WHOLE_PAGE);
        let is_page = operation.is_list && !is_whole && matches!(cost, Cost::Query | Cost::Search);
        if !is_page || !Arc::ptr_eq(&served.bundle, &context.bundle) {
            return self.run(cost, context, move |context| run(arguments, context)).await;
        }
        let key = outcomes::key(operation, &arguments);
        let late = context.late();
        let deadline = tokio::time::Instant::from_std(context.deadline);
        let work = move |context: &Arc<Context>| {
            let started = Instant::now();
            run(arguments, context).map(|outcome| (outcome, started.elapsed()))
        };
        let since = Instant::now();
        let found = served.outcomes.get_or_run(key, || self.run_since(since, cost, context, work));
        // Whoever waits for another's call waits no longer than for its own.
        tokio::time::timeout_at(deadline, found).await.unwrap_or(Err(late))
    }

    /// Runs work of this cost.
    pub async fn run<T: Send + 'static>(
        &self,
        cost: Cost,
        context: Context,
        work: impl FnOnce(&Arc<Context>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.run_since(Instant::now(), cost, context, work).await
    }

    /// The same for a caller who waits since then.
    async fn run_since<T: Send + 'static>(
        &self,
        since: Instant,
        cost: Cost,
        mut context: Context,
        work: impl FnOnce(&Arc<Context>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        if cost == Cost::Form {
            context.deadline = context.caller.started + self.forms_timeout;
            context.cancellation = self.stop.child_token();
        }
        let pool = match cost {
            Cost::Lookup => return run_here(&Arc::new(context), work),
            Cost::Query => &self.queries,
            Cost::Search => &self.searches,
            // Without the bank, what the bundle holds of its series is read.
            Cost::External => self.boj.get().map_or(&self.queries, |(_, pool)| pool),
            Cost::Form => self.forms.as_ref().map_or(&self.queries, |(_, pool)| pool),
        };
        let late = context.late();
        let deadline = tokio::time::Instant::from_std(context.deadline);
        match tokio::time::timeout_at(deadline, self.run_within(pool, since, context, work)).await {
            Ok(result) => result,
            Err(_) => Err(late),
        }
    }

    async fn run_within<T: Send + 'static>(
        &self,
        pool: &Pool,
        since: Instant,
        context: Context,
        work: impl FnOnce(&Arc<Context>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = pool.limit.acquire(since).await?;
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
        pool.threads.run(work).await
    }
}

/// Runs an operation as a part of work that has its thread and its permit already: a page is made
/// of several. What costs more than was granted is refused.
pub fn execute_within(
    granted: Cost,
    operation: &'static Operation,
    arguments: Arguments,
    context: &Arc<Context>,
) -> Result<Outcome> {
    let cost = cost_of(operation, &arguments);
    if cost != Cost::Lookup && cost != granted {
        let (name, cost, granted) = (operation.name, cost.name(), granted.name());
        return Err(Error::internal(format!("{name}, a {cost}, within a {granted}")));
    }
    context.check()?;
    (operation.run)(arguments, context)
}

fn cost_of(operation: &Operation, arguments: &Arguments) -> Cost {
    operation.cost_with.map_or(operation.cost, |cost_with| cost_with(arguments))
}

/// Runs work on this thread. On a blocking thread a panic ends the task; here it would end a
/// worker, and nobody would get an answer.
fn run_here<T>(context: &Arc<Context>, work: impl FnOnce(&Arc<Context>) -> Result<T>) -> Result<T> {
    let run = AssertUnwindSafe(|| work(context).map_err(|error| context.classify(error)));
    catch_unwind(run).unwrap_or_else(|_| Err(Error::internal("a panic; see the log above")))
}
