//! The operations of the capability, one file each.

mod get_wizard_info;
mod list_wizards;
mod plan_form;
mod run_form;

use serde_json::{Value, json};

use super::result::by_place;
use crate::api::{
    Arguments, Code, EndpointParameter, Error, Kind, Operation, Parameter, Place, Result,
};
use crate::wizard::schema::Problem;

/// In the order in which their tools are listed.
pub const OPERATIONS: &[Operation] = &[
    list_wizards::OPERATION,
    get_wizard_info::OPERATION,
    plan_form::OPERATION,
    run_form::OPERATION,
];

const USER_DATA: &str = "user_data";

/// Bytes of somebody's data as JSON.
const LARGEST_DATA: usize = 50_000;

/// Which wizard is meant. Not a list of choices: an unknown one gets an error that lists them.
const WIZARD: Parameter = Parameter::required(
    "wizard_id",
    Kind::Id("ssa-quick-calculator"),
    "Wizard, as federalrunner_list_wizards names it",
)
.sets("{wizard_id}");

fn wizard_parameter() -> EndpointParameter {
    let schema = json!({ "type": "string", "examples": ["ssa-quick-calculator"] });
    let about = "Wizard, as GET /v1/forms names it";
    EndpointParameter::new(Place::Path, "wizard_id", schema, about).required()
}

fn data_member() -> EndpointParameter {
    let about = "Data that fit the schema of the wizard";
    member(USER_DATA, json!({ "type": "object" }), about).required()
}

fn member(name: &str, schema: Value, about: &str) -> EndpointParameter {
    EndpointParameter::new(Place::Body, name, schema, about)
}

/// Takes somebody's data out of the arguments. An error never says what is in it.
fn take_data(arguments: &mut Arguments) -> Result<Value> {
    let missing = || Error::invalid(USER_DATA, format!("`{USER_DATA}` is missing."));
    let text = arguments.take_long(USER_DATA, LARGEST_DATA)?.ok_or_else(missing)?;
    let data: Option<Value> = serde_json::from_str(&text).ok();
    let wrong = || Error::invalid(USER_DATA, format!("`{USER_DATA}` takes an object."));
    data.filter(Value::is_object).ok_or_else(wrong)
}

/// The error for data that do not fit: places and rules, no values.
fn invalid_data(problems: &[Problem]) -> Error {
    let count = problems.len();
    let them = if count == 1 { "1 problem".to_string() } else { format!("{count} problems") };
    Error::new(Code::InvalidUserData, format!("`{USER_DATA}` does not fit the schema: {them}."))
        .hint("validation_errors", json!(by_place(problems)))
}
