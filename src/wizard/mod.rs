//! Forms of federal agencies, run in a real browser. A wizard file describes one form (`file`),
//! holds together (`check`), and turns somebody's data into steps without a browser (`plan`); `run`
//! takes them in Chromium. What surfaces offer of it is the capability `forms`.
//!
//! Privacy: values live in memory for one call, and are overwritten when it is given back. They are
//! in no log, metric, error, file name or command line.

mod act;
pub mod browser;
mod cdp;
pub mod check;
pub mod file;
mod fold;
pub mod import;
pub mod library;
mod needs;
mod pictures;
pub mod plan;
mod polite;
pub mod recording;
mod redact;
pub mod report;
pub mod run;
pub mod schema;
pub mod self_test;
pub mod tab;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use tokio_util::sync::CancellationToken;

pub use file::Wizard;
pub use library::Library;
pub use polite::{Politeness, Wait};
use self_test::OLD_DAYS;
pub use self_test::SelfTest;
use tab::Stop;

use crate::allocator;
use crate::priority::{self, Priority};

/// How long the browser may be tried when the server starts; nobody waits.
const SELF_TEST_TIME: Duration = Duration::from_secs(60);

/// What may be done with forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// List, describe and plan.
    Describe,
    /// And run.
    Run,
}

/// How forms are offered.
#[derive(Clone, Debug)]
pub struct Options {
    pub mode: Mode,
    pub folder: Option<PathBuf>,
    /// What may run; everything without it.
    pub allow: Option<Vec<String>>,
    pub browser: Option<PathBuf>,
    pub no_sandbox: bool,
    /// How long a run may take, and how many run at once.
    pub time: Duration,
    pub at_once: usize,
    /// Runs against one host in an hour.
    pub per_hour: u32,
    /// Bytes of the pictures of one run.
    pub image_bytes: usize,
    /// A new file for everything that the browser is told and says, with somebody's data.
    pub trace: Option<PathBuf>,
    pub test_site: Option<TestSite>,
}

impl Options {
    pub fn new(mode: Mode) -> Options {
        Options {
            mode,
            folder: None,
            allow: None,
            browser: None,
            no_sandbox: false,
            time: Duration::from_secs(120),
            at_once: 1,
            per_hour: 30,
            image_bytes: 300_000,
            trace: None,
            test_site: None,
        }
    }
}

/// A copy of the agencies' sites for tests: every host of a wizard is mapped to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestSite {
    pub address: std::net::SocketAddr,
    /// Base64 of the SHA-256 of its public key, which is trusted.
    pub key: String,
}

impl TestSite {
    /// Reads `127.0.0.1:8443#HASH`.
    pub fn read(text: &str) -> Option<TestSite> {
        let (address, key) = text.split_once('#')?;
        let is_base64 = |b: u8| b.is_ascii_alphanumeric() || b"+/=".contains(&b);
        let key = Some(key).filter(|key| key.len() == 44 && key.bytes().all(is_base64))?;
        Some(TestSite { address: address.parse().ok()?, key: key.to_string() })
    }
}

/// The wizards of a server, and what may be done with them.
#[derive(Debug)]
pub struct Forms {
    library: ArcSwap<Library>,
    pub options: Options,
    pub politeness: Politeness,
    pub self_test: SelfTest,
}

impl Forms {
    pub fn open(options: Options) -> Result<Forms, String> {
        let library = ArcSwap::from_pointee(open_library(&options)?);
        forbid_core_dumps();
        allocator::wipe_from_now_on();
        if options.mode == Mode::Run {
            browser::sweep();
        }
        let politeness = Politeness::new(options.per_hour);
        Ok(Forms { library, options, politeness, self_test: SelfTest::default() })
    }

    /// The wizards as they are now; a call keeps those that it began with.
    pub fn library(&self) -> Arc<Library> {
        self.library.load_full()
    }

    /// Reads the folder again and gives the number of wizards; the old ones stay if the new ones
    /// can't be used.
    pub fn reload(&self) -> Result<usize, String> {
        let library = open_library(&self.options)?;
        let count = library.wizards().len();
        self.library.store(Arc::new(library));
        Ok(count)
    }

    /// What answers about wizards depend on, besides the request.
    pub fn edition(&self) -> String {
        let Options { mode, allow, .. } = &self.options;
        format!("{} {mode:?} {allow:?} {}", self.library.load().edition(), today())
    }

    /// Tries the browser in the background, so that nobody waits for it when the server starts.
    pub fn try_browser(self: &Arc<Self>, token: CancellationToken) -> Option<JoinHandle<()>> {
        let forms = Some(self.clone()).filter(|forms| forms.options.mode == Mode::Run)?;
        Some(std::thread::spawn(move || {
            priority::set(Priority::Forms);
            let stop = Stop { token, deadline: Instant::now() + SELF_TEST_TIME };
            // What it found is in the log, and in the answers of runs.
            let _ = forms.self_test.pass(&forms.options, &stop);
        }))
    }

    /// What `josh serve` says about forms when it starts.
    pub fn summary(&self) -> String {
        let count = self.library.load().wizards().len();
        if self.options.mode == Mode::Describe {
            return format!("{count} wizards, described and planned, not run");
        }
        match browser::find(&self.options) {
            Err(why) => format!("{count} wizards, none of which can run: {why}"),
            Ok(path) => format!("{count} wizards, run in {}{}", path.display(), age(&path)),
        }
    }

    /// Whether a wizard may run here.
    pub fn may_run(&self, id: &str) -> bool {
        let is_allowed = |allow: &Vec<String>| allow.iter().any(|allowed| allowed == id);
        self.options.mode == Mode::Run && self.options.allow.as_ref().is_none_or(is_allowed)
    }
}

fn open_library(options: &Options) -> Result<Library, String> {
    let library = Library::open(options.folder.as_deref())?;
    for id in options.allow.iter().flatten() {
        if library.wizard(id).is_none() {
            let known = library.ids().join(", ");
            return Err(format!("forms_allow: there is no wizard {id:?}; there are {known}"));
        }
    }
    Ok(library)
}

/// How old a browser is, if its file tells.
fn age(path: &Path) -> String {
    match browser::age_days(path) {
        None => String::new(),
        Some(days) if days > OLD_DAYS => format!(" ({days} days old: update it)"),
        Some(1) => " (1 day old)".into(),
        Some(days) => format!(" ({days} days old)"),
    }
}

/// Memory with somebody's data is never written to a file, whatever happens to us or the browser.
fn forbid_core_dumps() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is read by the call and not kept. A lower limit is always allowed.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
}

/// Today, by which rules about days are decided.
pub fn today() -> time::Date {
    time::OffsetDateTime::now_utc().date()
}
