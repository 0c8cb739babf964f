//! What `josh connect` must not do: touch what it can't read, follow links, take what is not
//! signed.

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::clients::{Office, SHARED};
use crate::connect::{Home, files};
use crate::support::josh;

fn refused(home: &Home, args: &[&str], said: &str) {
    let before = std::fs::read(&home.file).ok();
    let output = home.run(args);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
    assert!(error.contains(said), "{args:?}: {error}");
    assert_eq!(std::fs::read(&home.file).ok(), before, "{args:?}: untouched");
    assert!(!home.folder.path().join("state").exists(), "{args:?}: nothing is remembered");
}

/// Given damaged files, and files whose meaning is not clear, when Josh is connected or removed,
/// then every one is refused and not touched.
#[test]
fn damaged_files_are_not_touched() {
    let mut damaged = files("damaged");
    assert!(damaged.len() >= 20);
    for (client, name) in [("cursor", "cut"), ("codex", "cut"), ("goose", "cut")] {
        damaged.push((client.into(), name.into(), b"\xff\xfe{\x00}\x00".to_vec()));
    }
    for (client, name, bytes) in damaged {
        let home = Home::with(&client, &bytes);
        refused(&home, &[&client, "--url", "https://josh.example.org"], "not");
        let list = home.run(&["--list"]);
        assert!(list.status.success(), "{name}");
    }
}

/// Given real files cut at every length, when Josh is connected, then each is either refused and
/// untouched or still a file with everything it held: never garbage.
#[test]
fn files_that_break_off_are_refused() {
    use josh::client_config::{Payload, catalog, edit};
    use serde_json::json;
    for (client, name, bytes) in files("files") {
        let client = catalog().client(&client).unwrap();
        let container = client.servers.clone().unwrap();
        let payload = Payload(json!({ container: { "josh": { "url": "https://x.example" } } }));
        let text = String::from_utf8(bytes).unwrap();
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let cut = &text[..at];
            let Ok(edited) = edit::add(client, cut, &payload) else { continue };
            let read = |text: &str| edit::read(client.format.unwrap(), text).unwrap();
            let mut kept = read(&edited).as_object().unwrap().clone();
            let mut before = read(cut).as_object().cloned().unwrap_or_default();
            for document in [&mut kept, &mut before] {
                let servers = document.shift_remove(Payload::container(client));
                let servers = servers.as_ref().and_then(|servers| servers.as_object()).cloned();
                let mut servers = servers.unwrap_or_default();
                servers.shift_remove("josh");
                document.insert("servers".into(), servers.into());
            }
            assert_eq!(kept, before, "{name} cut at {at}");
        }
    }
}

/// Given a link in place of the file or of its folder, when Josh is connected, then neither the
/// link nor what it leads to is changed.
#[test]
fn links_are_not_followed() {
    let home = Home::with("cursor", b"{}");
    let other = home.folder.path().join("dotfiles.json");
    std::fs::rename(&home.file, &other).unwrap();
    symlink(&other, &home.file).unwrap();
    refused(&home, &["cursor"], "it is a link to");
    assert_eq!(std::fs::read(&other).unwrap(), b"{}");
    let elsewhere = tempfile::tempdir().unwrap();
    // Also to a folder above: that is not the project's either.
    for (name, target) in [("a", elsewhere.path()), ("b", home.folder.path())] {
        let project = home.folder.path().join(name);
        std::fs::create_dir_all(&project).unwrap();
        symlink(target, project.join(".cursor")).unwrap();
        let folder = project.to_str().unwrap();
        refused(&home, &["cursor", "--project", folder], "its folder is a link to");
        assert!(!target.join("mcp.json").exists());
    }
}

