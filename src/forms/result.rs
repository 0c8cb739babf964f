//! What the operations give back: the keys of the reference, and what a reader needs besides.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::wizard::Wizard;
use crate::wizard::plan::Plan;
use crate::wizard::schema::Problem;

#[derive(Serialize, JsonSchema)]
pub struct WizardList {
    pub success: bool,
    pub count: usize,
    pub wizards: Vec<WizardSummary>,
}

#[derive(Serialize, JsonSchema)]
pub struct WizardSummary {
    pub wizard_id: String,
    pub wizard_name: String,
    pub agency: String,
    pub url: String,
    pub page_count: usize,
    /// How long a run usually takes
    pub estimated_seconds: u32,
    /// Whether this server runs it, or only describes it
    pub runs_here: bool,
    pub provenance: Provenance,
}

/// Where the description of a form comes from
#[derive(Serialize, JsonSchema)]
pub struct Provenance {
    /// described: from public material, never run by its author; recorded: from the real pages;
    /// verified: a whole run succeeded
    pub status: &'static str,
    pub recorded_on: String,
    pub from: String,
    pub note: String,
}

impl Provenance {
    pub fn of(wizard: &Wizard) -> Provenance {
        let provenance = &wizard.provenance;
        Provenance {
            status: provenance.status.name(),
            recorded_on: provenance.recorded_on.clone(),
            from: provenance.from.clone(),
            note: provenance.note.clone(),
        }
    }
}

impl WizardSummary {
    pub fn of(wizard: &Wizard, runs_here: bool) -> WizardSummary {
        WizardSummary {
            wizard_id: wizard.wizard_id.clone(),
            wizard_name: wizard.wizard_name.clone(),
            agency: wizard.agency.clone(),
            url: wizard.url.clone(),
            page_count: wizard.pages.len(),
            estimated_seconds: wizard.seconds,
            runs_here,
            provenance: Provenance::of(wizard),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct WizardInfo {
    pub success: bool,
    #[serde(flatten)]
    pub summary: WizardSummary,
    /// What a run does in the world
    pub effect: String,
    /// The contract: JSON Schema draft-07 of user_data
    #[schemars(with = "Map<String, Value>")]
    pub schema: Value,
    /// Data that fits the contract
    #[schemars(with = "Map<String, Value>")]
    pub example_user_data: Value,
    /// How a run can end, by the name in `outcome`
    pub outcomes: BTreeMap<String, String>,
}

#[derive(Serialize, JsonSchema)]
pub struct PlanResult {
    pub success: bool,
    pub wizard_id: String,
    pub pages_total: usize,
    pub steps: Vec<PlanStep>,
}

/// What is done to one control; values are shown by their shape only
#[derive(Serialize, JsonSchema)]
pub struct PlanStep {
    pub page: String,
    /// JSON Pointer into user_data
    pub field: String,
    pub action: &'static str,
    pub value: String,
}

impl PlanResult {
    pub fn of(wizard: &Wizard, plan: &Plan) -> PlanResult {
        PlanResult {
            success: true,
            wizard_id: wizard.wizard_id.clone(),
            pages_total: plan.pages.len(),
            steps: steps(plan),
        }
    }
}

/// The steps of a plan, page by page.
pub fn steps(plan: &Plan) -> Vec<PlanStep> {
    let of_page = |planned: &crate::wizard::plan::PlannedPage| {
        let page = planned.page.id.clone();
        let step = move |step: &crate::wizard::plan::Step| PlanStep {
            page: page.clone(),
            field: step.pointer.clone(),
            action: step.action.name(),
            value: step.action.shown(),
        };
        planned.steps.iter().map(step).collect::<Vec<_>>()
    };
    plan.pages.iter().flat_map(of_page).collect()
}

/// Problems by their place.
pub fn by_place(problems: &[Problem]) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for problem in problems {
        let place = if problem.pointer.is_empty() { "/" } else { &problem.pointer };
        let message = format!("{} ({})", problem.message, problem.rule);
        let known = found.entry(place.to_string()).or_default();
        let joint = if known.is_empty() { "" } else { "; " };
        known.push_str(&format!("{joint}{message}"));
    }
    found
}

/// What came of a run. On failure `error`, `error_code`, and where it applies the page, the field,
/// what was expected and found
#[derive(Serialize, JsonSchema)]
pub struct Execution {
    pub success: bool,
    pub wizard_id: String,
    /// How it ended, as federalrunner_get_wizard_info names it
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub outcome: Option<String>,
    /// By name: value, type (dollars, number, text) and the text that it was read from
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub results: Option<Map<String, Value>>,
    pub pages_completed: usize,
    pub pages_total: usize,
    pub execution_time_ms: u64,
    pub screenshots_included: usize,
    /// What should be looked at: signs of a changed page, requests that were blocked
    pub warnings: Vec<String>,
    pub source: Source,
    pub provenance: Provenance,
    /// What these numbers are
    pub note: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub dry_run: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<PlanStep>")]
    pub plan: Option<Vec<PlanStep>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub error_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub page: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub field: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
    /// The form's own words
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub form_says: Vec<String>,
    /// Problems of user_data by place
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub validation_errors: Option<BTreeMap<String, String>>,
}

/// Whose answer it is
#[derive(Serialize, JsonSchema)]
pub struct Source {
    pub agency: String,
    pub url: String,
    #[schemars(extend("format" = "date-time"))]
    pub retrieved_at: String,
}

impl Execution {
    /// Nothing has come of it yet.
    pub fn of(wizard: &Wizard, pages_total: usize) -> Execution {
        Execution {
            success: false,
            wizard_id: wizard.wizard_id.clone(),
            outcome: None,
            results: None,
            pages_completed: 0,
            pages_total,
            execution_time_ms: 0,
            screenshots_included: 0,
            warnings: Vec::new(),
            source: Source {
                agency: wizard.agency.clone(),
                url: wizard.url.clone(),
                retrieved_at: crate::timestamp::now(),
            },
            provenance: Provenance::of(wizard),
            note: "An estimate of the agency's own calculator. Only the agency decides.",
            dry_run: None,
            plan: None,
            error: None,
            error_code: None,
            page: None,
            field: None,
            expected: Vec::new(),
            found: Vec::new(),
            form_says: Vec::new(),
            validation_errors: None,
        }
    }
}
