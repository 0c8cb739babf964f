//! Section 14 over time: earlier artifacts, comparing, and profiles that can't be used.

use std::path::Path;

use serde_json::{Value, json};

use crate::clients::{Office, SHARED};
use crate::support::{Server, josh, segment};

fn diff(server: &Server, client: &str, payload: &Value) -> Value {
    let payload = segment(&payload.to_string());
    let answer = server.get(&format!("/v1/clients/{client}/diff?local_payload={payload}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// Given a client's file with other servers, when it is compared, then those are unmanaged and do
/// not make it diverge; a changed entry does, and secrets are not repeated.
#[test]
fn only_managed_servers_are_compared() {
    let office = &*SHARED;
    let config = office.server.get("/v1/clients/cursor/config").json();
    let mut local = config["payload"].clone();
    local["mcpServers"]["github"] =
        json!({ "url": "https://github", "headers": { "Authorization": "Bearer sk-secret" } });
    let same = diff(&office.server, "cursor", &local);
    assert_eq!(
        (&same["status"], &same["diff"]["unmanaged"]),
        (&json!("up-to-date"), &json!(["github"]))
    );
    assert_eq!(same["local_artifact_id"], same["remote_artifact_id"]);
    assert!(same["warning"].as_str().unwrap().contains("josh connect --list"));
    assert!(!same.to_string().contains("sk-secret"));

    local["mcpServers"]["josh"]["url"] = json!("https://old.example/mcp");
    local["mcpServers"]["josh"]["headers"] = json!({ "Authorization": "Bearer josh_secret" });
    let changed = diff(&office.server, "cursor", &local);
    assert_eq!(changed["status"], "diverged");
    let modified = &changed["diff"]["servers_modified"][0];
    assert_eq!(modified["server_id"], "josh");
    let paths: Vec<&Value> =
        modified["changes"].as_array().unwrap().iter().map(|c| &c["path"]).collect();
    assert_eq!(paths, ["url", "headers"]);
    assert_eq!(modified["changes"][0]["old_value"], "https://old.example/mcp");
    assert_eq!(modified["changes"][1]["old_value"], "(hidden)");
    assert!(!changed.to_string().contains("josh_secret"));
    assert_eq!(
        changed["summary"],
        json!({
            "total_changes": 1, "added_count": 0, "removed_count": 0, "modified_count": 1,
        })
    );
    let none = diff(&office.server, "cursor", &json!({}));
    assert_eq!(
        (&none["status"], &none["diff"]["servers_added"]),
        (&json!("outdated"), &json!(["josh"]))
    );
}

/// Given a place for a key that a person has filled in, when the file is compared, then that is no
/// change; a question that is missing is one.
#[test]
fn secrets_that_were_filled_in_are_no_change() {
    let office = &*SHARED;
    let path = |client: &str| format!("/v1/clients/{client}/config?profile_id=office");
    let compare = |client: &str, payload: &Value| {
        let payload = segment(&payload.to_string());
        let path = format!("/v1/clients/{client}/diff?profile_id=office&local_payload={payload}");
        office.server.get(&path).json()
    };
    let mut goose = office.server.get(&path("goose")).json()["payload"].clone();
    goose["extensions"]["josh"]["headers"]["Authorization"] = json!("Bearer josh_abc");
    assert_eq!(compare("goose", &goose)["status"], "up-to-date");
    goose["extensions"]["josh"]["headers"]["Authorization"] = json!("Basic josh_abc");
    assert_eq!(compare("goose", &goose)["status"], "diverged");
    let mut vscode = office.server.get(&path("vscode")).json()["payload"].clone();
    assert_eq!(compare("vscode", &vscode)["status"], "up-to-date");
    vscode.as_object_mut().unwrap().remove("inputs");
    let changed = compare("vscode", &vscode).to_string();
    assert!(changed.contains("inputs[josh-api-key]"), "{changed}");
}

/// Given a profile that changed while the server was down, when an old configuration is compared,
/// then it is outdated, by its ID and by its content; it can still be fetched, and the answer of
/// before is not taken for the new one.
#[test]
fn earlier_configurations_are_kept() {
    let office = Office::start(&["--public-url", "https://josh.example.org"]);
    let path = "/v1/clients/zed/config?profile_id=office";
    let first = office.server.get(path);
    let (etag, old) = (first.header("etag").to_string(), first.json());
    let profile = office.profiles.path().join("office.toml");
    let text = std::fs::read_to_string(&profile).unwrap();
    let text = text.replace("tickets.example.org/zed", "tickets.example.org/v2");
    std::fs::write(&profile, text.replace("files-server", "files-server-2")).unwrap();
    let Office { server, data, profiles } = office;
    drop(server);
    let restart = || {
        let folders = [profiles.path().to_str().unwrap(), data.path().to_str().unwrap()];
        let args = ["--toolsets", "clients", "--profiles", folders[0]];
        let args = [&args[..], &["--public-url", "https://josh.example.org"]].concat();
        Server::start_with(&args, &[("XDG_DATA_HOME", folders[1])])
    };
    let server = restart();
    let new = server.send("GET", path, &[("if-none-match", &etag)]);
    assert_eq!(new.status, 200, "the answer has changed");
    assert_ne!(new.json()["artifact_id"], old["artifact_id"]);
    let id = old["artifact_id"].as_str().unwrap();
    let kept = server.get(&format!("{path}&artifact_id={id}")).json();
    assert_eq!((&kept["payload"], &kept["signature"]), (&old["payload"], &old["signature"]));
    let by_id = server
        .get(&format!("/v1/clients/zed/diff?profile_id=office&local_artifact_id={id}"))
        .json();
    assert_eq!(by_id["status"], "outdated");
    let payload = segment(&old["payload"].to_string());
    let by_content = server
        .get(&format!("/v1/clients/zed/diff?profile_id=office&local_payload={payload}"))
        .json();
    assert_eq!(by_content["status"], "outdated", "{by_content}");
    assert_eq!(by_content["summary"]["modified_count"], 2);
    let unknown = "f".repeat(64);
    let other = server
        .get(&format!("/v1/clients/zed/diff?profile_id=office&local_artifact_id={unknown}"))
        .json();
    assert_eq!(other["status"], "unknown");
    // What did not change keeps its time and signature.
    let stable = "/v1/clients/zed/config?profile_id=stdio";
    let before = server.get(stable).json();
    drop(server);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let file = data.path().join(format!("josh/client-artifacts/zed/office/{id}.json"));
    let damaged =
        std::fs::read_to_string(&file).unwrap().replace("tickets.example.org", "evil.example");
    std::fs::write(&file, damaged).unwrap();
    let server = restart();
    let after = server.get(stable).json();
    assert_eq!(after["created_at"], before["created_at"]);
    let refused = server.get(&format!("{path}&artifact_id={id}"));
    assert_eq!(refused.code(), "signature_error", "{}", refused.text());
    assert!(refused.text().contains("does not match its hash"));
    assert!(server.logged("is not what was signed"), "{:?}", server.log());
}

/// Starts a server with one profile, which it must refuse.
fn refused(text: &str, name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    start_with(folder.path())
}

fn start_with(profiles: &Path) -> String {
    let folder = profiles.to_str().unwrap();
    let args = ["serve", "--listen", "127.0.0.1:0", "--toolsets", "clients", "--profiles", folder];
    let out = josh(&args).output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2), "{said}");
    said
}

/// Given a profile that is wrong, when the server starts, then it names the file, the line and what
/// to write instead. Secrets are among what is refused.
#[test]
fn a_wrong_profile_is_refused_with_its_line() {
    let name = "name = \"P\"\n";
    for (rest, line, said) in [
        ("servers = 3\n", 2, "invalid type"),
        ("\n[servers.a]\nurl = \"x\"\n", 4, "https://tools.example.org/mcp"),
        ("[servers.a]\nurl = \"https://u:p@x.example/mcp\"\n", 3, "without a key"),
        ("[servers.a]\nurl = \"https://x.example/mcp?api_key=1\"\n", 3, "it holds a secret"),
        (
            "[servers.a]\nurl = \"https://x.example\"\nkey_variable = \"sk-1 2\"\n",
            4,
            "not its value",
        ),
        ("[servers.a]\ncommand = \"x\"\n[servers.a.env]\nAPI_TOKEN = \"1\"\n", 5, "env_variables"),
        ("[servers.a]\ncommand = \"x\"\nenv = { A = \"ghp_abcdefghijkl\" }\n", 4, "env_variables"),
        ("[servers.a]\ncommand = \"x\"\nargs = [\"--token=abc\"]\n", 4, "looks like a secret"),
        ("[servers.a]\n", 2, "url or command is missing"),
        ("[servers.a]\nurl = \"https://x.example\"\ncommand = \"x\"\n", 2, "give one of them"),
        ("[servers.\"a b\"]\ncommand = \"x\"\n", 2, "no name of a server"),
        ("[servers.a]\ncommand = \"x\"\ncolour = 1\n", 4, "unknown field"),
        ("[servers.a]\ncommand = \"x\"\n[clients.cursr]\n", 4, "Did you mean cursor?"),
        (
            "[servers.a]\ncommand = \"x\"\n[clients.cursor]\nexclude = [\"b\"]\n",
            5,
            "no server \"b\"",
        ),
        ("[servers.a\n", 2, "unclosed table"),
    ] {
        let error = refused(&format!("{name}{rest}"), "p.toml");
        let place = format!("p.toml, line {line}:");
        assert!(error.contains(&place) && error.contains(said), "{rest}\n{error}");
    }
    assert!(refused("name = 'x'\n[servers]\n", "p.toml").contains("there is none"));
    assert!(refused(name, "default.toml").contains("not default or stdio"));
    let many: String = (0..60).map(|n| format!("[servers.s{n}]\ncommand = 'x'\n")).collect();
    assert!(refused(&format!("{name}{many}"), "p.toml").contains("more than 50 servers"));
    let long = "x".repeat(40_000);
    let large = format!("{name}[servers.a]\ncommand = \"{long}\"\n");
    assert!(refused(&large, "p.toml").contains("the limit is 32768"), "a payload has a limit");
    assert!(start_with(Path::new("/nowhere")).contains("cannot read the folder"));
}
