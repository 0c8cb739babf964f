//! One page in a browser of its own: commands and answers, and everything that the browser reports
//! meanwhile. Every request of the page is decided here: https to the wizard's hosts goes on, all
//! else is refused and named. Dialogs, downloads and popups are closed.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Options;
use super::browser::Browser;
use super::cdp::{Connection, Silence};
use super::report::{Failure, FailureKind};

/// What runs in the page.
const PAGE: &str = include_str!("page.js");

/// How often a wait looks whether it should end.
const TICK: Duration = Duration::from_millis(40);
/// How long the browser may take to come up, and for one command.
const START_TIME: Duration = Duration::from_secs(9);
const COMMAND_TIME: Duration = Duration::from_secs(8);
/// The same for one that has work to do and may only be waiting for a core.
const BUSY_TIME: Duration = Duration::from_secs(30);
/// The same for a question to the page while another is on its way: until that has come, Chromium
/// answers nothing about the old one.
const CHANGING_TIME: Duration = Duration::from_millis(500);

pub const WIDTH: u32 = 1280;
pub const HEIGHT: u32 = 1024;

/// What ends a run early.
#[derive(Clone)]
pub struct Stop {
    pub token: CancellationToken,
    pub deadline: Instant,
}

impl Stop {
    fn check(&self) -> Result<(), Failure> {
        if self.token.is_cancelled() {
            return Err(Failure::new(FailureKind::Cancelled, "The run was cancelled."));
        }
        if Instant::now() >= self.deadline {
            return Err(Failure::new(FailureKind::Timeout, "The run took too long."));
        }
        Ok(())
    }
}

/// What the browser said about the page.
#[derive(Default)]
pub struct Seen {
    /// What was kept from the page, once each.
    pub warnings: BTreeSet<String>,
    /// Why the document could not be loaded.
    pub failed: Option<String>,
    /// Status of the document.
    pub status: Option<u64>,
    /// An address of the site that is not public.
    pub private: Option<String>,
    /// The request for the page's next document, which the site has not answered.
    document: Option<String>,
    /// Requests that have not ended.
    loading: BTreeSet<String>,
    /// When the last of them ended.
    quiet_since: Option<Instant>,
}

pub struct Tab {
    connection: Connection,
    session: String,
    frame: String,
    hosts: Vec<String>,
    is_test: bool,
    stop: Stop,
    pub seen: Seen,
    /// The browser's version.
    pub version: String,
    /// Ends after the connection: dropping that asks it to.
    pub browser: Browser,
}

