//! The API reference: every operation with its paths, from its declaration and over one bundle.
//! What several paths share is written once. Tools are described by `tools`.

use serde_json::Value;

use super::{GENERATED, SHOWN_NAMES, cell, some, tools};
use crate::api::{Capability, Endpoint, EndpointParameter, Operation, Place, Tool};
use crate::bundle::Bundle;
use crate::toolsets::Toolsets;

const INTRO: &str = "\n\
    # API reference\n\
    \n\
    Every operation, with its REST paths and its MCP tools. Names of sources, fields and\n\
    sections are those of the embedded sample; another bundle may hold fewer. `/openapi.json`\n\
    and `tools/list` of a server say what it offers, with the schemas of all results.\n\
    [rest.md](rest.md) explains the conventions of the paths, [mcp.md](mcp.md) those of the\n\
    tools, [errors.md](errors.md) the errors.\n\
    \n\
    Filters are listed by name; numbers and dates also take the suffixes `.lt`, `.lte`, `.gt`\n\
    and `.gte`. `/v1/sources/{source}` describes each field. The cost says how an operation is\n\
    run: a look-up is answered at once; queries and searches wait for a free place\n\
    ([operations.md](operations.md#limits)).\n";

pub fn page(bundle: &Bundle, toolsets: &Toolsets) -> String {
    let mut out = format!("{GENERATED}{INTRO}");
    for capability in toolsets.capabilities() {
        out.push_str(&format!("\n## Toolset `{}`\n\n{}.\n\n", capability.name, capability.about));
        let listed = Listed::all(capability, bundle);
        out.push_str(&overview(&listed, bundle));
        listed.iter().for_each(|one| out.push_str(&section(one, &listed, bundle)));
        out.push_str(&tools::prompts(capability, bundle));
        out.push_str(&tools::resources(capability, bundle));
    }
    out
}

/// An operation with its paths over the bundle.
struct Listed {
    operation: &'static Operation,
    endpoints: Vec<Endpoint>,
}

impl Listed {
    fn all(capability: &Capability, bundle: &Bundle) -> Vec<Listed> {
        let listed = |operation: &'static Operation| Listed {
            operation,
            endpoints: (operation.endpoints)(bundle),
        };
        capability.operations.iter().map(listed).collect()
    }

    fn tools(&self, bundle: &Bundle) -> Vec<&'static Tool> {
        self.operation.tools.iter().filter(|tool| (tool.is_offered)(bundle)).collect()
    }

    /// The operation that takes the requests to this route that this one leaves.
    fn rest<'a>(&self, all: &'a [Listed]) -> Option<&'a Listed> {
        self.operation.selects?;
        let takes_rest = |other: &&Listed| {
            other.operation.route == self.operation.route && other.operation.selects.is_none()
        };
        all.iter().find(takes_rest)
    }
}

fn overview(listed: &[Listed], bundle: &Bundle) -> String {
    let mut out = String::from("| operation | REST | tools | cost |\n|---|---|---|---|\n");
    for one in listed {
        let name = one.operation.name;
        let route = one.operation.route.map(|route| format!("`{}`", shown_route(route)));
        let tools: Vec<String> =
            one.tools(bundle).iter().map(|tool| format!("`{}`", tool.name)).collect();
        out.push_str(&format!(
            "| [{name}](#{name}) | {} | {} | {} |\n",
            route.unwrap_or_default(),
            tools.join(", "),
            one.operation.cost.name()
        ));
    }
    out
}

fn section(one: &Listed, all: &[Listed], bundle: &Bundle) -> String {
    let operation = one.operation;
    let mut out = format!("\n### {}\n\n{}.\n\n", operation.name, operation.about);
    out.push_str(&match operation.route {
        Some(route) => {
            let method = if operation.takes_body { "POST" } else { "GET" };
            format!("- REST: `{method} {}`\n", shown_route(route))
        }
        None => "- REST: none\n".to_string(),
    });
    if let Some(rest) = one.rest(all) {
        let name = rest.operation.name;
        out.push_str(&format!(
            "- Shares its route with [{name}](#{name}): the parameters of a request decide.\n"
        ));
    }
    let formats = match operation.is_list {
        true => "JSON, CSV, NDJSON and [others](explorer.md#downloads) (`format`)",
        false => "JSON",
    };
    let (scope, cost) = (operation.scope.name(), operation.cost.name());
    out.push_str(&format!("- Scope: `{scope}`; cost: {cost}; formats: {formats}\n"));
    out.push_str(&parameters(one));
    out.push_str(&paths(one, all));
    one.tools(bundle).iter().for_each(|tool| out.push_str(&tools::section(tool, bundle)));
    out
}

