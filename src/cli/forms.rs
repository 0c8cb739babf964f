//! `josh forms …`: forms of agencies on the command line. Nothing here but `run`, `verify` and
//! `inventory` starts a browser.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};

use super::Unusable;
use super::forms_run::{
    BrowserArguments, Verified, agreed_trace, print_inventory, print_report, run_once, verify,
    write_pictures,
};
use crate::output::{note, say};
use crate::wizard::import::import;
use crate::wizard::plan::{Plan, plan};
use crate::wizard::recording::import_recording;
use crate::wizard::schema::Problem;
use crate::wizard::{Library, Wizard, library, today};

/// Somebody's data are small.
const LARGEST_DATA: u64 = 1 << 20;

#[derive(Subcommand)]
pub enum Verb {
    /// List the wizards
    List {
        #[command(flatten)]
        folder: Folder,
    },
    /// Print what a wizard needs to know: its schema, an example, its provenance
    Show {
        /// Wizard, as `josh forms list` names it
        wizard: String,
        #[command(flatten)]
        folder: Folder,
    },
    /// Check wizard files, or those of the folder and in the program; starts no browser
    Check {
        /// Files to check
        files: Vec<PathBuf>,
        #[command(flatten)]
        folder: Folder,
    },
    /// Run a form in Chromium on this machine and print the results as JSON
    Run {
        /// Wizard, as `josh forms list` names it
        wizard: String,
        #[command(flatten)]
        data: Data,
        /// Write the pictures of the pages to this folder; they show what was entered
        #[arg(long, value_name = "FOLDER")]
        pictures: Option<PathBuf>,
        /// Write everything that the browser is told and says to this folder, and the pictures, to
        /// look into a failure; asks first, for it holds what was entered
        #[arg(long, value_name = "FOLDER", conflicts_with = "pictures")]
        save_trace: Option<PathBuf>,
        #[command(flatten)]
        browser: BrowserArguments,
        #[command(flatten)]
        folder: Folder,
    },
    /// Run a wizard's examples against the agency's page, and remember here that they succeeded
    ///
    /// Enters the data of the examples, which are nobody's, into the real form.
    Verify {
        /// Wizard, as `josh forms list` names it
        wizard: String,
        #[command(flatten)]
        browser: BrowserArguments,
        #[command(flatten)]
        folder: Folder,
    },
    /// Print the controls of a page, for whoever describes it
    Inventory {
        /// Address of the page, https
        url: String,
        #[command(flatten)]
        browser: BrowserArguments,
    },
    /// Print a wizard file made from a recording, or from FederalRunner's files
    ///
    /// Takes JSON of Chrome's Recorder, a project of Selenium IDE (.side), or a structure and a
    /// schema of FederalRunner. What those files do not say is marked TODO: check refuses the file
    /// until it is written.
    Import {
        /// Recording, or structure as in wizard-structures/
        file: PathBuf,
        /// For a structure: the schema of the user's data, as in data-schemas/
        schema: Option<PathBuf>,
    },
    /// Print the steps that a run would take; values are shown by their shape only
    Plan {
        /// Wizard, as `josh forms list` names it
        wizard: String,
        #[command(flatten)]
        data: Data,
        #[command(flatten)]
        folder: Folder,
    },
}

#[derive(clap::Args)]
pub struct Folder {
    /// Folder with further wizard files
    #[arg(long, env = "JOSH_FORMS_DIR", value_name = "DIR")]
    forms_dir: Option<PathBuf>,
}

impl Folder {
    fn open(&self) -> Result<Library, Unusable> {
        Library::open(self.forms_dir.as_deref()).map_err(Unusable)
    }
}

#[derive(clap::Args)]
pub struct Data {
    /// File with the data as JSON, or - for standard input: never on the command line, where other
    /// users see it
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
}

fn read_json(path: &Path) -> Result<Value, Unusable> {
    Data { data: path.to_path_buf() }.read()
}

impl Data {
    fn is_piped(&self) -> bool {
        self.data == Path::new("-")
    }

    fn read(&self) -> Result<Value, Unusable> {
        let mut text = String::new();
        let at = |why: String| Unusable(format!("{}: {why}", self.data.display()));
        let read = match self.is_piped() {
            true => std::io::stdin().take(LARGEST_DATA).read_to_string(&mut text),
            false => std::fs::File::open(&self.data)
                .and_then(|file| file.take(LARGEST_DATA).read_to_string(&mut text)),
        };
        read.map_err(|error| at(error.to_string()))?;
        // The parser's own message could quote what it read.
        serde_json::from_str(&text).map_err(|error| {
            at(format!("not JSON at line {}, column {}", error.line(), error.column()))
        })
    }
}

