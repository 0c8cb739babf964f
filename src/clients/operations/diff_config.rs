//! Whether a client's own configuration is current.

use serde_json::{Value, json};

use super::{CLIENT, PROFILE, artifact_parameter, client_parameter, parameter, profile_parameter};
use crate::api::outcome::schema;
use crate::api::{Cost, Error, Kind, Operation, Outcome, Parameter, Result, Scope, Tool};
use crate::client_config::{
    Client, Comparison, LARGEST_PAYLOAD, Offer, Payload, Status, artifact_id, compare,
    is_artifact_id, managed,
};
use crate::clients::result::{Difference, Summary};
use crate::clients::{client, configs, offer};

const ARTIFACT: &str = "local_artifact_id";
const PAYLOAD: &str = "local_payload";

/// What whoever sends a payload should know.
const WARNING: &str = "A client's whole file may hold secrets of other servers. Send only the \
    entries of this server, or compare on the client's machine: josh connect --list.";

pub const OPERATION: Operation = Operation {
    name: "diff_config",
    title: "Compare a client's configuration",
    about: "Whether a client's own configuration is current, and what differs",
    route: Some("/v1/clients/{client_id}/diff"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    cost_with: None,
    is_list: false,
    endpoints: |_| {
        let payload = json!({ "type": "string", "contentMediaType": "application/json" });
        OPERATION.endpoint(
            vec![
                client_parameter(),
                profile_parameter(),
                artifact_parameter(ARTIFACT, "ID of the configuration that the client has"),
                parameter(PAYLOAD, payload, "Or that configuration itself, as JSON"),
            ],
            schema::<Difference>(),
        )
    },
    tools: &[Tool {
        name: "diff_config",
        title: "Compare a client's configuration",
        is_offered: |_| true,
        about: |_| {
            "Whether a client's configuration is current: up-to-date, outdated, diverged (changed \
             by hand) or unknown, with every value that differs. Give local_artifact_id or \
             local_payload. Only servers of the profile are compared; others are listed as \
             unmanaged. Don't send secrets of other servers: josh connect --list compares on the \
             client's machine."
                .into()
        },
        examples: &["is my Cursor configuration current", "what changed in the configuration"],
        fixed: &[],
        arguments: &[&[
            CLIENT,
            PROFILE,
            Parameter::optional(ARTIFACT, Kind::Text, "ID of the configuration that it has"),
            Parameter::optional(
                PAYLOAD,
                Kind::Json(LARGEST_PAYLOAD),
                "Or the configuration itself: this server's part of the client's file",
            ),
        ]],
        output: |_| schema::<Difference>(),
    }],
    run: |mut arguments, context| {
        let id = arguments.require("{client_id}")?;
        let profile_id = arguments.take_one("profile_id")?;
        let artifact = arguments.take_one(ARTIFACT)?;
        let payload = arguments.take_long(PAYLOAD, LARGEST_PAYLOAD)?;
        arguments.finish(&["profile_id", ARTIFACT, PAYLOAD])?;
        let client = client(&id)?;
        let (profile_id, offer) = offer(configs(context)?, client, profile_id.as_deref())?;
        let difference = match (artifact, payload) {
            (Some(artifact), None) => by_artifact(client, offer, &artifact)?,
            (None, Some(payload)) => by_payload(client, offer, &payload)?,
            _ => {
                let message = format!("Give either `{ARTIFACT}` or `{PAYLOAD}`.");
                return Err(Error::invalid_input(ARTIFACT, message));
            }
        };
        Ok(Outcome::typed(Difference { profile_id: profile_id.into(), ..difference }).whole())
    },
};

fn latest(offer: &Offer) -> Payload {
    Payload(offer.latest.payload.clone())
}

/// By the ID of what was handed out before.
fn by_artifact(client: &Client, offer: &Offer, id: &str) -> Result<Difference> {
    if !is_artifact_id(id) {
        let message = format!("`{ARTIFACT}` takes 64 hexadecimal digits, in lower case.");
        return Err(Error::invalid_input(ARTIFACT, message));
    }
    let (status, comparison) = match offer.artifact(id) {
        Some(known) => {
            let local = Payload(known.payload.clone());
            compare(client, &latest(offer), std::slice::from_ref(&local), &local)
        }
        None => (Status::Unknown, Comparison::default()),
    };
    Ok(difference(offer, Some(id.to_string()), status, comparison, None))
}

/// By what the client's file holds.
fn by_payload(client: &Client, offer: &Offer, text: &str) -> Result<Difference> {
    let container = Payload::container(client);
    let refuse = |why: String| Error::invalid_input(PAYLOAD, why);
    let value: Value =
        serde_json::from_str(text).map_err(|e| refuse(format!("`{PAYLOAD}` is not JSON: {e}.")))?;
    let is_object = |value: Option<&Value>| value.is_none_or(Value::is_object);
    if !value.is_object() || !is_object(value.get(container)) {
        let message = format!(
            "`{PAYLOAD}` takes an object like {{\"{container}\": {{\"josh\": {{…}}}}}}, as in the \
             file of {}.",
            client.name
        );
        return Err(refuse(message));
    }
    let earlier: Vec<Payload> =
        offer.earlier.iter().map(|artifact| Payload(artifact.payload.clone())).collect();
    let (latest, local) = (latest(offer), Payload(value));
    let (status, comparison) = compare(client, &latest, &earlier, &local);
    let id = artifact_id(&managed(client, &latest, &local)).map_err(Error::internal)?;
    Ok(difference(offer, Some(id), status, comparison, Some(WARNING)))
}

fn difference(
    offer: &Offer,
    local_artifact_id: Option<String>,
    status: Status,
    diff: Comparison,
    warning: Option<&'static str>,
) -> Difference {
    let summary = Summary {
        total_changes: diff.total(),
        added_count: diff.servers_added.len(),
        removed_count: diff.servers_removed.len(),
        modified_count: diff.servers_modified.len(),
    };
    let recommendation = recommend(status, &summary);
    Difference {
        status,
        local_artifact_id,
        remote_artifact_id: offer.latest.artifact_id.clone(),
        profile_id: String::new(),
        diff,
        summary,
        recommendation,
        warning,
    }
}

fn recommend(status: Status, summary: &Summary) -> String {
    let counts = format!(
        "{} to add, {} to change, {} to remove",
        summary.added_count, summary.modified_count, summary.removed_count
    );
    match status {
        Status::UpToDate => "The configuration is current.".into(),
        Status::Outdated => format!("An update is available: {counts}. Get it with get_config."),
        Status::Diverged => format!(
            "Somebody changed the entry of a managed server: {counts}. Look at the changes before \
             you replace them with get_config."
        ),
        Status::Unknown => "This server never handed out that configuration, or no longer knows \
                            it. Send the entry itself as local_payload, or get the latest with \
                            get_config."
            .into(),
    }
}
