//! The capability `policy`: bills, members, committees, votes, reports and rules, looked up,
//! listed, searched, counted and gathered into dossiers.

mod advertised;
mod aggregate;
mod completion;
mod coverage;
mod dossier;
mod endpoints;
mod guides;
mod operations;
mod parameters;
mod prompts;
pub mod query;
pub mod record;
pub mod resolve;
mod resources;
mod result;
mod schemas;
pub mod search;

use crate::api::Capability;
use crate::bundle::Bundle;

pub const CAPABILITY: Capability = Capability {
    name: "policy",
    about: "Bills, members, committees, votes, reports and rules",
    operations: operations::OPERATIONS,
    schemas: schemas::components,
    instructions,
    prompts: prompts::PROMPTS,
    resources: resources::list,
    templates: resources::TEMPLATES,
    read_resource: resources::read,
    complete: completion::complete,
};

fn instructions(bundle: &Bundle) -> String {
    format!(
        "Josh serves United States federal policy data up to {}: {}. With an id (H.R. 1, a \
         bioguide id) use the get_ and list_ tools; with a name resolve_entity; with a subject \
         search, then fetch; for numbers count, sum and time_series; for everything about one \
         thing the dossiers. Every record has a citation with an official address. Text of bills \
         that amends other law is marked is_amendatory. An empty answer says why. get_guide \
         explains more.",
        bundle.manifest.as_of,
        advertised::sources(bundle).join(", ")
    )
}