pub fn run(verb: Verb) -> Result<ExitCode> {
    match verb {
        Verb::List { folder } => list(&folder.open()?),
        Verb::Show { wizard, folder } => {
            let library = folder.open()?;
            let wizard = find(&library, &wizard)?;
            let example = wizard.examples.first().map(|example| example.data(today()));
            let outcomes: serde_json::Map<String, Value> =
                wizard.outcomes.iter().map(|one| (one.id.clone(), json!(one.about))).collect();
            let shown = json!({
                "wizard_id": wizard.wizard_id, "wizard_name": wizard.wizard_name,
                "agency": wizard.agency, "url": wizard.url, "effect": wizard.effect,
                "provenance": wizard.provenance, "schema": wizard.schema,
                "example_user_data": example, "outcomes": outcomes,
            });
            say!("{}", serde_json::to_string_pretty(&shown)?);
        }
        Verb::Run { wizard, data, pictures, save_trace, browser, folder } => {
            let library = folder.open()?;
            let wizard = find(&library, &wizard)?;
            if save_trace.is_some() && data.is_piped() {
                let why = "--save-trace asks on standard input: give --data a file";
                return Err(Unusable(why.into()).into());
            }
            let data = data.read()?;
            let plan = planned(wizard, &data)?;
            let mut options = browser.options()?;
            options.trace = save_trace.as_deref().map(agreed_trace).transpose()?;
            let report = run_once(wizard, &plan, &data, &options);
            if let Some(folder) = pictures.as_ref().or(save_trace.as_ref()) {
                write_pictures(folder, &report)?;
            }
            return print_report(wizard, &report);
        }
        Verb::Verify { wizard, browser, folder } => {
            let library = folder.open()?;
            return verify(find(&library, &wizard)?, &browser.options()?);
        }
        Verb::Inventory { url, browser } => return print_inventory(&url, &browser.options()?),
        Verb::Import { file, schema } => {
            let file = read_json(&file)?;
            let made = match &schema {
                Some(schema) => import(&file, &read_json(schema)?),
                None => import_recording(&file, today()),
            };
            say!("{}", serde_json::to_string_pretty(&made.map_err(Unusable)?)?);
        }
        Verb::Check { files, folder } => return check(&files, &folder),
        Verb::Plan { wizard, data, folder } => {
            let library = folder.open()?;
            let wizard = find(&library, &wizard)?;
            let data = data.read()?;
            print_plan(&planned(wizard, &data)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn find<'a>(library: &'a Library, id: &str) -> Result<&'a Wizard, Unusable> {
    library.wizard(id).ok_or_else(|| {
        Unusable(format!("there is no wizard {id:?}; there are {}", library.ids().join(", ")))
    })
}

fn list(library: &Library) {
    let verified = Verified::read();
    for wizard in library.wizards() {
        let pages = wizard.pages.len();
        say!(
            "{:<24} {:<36} {pages} page{}, {} {}{}",
            wizard.wizard_id,
            wizard.wizard_name,
            if pages == 1 { "" } else { "s" },
            wizard.provenance.status.name(),
            wizard.provenance.recorded_on,
            verified.day(wizard).map(|day| format!(", verified here {day}")).unwrap_or_default()
        );
    }
}

fn check(files: &[PathBuf], folder: &Folder) -> Result<ExitCode> {
    if files.is_empty() {
        let library = folder.open()?;
        library.ids().iter().for_each(|id| note!("{id}: fine"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut is_fine = true;
    for path in files {
        match library::read(path) {
            Ok(wizard) => note!("{}: fine ({})", path.display(), wizard.wizard_id),
            Err(why) => {
                is_fine = false;
                note!("{why}");
            }
        }
    }
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The plan for these data, or everything that is wrong with them.
fn planned<'a>(wizard: &'a Wizard, data: &Value) -> Result<Plan<'a>, Unusable> {
    plan(wizard, data, today()).map_err(|problems| {
        let line = |problem: &Problem| format!("\n  {} {}", problem.pointer, problem.message);
        let lines: String = problems.iter().map(line).collect();
        Unusable(format!("the data do not fit {}:{lines}", wizard.wizard_id))
    })
}

fn print_plan(plan: &Plan) {
    for planned in &plan.pages {
        say!("{} ({})", planned.page.id, planned.page.title);
        for step in &planned.steps {
            say!("  {:<10} {:<28} {}", step.action.name(), step.pointer, step.action.shown());
        }
    }
}
