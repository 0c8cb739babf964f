//! The capability `clients`: signed configuration for MCP clients, and whether a client's own is
//! current. What clients are and how they are configured is in `client_config`.

mod operations;
mod resources;
mod result;

use crate::api::{Capability, Context, Error, Result};
use crate::client_config::{Client, ClientConfigs, ClientKind, DEFAULT, Offer, catalog};

pub const CAPABILITY: Capability = Capability {
    name: "clients",
    about: "Signed configuration for MCP clients",
    operations: operations::OPERATIONS,
    schemas: |_| serde_json::Map::new(),
    instructions: |_| {
        "It also hands out signed configuration for MCP clients: list_clients says which are \
         known, get_config gives what to write into a client's file, diff_config says whether a \
         client's own is current."
            .into()
    },
    prompts: &[],
    resources: resources::list,
    templates: &[],
    read_resource: resources::read,
    complete: |_, argument, typed| Ok(complete(argument, typed)),
};

fn complete(argument: &str, typed: &str) -> Vec<String> {
    match argument {
        "client_id" => {
            catalog().ids().filter(|id| id.starts_with(typed)).map(str::to_string).collect()
        }
        _ => Vec::new(),
    }
}

/// What this server hands out.
fn configs(context: &Context) -> Result<&ClientConfigs> {
    let configs = context.client_configs.as_deref();
    configs.ok_or_else(|| Error::internal("clients are offered without their configuration"))
}

/// The client with this ID, or an error that names them all.
fn client(id: &str) -> Result<&'static Client> {
    catalog().client(id).ok_or_else(|| {
        let shown: String = id.chars().take(60).collect();
        let ids: Vec<&str> = catalog().ids().collect();
        let error = Error::new(
            crate::api::Code::ClientNotFound,
            format!("There is no client {shown:?}; there are {}.", ids.join(", ")),
        );
        let near = crate::spelling::nearest(&shown, &ids);
        let error = near.into_iter().fold(error, |error, near| error.hint("did_you_mean", near));
        error.hint("available_clients", ids)
    })
}

/// The profiles that a client can use.
fn profile_ids<'a>(configs: &'a ClientConfigs, client: &Client) -> Vec<&'a str> {
    configs.profiles(client).map(|(profile, _)| profile.id.as_str()).collect()
}

/// What a client gets in a profile. Without a name it is `default`, or for a client that can't use
/// that, the first that it can.
fn offer<'a>(
    configs: &'a ClientConfigs,
    client: &Client,
    profile_id: Option<&str>,
) -> Result<(&'a str, &'a Offer)> {
    let available = profile_ids(configs, client);
    let found = match profile_id {
        Some(id) => available.iter().copied().find(|known| *known == id),
        None => {
            let default = available.iter().copied().find(|known| *known == DEFAULT);
            default.or_else(|| available.first().copied())
        }
    };
    let unknown = || {
        let shown: String = profile_id.unwrap_or(DEFAULT).chars().take(60).collect();
        let takes_programs = client.kind == ClientKind::File && !client.supports.http;
        let why = match takes_programs && shown == DEFAULT {
            true => " Its file takes programs only.",
            false => "",
        };
        let message = format!(
            "There is no profile {shown:?} for {}.{why} There {} {}.",
            client.id,
            if available.len() == 1 { "is" } else { "are" },
            if available.is_empty() { "none".to_string() } else { available.join(", ") },
        );
        Error::new(crate::api::Code::ProfileNotFound, message)
            .hint("available_profiles", available.clone())
    };
    let id = found.ok_or_else(unknown)?;
    Ok((id, configs.offer(client, id).ok_or_else(unknown)?))
}