/// `{id...}` takes the rest of a path; readers need not know.
fn shown_route(route: &str) -> String {
    route.replace("...}", "}")
}

/// Parameters other than filters, each once. Those of a path are in the table of paths, unless
/// there is only one path.
fn parameters(one: &Listed) -> String {
    let is_single = one.endpoints.len() == 1;
    let mut found: Vec<(&EndpointParameter, Vec<(&str, &Value)>)> = Vec::new();
    for endpoint in &one.endpoints {
        let listed = endpoint.parameters.iter();
        for given in listed.filter(|p| !p.is_filter && (is_single || p.place != Place::Path)) {
            let place = (endpoint.path.as_str(), &given.schema);
            match found.iter_mut().find(|(p, _)| p.name == given.name && p.about == given.about) {
                Some((_, places)) => places.push(place),
                None => found.push((given, vec![place])),
            }
        }
    }
    if found.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n| parameter | takes | what it does |\n|---|---|---|\n");
    for (given, places) in found {
        let is_same = places.iter().all(|(_, schema)| **schema == given.schema);
        let takes = if is_same { takes(&given.schema) } else { plain_type(&given.schema) };
        let required = if given.required { ", required" } else { "" };
        let only = match places.len() {
            n if n == one.endpoints.len() => String::new(),
            n if n <= SHOWN_NAMES => {
                let paths: Vec<String> =
                    places.iter().map(|(path, _)| format!("`{path}`")).collect();
                format!(" (only {})", paths.join(", "))
            }
            n => format!(" ({n} of {} paths)", one.endpoints.len()),
        };
        let (name, about) = (&given.name, cell(&given.about));
        out.push_str(&format!("| `{name}` | {takes}{required} | {about}{only} |\n"));
    }
    out
}

fn plain_type(schema: &Value) -> String {
    schema["type"].as_str().unwrap_or("value").to_string()
}

/// What a schema accepts, in words.
fn takes(schema: &Value) -> String {
    let strings = |key: &str| -> Vec<&str> {
        let listed = schema[key].as_array().into_iter().flatten();
        listed.filter_map(Value::as_str).collect()
    };
    let mut words = match (strings("enum"), schema["minimum"].as_u64(), schema["maximum"].as_u64())
    {
        (names, ..) if !names.is_empty() => format!("one of {}", some(&names)),
        (_, Some(least), Some(most)) => format!("integer from {least} to {most}"),
        _ => plain_type(schema),
    };
    if let Some(example) = strings("examples").first().filter(|example| !example.is_empty()) {
        words.push_str(&format!(", like `{example}`"));
    }
    match &schema["default"] {
        Value::Null => words,
        Value::String(default) => format!("{words}, `{default}` by default"),
        default => format!("{words}, {default} by default"),
    }
}

/// The concrete paths with their filters.
fn paths(one: &Listed, all: &[Listed]) -> String {
    if let Some(rest) = one.rest(all) {
        return shared_paths(one, rest);
    }
    let route = one.operation.route.map(shown_route).unwrap_or_default();
    if let [only] = one.endpoints.as_slice()
        && only.path == route
    {
        let names = filters(only);
        return match names.is_empty() {
            true => String::new(),
            false => format!("\nFilters: {}.\n", code_list(&names)),
        };
    }
    if one.endpoints.is_empty() {
        return String::new();
    }
    let variables = variables(one, all);
    let has_filters = one.endpoints.iter().any(|endpoint| !filters(endpoint).is_empty());
    let mut out = match &variables {
        Variables::As(name) => {
            format!("\nPath parameters: as for [{name}](#{name}).\n")
        }
        _ => String::new(),
    };
    let (head, line) = match (&variables, has_filters) {
        (Variables::New, _) => ("| path | what | path parameters |", "|---|---|---|"),
        (_, true) => ("| path | what | filters |", "|---|---|---|"),
        (_, false) => ("| path | what |", "|---|---|"),
    };
    out.push_str(&format!("\n{head}\n{line}\n"));
    let mut seen = lists(all);
    for endpoint in &one.endpoints {
        let (path, summary) = (endpoint.path.as_str(), cell(&endpoint.summary));
        out.push_str(&format!("| `{path}` | {summary} |"));
        if matches!(variables, Variables::New) {
            out.push_str(&format!(" {} |", path_parameters(endpoint)));
        } else if has_filters {
            out.push_str(&format!(" {} |", filters_cell(endpoint, &mut seen)));
        }
        out.push('\n');
    }
    out
}

