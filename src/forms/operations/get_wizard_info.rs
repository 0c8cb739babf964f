//! One form: what it asks for, how it can end, where its description comes from.

use super::{WIZARD, wizard_parameter};
use crate::api::outcome::schema;
use crate::api::{Cost, Operation, Outcome, Scope, Tool};
use crate::forms::result::{WizardInfo, WizardSummary};
use crate::forms::{forms, wizard};
use crate::wizard::today;

pub const OPERATION: Operation = Operation {
    name: "get_wizard_info",
    title: "Get a wizard's contract",
    about: "One form: the schema of the data that it needs, how it can end, its provenance",
    route: Some("/v1/forms/{wizard_id}"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    cost_with: None,
    is_list: false,
    endpoints: |_| OPERATION.endpoint(vec![wizard_parameter()], schema::<WizardInfo>()),
    tools: &[Tool {
        name: "federalrunner_get_wizard_info",
        title: "Get a wizard's contract",
        is_offered: |_| true,
        about: |_| {
            "A wizard with its user data schema (JSON Schema draft-07, closed): exactly the data \
             that a run needs. Read it, ask the user for what is missing, bring the answers into \
             the formats of the schema, then call federalrunner_execute_wizard. Answers that the \
             schema does not allow lead to pages that nobody has described."
                .into()
        },
        examples: &["what does the Social Security calculator need to know"],
        fixed: &[],
        arguments: &[&[WIZARD]],
        output: |_| schema::<WizardInfo>(),
    }],
    run: |mut arguments, context| {
        let id = arguments.require("{wizard_id}")?;
        arguments.finish(&[])?;
        let forms = forms(context)?;
        let library = forms.library();
        let wizard = wizard(&library, &id)?;
        let outcomes = wizard.outcomes.iter();
        let example = wizard.examples.first().map(|example| example.data(today()));
        let info = WizardInfo {
            success: true,
            summary: WizardSummary::of(wizard, forms.may_run(&id)),
            effect: wizard.effect.clone(),
            schema: wizard.schema.clone(),
            example_user_data: example.unwrap_or_default(),
            outcomes: outcomes.map(|one| (one.id.clone(), one.about.clone())).collect(),
        };
        Ok(Outcome::typed(info).whole())
    },
};
