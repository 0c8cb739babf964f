//! Reloads the bundle and the certificate while `josh serve` runs: on SIGHUP, and when their files
//! change; and the wizards of a folder on SIGHUP. A file that can't be used is refused, and the old
//! one stays in use; `/readyz` says so.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::rt::signal::unix::Signal;
use actix_web::{rt, web};

use crate::executor::Executor;
use crate::http::AccessGuard;
use crate::reloads::Reloads;
use crate::stamp::Stamp;
use crate::tls::Tls;
use crate::wizard::Forms;

/// How often files are checked. A change is loaded once a file has stayed the same for one more
/// check.
const INTERVAL: Duration = Duration::from_secs(1);

/// What could not be read is tried again after this time, even if it looks unchanged: what was in
/// the way, such as too many open files, may be gone.
const RETRY: Duration = Duration::from_secs(30);

pub async fn watch(
    executor: web::Data<Executor>,
    reloads: web::Data<Reloads>,
    guard: web::Data<AccessGuard>,
    tls: Option<Arc<Tls>>,
    mut hangups: Signal,
) {
    let mut checks = rt::time::interval(INTERVAL);
    let mut bundle = Watched::new(Some(executor.bundle().stamp.clone()));
    let mut certificate = tls.as_ref().map(|tls| Watched::new(tls.stamps()));
    let mut keys_are_unreadable = false;
    loop {
        let is_requested = tokio::select! {
            _ = hangups.recv() => true,
            _ = checks.tick() => false,
        };
        // Without systemd, or without WatchdogSec=, nobody waits for this.
        let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Watchdog]);
        let open = executor.bundle();
        open.mark_changed_in_place();
        if executor.has_replaced() {
            let closing = executor.clone();
            let _ = web::block(move || closing.close_replaced()).await;
        }
        if bundle.is_due(Stamp::of(&open.path).ok(), is_requested) {
            bundle.retry = !reload_bundle(&executor, &reloads).await;
        }
        if let (Some(tls), Some(certificate)) = (&tls, &mut certificate)
            && certificate.is_due(tls.stamps(), is_requested)
        {
            certificate.retry = !reload_certificate(&reloads, tls);
        }
        let folder = executor.forms().filter(|forms| forms.options.folder.is_some());
        if let Some(forms) = folder.filter(|_| is_requested) {
            reload_forms(forms.clone(), &reloads).await;
        }
        let now = guard.access.as_ref().is_some_and(|access| access.keys_are_unreadable());
        if std::mem::replace(&mut keys_are_unreadable, now) != now {
            report_keys(&reloads, now);
        }
    }
}

/// Tells whether this file is dealt with: it is in service, or will never be.
async fn reload_bundle(executor: &web::Data<Executor>, reloads: &Reloads) -> bool {
    let opening = executor.clone();
    match web::block(move || opening.reload()).await {
        Ok(Ok(new)) => {
            reloads.accept("bundle");
            let manifest = &new.manifest;
            tracing::info!(bundle = %manifest.id, as_of = %manifest.as_of, "bundle swapped");
            true
        }
        Ok(Err(error)) => {
            let path = executor.bundle().path.display().to_string();
            tracing::error!(path, "new bundle refused, the old one stays in use: {error}");
            reloads.refuse("bundle", error.to_string());
            !error.may_pass()
        }
        Err(error) => {
            tracing::error!(%error, "new bundle not opened");
            false
        }
    }
}

/// Tells whether the certificate is in service.
fn reload_certificate(reloads: &Reloads, tls: &Tls) -> bool {
    match tls.reload() {
        Ok(()) => {
            reloads.accept("certificate");
            tracing::info!(fingerprint = tls.fingerprint(), "certificate reloaded");
            true
        }
        Err(error) => {
            tracing::error!("new certificate refused, the old one stays in use: {error:#}");
            let reason = "its files can't be used; the log says why";
            reloads.refuse("certificate", reason.into());
            false
        }
    }
}

async fn reload_forms(forms: Arc<Forms>, reloads: &Reloads) {
    match web::block(move || forms.reload()).await {
        Ok(Ok(wizards)) => {
            reloads.accept("forms");
            tracing::info!(wizards, "wizards reloaded");
        }
        Ok(Err(error)) => {
            tracing::error!("new wizards refused, the old ones stay in use: {error}");
            reloads.refuse("forms", "a file can't be used; the log says why".into());
        }
        Err(error) => tracing::error!(%error, "new wizards not read"),
    }
}

/// Reports a change of the keys file's state. The access guard reads the file itself.
fn report_keys(reloads: &Reloads, are_unreadable: bool) {
    if are_unreadable {
        let reason = "the keys file can't be read, the known keys stay in use; the log says why";
        reloads.refuse("keys", reason.into());
    } else {
        reloads.accept("keys");
        tracing::info!("the keys file can be read again");
    }
}

/// The state of a file, or of several, as last seen and as last loaded or refused.
struct Watched<S> {
    seen: S,
    handled: S,
    handled_at: Instant,
    retry: bool,
}

impl<S: Clone + PartialEq> Watched<S> {
    fn new(now: S) -> Watched<S> {
        Watched { seen: now.clone(), handled: now, handled_at: Instant::now(), retry: false }
    }

    /// Whether it is time to reload: when requested, when the file changed and then stayed the same
    /// for one check, or some time after a failure that may pass.
    fn is_due(&mut self, now: S, is_requested: bool) -> bool {
        let is_settled = std::mem::replace(&mut self.seen, now.clone()) == now;
        let is_again = self.retry && self.handled_at.elapsed() >= RETRY;
        let is_due = is_requested || is_again || (now != self.handled && is_settled);
        if is_due {
            self.handled = now;
            self.handled_at = Instant::now();
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_loaded_once_and_only_when_it_has_settled() {
        let mut file = Watched::new(1);
        let due: Vec<bool> = [1, 2, 3, 3, 3].map(|now| file.is_due(now, false)).into();
        assert_eq!(due, [false, false, false, true, false]);
        assert!(file.is_due(3, true), "a request needs no change");
    }

    #[test]
    fn a_failure_that_may_pass_is_tried_again_later() {
        let mut file = Watched::new(1);
        file.retry = true;
        assert!(!file.is_due(1, false), "not at once");
        file.handled_at = Instant::now() - RETRY;
        assert!(file.is_due(1, false) && !file.is_due(1, false));
        file.retry = false;
        file.handled_at = Instant::now() - RETRY;
        assert!(!file.is_due(1, false), "it is dealt with");
    }
}
