//! Section 15 while a run goes on: clients that ask hear of each page, and can cancel it, over
//! standard input and output and in sessions over HTTP. Needs Chromium; without it it counts as
//! ignored (`tests/forms/run`).

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rmcp::model::{CallToolRequestParams, ProgressNotificationParam};
use rmcp::service::{NotificationContext, RoleClient, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, serve_client_with_lifecycle};
use serde_json::json;

use crate::forms_life::{browsers, start_with};
use crate::forms_runs::{LIBRARY, alone};
use crate::forms_site::{Site, seconds};
use crate::mcp::block_on;
use crate::support::{CACHE, JOSH, Server};

/// A client that keeps what it hears.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<ProgressNotificationParam>>>);

impl ClientHandler for Listener {
    async fn on_progress(
        &self,
        heard: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.lock().unwrap().push(heard);
    }
}

/// Given a form of seven pages, when it is run, then the client hears of each page in turn, before
/// the result comes.
async fn hears_of_each_page(client: RunningService<RoleClient, Listener>, listener: &Listener) {
    let wizard = LIBRARY.wizard("fsa-estimator").unwrap();
    let data = wizard.examples[0].data(josh::wizard::today());
    let with = json!({ "wizard_id": "fsa-estimator", "user_data": data, "screenshots": "none" });
    let call = CallToolRequestParams::new("federalrunner_execute_wizard");
    let called = client.call_tool(call.with_arguments(with.as_object().cloned().unwrap())).await;
    let while_running = listener.0.lock().unwrap().len();
    let called = called.unwrap();
    assert_eq!(called.is_error, Some(false), "{:?}", called.structured_content);
    // The last pages may be told of in the same moment as the result.
    assert!(while_running >= 4, "{while_running}");
    let pages = wizard.pages.len();
    for _ in 0..100 {
        if listener.0.lock().unwrap().len() > pages {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let heard = listener.0.lock().unwrap().clone();
    let done: Vec<f64> = heard.iter().map(|one| one.progress).collect();
    assert_eq!(done, (0..=pages).map(|n| n as f64).collect::<Vec<_>>());
    assert!(heard.iter().all(|one| one.total == Some(pages as f64)), "{heard:?}");
    for (one, page) in heard.iter().zip(&wizard.pages) {
        assert_eq!(one.message.as_deref(), Some(page.title.as_str()));
    }
    let _ = client.cancel().await;
}

/// [20] Given a run that goes on, when the client cancels its call and stays, then the browser is
/// gone within two seconds, and the next run can begin.
async fn cancels(client: RunningService<RoleClient, Listener>, server: u32, site: &Site) {
    let wizard = LIBRARY.wizard("ssa-quick-calculator").unwrap();
    let data = wizard.examples[0].data(josh::wizard::today());
    let with = json!({ "wizard_id": wizard.wizard_id, "user_data": data, "screenshots": "none" });
    let call = || {
        let call = CallToolRequestParams::new("federalrunner_execute_wizard");
        client.call_tool(call.with_arguments(with.as_object().cloned().unwrap()))
    };
    site.switch("slow", "15000");
    tokio::select! {
        called = call() => panic!("{called:?}"),
        // The client tells the server when it no longer waits.
        () = async { while site.requests() == 0 { pause().await } } => {}
    }
    assert!(!browsers(server).is_empty());
    let end = Instant::now() + seconds(2);
    while !browsers(server).is_empty() {
        assert!(Instant::now() < end, "{:?}", browsers(server));
        pause().await;
    }
    site.without_switches();
    assert_eq!(call().await.unwrap().is_error, Some(false));
    let _ = client.cancel().await;
}

async fn pause() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// `josh mcp` against the site, and its process.
async fn piped(site: &Site, listener: &Listener) -> (RunningService<RoleClient, Listener>, u32) {
    let mut command = tokio::process::Command::new(JOSH);
    command.args(["mcp", "--toolsets", "forms", "--forms", "run", "--forms-no-sandbox"]);
    command.args(["--forms-test-site", &site.setting()]);
    command.env("XDG_CACHE_HOME", CACHE.path()).env_remove("JOSH_BUNDLE");
    let transport = TokioChildProcess::new(command).unwrap();
    let id = transport.id().unwrap();
    let era = ClientLifecycleMode::Initialize;
    let client = serve_client_with_lifecycle(listener.clone(), transport, era).await;
    (client.unwrap(), id)
}

/// A session with a server.
async fn in_session(server: &Server, listener: &Listener) -> RunningService<RoleClient, Listener> {
    let transport = StreamableHttpClientTransport::from_uri(format!("{}/mcp", server.url));
    let era = ClientLifecycleMode::Initialize;
    serve_client_with_lifecycle(listener.clone(), transport, era).await.unwrap()
}

#[test]
#[ignore = "needs Chromium"]
fn runs_are_told_of_and_cancelled_over_standard_output() {
    let _alone = alone();
    let (site, listener) = (Site::start(), Listener::default());
    block_on(async {
        let (client, _) = piped(&site, &listener).await;
        hears_of_each_page(client, &listener).await;
        let site = Site::start();
        let (client, server) = piped(&site, &listener).await;
        cancels(client, server, &site).await;
    });
}

#[test]
#[ignore = "needs Chromium"]
fn runs_are_told_of_and_cancelled_in_sessions() {
    let _alone = alone();
    let (site, listener) = (Site::start(), Listener::default());
    let server = start_with(&site, &["--mcp-sessions", "--forms-per-hour", "0"], &[]);
    block_on(async {
        hears_of_each_page(in_session(&server, &listener).await, &listener).await;
    });
    let site = Site::start();
    let server = start_with(&site, &["--mcp-sessions", "--forms-per-hour", "0"], &[]);
    block_on(async {
        cancels(in_session(&server, &listener).await, server.id(), &site).await;
    });
}
