//! What differs between a client's own configuration and what it should be, looking only at the
//! servers that a profile manages. Values of the client's file that may be secret are never
//! repeated.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::catalog::Client;
use super::entry::{Payload, payload};
use super::secrets::looks_secret;
use super::server::{SERVER_NAME, ServerSpec};

/// How a local configuration relates to the latest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    UpToDate,
    // It is what was handed out before, or lacks a server.
    Outdated,
    // Somebody changed a managed server.
    Diverged,
    // Nothing is known about it.
    Unknown,
}

/// A value that differs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// Where, such as `args[0]`
    pub path: String,
    /// The local value
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub old_value: Option<Value>,
    /// The value that it should have
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub new_value: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Modified {
    pub server_id: String,
    pub changes: Vec<Change>,
}

/// The servers of two configurations, sorted by what happened to them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Servers that the local configuration lacks
    pub servers_added: Vec<String>,
    /// Servers that were managed earlier and are no longer
    pub servers_removed: Vec<String>,
    pub servers_modified: Vec<Modified>,
    pub servers_unchanged: Vec<String>,
    /// Local servers that this profile has nothing to do with
    pub unmanaged: Vec<String>,
}

impl Comparison {
    pub fn total(&self) -> usize {
        self.servers_added.len() + self.servers_removed.len() + self.servers_modified.len()
    }
}

/// Compares a local payload with the latest one. `earlier` is what was handed out before, which
/// tells an old configuration from one that somebody changed.
pub fn compare(
    client: &Client,
    latest: &Payload,
    earlier: &[Payload],
    local: &Payload,
) -> (Status, Comparison) {
    let (wanted, found) = (latest.servers(client), local.servers(client));
    let before: Vec<Map<String, Value>> = earlier.iter().map(|p| p.servers(client)).collect();
    let mut comparison = Comparison::default();
    let mut is_changed_by_hand = false;
    for (name, entry) in &wanted {
        let Some(own) = found.get(name) else {
            comparison.servers_added.push(name.clone());
            continue;
        };
        let mut changes = Vec::new();
        differences("", Some(own), Some(entry), &mut changes);
        changes.extend(missing_inputs(latest, local, entry));
        if changes.is_empty() {
            comparison.servers_unchanged.push(name.clone());
            continue;
        }
        is_changed_by_hand |= !before.iter().any(|servers| servers.get(name) == Some(own));
        comparison.servers_modified.push(Modified { server_id: name.clone(), changes });
    }
    for name in found.keys().filter(|name| !wanted.contains_key(*name)) {
        let list = match before.iter().any(|servers| servers.contains_key(name)) {
            true => &mut comparison.servers_removed,
            false => &mut comparison.unmanaged,
        };
        list.push(name.clone());
    }
    let status = match comparison.total() {
        0 => Status::UpToDate,
        _ if is_changed_by_hand => Status::Diverged,
        _ => Status::Outdated,
    };
    (status, comparison)
}

/// The part of a local payload that this profile manages, in the same shape.
pub fn managed(client: &Client, latest: &Payload, local: &Payload) -> Value {
    let wanted = latest.servers(client);
    let mut servers = local.servers(client);
    servers.retain(|name, _| wanted.contains_key(name));
    let mut part = Map::new();
    let inputs: Vec<&Value> = latest.inputs().iter().filter_map(|i| own_input(local, i)).collect();
    if !inputs.is_empty() {
        part.insert("inputs".into(), json!(inputs));
    }
    part.insert(Payload::container(client).to_string(), Value::Object(servers));
    Value::Object(part)
}

fn own_input<'a>(local: &'a Payload, input: &Value) -> Option<&'a Value> {
    local.inputs().iter().find(|own| own.get("id") == input.get("id"))
}

/// Questions that an entry refers to and the local file lacks.
fn missing_inputs(latest: &Payload, local: &Payload, entry: &Value) -> Vec<Change> {
    let entry = entry.to_string();
    let is_used = |input: &&Value| {
        let id = input.get("id").and_then(Value::as_str);
        id.is_some_and(|id| entry.contains(&format!("${{input:{id}}}")))
    };
    let missing = latest.inputs().iter().filter(is_used).filter(|i| own_input(local, i).is_none());
    let change = |input: &Value| {
        let id = input.get("id").and_then(Value::as_str).unwrap_or_default();
        let path = format!("inputs[{id}]");
        Change { path, old_value: None, new_value: Some(input.clone()) }
    };
    missing.map(change).collect()
}