/// Given a file, when it is written, then its mode stays, its backup is private, and no temporary
/// file is left.
#[test]
fn modes_stay_and_backups_are_private() {
    let home = Home::with("cursor", b"{\"mcpServers\": {\"a\": {\"env\": {\"KEY\": \"secret\"}}}}");
    std::fs::set_permissions(&home.file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let said = home.connect(&[]);
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.file), 0o640);
    let backup = said.lines().find_map(|line| line.trim().strip_prefix("before: ")).unwrap();
    let backup = std::path::Path::new(backup);
    assert_eq!((mode(backup), mode(backup.parent().unwrap())), (0o600, 0o700));
    let left = std::fs::read_dir(home.file.parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "only the file itself");
}

/// Given flags that make no sense, when they are given, then the error says what does.
#[test]
fn wrong_flags_are_explained() {
    let home = Home::with("cursor", b"{}");
    refused(&home, &["cursr"], "Did you mean cursor?");
    refused(&home, &[], "--list");
    refused(&home, &["cursor", "--url", "josh.example.org"], "https://josh.example.org");
    refused(&home, &["claude-desktop", "--url", "https://x.example"], "can't use a server");
    refused(&home, &["chatgpt"], "give --url");
    refused(&home, &["cursor", "--from", "https://x.example"], "--key");
    refused(&home, &["cursor", "--project", "/nowhere"], "--project /nowhere");
    let out = home.run(&["chatgpt", "--url", "https://josh.example.org"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success() && text.contains("Developer mode"), "{text}");
    let lost = josh(&["connect", "cursor"]).env("HOME", "").output().unwrap();
    assert_eq!(lost.status.code(), Some(2));
}

/// Given a server that hands out configuration, when a client is connected from it with its key,
/// then what it wrote is what the server signed; with another key, or when the answer is not
/// signed, nothing is written.
#[test]
fn a_configuration_from_a_server_is_verified() {
    let office = &*SHARED;
    let key = office.data.path().join("key-for-connect.pem");
    std::fs::write(&key, office.server.get("/keys/verification_key.pem").text()).unwrap();
    let key = key.to_str().unwrap();
    let home = Home::with("cursor", b"{\"mcpServers\": {\"own\": {\"url\": \"https://own\"}}}");
    let said = home.connect(&["--from", &office.server.url, "--key", key, "--profile", "office"]);
    assert!(said.contains("profile office"), "{said}");
    let text = String::from_utf8(home.bytes()).unwrap();
    let written: serde_json::Value = serde_json::from_str(&text).unwrap();
    let config = office.server.get("/v1/clients/cursor/config?profile_id=office").json();
    let servers = config["payload"]["mcpServers"].as_object().unwrap();
    for (name, entry) in servers {
        assert_eq!(&written["mcpServers"][name], entry);
    }
    assert_eq!(written["mcpServers"]["own"]["url"], "https://own");
    let flags = ["--list", "--from", &office.server.url, "--key", key, "--profile", "office"];
    let list = String::from_utf8(home.run(&flags).stdout).unwrap();
    assert!(list.lines().any(|l| l.starts_with("cursor ") && l.contains(" current ")), "{list}");
    home.connect(&["--remove"]);
    assert_eq!(home.bytes(), b"{\"mcpServers\": {\"own\": {\"url\": \"https://own\"}}}");

    let other = Office::start(&[]);
    let wrong = other.data.path().join("josh/signing-key.pem.pub");
    let fresh = Home::with("cursor", b"{}");
    let from = ["cursor", "--from", &office.server.url, "--key"];
    let wrong = [&from[..], &[wrong.to_str().unwrap()]].concat();
    refused(&fresh, &wrong, "the given key is");
    refused(&fresh, &[&from[..], &["/nowhere.pem"]].concat(), "cannot read it");
    let unknown = [&from[..], &[key, "--profile", "offce"]].concat();
    refused(&fresh, &unknown, "There is no profile");
    let sample = ["cursor", "--from", &crate::support::SAMPLE.url, "--key", key];
    refused(&fresh, &sample, "status 404");
}
