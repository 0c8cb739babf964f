//! The part of the page at `/mcp` about clients: for each the exact text to paste, its deeplink and
//! its command, made from the same catalog as the configuration that is handed out.

use maud::{Markup, html};

use crate::client_config::{Client, ClientKind, ServerSpec, catalog, setup};

/// Where the examples for programs have theirs.
const PROGRAM: &str = "/usr/local/bin/josh";
const BUNDLE: &str = "/srv/josh/federal.db";

/// A section for each client that can use the server at this address.
pub fn clients(url: &str, needs_key: bool) -> Markup {
    html! {
        @if needs_key {
            p {
                "This server asks for an API key. The texts below refer to it as "
                code { "JOSH_API_KEY" }
                ", in each client's own way: a variable of its environment, a question that it \
                 asks, or a place to fill in."
            }
        }
        h2 { "Clients" }
        p {
            "On your own machine, " code { "josh connect CLIENT --url " (url) }
            " writes the entry into the client's file and leaves the rest of the file as it is."
        }
        @for client in &catalog().clients { (section(client, url, needs_key)) }
    }
}

fn section(client: &Client, url: &str, needs_key: bool) -> Markup {
    let remote = ServerSpec::at(url.to_string(), needs_key);
    let args = ["mcp", "--bundle", BUNDLE].map(String::from).to_vec();
    let (found, is_program) = match setup(client, &remote) {
        Some(found) => (Some(found), false),
        None => (setup(client, &ServerSpec::local(PROGRAM.into(), args)), true),
    };
    let Some(found) = found else { return html! {} };
    html! {
        details id=(client.id) {
            summary { (client.name) }
            @if is_program { p { "It starts a program; write your own paths." } }
            @if client.kind != ClientKind::File {
                ol { @for step in &client.steps { li { (step) } } }
            }
            @if client.kind == ClientKind::Hosted {
                p { "Name " code { "josh" } ", address:" }
                pre { (url) }
            }
            @if let Some(text) = &found.text {
                (files(client))
                pre { (text.trim_end()) }
            }
            @if let Some(place) = &found.to_fill_in {
                p { "It reads no variables: put the key in place of " code { (place) } "." }
            }
            @if let Some(command) = &found.command {
                p { "Or by its own command:" }
                pre { (command.trim_end()) }
            }
            @if let Some(link) = &found.deeplink {
                p {
                    "Or open " a href=(link) rel="noreferrer" { "this link to " (client.name) } "."
                }
            }
            @for note in &client.notes { p { (note) } }
            @for doubt in client.uncertain.values() { p .soft { "Not certain: " (doubt) } }
        }
    }
}

/// Where the text goes.
fn files(client: &Client) -> Markup {
    let all = client.user.all();
    let is_same = all.iter().all(|(_, paths)| paths.first() == client.user.linux.first());
    let on = |(system, paths): (&str, &[String])| {
        let name = match system {
            "macos" => " (macOS)",
            "linux" => " (Linux)",
            _ => " (Windows)",
        };
        Some((paths.first()?.clone(), name))
    };
    let mut places: Vec<(String, &str)> = match client.user.linux.first() {
        Some(path) if is_same => vec![(path.clone(), "")],
        _ => all.into_iter().filter_map(on).collect(),
    };
    places.extend(client.project.first().map(|path| (path.clone(), " of a project")));
    html! {
        @if !places.is_empty() {
            p {
                "In "
                @for (at, (path, of)) in places.iter().enumerate() {
                    @if at > 0 { ", " }
                    code { (path) } (of)
                }
                ":"
            }
        }
    }
}
