//! Runs a form with somebody's data in a real browser, or plans it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{USER_DATA, WIZARD, data_member, invalid_data, member, take_data, wizard_parameter};
use crate::api::outcome::schema;
use crate::api::{
    Arguments, Code, Context, Cost, Error, Image, Kind, Operation, Outcome, Parameter, Result,
    Scope, Tool,
};
use crate::forms::result::{Execution, by_place, steps};
use crate::forms::{forms, wizard};
use crate::metrics::METRICS;
use crate::wizard::plan::plan;
use crate::wizard::report::{FailureKind, Report};
use crate::wizard::run::{Request, Shots, run};
use crate::wizard::tab::Stop;
use crate::wizard::{Wait, Wizard, today};

const SHOTS: &[&str] = &["all", "final", "none"];
const DRY_RUN: &str = "dry_run";
const SCREENSHOTS: &str = "screenshots";

/// Left of the time for a run, to say that it was too long.
const TIME_TO_REPORT: Duration = Duration::from_millis(700);

pub const OPERATION: Operation = Operation {
    name: "run_form",
    title: "Run a federal form",
    about: "Runs a form in a real browser and gives what the agency's page says",
    route: Some("/v1/forms/{wizard_id}/runs"),
    takes_body: true,
    selects: None,
    scope: Scope::Execute,
    cost: Cost::Form,
    cost_with: Some(|arguments| match arguments.one(DRY_RUN) {
        Some("true") => Cost::Lookup,
        _ => Cost::Form,
    }),
    is_list: false,
    endpoints: |_| {
        let dry_run = json!({ "type": "boolean", "default": false });
        let shots = json!({ "type": "string", "enum": SHOTS, "default": "all" });
        OPERATION.endpoint(
            vec![
                wizard_parameter(),
                data_member(),
                member(DRY_RUN, dry_run, "Only plan it"),
                member(SCREENSHOTS, shots, "Which pages to show"),
            ],
            schema::<Execution>(),
        )
    },
    tools: &[Tool {
        name: "federalrunner_execute_wizard",
        title: "Run a federal form",
        is_offered: |_| true,
        about: |_| {
            "Runs a wizard with the user's data in a headless browser: validates them against the \
             schema, fills the agency's form page by page, reads every control back, and returns \
             the results with a screenshot of each page. Call federalrunner_get_wizard_info first, \
             and ask the user before you run. A page that is not as described stops the run: look \
             at the last screenshot. The results are the agency's estimate."
                .into()
        },
        examples: &["estimate my Social Security benefit", "what will I get back from the IRS"],
        fixed: &[],
        arguments: &[&[
            WIZARD,
            Parameter::required(
                USER_DATA,
                Kind::Json(super::LARGEST_DATA),
                "User data that fit the wizard's schema",
            ),
            Parameter::optional(SCREENSHOTS, Kind::Choice(SHOTS), "all pages by default"),
            Parameter::optional(DRY_RUN, Kind::Boolean, "only plan: no browser, nothing entered"),
        ]],
        output: |_| schema::<Execution>(),
    }],
    run: |mut arguments, context| {
        let id = arguments.require("{wizard_id}")?;
        let data = take_data(&mut arguments)?;
        let is_dry = take_flag(&mut arguments)?;
        let shots = take_shots(&mut arguments)?;
        arguments.finish(&[USER_DATA, DRY_RUN, SCREENSHOTS])?;
        execute(&id, &data, is_dry, shots, context)
    },
};

fn take_flag(arguments: &mut Arguments) -> Result<bool> {
    match arguments.take_one(DRY_RUN)?.as_deref() {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Error::invalid(DRY_RUN, format!("`{DRY_RUN}` takes true or false."))),
    }
}

fn take_shots(arguments: &mut Arguments) -> Result<Shots> {
    match arguments.take_one(SCREENSHOTS)?.as_deref() {
        None | Some("all") => Ok(Shots::All),
        Some("final") => Ok(Shots::Final),
        Some("none") => Ok(Shots::None),
        Some(_) => {
            let message = format!("`{SCREENSHOTS}` takes one of {}.", SHOTS.join(", "));
            Err(Error::invalid(SCREENSHOTS, message))
        }
    }
}

