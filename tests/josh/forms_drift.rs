//! Section 15: whatever is not as described stops a run, and nothing gets past the wall. These
//! tests need Chromium; without it they count as ignored (`tests/forms/run`).

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use josh::wizard::Options;
use josh::wizard::report::{FailureKind, Report};
use serde_json::json;

use crate::forms::ssa;
use crate::forms_runs::{LIBRARY, alone, received, run_shipped, run_with};
use crate::forms_site::{Site, chromium, script, seconds};

fn failed(site: &Site) -> (josh::wizard::report::Failure, Report) {
    let started = Instant::now();
    let mut report = run_shipped("ssa-quick-calculator", &ssa(), site);
    assert!(started.elapsed() < seconds(12), "{:?}", started.elapsed());
    let fine = Err(josh::wizard::report::Failure::new(FailureKind::Cancelled, ""));
    let failure = std::mem::replace(&mut report.result, fine).expect_err("it must fail");
    (failure, report)
}

/// [6], [8], [9] Given a page that has changed, when it is run, then it stops within seconds with
/// page, expected, found and a picture; a second locator is a warning.
#[test]
#[ignore = "needs Chromium"]
fn a_changed_page_stops_the_run() {
    let _alone = alone();
    let site = Site::start();
    for (drift, found, submitted) in [
        ("missing", "path /OACT/quickcalc", 0),
        ("renamed", "#income", 0),
        ("new_required", "#ssn", 0),
        ("extra_page", "#surprise", 1),
    ] {
        site.switch("drift", drift);
        let (failure, report) = failed(&site);
        assert_eq!(failure.kind, FailureKind::PageChanged, "{drift}: {failure:?}");
        assert_eq!(failure.page.as_deref(), Some("form"), "{drift}");
        assert!(!failure.expected.is_empty(), "{drift}: {failure:?}");
        assert!(failure.found.iter().any(|f| f.contains(found)), "{drift}: {:?}", failure.found);
        assert!(report.pictures.last().unwrap().title.contains("failed"), "{drift}");
        assert_eq!(site.take().len(), submitted, "{drift}");
    }
    site.switch("drift", "second");
    let (report, _) = received("ssa-quick-calculator", &ssa(), &site);
    assert!(
        report.warnings.iter().any(|w| w.contains("/birth_day") && w.contains("number 2")),
        "{:?}",
        report.warnings
    );
    site.without_switches();
    // The last button was pressed, and the form said no, in words that name the year.
    site.switch("last_refused", "1");
    let (failure, _) = failed(&site);
    assert_eq!(failure.kind.code(), "wizard_form_refused");
    assert_eq!(failure.form_says, ["The year ••• or ••• can't be right."]);
    site.without_switches();
    site.switch("wrong_option", "1");
    let mut data = ssa();
    data["dollar_type"] = json!("nominal");
    let failure = run_shipped("ssa-quick-calculator", &data, &site).result.unwrap_err();
    assert_eq!(failure.kind.code(), "wizard_field_not_taken");
    assert_eq!(failure.field.as_deref(), Some("/dollar_type"));
}

/// Given a site that refuses or is slow, when it is run, then that is what is said; slow is not
/// broken.
#[test]
#[ignore = "needs Chromium"]
fn a_site_that_refuses_is_not_a_changed_page() {
    let _alone = alone();
    let site = Site::start();
    for refuse in ["403", "reset", "challenge"] {
        site.switch("refuse", refuse);
        let (failure, _) = failed(&site);
        assert_eq!(failure.kind.code(), "wizard_site_refused", "{refuse}: {failure:?}");
    }
    site.without_switches();
    site.switch("slow", "1500");
    received("ssa-quick-calculator", &ssa(), &site);
}

/// Given a site that needs longer for a page than a browser may for a command, when it is run, then
/// it is waited for.
#[test]
#[ignore = "needs Chromium"]
fn a_slow_site_is_waited_for() {
    let _alone = alone();
    let site = Site::start();
    site.switch("slow", "10000");
    received("ssa-quick-calculator", &ssa(), &site);
}

/// [12] Given a page that reaches for another server in every way, when it is run, then that server
/// hears nothing, and the attempt is named.
#[test]
#[ignore = "needs Chromium"]
fn nothing_reaches_another_server() {
    let _alone = alone();
    let site = Site::start();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    site.switch("other", other.local_addr().unwrap().to_string());
    let heard = Arc::new(AtomicUsize::new(0));
    let count = heard.clone();
    std::thread::spawn(move || {
        other.incoming().flatten().for_each(|_| {
            count.fetch_add(1, Ordering::SeqCst);
        });
    });
    for (leak, warning) in [
        ("img", "Blocked: image to 127.0.0.1"),
        ("fetch", "Blocked: xhr to 127.0.0.1"),
        ("ws", "Blocked: websocket to 127.0.0.1"),
        ("popup", "opened a window"),
        ("redirect", "Blocked: document to 127.0.0.1"),
        ("form", "Blocked: document to 127.0.0.1"),
    ] {
        site.switch("leak", leak);
        let report = run_shipped("ssa-quick-calculator", &ssa(), &site);
        assert!(
            report.warnings.iter().any(|w| w.contains(warning)),
            "{leak}: {:?}",
            report.warnings
        );
        let is_fatal = ["redirect", "form"].contains(&leak);
        assert_eq!(report.result.is_err(), is_fatal, "{leak}: {:?}", report.result);
    }
    assert_eq!(heard.load(Ordering::SeqCst), 0, "the other server heard something");
    site.without_switches();
    for nuisance in ["dialog", "download"] {
        site.switch(nuisance, "1");
        let report = run_shipped("ssa-quick-calculator", &ssa(), &site);
        assert!(report.result.is_ok(), "{nuisance}: {:?}", report.result);
        assert!(report.warnings.iter().any(|w| w.contains(nuisance)), "{:?}", report.warnings);
        site.without_switches();
    }
}

/// [14] Given a host whose name leads to this machine, when it is run outside tests, then the run
/// is refused and nothing is submitted.
#[test]
#[ignore = "needs Chromium"]
fn outside_tests_a_private_address_is_refused() {
    let _alone = alone();
    let site = Site::start();
    let folder = tempfile::tempdir().unwrap();
    // What a name server does that lies.
    let misled = script(
        folder.path(),
        "misled",
        &format!(
            "for given do\nshift\ncase $given in --host-resolver-rules=*) \
             given='--host-resolver-rules=MAP www.ssa.gov:443 {}' ;; esac\n\
             set -- \"$@\" \"$given\"\ndone\n\
             exec {} --ignore-certificate-errors-spki-list={} \"$@\"",
            site.address,
            chromium().display(),
            site.key
        ),
    );
    let options = Options { test_site: None, browser: Some(misled), ..site.options() };
    let report = run_with(LIBRARY.wizard("ssa-quick-calculator").unwrap(), &ssa(), &options);
    let failure = report.result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::SiteRefused, "{failure:?}");
    assert!(failure.message.contains("private network"), "{failure:?}");
    assert!(site.requests() > 0, "it was led there");
    assert!(site.take().is_empty(), "nothing was entered");
}
