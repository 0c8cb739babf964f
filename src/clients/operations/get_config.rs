//! The signed configuration of a client.

use super::list_clients::{locations, uncertain};
use super::{CLIENT, PROFILE, artifact_parameter, client_parameter, profile_parameter};
use crate::api::outcome::schema;
use crate::api::{Code, Cost, Error, Kind, Operation, Outcome, Parameter, Result};
use crate::api::{Scope, Tool};
use crate::client_config::{Artifact, Client, Offer, is_artifact_id, render};
use crate::clients::result::{Config, Installation, Metadata};
use crate::clients::{client, configs, offer};

pub const OPERATION: Operation = Operation {
    name: "get_config",
    title: "Get a client's configuration",
    about: "The signed configuration of a client in a profile",
    route: Some("/v1/clients/{client_id}/config"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    cost_with: None,
    is_list: false,
    endpoints: |_| {
        OPERATION.endpoint(
            vec![
                client_parameter(),
                profile_parameter(),
                artifact_parameter("artifact_id", "An earlier configuration, by its ID"),
            ],
            schema::<Config>(),
        )
    },
    tools: &[Tool {
        name: "get_config",
        title: "Get a client's configuration",
        is_offered: |_| true,
        about: |_| {
            "The configuration that makes an MCP client use this server, in the client's own \
             shape, signed with Ed25519 and named by the SHA-256 of its content. It never holds a \
             secret, only the client's placeholder for one. To compare an existing configuration \
             use diff_config."
                .into()
        },
        examples: &["configuration for Cursor", "how do I add this server to VS Code"],
        fixed: &[],
        arguments: &[&[
            CLIENT,
            PROFILE,
            Parameter::optional("artifact_id", Kind::Text, "An earlier configuration, by its ID"),
        ]],
        output: |_| schema::<Config>(),
    }],
    run: |mut arguments, context| {
        let id = arguments.require("{client_id}")?;
        let profile_id = arguments.take_one("profile_id")?;
        let artifact_id = arguments.take_one("artifact_id")?;
        arguments.finish(&["profile_id", "artifact_id"])?;
        let client = client(&id)?;
        let (profile_id, offer) = offer(configs(context)?, client, profile_id.as_deref())?;
        let artifact = match artifact_id {
            None => &offer.latest,
            Some(id) => find(client, profile_id, offer, &id)?,
        };
        Ok(Outcome::typed(config(client, artifact.clone())).whole())
    },
};

/// The artifact with this ID, or why there is none.
fn find<'a>(client: &Client, profile: &str, offer: &'a Offer, id: &str) -> Result<&'a Artifact> {
    if !is_artifact_id(id) {
        let message = "`artifact_id` takes 64 hexadecimal digits, in lower case.";
        return Err(Error::invalid_input("artifact_id", message));
    }
    if offer.damaged.contains(id) {
        let message = format!("What was kept as artifact {id} does not match its hash.");
        return Err(Error::new(Code::SignatureError, message));
    }
    offer.artifact(id).ok_or_else(|| {
        let message = format!("{} has no artifact {id} in the profile {profile}.", client.id);
        let known = [&offer.latest].into_iter().chain(offer.earlier.iter().rev());
        let known: Vec<&str> = known.map(|artifact| artifact.artifact_id.as_str()).collect();
        let latest = offer.latest.artifact_id.as_str();
        let error = Error::new(Code::ArtifactNotFound, message);
        error.hint("latest_artifact_id", latest).hint("available_artifacts", known)
    })
}

fn config(client: &'static Client, artifact: Artifact) -> Config {
    let mut notes = client.notes.clone();
    let payload = artifact.payload.to_string();
    if payload.contains("\"<") || payload.contains(" <") {
        notes.push(
            "This client can't refer to a variable: put the key in place of <NAME> yourself, and \
             keep the file to yourself."
                .into(),
        );
    }
    let text = client.format.map(|format| render(&artifact.payload, format));
    Config {
        artifact_id: artifact.artifact_id,
        client_id: artifact.client_id,
        profile_id: artifact.profile_id,
        created_at: artifact.created_at,
        payload: artifact.payload,
        signature: artifact.signature,
        statement_signature: artifact.statement_signature,
        signing_key_id: artifact.signing_key_id,
        metadata: Metadata { generator: "josh", generator_version: env!("CARGO_PKG_VERSION") },
        installation: Installation {
            format: client.format.map(|format| format.name()),
            text,
            files: locations(client),
            steps: &client.steps,
            notes,
            uncertain: uncertain(client),
        },
    }
}
