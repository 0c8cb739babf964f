//! One declaration for each operation. Routes, OpenAPI, tools with their schemas, `josh get`,
//! metrics labels, scope checks and the reference docs all follow from it.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::argument::Arguments;
use super::context::Context;
use super::error::Result;
use super::outcome::Outcome;
use super::parameter::Parameter;
use crate::access::Scope;
use crate::bundle::Bundle;

/// How an operation is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// From the memory map, in microseconds: on the worker that received the call.
    Lookup,
    /// Asks DuckDB or reads many records: on a blocking thread, under the limit of queries.
    Query,
    /// Text search: the same under the limit of searches.
    Search,
    /// Waits for something outside the bundle: the same under a limit of its own.
    External,
    /// Runs a form in a browser, for minutes: under a limit and a deadline of its own.
    Form,
}

impl Cost {
    pub const fn name(self) -> &'static str {
        match self {
            Cost::Lookup => "look-up",
            Cost::Query => "query",
            Cost::Search => "search",
            Cost::External => "external",
            Cost::Form => "form",
        }
    }
}

/// An operation, whole.
pub struct Operation {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    /// Path with `{variables}`; `{id...}` at the end takes the rest of the path.
    /// Without a route there are only tools.
    pub route: Option<&'static str>,
    /// Whether it is sent by POST, with arguments as a JSON object in the body: for what must not
    /// stand in an address, or acts.
    pub takes_body: bool,
    /// Of several operations with one route, the first whose test these arguments pass; one
    /// without a test takes the rest.
    pub selects: Option<fn(&Arguments) -> bool>,
    pub scope: Scope,
    pub cost: Cost,
    /// What these arguments cost, where that depends on them.
    pub cost_with: Option<fn(&Arguments) -> Cost>,
    /// Whether the result is a list, which CSV and NDJSON can hold.
    pub is_list: bool,
    /// The concrete paths of this bundle, for OpenAPI and the docs.
    pub endpoints: fn(&Bundle) -> Vec<Endpoint>,
    pub tools: &'static [Tool],
    pub run: fn(Arguments, &Arc<Context>) -> Result<Outcome>,
}

impl Operation {
    /// Its only path, for one whose route, name and description say all about it.
    pub fn endpoint(&self, parameters: Vec<EndpointParameter>, output: Value) -> Vec<Endpoint> {
        let endpoint = |route: &str| Endpoint {
            path: route.to_string(),
            id: self.name.to_string(),
            summary: self.about.to_string(),
            parameters,
            output,
        };
        self.route.map(endpoint).into_iter().collect()
    }
}

/// A path that the open bundle offers.
pub struct Endpoint {
    pub path: String,
    /// `operationId`.
    pub id: String,
    pub summary: String,
    pub parameters: Vec<EndpointParameter>,
    /// Schema of the 200 answer, with references into the capability's schemas.
    pub output: Value,
}

pub struct EndpointParameter {
    pub name: String,
    pub place: Place,
    pub required: bool,
    /// Whether it narrows a list by a field: there are many, and the docs name them only.
    pub is_filter: bool,
    pub schema: Value,
    pub about: String,
}

impl EndpointParameter {
    /// One that may be left out.
    pub fn new(place: Place, name: &str, schema: Value, about: &str) -> EndpointParameter {
        EndpointParameter {
            name: name.to_string(),
            place,
            required: false,
            is_filter: false,
            schema,
            about: about.to_string(),
        }
    }

    pub fn required(self) -> EndpointParameter {
        EndpointParameter { required: true, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Path,
    Query,
    /// A member of the JSON object in the body.
    Body,
}

/// A tool: an operation with some parameters set and the others under the names that agents expect.
pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    /// Whether the open bundle can answer it at all.
    pub is_offered: fn(&Bundle) -> bool,
    pub about: fn(&Bundle) -> String,
    /// Questions that it answers, as people ask them.
    pub examples: &'static [&'static str],
    /// Parameters of the operation that the tool sets itself.
    pub fixed: &'static [(&'static str, &'static str)],
    pub arguments: &'static [&'static [Parameter]],
    pub output: fn(&Bundle) -> Value,
}

impl Tool {
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> + Clone {
        self.arguments.iter().flat_map(|part| part.iter())
    }
}

/// A task that people start from a menu.
pub struct Prompt {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    /// Name, description, whether it is required.
    pub arguments: &'static [(&'static str, &'static str, bool)],
    /// `{name}` is replaced; `{name: in %}` is there only when the argument is.
    pub text: &'static str,
    /// How the agent begins, filled in alike; most prompts leave that to the agent.
    pub reply: Option<&'static str>,
    pub is_offered: fn(&Bundle) -> bool,
}

/// A document that agents can read.
pub struct Resource {
    pub uri: String,
    pub title: String,
    pub about: String,
    pub mime: &'static str,
}

/// A family of operations over one kind of thing, and everything that surfaces offer of it. Its
/// name is the name of its toolset.
pub struct Capability {
    pub name: &'static str,
    pub about: &'static str,
    pub operations: &'static [Operation],
    /// Schemas that outputs refer to as `#/components/schemas/NAME`.
    pub schemas: fn(&Bundle) -> Map<String, Value>,
    /// What a host tells its model about the server.
    pub instructions: fn(&Bundle) -> String,
    pub prompts: &'static [Prompt],
    pub resources: fn(&Bundle) -> Vec<Resource>,
    /// Templates of resources: address, title, description, media type.
    pub templates: &'static [(&'static str, &'static str, &'static str, &'static str)],
    /// The media type and the text of a resource, or nothing if it has none with this address.
    pub read_resource: fn(&Context, &str) -> Option<(&'static str, String)>,
    /// Values that an argument of a prompt or a template can take and that begin with what was
    /// typed.
    pub complete: fn(&Context, argument: &str, typed: &str) -> Result<Vec<String>>,
}
