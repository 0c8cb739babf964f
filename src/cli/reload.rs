//! Reloads the bundle and the certificate while `josh serve` runs: on SIGHUP, and when their files
//! change; and the wizards of a folder on SIGHUP. A file that can't be used is refused, and the old
//! one stays in use; `/readyz` says so.

use std::sync::Arc;
use std::time::Duration;

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
        if bundle.is_due(Stamp::of(&open.path).ok(), is_requested) {
            reload_bundle(&executor, &reloads).await;
        }
        if let (Some(tls), Some(certificate)) = (&tls, &mut certificate)
            && certificate.is_due(tls.stamps(), is_requested)
        {
            reload_certificate(&reloads, tls);
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

async fn reload_bundle(executor: &web::Data<Executor>, reloads: &Reloads) {
    let opening = executor.clone();
    match web::block(move || opening.reload()).await {
        Ok(Ok(new)) => {
            reloads.accept("bundle");
            let manifest = &new.manifest;
            tracing::info!(bundle = %manifest.id, as_of = %manifest.as_of, "bundle swapped");
        }
        Ok(Err(error)) => {
            let path = executor.bundle().path.display().to_string();
            tracing::error!(path, "new bundle refused, the old one stays in use: {error}");
            reloads.refuse("bundle", error.to_string());
        }
        Err(error) => tracing::error!(%error, "new bundle not opened"),
    }
}

fn reload_certificate(reloads: &Reloads, tls: &Tls) {
    match tls.reload() {
        Ok(()) => {
            reloads.accept("certificate");
            tracing::info!(fingerprint = tls.fingerprint(), "certificate reloaded");
        }
        Err(error) => {
            tracing::error!("new certificate refused, the old one stays in use: {error:#}");
            let reason = "its files can't be used; the log says why";
            reloads.refuse("certificate", reason.into());
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
}

impl<S: Clone + PartialEq> Watched<S> {
    fn new(now: S) -> Watched<S> {
        Watched { seen: now.clone(), handled: now }
    }

    /// Whether it is time to reload: when requested, or when the file changed and then stayed the
    /// same for one check.
    fn is_due(&mut self, now: S, is_requested: bool) -> bool {
        let is_settled = std::mem::replace(&mut self.seen, now.clone()) == now;
        let is_due = is_requested || (now != self.handled && is_settled);
        if is_due {
            self.handled = now;
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
}
