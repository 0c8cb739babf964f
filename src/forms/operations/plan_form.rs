//! What a run would do with somebody's data, without a browser.

use super::{USER_DATA, data_member, invalid_data, take_data, wizard_parameter};
use crate::api::outcome::schema;
use crate::api::{Cost, Operation, Outcome, Scope};
use crate::forms::result::PlanResult;
use crate::forms::{forms, wizard};
use crate::wizard::plan::plan;
use crate::wizard::today;

pub const OPERATION: Operation = Operation {
    name: "plan_form",
    title: "Plan a run of a form",
    about: "The steps that a run would take with these data, without a browser",
    route: Some("/v1/forms/{wizard_id}/plan"),
    takes_body: true,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    cost_with: None,
    is_list: false,
    endpoints: |_| {
        OPERATION.endpoint(vec![wizard_parameter(), data_member()], schema::<PlanResult>())
    },
    tools: &[],
    run: |mut arguments, context| {
        let id = arguments.require("{wizard_id}")?;
        let data = take_data(&mut arguments)?;
        arguments.finish(&[USER_DATA])?;
        let library = forms(context)?.library();
        let wizard = wizard(&library, &id)?;
        let plan = plan(wizard, &data, today()).map_err(|problems| invalid_data(&problems))?;
        Ok(Outcome::typed(PlanResult::of(wizard, &plan)).whole())
    },
};