impl Tab {
    /// Starts a browser with one page, in a context of its own: nothing of it reaches the disk.
    pub fn open(options: &Options, hosts: &[String], stop: Stop) -> Result<Tab, Failure> {
        let unavailable = |why: String| Failure::new(FailureKind::BrowserUnavailable, why);
        let (browser, connection) = Browser::start(options, hosts).map_err(unavailable)?;
        let mut tab = Tab {
            connection,
            session: String::new(),
            frame: String::new(),
            hosts: hosts.to_vec(),
            is_test: options.test_site.is_some(),
            stop,
            seen: Seen::default(),
            version: String::new(),
            browser,
        };
        let opened = tab.prepare();
        opened.map_err(|failure| match failure.kind {
            FailureKind::BrowserUnavailable => {
                let words = tab.browser.last_words();
                unavailable(format!("{} {words}", failure.message).trim().to_string())
            }
            _ => failure,
        })?;
        Ok(tab)
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_string();
        let version = self.browser_call("Browser.getVersion", json!({}), START_TIME)?;
        // Like Chrome/156.0.8078.79.
        let product = text(&version, "product");
        self.version = product.rsplit('/').next().unwrap_or_default().to_string();
        let context = json!({ "disposeOnDetach": true });
        let context = self.browser_call("Target.createBrowserContext", context, COMMAND_TIME)?;
        let context = text(&context, "browserContextId");
        let deny = json!({ "behavior": "deny", "browserContextId": context });
        self.browser_call("Browser.setDownloadBehavior", deny, COMMAND_TIME)?;
        self.browser_call("Target.setDiscoverTargets", json!({ "discover": true }), COMMAND_TIME)?;
        let target = json!({ "url": "about:blank", "browserContextId": context,
                             "width": WIDTH, "height": HEIGHT });
        let target = self.browser_call("Target.createTarget", target, COMMAND_TIME)?;
        self.frame = text(&target, "targetId");
        let attach = json!({ "targetId": self.frame, "flatten": true });
        let attached = self.browser_call("Target.attachToTarget", attach, COMMAND_TIME)?;
        self.session = text(&attached, "sessionId");
        self.call("Page.enable", json!({}))?;
        self.call("Network.enable", json!({}))?;
        self.call("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }] }))?;
        let metrics = json!({ "width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1,
                              "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics)?;
        self.call("Emulation.setTimezoneOverride", json!({ "timezoneId": "America/New_York" }))?;
        Ok(())
    }

    fn browser_call(
        &mut self,
        method: &str,
        params: Value,
        time: Duration,
    ) -> Result<Value, Failure> {
        let id = self.connection.send(None, method, params);
        self.answer(id, method, time)
    }

    /// Sends a command about the page and waits for its answer.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        let id = self.connection.send(Some(&self.session), method, params);
        self.answer(id, method, COMMAND_TIME)
    }

    /// Begins to load a page. Whether it comes is seen by what the browser reports: its answer
    /// comes only when the site has answered, which may take longer than a command.
    pub fn navigate(&mut self, url: &str) -> Result<(), Failure> {
        let session = Some(self.session.as_str());
        let sent = self.connection.send(session, "Page.navigate", json!({ "url": url }));
        sent.map(drop).ok_or_else(gone)
    }

    fn answer(&mut self, id: Option<u64>, method: &str, time: Duration) -> Result<Value, Failure> {
        let answer = self.answer_unless(id, method, time, |_, _| false)?;
        Ok(answer.unwrap_or_default())
    }

    /// The same, or nothing once it is pointless to wait: asked after each silence with how long it
    /// has been.
    fn answer_unless(
        &mut self,
        id: Option<u64>,
        method: &str,
        time: Duration,
        is_pointless: impl Fn(&Seen, Duration) -> bool,
    ) -> Result<Option<Value>, Failure> {
        let id = id.ok_or_else(gone)?;
        let asked = Instant::now();
        loop {
            self.stop.check()?;
            let message = match self.connection.receive(TICK) {
                Ok(message) => message,
                Err(Silence::Closed) => return Err(gone()),
                Err(Silence::NotYet) if is_pointless(&self.seen, asked.elapsed()) => {
                    return Ok(None);
                }
                Err(Silence::NotYet) if asked.elapsed() < time => continue,
                Err(Silence::NotYet) if asked.elapsed() < BUSY_TIME && self.browser.has_work() => {
                    continue;
                }
                Err(Silence::NotYet) => {
                    let message = format!("The browser did not answer {method}.");
                    return Err(Failure::new(FailureKind::BrowserUnavailable, message));
                }
            };
            if message["id"].as_u64() == Some(id) {
                return Ok(Some(message["result"].clone()));
            }
            self.handle(&message);
        }
    }

    /// Takes in what the browser reports for so long.
    pub fn wait(&mut self, time: Duration) -> Result<(), Failure> {
        let end = Instant::now() + time;
        loop {
            self.stop.check()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            match self.connection.receive(left.min(TICK)) {
                Ok(message) => self.handle(&message),
                Err(Silence::NotYet) => {}
                Err(Silence::Closed) => return Err(gone()),
            }
        }
    }

    /// How long nothing has been loading.
    pub fn quiet(&self) -> Duration {
        match (self.seen.loading.is_empty(), self.seen.quiet_since) {
            (true, Some(since)) => since.elapsed(),
            _ => Duration::ZERO,
        }
    }

    /// Counts quiet time from now on.
    pub fn restart_quiet(&mut self) {
        self.seen.quiet_since = Some(Instant::now());
    }

    fn handle(&mut self, event: &Value) {
        let params = &event["params"];
        let id = params["requestId"].as_str().unwrap_or_default();
        match event["method"].as_str().unwrap_or_default() {
            "Fetch.requestPaused" => self.decide(params),
            "Network.requestWillBeSent" => {
                if self.is_own_document(params) {
                    self.seen.document = Some(id.to_string());
                }
                self.seen.loading.insert(id.to_string());
            }
            "Network.responseReceived" => self.response(params),
            "Network.loadingFinished" => self.loaded(id),
            "Network.loadingFailed" => {
                if params["type"] == "Document" && params["canceled"] != true {
                    let why = params["errorText"].as_str().unwrap_or("unknown error");
                    self.seen.failed = Some(why.to_string());
                }
                self.loaded(id);
            }
            "Network.webSocketCreated" => {
                let url = params["url"].as_str().unwrap_or_default();
                if !self.is_allowed(&url.replacen("wss://", "https://", 1)) {
                    self.blocked("WebSocket", url);
                }
            }
            "Page.javascriptDialogOpening" => {
                self.seen.warnings.insert("The page opened a dialog, which was dismissed.".into());
                let dismiss = json!({ "accept": params["type"] == "beforeunload" });
                let session = Some(self.session.as_str());
                self.connection.send(session, "Page.handleJavaScriptDialog", dismiss);
            }
            "Page.downloadWillBegin" | "Browser.downloadWillBegin" => {
                self.seen.warnings.insert("The page began a download, which was refused.".into());
            }
            "Target.targetCreated" => {
                let target = &params["targetInfo"];
                let is_popup =
                    target["type"] == "page" && target["openerId"] == self.frame.as_str();
                if is_popup {
                    let warning = "The page opened a window, which was closed.";
                    self.seen.warnings.insert(warning.into());
                    let close = json!({ "targetId": target["targetId"] });
                    self.connection.send(None, "Target.closeTarget", close);
                }
            }
            _ => {}
        }
    }

    /// Whether an event is about the page itself, not about a frame in it or what it loads.
    fn is_own_document(&self, params: &Value) -> bool {
        params["type"] == "Document" && params["frameId"] == self.frame.as_str()
    }

    fn loaded(&mut self, id: &str) {
        if self.seen.document.as_deref() == Some(id) {
            self.seen.document = None;
        }
        self.seen.loading.remove(id);
        self.seen.quiet_since = Some(Instant::now());
    }

    fn response(&mut self, params: &Value) {
        let response = &params["response"];
        if self.is_own_document(params) {
            self.seen.status = response["status"].as_u64();
            self.seen.document = None;
        }
        let address = response["remoteIPAddress"].as_str().unwrap_or_default();
        let address = address.trim_matches(|c| c == '[' || c == ']').parse();
        if !self.is_test && address.is_ok_and(|address| !is_public(address)) {
            self.seen.private = Some("The site's name leads to a private network.".into());
        }
    }

    /// A request of the page goes on, or not.
    fn decide(&mut self, params: &Value) {
        let url = params["request"]["url"].as_str().unwrap_or_default();
        let id = &params["requestId"];
        let session = Some(self.session.clone());
        if self.is_allowed(url) && self.seen.private.is_none() {
            let go_on = json!({ "requestId": id });
            self.connection.send(session.as_deref(), "Fetch.continueRequest", go_on);
            return;
        }
        let refuse = json!({ "requestId": id, "errorReason": "BlockedByClient" });
        self.connection.send(session.as_deref(), "Fetch.failRequest", refuse);
        if self.seen.private.is_none() {
            let kind = params["resourceType"].as_str().unwrap_or("request").to_string();
            self.blocked(&kind, url);
        }
    }

    fn is_allowed(&self, url: &str) -> bool {
        if url.starts_with("data:") || url.starts_with("blob:https://") {
            return true;
        }
        let Some(rest) = url.strip_prefix("https://") else { return false };
        let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        let host = host.strip_suffix(":443").unwrap_or(host);
        self.hosts.iter().any(|known| known == host)
    }

    /// Names what was refused: its kind and host, not the rest, which may hold anything.
    fn blocked(&mut self, kind: &str, url: &str) {
        let host = url.split("://").nth(1).unwrap_or(url).split(['/', '?', '#']).next();
        let host: String = host.unwrap_or_default().chars().take(80).collect();
        if self.seen.warnings.len() < 50 {
            let warning = format!("Blocked: {} to {host}.", kind.to_lowercase());
            self.seen.warnings.insert(warning);
        }
    }

    /// Runs our function in the page and gives what it returns; nothing while the page changes.
    pub fn ask(&mut self, request: &Value) -> Result<Option<Value>, Failure> {
        let world = json!({ "frameId": self.frame, "worldName": "josh" });
        let method = "Page.createIsolatedWorld";
        let id = self.connection.send(Some(&self.session), method, world);
        let world = self.answer_unless(id, method, COMMAND_TIME, |seen, silent_for| {
            seen.document.is_some() && silent_for >= CHANGING_TIME
        })?;
        let context = world.and_then(|world| world["executionContextId"].as_u64());
        let Some(context) = context else { return Ok(None) };
        let expression = format!("({PAGE})({request})");
        let evaluate =
            json!({ "expression": expression, "contextId": context, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", evaluate)?;
        let value = answer["result"].get("value").filter(|value| !value.is_null());
        Ok(value.filter(|_| answer.get("exceptionDetails").is_none()).cloned())
    }

    pub fn click(&mut self, x: f64, y: f64) -> Result<(), Failure> {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event)?;
        }
        Ok(())
    }

    /// A JPEG of what is seen, as Base64.
    pub fn picture(&mut self, scale: f64, quality: u32) -> Result<String, Failure> {
        let clip = json!({ "x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": scale });
        let shot = json!({ "format": "jpeg", "quality": quality, "clip": clip,
                           "captureBeyondViewport": false });
        let shot = self.call("Page.captureScreenshot", shot)?;
        Ok(shot["data"].as_str().unwrap_or_default().to_string())
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        // Asked to, it ends at once and cleanly; otherwise it is killed a moment later.
        self.connection.send(None, "Browser.close", json!({}));
    }
}

fn gone() -> Failure {
    Failure::new(FailureKind::BrowserUnavailable, "The browser ended.")
}

/// Whether an address is one of the Internet's.
pub fn is_public(address: std::net::IpAddr) -> bool {
    match address.to_canonical() {
        std::net::IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            let is_shared = a == 100 && (64..128).contains(&b);
            !(v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4.is_multicast()
                || v4.is_documentation()
                || is_shared
                || a == 0
                || a >= 240)
        }
        std::net::IpAddr::V6(v6) => v6.segments()[0] & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn private_addresses_are_not_public() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "::1",
            "fe80::1",
            "fd00::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        assert!(is_public("23.1.2.3".parse().unwrap()) && is_public("2600::1".parse().unwrap()));
    }
}
