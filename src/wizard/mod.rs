//! Forms of federal agencies, run in a real browser. A wizard file describes one form (`file`),
//! holds together (`check`), and turns somebody's data into steps without a browser (`plan`); `run`
//! takes them in Chromium. What surfaces offer of it is the capability `forms`.
//!
//! Privacy: values live in memory for one call. They are in no log, metric, error, file name or
//! command line.

mod act;
pub mod browser;
mod cdp;
pub mod check;
pub mod file;
mod fold;
pub mod import;
pub mod library;
mod pictures;
pub mod plan;
mod polite;
mod redact;
pub mod report;
pub mod run;
pub mod schema;
pub mod tab;

use std::path::PathBuf;
use std::time::Duration;

pub use file::Wizard;
pub use library::Library;
pub use polite::{Politeness, Wait};

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
    pub library: Library,
    pub options: Options,
    pub politeness: Politeness,
}

impl Forms {
    pub fn open(options: Options) -> Result<Forms, String> {
        let library = Library::open(options.folder.as_deref())?;
        for id in options.allow.iter().flatten() {
            if library.wizard(id).is_none() {
                let known = library.ids().join(", ");
                return Err(format!("forms_allow: there is no wizard {id:?}; there are {known}"));
            }
        }
        if options.mode == Mode::Run {
            browser::sweep();
        }
        let politeness = Politeness::new(options.per_hour);
        Ok(Forms { library, options, politeness })
    }

    /// Whether a wizard may run here.
    pub fn may_run(&self, id: &str) -> bool {
        let is_allowed = |allow: &Vec<String>| allow.iter().any(|allowed| allowed == id);
        self.options.mode == Mode::Run && self.options.allow.as_ref().is_none_or(is_allowed)
    }
}

/// Today, by which rules about days are decided.
pub fn today() -> time::Date {
    time::OffsetDateTime::now_utc().date()
}
