//! Servers in the shape that a client wants: from its templates to a JSON tree. Files in TOML and
//! YAML hold the same tree.

use serde_json::{Map, Value, json};

use super::catalog::{Client, Shape};
use super::server::{ServerSpec, Transport};
use super::template::fill;

/// Where a client that keeps servers elsewhere than in a file has them.
const HOSTED: &str = "servers";

/// The servers of one client, as its file holds them: nothing but what is ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Payload(pub Value);

impl Payload {
    /// The member that holds the servers of this client.
    pub fn container(client: &Client) -> &str {
        client.servers.as_deref().unwrap_or(HOSTED)
    }

    pub fn servers(&self, client: &Client) -> Map<String, Value> {
        let servers = self.0.get(Payload::container(client)).and_then(Value::as_object);
        servers.cloned().unwrap_or_default()
    }

    /// Questions for secrets.
    pub fn inputs(&self) -> &[Value] {
        self.0.get("inputs").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// The payload of a client for these servers; those that it can't use are left out, and there is
/// none if no server is left.
pub fn payload(client: &Client, servers: &[ServerSpec]) -> Option<Payload> {
    let mut entries = Map::new();
    let mut inputs: Vec<Value> = Vec::new();
    for server in servers {
        let Some(entry) = entry(client, server) else { continue };
        entries.insert(server.name.clone(), entry);
        for variable in secrets(server) {
            let input = input(client, variable, server);
            inputs.extend(input.filter(|input| !inputs.contains(input)));
        }
    }
    if entries.is_empty() {
        return None;
    }
    let mut payload = Map::new();
    if !inputs.is_empty() {
        payload.insert("inputs".into(), Value::Array(inputs));
    }
    payload.insert(Payload::container(client).to_string(), Value::Object(entries));
    Some(Payload(Value::Object(payload)))
}

/// The entry of a server in a client's file.
pub fn entry(client: &Client, server: &ServerSpec) -> Option<Value> {
    let shape = shape(client, server)?;
    let Some(template) = shape.entry.as_deref() else { return hosted_entry(server) };
    let mut entry = parse(template)?;
    if let (Transport::Http { key: Some(_), .. }, Some(key)) = (&server.transport, &shape.key) {
        let Value::Object(added) = parse(key)? else { return None };
        entry.as_object_mut()?.extend(added);
    }
    put_in(&mut entry, client, server);
    Some(entry)
}

/// What a person types into the settings of a client that has no file.
fn hosted_entry(server: &ServerSpec) -> Option<Value> {
    let Transport::Http { url, key } = &server.transport else { return None };
    let authentication = if key.is_some() { "required" } else { "none" };
    Some(json!({ "url": url, "authentication": authentication }))
}

pub fn shape<'a>(client: &'a Client, server: &ServerSpec) -> Option<&'a Shape> {
    match server.transport {
        Transport::Http { .. } => client.http.as_ref(),
        Transport::Stdio { .. } => client.stdio.as_ref(),
    }
}

fn parse(template: &str) -> Option<Value> {
    serde_json::from_str(template).ok()
}

/// Variables that hold secrets of this server.
fn secrets(server: &ServerSpec) -> &[String] {
    match &server.transport {
        Transport::Http { key, .. } => key.as_slice(),
        Transport::Stdio { env_names, .. } => env_names,
    }
}

/// How the client's file refers to a secret. Without a way to do that, a person fills it in.
pub fn secret(client: &Client, variable: &str) -> String {
    match &client.secret {
        Some(template) => fill(template, &[("variable", variable), ("input", &input_id(variable))]),
        None => format!("<{variable}>"),
    }
}

pub fn input_id(variable: &str) -> String {
    variable.to_ascii_lowercase().replace('_', "-")
}

fn input(client: &Client, variable: &str, server: &ServerSpec) -> Option<Value> {
    let mut input = parse(client.input.as_deref()?)?;
    let (id, description) = (input_id(variable), format!("{variable} for {}", server.name));
    fill_strings(&mut input, &[("input", &id), ("description", &description)]);
    Some(input)
}

/// Fills the templates of an entry, whole values first.
fn put_in(entry: &mut Value, client: &Client, server: &ServerSpec) {
    let (mut url, mut command, mut variable) = ("", "", "");
    let mut whole: Vec<(&str, Value)> = Vec::new();
    match &server.transport {
        Transport::Http { url: address, key } => {
            url = address;
            variable = key.as_deref().unwrap_or_default();
        }
        Transport::Stdio { command: program, args, env, env_names } => {
            command = program;
            let line: Vec<&String> = [program].into_iter().chain(args).collect();
            // A client with a list of names takes secrets there; others in the values.
            let has_names = entry.to_string().contains("{env_names}");
            let mut values: Map<String, Value> =
                env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            if !has_names {
                values.extend(env_names.iter().map(|n| (n.clone(), json!(secret(client, n)))));
            }
            whole.push(("{args}", json!(args)));
            whole.push(("{command_line}", json!(line)));
            whole.push(("{env}", Value::Object(values)));
            whole.push(("{env_names}", json!(env_names)));
        }
    }
    if let Some(members) = entry.as_object_mut() {
        members.retain(|_, value| {
            if let Some((_, filled)) = whole.iter().find(|(name, _)| value == name) {
                *value = filled.clone();
                let is_object = value.as_object().is_some_and(Map::is_empty);
                return !is_object && value.as_array().is_none_or(|items| !items.is_empty());
            }
            true
        });
    }
    let key = secret(client, variable);
    let values = [
        ("url", url),
        ("command", command),
        ("name", &server.name),
        ("description", &server.description),
        ("key", &key),
        ("variable", variable),
    ];
    // Members that were filled as a whole hold no templates of ours.
    let is_whole = |value: &Value| whole.iter().any(|(_, filled)| filled == value);
    for (_, value) in entry.as_object_mut().into_iter().flatten() {
        if !is_whole(value) {
            fill_strings(value, &values);
        }
    }
}

fn fill_strings(value: &mut Value, values: &[(&str, &str)]) {
    match value {
        Value::String(text) => *text = fill(text, values),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_strings(item, values)),
        Value::Object(members) => {
            members.iter_mut().for_each(|(_, member)| fill_strings(member, values));
        }
        _ => {}
    }
}