fn execute(
    id: &str,
    data: &Value,
    is_dry: bool,
    shots: Shots,
    context: &Arc<Context>,
) -> Result<Outcome> {
    let forms = forms(context)?;
    let library = forms.library();
    let wizard = wizard(&library, id)?;
    let plan = match plan(wizard, data, today()) {
        Ok(plan) => plan,
        Err(problems) => {
            let error = invalid_data(&problems);
            let mut execution = Execution::of(wizard, 0);
            execution.error = Some(error.message.clone());
            execution.error_code = Some(error.code.as_str());
            execution.validation_errors = Some(by_place(&problems));
            return Ok(Outcome::typed(execution).whole().failed(Some(error)));
        }
    };
    if is_dry {
        let mut execution = Execution::of(wizard, plan.pages.len());
        execution.success = true;
        execution.dry_run = Some(true);
        execution.plan = Some(steps(&plan));
        return Ok(Outcome::typed(execution).whole());
    }
    if !forms.may_run(id) {
        return Err(Error::new(Code::WizardsOff, format!("This server does not run {id}.")));
    }
    let deadline = context.deadline.checked_sub(TIME_TO_REPORT).unwrap_or_else(Instant::now);
    let stop = Stop { token: context.cancellation.clone(), deadline };
    let report = match forms.self_test.pass(&forms.options, &stop) {
        Ok(()) => {
            let host = wizard.hosts.first().map(String::as_str).unwrap_or_default();
            let _visit = forms.politeness.begin(host).map_err(|wait| too_often(host, wait))?;
            run(&Request {
                wizard,
                plan: &plan,
                data,
                options: &forms.options,
                stop,
                shots,
                progress: &|done, title| context.progress(done, plan.pages.len(), title),
            })
        }
        Err(failure) => Report::of_failure(failure, plan.pages.len()),
    };
    log(wizard, &report, context);
    if let Err(failure) = &report.result
        && failure.kind == FailureKind::Cancelled
    {
        return Err(Error::cancelled());
    }
    Ok(outcome(wizard, report))
}

fn too_often(host: &str, wait: Wait) -> Error {
    match wait {
        Wait::Busy => {
            let message = format!("Another run visits {host} now; they go one after the other.");
            Error::new(Code::Overloaded, message).retry_after(5)
        }
        Wait::Full { seconds } => {
            let message = format!("Enough runs visited {host} in this hour.");
            Error::new(Code::RateLimited, message).retry_after(seconds)
        }
    }
}

/// One line for each run, without anybody's data.
fn log(wizard: &Wizard, report: &Report, context: &Context) {
    let wizard_id = wizard.wizard_id.as_str();
    let (result, page) = match &report.result {
        Ok(reached) => (reached.outcome.as_str(), None),
        Err(failure) => (failure.kind.code(), failure.page.as_deref()),
    };
    METRICS.form_run(wizard_id, result, report.took.as_secs_f64());
    tracing::info!(
        request_id = context.caller.request_id,
        wizard_id,
        result,
        page,
        pages_completed = report.pages_completed,
        took_ms = report.took.as_millis() as u64,
        caller = context.caller.identity.as_ref().map(|identity| identity.key.as_str()),
        "form run"
    );
}

fn outcome(wizard: &Wizard, report: Report) -> Outcome {
    let images = report.pictures.into_iter().map(|picture| Image {
        title: picture.title,
        mime: "image/jpeg",
        base64: picture.base64,
    });
    let images: Vec<Image> = images.collect();
    let mut execution = Execution::of(wizard, report.pages_total);
    execution.pages_completed = report.pages_completed;
    execution.execution_time_ms = report.took.as_millis() as u64;
    execution.screenshots_included = images.len();
    execution.warnings = report.warnings;
    let failure = match report.result {
        Ok(reached) => {
            execution.success = true;
            execution.outcome = Some(reached.outcome);
            execution.source.url = reached.url;
            let results = reached.results.iter();
            execution.results =
                Some(results.map(|(name, reading)| (name.clone(), reading.to_json())).collect());
            None
        }
        Err(failure) => {
            let mut error = Error::new(code(failure.kind), failure.message.clone());
            for (name, texts) in [
                ("expected", &failure.expected),
                ("found", &failure.found),
                ("form_says", &failure.form_says),
            ] {
                if !texts.is_empty() {
                    error = error.hint(name, texts.clone());
                }
            }
            if let Some(page) = &failure.page {
                error = error.hint("page", page.as_str());
            }
            error.field = failure.field.clone();
            execution.error = Some(failure.message.clone());
            execution.error_code = Some(error.code.as_str());
            execution.page = failure.page.clone();
            execution.field = failure.field.clone();
            execution.expected = failure.expected.clone();
            execution.found = failure.found.clone();
            execution.form_says = failure.form_says.clone();
            Some(error)
        }
    };
    Outcome::typed(execution).whole().show(images).failed(failure)
}

const fn code(kind: FailureKind) -> Code {
    match kind {
        FailureKind::PageChanged => Code::WizardPageChanged,
        FailureKind::FormRefused => Code::WizardFormRefused,
        FailureKind::FieldNotTaken => Code::WizardFieldNotTaken,
        FailureKind::SiteRefused => Code::WizardSiteRefused,
        FailureKind::Timeout | FailureKind::Cancelled => Code::WizardTimeout,
        FailureKind::BrowserUnavailable => Code::BrowserUnavailable,
    }
}
