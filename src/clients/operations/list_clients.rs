//! Which clients are known.

use std::collections::BTreeMap;

use crate::api::outcome::schema;
use crate::api::{Cost, Operation, Outcome, Scope, Tool};
use crate::client_config::{Client, ClientConfigs, ClientKind, FactGroup, catalog};
use crate::clients::result::{ClientList, ClientSummary};
use crate::clients::{configs, profile_ids};

pub const OPERATION: Operation = Operation {
    name: "list_clients",
    title: "List MCP clients",
    about: "The MCP clients that this server has configuration for",
    route: Some("/v1/clients"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    cost_with: None,
    is_list: false,
    endpoints: |_| OPERATION.endpoint(Vec::new(), schema::<ClientList>()),
    tools: &[Tool {
        name: "list_clients",
        title: "List MCP clients",
        is_offered: |_| true,
        about: |_| {
            "MCP clients (Claude Code, Cursor, VS Code and others) that this server has \
             configuration for: where each keeps its file, and which profiles it can use. For what \
             to write there use get_config."
                .into()
        },
        examples: &["which MCP clients can be configured", "where does Zed keep its MCP servers"],
        fixed: &[],
        arguments: &[],
        output: |_| schema::<ClientList>(),
    }],
    run: |arguments, context| {
        arguments.finish(&[])?;
        let configs = configs(context)?;
        let clients: Vec<_> = catalog().clients.iter().map(|c| summary(c, configs)).collect();
        Ok(Outcome::typed(ClientList { count: clients.len(), clients }).whole())
    },
};

fn summary(client: &'static Client, configs: &ClientConfigs) -> ClientSummary {
    let systems: Vec<&str> = client
        .user
        .all()
        .iter()
        .filter(|(_, paths)| !paths.is_empty())
        .map(|(os, _)| *os)
        .collect();
    let platform = match systems.as_slice() {
        [one] => one,
        _ => "cross-platform",
    };
    let kind = match client.kind {
        ClientKind::File => "file",
        ClientKind::Form => "form",
        ClientKind::Hosted => "hosted",
    };
    let first = client.user.here().first().or(client.project.first());
    ClientSummary {
        client_id: &client.id,
        display_name: &client.name,
        platform,
        kind,
        config_location: first.map(String::as_str),
        config_locations: locations(client),
        available_profiles: profile_ids(configs, client).into_iter().map(String::from).collect(),
        uncertain: uncertain(client),
        checked: client.checked(),
    }
}

/// A client's files by operating system, and in a project.
pub fn locations(client: &'static Client) -> BTreeMap<&'static str, &'static [String]> {
    let project = ("project", client.project.as_slice());
    client.user.all().into_iter().chain([project]).filter(|(_, paths)| !paths.is_empty()).collect()
}

/// What is in doubt, by the name of the group of facts.
pub fn uncertain(client: &'static Client) -> BTreeMap<String, &'static str> {
    let named = |(group, why): (&FactGroup, &'static String)| {
        let name = serde_json::to_value(group).ok()?;
        Some((name.as_str()?.to_string(), why.as_str()))
    };
    client.uncertain.iter().filter_map(named).collect()
}
