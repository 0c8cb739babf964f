//! Which forms there are.

use crate::api::outcome::schema;
use crate::api::{Cost, Operation, Outcome, Scope, Tool};
use crate::forms::forms;
use crate::forms::result::{WizardList, WizardSummary};
use crate::wizard::Wizard;

pub const OPERATION: Operation = Operation {
    name: "list_wizards",
    title: "List federal form wizards",
    about: "The forms of agencies that this server describes or runs",
    route: Some("/v1/forms"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    cost_with: None,
    is_list: false,
    endpoints: |_| OPERATION.endpoint(Vec::new(), schema::<WizardList>()),
    tools: &[Tool {
        name: "federalrunner_list_wizards",
        title: "List federal form wizards",
        is_offered: |_| true,
        about: |_| {
            "Federal form wizards: calculators and estimators of agencies that can be run here. \
             Each with its ID, name, agency, URL, page count, estimated time, and how far its \
             description was tried."
                .into()
        },
        examples: &["which federal calculators can you run", "is there a Social Security estimate"],
        fixed: &[],
        arguments: &[],
        output: |_| schema::<WizardList>(),
    }],
    run: |arguments, context| {
        arguments.finish(&[])?;
        let forms = forms(context)?;
        let summary = |wizard: &Wizard| WizardSummary::of(wizard, forms.may_run(&wizard.wizard_id));
        let wizards: Vec<_> = forms.library().wizards().iter().map(summary).collect();
        let list = WizardList { success: true, count: wizards.len(), wizards };
        Ok(Outcome::typed(list).whole())
    },
};
