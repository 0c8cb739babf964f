//! Edits a client's file in place. An edit is one or a few splices: bytes outside them stay as they
//! are by construction. The text is parsed before and after, and the result is refused unless it
//! holds exactly what it held before and the entries that were meant.

mod json;
mod layout;
mod toml;
mod yaml;

use serde_json::{Map, Value};

use super::catalog::{Client, Format};
use super::entry::{Payload, input_id};
use super::server::KEY_VARIABLE;

/// Why a file was left alone.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("it is not valid {format}: {why}. Repair it first; it was not touched")]
    Unreadable { format: &'static str, why: String },
    #[error("{0}; it was not touched")]
    Unusual(String),
    #[error("the change would have altered other parts of it; it was not touched")]
    Unsafe,
}

/// A replacement of some bytes by others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Splice {
    from: usize,
    to: usize,
    text: String,
}

/// Where the entries of a file are, and how to change one.
trait Editor: Sized {
    const NAME: &'static str;

    /// Reads a text without byte order mark.
    fn parse(text: &str) -> Result<Self, String>;

    /// The whole document. Not every format has nulls or numbers alike; it is for comparing.
    fn value(&self) -> Value;

    /// Sets a member of the object at the root's member `container`, which is made if missing.
    fn set(&self, container: &str, name: &str, entry: &Value) -> Result<Splice, EditError>;

    /// Removes such a member. The container stays: it may have been there before.
    fn remove(&self, container: &str, name: &str) -> Result<Option<Splice>, EditError>;

    /// Adds an element to the list at the root's member `list`.
    fn push(&self, list: &str, _element: &Value) -> Result<Splice, EditError> {
        Err(EditError::Unusual(format!("{} has no list {list} here", Self::NAME)))
    }

    /// Removes the element with this `id` from such a list.
    fn pull(&self, _list: &str, _id: &str) -> Option<Splice> {
        None
    }
}

const BOM: char = '\u{feff}';

/// The whole document of a client's file.
pub fn read(format: Format, text: &str) -> Result<Value, EditError> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    match format {
        Format::Json | Format::Jsonc => parse::<json::Json>(text).map(|parsed| parsed.value()),
        Format::Toml => parse::<toml::Toml>(text).map(|parsed| parsed.value()),
        Format::Yaml => parse::<yaml::Yaml>(text).map(|parsed| parsed.value()),
    }
}

/// The text with these servers in it.
pub fn add(client: &Client, text: &str, payload: &Payload) -> Result<String, EditError> {
    edit(client, text, &Change::Add(payload))
}

/// The text without these servers.
pub fn remove(client: &Client, text: &str, names: &[String]) -> Result<String, EditError> {
    edit(client, text, &Change::Remove(names))
}

enum Change<'a> {
    Add(&'a Payload),
    Remove(&'a [String]),
}

fn edit(client: &Client, text: &str, change: &Change) -> Result<String, EditError> {
    let (bom, body) = match text.strip_prefix(BOM) {
        Some(body) => (&text[..BOM.len_utf8()], body),
        None => ("", text),
    };
    let edited = match client.format {
        Some(Format::Json | Format::Jsonc) => apply::<json::Json>(client, body, change),
        Some(Format::Toml) => apply::<toml::Toml>(client, body, change),
        Some(Format::Yaml) => apply::<yaml::Yaml>(client, body, change),
        None => return Err(EditError::Unusual("this client has no file".into())),
    }?;
    Ok(format!("{bom}{edited}"))
}

fn parse<E: Editor>(text: &str) -> Result<E, EditError> {
    E::parse(text).map_err(|why| EditError::Unreadable { format: E::NAME, why })
}

/// Applies a change splice by splice and checks what came out.
fn apply<E: Editor>(client: &Client, text: &str, change: &Change) -> Result<String, EditError> {
    let container = Payload::container(client);
    let mut wanted = parse::<E>(text)?.value();
    let mut out = text.to_string();
    match change {
        Change::Add(payload) => {
            for input in payload.inputs() {
                let parsed = parse::<E>(&out)?;
                let is_there = own_input(&parsed.value(), input);
                if !is_there {
                    out = spliced(&out, &parsed.push("inputs", input)?);
                    push_input(&mut wanted, input);
                }
            }
            for (name, entry) in payload.servers(client) {
                let parsed = parse::<E>(&out)?;
                if parsed.value().get(container).and_then(|c| c.get(&name)) != Some(&entry) {
                    out = spliced(&out, &parsed.set(container, &name, &entry)?);
                }
                set_member(&mut wanted, container, &name, entry);
            }
        }
        Change::Remove(names) => {
            for name in *names {
                let parsed = parse::<E>(&out)?;
                if let Some(splice) = parsed.remove(container, name)? {
                    out = spliced(&out, &splice);
                }
                remove_member(&mut wanted, container, name);
            }
            // The question for our key goes, too, unless another server has come to use it.
            let id = input_id(KEY_VARIABLE);
            let is_used = wanted.to_string().contains(&format!("${{input:{id}}}"));
            let splice = parse::<E>(&out)?.pull("inputs", &id).filter(|_| !is_used);
            if let Some(splice) = splice {
                out = spliced(&out, &splice);
                remove_input(&mut wanted, &id);
            }
        }
    }
    match parse::<E>(&out) {
        Ok(after) if same(&after.value(), &wanted, container) => Ok(out),
        _ => Err(EditError::Unsafe),
    }
}

fn spliced(text: &str, splice: &Splice) -> String {
    [&text[..splice.from], &splice.text, &text[splice.to..]].concat()
}

fn own_input(document: &Value, input: &Value) -> bool {
    let inputs = document.get("inputs").and_then(Value::as_array);
    inputs.into_iter().flatten().any(|known| known.get("id") == input.get("id"))
}

fn push_input(document: &mut Value, input: &Value) {
    if document.is_null() {
        *document = Value::Object(Map::new());
    }
    let Some(root) = document.as_object_mut() else { return };
    let list = root.entry("inputs").or_insert_with(|| Value::Array(Vec::new()));
    if let Some(list) = list.as_array_mut() {
        list.push(input.clone());
    }
}

fn remove_input(document: &mut Value, id: &str) {
    if let Some(inputs) = document.get_mut("inputs").and_then(Value::as_array_mut) {
        inputs.retain(|input| input.get("id").and_then(Value::as_str) != Some(id));
    }
}

fn set_member(document: &mut Value, container: &str, name: &str, entry: Value) {
    if document.is_null() {
        *document = Value::Object(Map::new());
    }
    let Some(root) = document.as_object_mut() else { return };
    let members = root.entry(container).or_insert(Value::Null);
    if members.is_null() {
        *members = Value::Object(Map::new());
    }
    if let Some(members) = members.as_object_mut() {
        members.insert(name.to_string(), entry);
    }
}

fn remove_member(document: &mut Value, container: &str, name: &str) {
    if let Some(members) = document.get_mut(container).and_then(Value::as_object_mut) {
        members.shift_remove(name);
    }
}

/// Whether two documents hold the same. An empty container, a missing one and one without a value
/// are alike: some formats can't write all of them.
fn same(a: &Value, b: &Value, container: &str) -> bool {
    let plain = |document: &Value| {
        let mut root = document.as_object().cloned().unwrap_or_default();
        let is_empty =
            root.get(container).is_some_and(|c| c.is_null() || c == &Value::Object(Map::new()));
        if is_empty {
            root.shift_remove(container);
        }
        root
    };
    let is_root = |document: &Value| document.is_object() || document.is_null();
    is_root(a) && is_root(b) && plain(a) == plain(b)
}
