//! How a person adds a server to a client: the text to paste and where, the client's own command,
//! its deeplink, or the steps in its settings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::catalog::{Client, ClientKind};
use super::entry::{Payload, entry, payload, secret, shape};
use super::render::render;
use super::server::{ServerSpec, Transport};
use super::template::{fill, shell_word};

/// As JavaScript's `encodeURIComponent` does it.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// What to do to have a server in a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The text for the file or the form.
    pub text: Option<String>,
    pub command: Option<String>,
    pub deeplink: Option<String>,
    /// What to put in place of `<NAME>` in the text, if the client can't refer to a variable.
    pub to_fill_in: Option<String>,
}

/// How to add a server; nothing if the client can't use it.
pub fn setup(client: &Client, server: &ServerSpec) -> Option<Setup> {
    let shape = shape(client, server)?;
    let entry = entry(client, server)?;
    let payload = payload(client, std::slice::from_ref(server))?;
    let (url, variable, line) = match &server.transport {
        Transport::Http { url, key } => (url.as_str(), key.as_deref(), String::new()),
        Transport::Stdio { command, args, .. } => {
            let words = [command].into_iter().chain(args);
            ("", None, words.map(|word| shell_word(word)).collect::<Vec<_>>().join(" "))
        }
    };
    let key = variable.map(|variable| secret(client, variable)).unwrap_or_default();
    let named = named(server, &entry, &payload);
    let encode = |text: &str| utf8_percent_encode(text, COMPONENT).to_string();
    let entry_text = entry.to_string();
    let (name_encoded, url_encoded) = (encode(&server.name), encode(url));
    let entry_base64 = encode(&STANDARD.encode(&entry_text));
    let (entry_encoded, named_encoded) = (encode(&entry_text), encode(&named));
    let named_json = shell_word(&named);
    let values = [
        ("name", server.name.as_str()),
        ("url", url),
        ("key", &key),
        ("variable", variable.unwrap_or_default()),
        ("command_line", &line),
        ("name_encoded", &name_encoded),
        ("url_encoded", &url_encoded),
        ("entry_base64", &entry_base64),
        ("entry_encoded", &entry_encoded),
        ("named_encoded", &named_encoded),
        ("named_json", &named_json),
    ];
    let command = match variable {
        Some(_) => shape.command_key.as_deref(),
        None => shape.command.as_deref(),
    };
    let is_hosted = client.kind == ClientKind::Hosted;
    Some(Setup {
        text: client.format.filter(|_| !is_hosted).map(|format| render(&payload.0, format)),
        command: command.map(|template| fill(template, &values)),
        deeplink: shape.deeplink.as_deref().map(|template| fill(template, &values)),
        to_fill_in: variable
            .filter(|_| !is_hosted)
            .map(|variable| format!("<{variable}>"))
            .filter(|place| payload.0.to_string().contains(place)),
    })
}

/// The entry with the server's name and its questions in it, as VS Code takes it.
fn named(server: &ServerSpec, entry: &Value, payload: &Payload) -> String {
    let mut named = serde_json::Map::new();
    named.insert("name".into(), Value::from(server.name.as_str()));
    named.extend(entry.as_object().cloned().unwrap_or_default());
    if !payload.inputs().is_empty() {
        named.insert("inputs".into(), Value::from(payload.inputs().to_vec()));
    }
    Value::Object(named).to_string()
}
