//! Section 15 while a run goes on: clients that ask hear of each page, over standard input and
//! output and in sessions over HTTP. Needs Chromium; without it it counts as ignored
//! (`tests/forms/run`).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ProgressNotificationParam};
use rmcp::service::{NotificationContext, RoleClient, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, serve_client_with_lifecycle};
use serde_json::json;

use crate::forms_life::start_with;
use crate::forms_runs::{LIBRARY, alone};
use crate::forms_site::Site;
use crate::mcp::block_on;
use crate::support::{CACHE, JOSH};

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

#[test]
#[ignore = "needs Chromium"]
fn progress_is_told_over_standard_output() {
    let _alone = alone();
    let site = Site::start();
    let listener = Listener::default();
    block_on(async {
        let mut command = tokio::process::Command::new(JOSH);
        command.args(["mcp", "--toolsets", "forms", "--forms", "run", "--forms-no-sandbox"]);
        command.args(["--forms-test-site", &site.setting()]);
        command.env("XDG_CACHE_HOME", CACHE.path()).env_remove("JOSH_BUNDLE");
        let transport = TokioChildProcess::new(command).unwrap();
        let era = ClientLifecycleMode::Initialize;
        let client = serve_client_with_lifecycle(listener.clone(), transport, era).await;
        hears_of_each_page(client.unwrap(), &listener).await;
    });
}

#[test]
#[ignore = "needs Chromium"]
fn progress_is_told_in_sessions() {
    let _alone = alone();
    let site = Site::start();
    let server = start_with(&site, &["--mcp-sessions"], &[]);
    let listener = Listener::default();
    block_on(async {
        let transport = StreamableHttpClientTransport::from_uri(format!("{}/mcp", server.url));
        let era = ClientLifecycleMode::Initialize;
        let client = serve_client_with_lifecycle(listener.clone(), transport, era).await;
        hears_of_each_page(client.unwrap(), &listener).await;
    });
}
