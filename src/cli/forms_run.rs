//! The commands of `josh forms` that start a browser: run, verify, inventory.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use base64::Engine;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::Unusable;
use crate::folders;
use crate::output::{note, say};
use crate::wizard::plan::{Plan, plan};
use crate::wizard::report::Report;
use crate::wizard::run::{Request, Shots, inventory, run};
use crate::wizard::tab::Stop;
use crate::wizard::{Mode, Options, TestSite, Wizard, browser, today};

#[derive(clap::Args)]
pub struct BrowserArguments {
    /// Chromium, or a browser that is made from it
    #[arg(long, env = "JOSH_FORMS_BROWSER", value_name = "FILE")]
    forms_browser: Option<PathBuf>,
    /// Run the browser without its sandbox, which does not work for root
    #[arg(long, env = "JOSH_FORMS_NO_SANDBOX")]
    forms_no_sandbox: bool,
    /// For tests: a copy of the agencies' sites
    #[arg(long, env = "JOSH_FORMS_TEST_SITE", value_name = "ADDRESS#KEY")]
    forms_test_site: Option<String>,
}

impl BrowserArguments {
    pub fn options(&self) -> Result<Options, Unusable> {
        let site = self.forms_test_site.as_deref().map(|text| {
            let wrong = || Unusable(format!("{text:?} is not like 127.0.0.1:8443#HASH"));
            TestSite::read(text).ok_or_else(wrong)
        });
        Ok(Options {
            browser: self.forms_browser.clone(),
            no_sandbox: self.forms_no_sandbox,
            test_site: site.transpose()?,
            ..Options::new(Mode::Run)
        })
    }
}

/// Runs a form with these data; progress goes to standard error.
pub fn run_once(wizard: &Wizard, plan: &Plan, data: &Value, options: &Options) -> Report {
    browser::sweep();
    let deadline = Instant::now() + options.time;
    let pages = plan.pages.len();
    run(&Request {
        wizard,
        plan,
        data,
        options,
        stop: Stop { token: CancellationToken::new(), deadline },
        shots: Shots::All,
        progress: &|done, title| note!("{done}/{pages} {title}"),
    })
}

/// The pictures show what was entered: only their owner may read them.
pub fn write_pictures(folder: &Path, report: &Report) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for (n, picture) in report.pictures.iter().enumerate() {
        let path = folder.join(format!("{}.jpg", n + 1));
        let file = browser::own_file(&path);
        let mut file = file.with_context(|| format!("cannot write {}", path.display()))?;
        file.write_all(&base64::engine::general_purpose::STANDARD.decode(&picture.base64)?)?;
        note!("{}: {}", path.display(), picture.title);
    }
    Ok(())
}

/// Asks whether a trace may be written, and gives its file.
pub fn agreed_trace(folder: &Path) -> Result<PathBuf> {
    note!("{} will hold everything that is entered. Type yes to go on:", folder.display());
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if answer.trim() != "yes" {
        return Err(Unusable("nothing was run: --save-trace was not agreed to".into()).into());
    }
    std::fs::create_dir_all(folder)?;
    Ok(folder.join("trace.jsonl"))
}

