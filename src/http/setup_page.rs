//! The part of the page at `/mcp` about clients: for each the exact text to paste, its deeplink and
//! its command, made from the same catalog as the configuration that is handed out.

use super::pages::escape;
use crate::client_config::{Client, ClientKind, ServerSpec, catalog, setup};

/// What the page says where an API key is asked for.
pub const KEY: &str = "<p>This server asks for an API key. The texts below refer to it as \
    <code>JOSH_API_KEY</code>, in each client's own way: a variable of its environment, a question \
    that it asks, or a place to fill in.</p>\n";

/// Where the examples for programs have theirs.
const PROGRAM: &str = "/usr/local/bin/josh";
const BUNDLE: &str = "/srv/josh/federal.db";

/// A section for each client that can use the server at this address.
pub fn clients(url: &str, needs_key: bool) -> String {
    catalog().clients.iter().map(|client| section(client, url, needs_key)).collect()
}

fn section(client: &Client, url: &str, needs_key: bool) -> String {
    let remote = ServerSpec::at(url.to_string(), needs_key);
    let args = ["mcp", "--bundle", BUNDLE].map(String::from).to_vec();
    let (found, is_program) = match setup(client, &remote) {
        Some(found) => (Some(found), false),
        None => (setup(client, &ServerSpec::local(PROGRAM.into(), args)), true),
    };
    let Some(found) = found else { return String::new() };
    let mut body = String::new();
    if is_program {
        body.push_str("<p>It starts a program; write your own paths.</p>\n");
    }
    if client.kind != ClientKind::File {
        let steps = client.steps.iter().map(|step| format!("<li>{}</li>", escape(step)));
        body.push_str(&format!("<ol>{}</ol>\n", steps.collect::<String>()));
    }
    if client.kind == ClientKind::Hosted {
        body.push_str(&format!("<p>Name <code>josh</code>, address:</p>\n{}", pre(url)));
    }
    if let Some(text) = &found.text {
        body.push_str(&files(client));
        body.push_str(&pre(text));
    }
    if let Some(place) = &found.to_fill_in {
        let place = escape(place);
        body.push_str(&format!(
            "<p>It reads no variables: put the key in place of <code>{place}</code>.</p>\n"
        ));
    }
    if let Some(command) = &found.command {
        body.push_str(&format!("<p>Or by its own command:</p>\n{}", pre(command)));
    }
    if let Some(link) = &found.deeplink {
        let (link, name) = (escape(link), escape(&client.name));
        body.push_str(&format!(
            "<p>Or open <a href=\"{link}\" rel=\"noreferrer\">this link to {name}</a>.</p>\n"
        ));
    }
    let notes = client.notes.iter().map(|note| format!("<p>{}</p>\n", escape(note)));
    body.extend(notes);
    let doubts = client.uncertain.values();
    body.extend(doubts.map(|doubt| format!("<p class=doubt>Not certain: {}</p>\n", escape(doubt))));
    let (id, name) = (escape(&client.id), escape(&client.name));
    format!("<details id=\"{id}\"><summary>{name}</summary>\n{body}</details>\n")
}

fn pre(text: &str) -> String {
    format!("<pre>{}</pre>\n", escape(text.trim_end()))
}

/// Where the text goes.
fn files(client: &Client) -> String {
    let on = |(system, paths): (&str, &[String])| {
        let name = match system {
            "macos" => "macOS",
            "linux" => "Linux",
            _ => "Windows",
        };
        let path = paths.first()?;
        Some(format!("<code>{}</code> ({name})", escape(path)))
    };
    let all = client.user.all();
    let is_same = all.iter().all(|(_, paths)| paths.first() == client.user.linux.first());
    let mut places: Vec<String> = match client.user.linux.first() {
        Some(path) if is_same => vec![format!("<code>{}</code>", escape(path))],
        _ => all.into_iter().filter_map(on).collect(),
    };
    let project = client.project.first();
    places.extend(project.map(|path| format!("<code>{}</code> of a project", escape(path))));
    match places.is_empty() {
        true => String::new(),
        false => format!("<p>In {}:</p>\n", places.join(", ")),
    }
}
