//! `josh serve`: bind, say so, serve, and swap bundles on the way.

use std::process::ExitCode;
use std::time::Duration;

use actix_web::rt::signal::unix::{Signal, SignalKind, signal};
use actix_web::{HttpServer, rt, web};
use anyhow::{Context, Result};

use super::{Unusable, open};
use crate::bundle::Stamp;
use crate::catalog::ids;
use crate::service::Josh;
use crate::settings::Settings;
use crate::{banner, http, telemetry};

/// How often the bundle's file is looked at. A change is taken up once the file has stayed the same for one more look.
const LOOK: Duration = Duration::from_secs(1);

pub fn run(settings: Settings) -> Result<ExitCode> {
    telemetry::start(&settings.log, settings.log_format).map_err(|e| Unusable(format!("{e:#}")))?;
    let grammar = std::thread::spawn(ids::prepare);
    let josh = web::Data::new(Josh::new(open(settings.bundle.as_deref())?, settings.limits));
    // A panic there would meet the first request that reads an id, with a better message than ours.
    let _ = grammar.join();
    rt::System::new().block_on(async {
        let app = josh.clone();
        let mcp = http::mcp_service(josh.clone().into_inner(), &settings.mcp);
        let sessions = settings.mcp.sessions;
        let server = HttpServer::new(move || http::app(app.clone(), mcp.clone(), sessions))
            .workers(settings.workers)
            // DuckDB runs its own threads: more queries at once only wait for each other.
            .worker_max_blocking_threads(4)
            .client_request_timeout(Duration::from_secs(10))
            .shutdown_timeout(10)
            .bind(settings.listen)
            .map_err(|e| {
                Unusable(format!("cannot listen on {}: {e}. Choose another with --listen", settings.listen))
            })?;
        let address = server.addrs().first().copied().context("no address was bound")?;
        // From here on SIGHUP swaps bundles: whoever reads the banner may send it.
        let hangups = signal(SignalKind::hangup())?;
        eprint!("{}", banner::text(address, &josh.bundle(), settings.bundle.is_none()));
        let first = josh.bundle();
        std::thread::spawn(move || first.prepare_search());
        let running = server.run();
        let swapping = rt::spawn(swap_bundles(josh, hangups));
        running.await?;
        swapping.abort();
        Ok(ExitCode::SUCCESS)
    })
}

/// Swaps bundles on SIGHUP and when the file changes. A bundle that can't be used is refused and the old one goes on.
async fn swap_bundles(josh: web::Data<Josh>, mut hangups: Signal) {
    let mut looks = rt::time::interval(LOOK);
    let mut refused: Option<Stamp> = None;
    let mut before: Option<Stamp> = None;
    loop {
        let asked = hangup_or_look(&mut hangups, &mut looks).await;
        let bundle = josh.bundle();
        let now = Stamp::of(&bundle.path).ok();
        let is_new = now.as_ref().is_some_and(|now| *now != bundle.stamp) && now != refused;
        let is_settled = now == before;
        before.clone_from(&now);
        if !asked && (!is_new || !is_settled) {
            continue;
        }
        let opening = josh.clone();
        match web::block(move || opening.reload()).await {
            Ok(Ok(new)) => {
                refused = None;
                tracing::info!(bundle = %new.manifest.id, as_of = %new.manifest.as_of, "bundle swapped");
            }
            Ok(Err(error)) => {
                refused = now;
                tracing::error!(path = %bundle.path.display(), "new bundle refused, the old one goes on: {error}");
            }
            Err(error) => tracing::error!(%error, "new bundle not opened"),
        }
    }
}

/// Waits for a SIGHUP (true) or the next look (false).
async fn hangup_or_look(hangups: &mut Signal, looks: &mut rt::time::Interval) -> bool {
    use std::future::poll_fn;
    use std::task::Poll;
    poll_fn(|context| {
        if hangups.poll_recv(context).is_ready() {
            return Poll::Ready(true);
        }
        looks.poll_tick(context).map(|_| false)
    })
    .await
}
