//! The operations of the capability, one file each.

mod diff_config;
mod get_config;
mod list_clients;
mod list_profiles;

use serde_json::{Value, json};

use crate::api::{EndpointParameter, Kind, Operation, Parameter, Place};
use crate::client_config::catalog;

/// In the order in which their tools are listed.
pub const OPERATIONS: &[Operation] = &[
    list_clients::OPERATION,
    list_profiles::OPERATION,
    get_config::OPERATION,
    diff_config::OPERATION,
];

/// Names of the tools, for the resource that lists them.
pub fn tool_names() -> Vec<&'static str> {
    OPERATIONS.iter().flat_map(|operation| operation.tools).map(|tool| tool.name).collect()
}

/// Which client is meant. Not a list of choices: an unknown one gets an error that lists them.
const CLIENT: Parameter =
    Parameter::required("client_id", Kind::Id("cursor"), "Client, as list_clients names it")
        .sets("{client_id}");

const PROFILE: Parameter = Parameter::optional(
    "profile_id",
    Kind::Id("default"),
    "Profile, as list_profiles names it; default by default",
);

fn client_parameter() -> EndpointParameter {
    let schema = json!({ "type": "string", "enum": catalog().ids().collect::<Vec<_>>() });
    EndpointParameter::new(Place::Path, CLIENT.name, schema, "Client").required()
}

fn profile_parameter() -> EndpointParameter {
    parameter(PROFILE.name, json!({ "type": "string" }), "Profile; default by default")
}

fn artifact_parameter(name: &str, about: &str) -> EndpointParameter {
    parameter(name, json!({ "type": "string", "pattern": "^[a-f0-9]{64}$" }), about)
}

fn parameter(name: &str, schema: Value, about: &str) -> EndpointParameter {
    EndpointParameter::new(Place::Query, name, schema, about)
}