/// The paths of an operation that shares them with another.
fn shared_paths(one: &Listed, rest: &Listed) -> String {
    let name = rest.operation.name;
    let mut out = String::new();
    if one.endpoints.len() < rest.endpoints.len() {
        let paths: Vec<&str> = one.endpoints.iter().map(|e| e.path.as_str()).collect();
        out.push_str(&format!("\nPaths: {}.\n", code_list(&paths)));
    }
    if one.endpoints.iter().any(|endpoint| !filters(endpoint).is_empty()) {
        out.push_str(&format!("\nFilters: those of [{name}](#{name}) at the same path.\n"));
    }
    out
}

/// Variables of paths that differ from source to source.
enum Variables {
    None,
    New,
    /// Described with this operation.
    As(&'static str),
}

fn variables(one: &Listed, all: &[Listed]) -> Variables {
    let of = |listed: &Listed| -> Vec<(String, String)> {
        let all = listed.endpoints.iter().flat_map(|endpoint| &endpoint.parameters);
        let in_path = all.filter(|p| p.place == Place::Path);
        in_path.map(|p| (p.name.clone(), p.about.clone())).collect()
    };
    let own = of(one);
    if own.is_empty() {
        return Variables::None;
    }
    let before = all.iter().take_while(|other| other.operation.name != one.operation.name);
    let describes = |other: &&Listed| {
        let known = of(other);
        own.iter().all(|pair| known.contains(pair))
    };
    before.into_iter().find(describes).map_or(Variables::New, |o| Variables::As(o.operation.name))
}

fn path_parameters(endpoint: &Endpoint) -> String {
    let in_path = endpoint.parameters.iter().filter(|p| p.place == Place::Path);
    let shown = in_path.map(|p| {
        let example = p.schema["examples"][0].as_str().filter(|example| !example.is_empty());
        let example = example.map(|example| format!(", like `{example}`")).unwrap_or_default();
        format!("`{}`{example}", cell(&p.about))
    });
    shown.collect::<Vec<_>>().join("; ")
}

/// The names of an endpoint's filters, without their comparisons.
fn filters(endpoint: &Endpoint) -> Vec<&str> {
    let listed = endpoint.parameters.iter().filter(|p| p.is_filter && !p.name.contains('.'));
    listed.map(|p| p.name.as_str()).collect()
}

/// Filters of the lists that have no record in their path: others refer to these.
fn lists(all: &[Listed]) -> Vec<(Vec<String>, String)> {
    let whole = all.iter().filter(|one| one.operation.selects.is_none());
    let endpoints = whole.flat_map(|one| &one.endpoints).filter(|e| !e.path.contains('{'));
    let with_filters = endpoints.filter(|endpoint| !filters(endpoint).is_empty());
    with_filters.map(|endpoint| (owned(&filters(endpoint)), endpoint.path.clone())).collect()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn filters_cell(endpoint: &Endpoint, seen: &mut Vec<(Vec<String>, String)>) -> String {
    let names = filters(endpoint);
    let is_alike = |(known, path): &&(Vec<String>, String)| {
        *path != endpoint.path && known.iter().eq(names.iter())
    };
    match seen.iter().find(is_alike) {
        Some((_, path)) if !names.is_empty() => format!("as `{path}`"),
        _ => {
            seen.push((owned(&names), endpoint.path.clone()));
            code_list(&names)
        }
    }
}

fn code_list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
