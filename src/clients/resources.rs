//! The two resources of the reference: what the server can do, and what each client can.

use serde_json::{Value, json};

use super::operations::tool_names;
use crate::api::{Context, Resource};
use crate::bundle::Bundle;
use crate::client_config::{Client, ClientConfigs, catalog};

const JSON: &str = "application/json";
const SERVER: &str = "capabilities://server";
const CLIENTS: &str = "capabilities://clients";

pub fn list(_: &Bundle) -> Vec<Resource> {
    let resource = |uri: &str, title: &str, about: &str| Resource {
        uri: uri.to_string(),
        title: title.to_string(),
        about: about.to_string(),
        mime: JSON,
    };
    vec![
        resource(SERVER, "Client configuration", "What is handed out, and how it is signed"),
        resource(CLIENTS, "Client capabilities", "What each known client can do, with its limits"),
    ]
}

/// The contents of a resource, or nothing if there is none with this address.
pub fn read(context: &Context, uri: &str) -> Option<(&'static str, String)> {
    let configs = context.client_configs.as_deref()?;
    let value = match uri {
        SERVER => server(configs),
        CLIENTS => {
            let clients: Vec<Value> = catalog().clients.iter().map(client).collect();
            json!({ "clients": clients })
        }
        _ => return None,
    };
    Some((JSON, value.to_string()))
}

fn server(configs: &ClientConfigs) -> Value {
    let key = configs.base_url().map(|base| format!("{base}/keys/verification_key.pem"));
    json!({
        "name": "josh",
        "version": env!("CARGO_PKG_VERSION"),
        "capabilities": {
            "tools": tool_names(),
            "resources": [SERVER, CLIENTS],
            "prompts": [],
        },
        "features": {
            "content_addressing": true,
            "cryptographic_signing": true,
            "signature_algorithm": "Ed25519",
            "canonical_form": "RFC 8785",
            "diff_reports": true,
            "profile_support": true,
        },
        "signing_key_id": configs.public_key().id(),
        "endpoints": { "verification_key_url": key },
    })
}

fn client(client: &Client) -> Value {
    let supports = &client.supports;
    json!({
        "client_id": client.id,
        "display_name": client.name,
        "version_min": client.since,
        "version_max": null,
        "config_format": client.format.map(|format| format.name()),
        "supports": {
            "http": supports.http,
            "stdio": supports.stdio,
            "environment_variables": supports.environment_variables,
            "command_args": supports.stdio,
            "working_directory": supports.working_directory,
            "multiple_servers": true,
            "secrets_by_reference": client.secret.is_some(),
            "oauth": supports.oauth,
            "resources": supports.resources,
            "prompts": supports.prompts,
        },
        // No client publishes a limit on servers or variables.
        "limitations": {
            "max_servers": null,
            "max_env_vars_per_server": null,
            "published": client.limits,
        },
        "uncertain": client.uncertain,
        "checked": client.checked(),
    })
}