/// Everything that differs below a path.
fn differences(path: &str, own: Option<&Value>, wanted: Option<&Value>, out: &mut Vec<Change>) {
    match (own, wanted) {
        (Some(Value::Object(own)), Some(Value::Object(wanted))) => {
            let names: Vec<&String> =
                wanted.keys().chain(own.keys().filter(|k| !wanted.contains_key(*k))).collect();
            for name in names {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                differences(&path, own.get(name), wanted.get(name), out);
            }
        }
        (Some(Value::Array(own)), Some(Value::Array(wanted))) => {
            for at in 0..own.len().max(wanted.len()) {
                differences(&format!("{path}[{at}]"), own.get(at), wanted.get(at), out);
            }
        }
        (own, wanted) if own == wanted || is_filled_in(own, wanted) => {}
        (own, wanted) => out.push(Change {
            path: path.to_string(),
            old_value: own.map(|value| shown(path, value)),
            new_value: wanted.cloned(),
        }),
    }
}

/// Whether a person put a secret where the payload has the place for it: `<JOSH_API_KEY>`.
fn is_filled_in(own: Option<&Value>, wanted: Option<&Value>) -> bool {
    let (Some(Value::String(own)), Some(Value::String(wanted))) = (own, wanted) else {
        return false;
    };
    let place = wanted.split_once('<').and_then(|(before, rest)| {
        let (_, after) = rest.split_once('>')?;
        Some((before, after))
    });
    place.is_some_and(|(before, after)| {
        let value = own.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        value.is_some_and(|value| !value.is_empty())
    })
}

/// A value of the client's file, unless it may be a secret.
fn shown(path: &str, value: &Value) -> Value {
    let in_secret_place = |part: &str| {
        let part = part.split('[').next().unwrap_or_default();
        ["env", "envs", "environment", "headers", "http_headers"].contains(&part)
            || looks_secret(part)
    };
    match path.split('.').any(in_secret_place) {
        true => json!("(hidden)"),
        false => hide_nested(value),
    }
}

/// A whole object that the payload lacks may hold secrets further down.
fn hide_nested(value: &Value) -> Value {
    match value {
        Value::Object(_) | Value::Array(_) => json!("(hidden)"),
        plain => plain.clone(),
    }
}

/// What a client's file says about this server, in a few words. Without `wanted`, an entry counts
/// as current if it is one that `josh connect` would write, for this program or for its own
/// address.
pub fn describe(
    client: &Client,
    own: &Payload,
    wanted: Option<&Payload>,
    local: &ServerSpec,
) -> String {
    let servers = own.servers(client);
    let Some(entry) = servers.get(SERVER_NAME) else { return "no".into() };
    if let Some(wanted) = wanted {
        return match compare(client, wanted, &[], own) {
            (Status::UpToDate, _) => "current".into(),
            (_, found) => format!("differs: {}", changed_paths(&found)),
        };
    }
    let address = addresses(entry).find(|text| text.ends_with("/mcp"));
    let Some(base) = address.as_deref().and_then(|url| url.strip_suffix("/mcp")) else {
        let wanted = payload(client, std::slice::from_ref(local));
        let is_current = wanted.is_some_and(|w| w.servers(client).get(SERVER_NAME) == Some(entry));
        return if is_current { "current" } else { "differs from this program" }.into();
    };
    let is_ours = [false, true].into_iter().any(|needs_key| {
        let wanted = payload(client, &[ServerSpec::remote(base, needs_key)]);
        wanted.is_some_and(|wanted| compare(client, &wanted, &[], own).0 == Status::UpToDate)
    });
    format!("{} {base}", if is_ours { "current," } else { "changed by hand," })
}

fn changed_paths(found: &Comparison) -> String {
    let modified = found.servers_modified.iter();
    let paths = modified.flat_map(|server| {
        server.changes.iter().map(|change| format!("{}.{}", server.server_id, change.path))
    });
    let missing = found.servers_added.iter().map(|name| format!("{name} is missing"));
    paths.chain(missing).collect::<Vec<_>>().join(", ")
}

/// Texts of an entry that are addresses.
fn addresses(entry: &Value) -> impl Iterator<Item = String> + '_ {
    let texts = entry.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str());
    texts.filter(|text| text.starts_with("http")).map(str::to_string)
}