pub fn print_report(wizard: &Wizard, report: &Report) -> Result<ExitCode> {
    report.warnings.iter().for_each(|warning| note!("{warning}"));
    match &report.result {
        Ok(reached) => {
            let results: serde_json::Map<String, Value> =
                reached.results.iter().map(|(name, one)| (name.clone(), one.to_json())).collect();
            let shown = json!({
                "wizard_id": wizard.wizard_id, "outcome": reached.outcome, "results": results,
                "agency": wizard.agency, "url": reached.url,
                "execution_time_ms": report.took.as_millis() as u64,
            });
            say!("{}", serde_json::to_string_pretty(&shown)?);
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            let page = failure.page.as_deref().map(|page| format!(" on page {page}"));
            let field = failure.field.as_deref().map(|field| format!(", {field}"));
            let (page, field) = (page.unwrap_or_default(), field.unwrap_or_default());
            note!("{}{page}{field}: {}", failure.kind.code(), failure.message);
            for (what, texts) in [
                ("expected", &failure.expected),
                ("found", &failure.found),
                ("the form says", &failure.form_says),
            ] {
                texts.iter().for_each(|text| note!("  {what}: {text}"));
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Which wizards were run to their ends on this machine, and when: kept in the user's data, never
/// in the wizard.
pub struct Verified {
    path: Option<PathBuf>,
    days: BTreeMap<String, String>,
}

impl Verified {
    pub fn read() -> Verified {
        let folder = folders::of_user("XDG_DATA_HOME", ".local/share");
        Verified::at(folder.map(|folder| folder.join("josh/forms-verified.json")))
    }

    fn at(path: Option<PathBuf>) -> Verified {
        let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let days = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Verified { path, days }
    }

    /// Of exactly this description, not of an earlier one.
    fn key(wizard: &Wizard) -> String {
        let file = serde_json::to_vec(wizard).unwrap_or_default();
        format!("{} {}", wizard.wizard_id, hex::encode(Sha256::digest(file)))
    }

    pub fn day(&self, wizard: &Wizard) -> Option<&str> {
        self.days.get(&Verified::key(wizard)).map(String::as_str)
    }

    fn add(mut self, wizard: &Wizard) -> Result<()> {
        let path = self.path.context("there is no folder for the user's data")?;
        self.days.insert(Verified::key(wizard), today().to_string());
        path.parent().map(std::fs::create_dir_all).transpose()?;
        Ok(std::fs::write(path, serde_json::to_string_pretty(&self.days)?)?)
    }
}

/// Runs the examples of a wizard; all of them must end as the file says.
pub fn verify(wizard: &Wizard, options: &Options) -> Result<ExitCode> {
    for example in &wizard.examples {
        let data = example.data(today());
        let wrong = |_| Unusable(format!("an example of {} does not fit", wizard.wizard_id));
        let plan = plan(wizard, &data, today()).map_err(wrong)?;
        let report = run_once(wizard, &plan, &data, options);
        let reached = report.result.as_ref().ok().map(|reached| reached.outcome.clone());
        if reached.as_ref() != Some(&example.outcome) {
            note!("expected the outcome {}", example.outcome);
            print_report(wizard, &report)?;
            return Ok(ExitCode::FAILURE);
        }
        note!("{}: {}", wizard.wizard_id, example.outcome);
    }
    // Against a test site nothing is shown about the agency's.
    if options.test_site.is_none() {
        Verified::read().add(wizard)?;
        note!("{} is verified, here and today", wizard.wizard_id);
    }
    Ok(ExitCode::SUCCESS)
}

pub fn print_inventory(url: &str, options: &Options) -> Result<ExitCode> {
    let deadline = Instant::now() + options.time;
    let stop = Stop { token: CancellationToken::new(), deadline };
    match inventory(url, options, stop) {
        Ok(controls) => {
            say!("{}", serde_json::to_string_pretty(&controls)?);
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            note!("{}: {}", failure.kind.code(), failure.message);
            Ok(ExitCode::FAILURE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wizard::Library;

    /// Given a wizard that was verified here, when it is looked up, then its day is known, and
    /// that of a changed description is not.
    #[test]
    fn only_the_description_that_was_verified_counts() {
        let folder = tempfile::tempdir().unwrap();
        let at = || Verified::at(Some(folder.path().join("deeper/verified.json")));
        let library = Library::open(None).unwrap();
        let mut wizard = library.wizards()[0].clone();
        assert_eq!(at().day(&wizard), None);
        at().add(&wizard).unwrap();
        at().add(&library.wizards()[1]).unwrap();
        assert_eq!(at().day(&wizard), Some(today().to_string().as_str()));
        wizard.seconds += 1;
        assert_eq!(at().day(&wizard), None);
    }
}
