//! Section 14: signed configuration for clients, over REST and MCP.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::LazyLock;

use josh::client_config::{Artifact, artifact_id, canonical, catalog};
use josh::signing::PublicKey;
use serde_json::{Value, json};

use crate::mcp::{block_on, connect, eras, once, structured, tools};
use crate::support::{Server, josh, segment, without_nulls};

/// An office: this server and two of its own.
const OFFICE: &str = r#"name = "Office"
description = "What everybody here uses"

[servers.josh]
url = "https://josh.example.org/mcp"
key_variable = "JOSH_API_KEY"

[servers.tickets]
url = "https://tickets.example.org/mcp"

[servers.files]
command = "files-server"
args = ["--root", "/srv/files"]
env = { LOG_LEVEL = "info" }
env_variables = ["FILES_TOKEN"]

[clients.cursor]
exclude = ["files"]

[clients.zed.servers.tickets]
url = "https://tickets.example.org/zed"
"#;

/// A server that hands out configuration, with folders of its own.
pub struct Office {
    pub server: Server,
    pub data: tempfile::TempDir,
    pub profiles: tempfile::TempDir,
}

impl Office {
    pub fn start(more: &[&str]) -> Office {
        let (data, profiles) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(profiles.path().join("office.toml"), OFFICE).unwrap();
        let server = serve(data.path(), profiles.path(), more);
        Office { server, data, profiles }
    }

    /// With the two profiles that every server has.
    pub fn without_profiles(more: &[&str]) -> Office {
        let (data, profiles) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let server = serve(data.path(), profiles.path(), more);
        Office { server, data, profiles }
    }

    pub fn key(&self) -> PublicKey {
        let path = self.data.path().join("verification_key.pem");
        std::fs::write(&path, self.server.get("/keys/verification_key.pem").text()).unwrap();
        PublicKey::read(&path).unwrap()
    }
}

fn serve(data: &Path, profiles: &Path, more: &[&str]) -> Server {
    let mut args = vec!["--toolsets", "policy,clients", "--profiles", profiles.to_str().unwrap()];
    args.extend(more);
    Server::start_with(&args, &[("XDG_DATA_HOME", data.to_str().unwrap())])
}

pub static SHARED: LazyLock<Office> = LazyLock::new(|| Office::start(&[]));

/// Given every client and profile, when its configuration is fetched, then its ID is the hash of
/// its canonical payload, both signatures hold, and the same artifact can be fetched by its ID.
#[test]
fn every_configuration_is_signed_and_content_addressed() {
    let office = &*SHARED;
    let key = office.key();
    let listed = office.server.get("/v1/clients").json();
    assert_eq!(listed["count"], catalog().clients.len());
    let mut checked = 0;
    for client in listed["clients"].as_array().unwrap() {
        let id = client["client_id"].as_str().unwrap();
        let profiles = office.server.get(&format!("/v1/clients/{id}/profiles")).json();
        let names: Vec<&Value> =
            profiles["profiles"].as_array().unwrap().iter().map(|p| &p["profile_id"]).collect();
        assert_eq!(
            names,
            client["available_profiles"].as_array().unwrap().iter().collect::<Vec<_>>()
        );
        for profile in profiles["profiles"].as_array().unwrap() {
            let name = profile["profile_id"].as_str().unwrap();
            let path = format!("/v1/clients/{id}/config?profile_id={name}");
            let config = office.server.get(&path).json();
            assert_eq!(config["artifact_id"], profile["latest_artifact_id"], "{path}");
            assert_eq!(config["created_at"], profile["updated_at"]);
            assert_eq!(config["artifact_id"], artifact_id(&config["payload"]).unwrap());
            let artifact: Artifact = serde_json::from_value(config.clone()).unwrap();
            artifact.verify(&key).unwrap_or_else(|why| panic!("{path}: {why}"));
            key.verify(&canonical(&config["payload"]).unwrap(), &artifact.signature).unwrap();
            let again =
                office.server.get(&format!("{path}&artifact_id={}", artifact.artifact_id)).json();
            assert_eq!(again["signature"], config["signature"]);
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
}

/// Given a profile with variables, when its payloads are read, then each client gets its own shape,
/// with its own placeholder where a secret would stand.
#[test]
fn payloads_have_the_shape_of_their_client_and_no_secret() {
    let office = &*SHARED;
    let payload = |client: &str| {
        let path = format!("/v1/clients/{client}/config?profile_id=office");
        office.server.get(&path).json()["payload"].clone()
    };
    assert_eq!(
        payload("cursor"),
        json!({ "mcpServers": {
            "josh": {
                "url": "https://josh.example.org/mcp",
                "headers": { "Authorization": "Bearer ${env:JOSH_API_KEY}" },
            },
            "tickets": { "url": "https://tickets.example.org/mcp" },
        } }),
        "without what the profile excludes"
    );
    assert_eq!(
        payload("codex")["mcp_servers"],
        json!({
            "files": {
                "command": "files-server",
                "args": ["--root", "/srv/files"],
                "env": { "LOG_LEVEL": "info" },
                "env_vars": ["FILES_TOKEN"],
            },
            "josh": {
                "url": "https://josh.example.org/mcp",
                "bearer_token_env_var": "JOSH_API_KEY",
            },
            "tickets": { "url": "https://tickets.example.org/mcp" },
        })
    );
    let vscode = payload("vscode");
    let ids: Vec<&Value> =
        vscode["inputs"].as_array().unwrap().iter().map(|input| &input["id"]).collect();
    assert_eq!(ids, ["files-token", "josh-api-key"]);
    assert!(vscode["inputs"].as_array().unwrap().iter().all(|input| input["password"] == true));
    let bearer = &vscode["servers"]["josh"]["headers"]["Authorization"];
    assert_eq!(bearer, "Bearer ${input:josh-api-key}");
    assert_eq!(vscode["servers"]["files"]["env"]["FILES_TOKEN"], "${input:files-token}");
    let opencode = payload("opencode");
    let line = json!(["files-server", "--root", "/srv/files"]);
    assert_eq!(opencode["mcp"]["files"]["command"], line);
    assert_eq!(opencode["mcp"]["files"]["environment"]["FILES_TOKEN"], "{env:FILES_TOKEN}");
    let goose = payload("goose");
    assert_eq!(goose["extensions"]["files"]["env_keys"], json!(["FILES_TOKEN"]));
    assert_eq!(goose["extensions"]["josh"]["headers"]["Authorization"], "Bearer <JOSH_API_KEY>");
    assert_eq!(
        payload("zed")["context_servers"]["tickets"]["url"],
        "https://tickets.example.org/zed"
    );
    assert_eq!(payload("claude-desktop")["mcpServers"].as_object().unwrap().len(), 1);
    assert_eq!(
        payload("chatgpt")["servers"]["tickets"],
        json!({ "url": "https://tickets.example.org/mcp", "authentication": "none" })
    );
    let config = office.server.get("/v1/clients/goose/config?profile_id=office").json();
    let notes = config["installation"]["notes"].to_string();
    assert!(notes.contains("put the key in place of"), "{notes}");
    let steps = office.server.get("/v1/clients/chatgpt/config").json();
    assert!(steps["installation"]["steps"][0].as_str().unwrap().contains("Developer mode"));
    assert!(steps["installation"].get("text").is_none());
}

/// (tool, arguments, path of REST): what must be equal.
const SAME: &[(&str, &str, &str)] = &[
    ("list_clients", "{}", "/v1/clients"),
    ("list_profiles", r#"{"client_id":"cursor"}"#, "/v1/clients/cursor/profiles"),
    ("get_config", r#"{"client_id":"codex"}"#, "/v1/clients/codex/config"),
    (
        "get_config",
        r#"{"client_id":"cline","profile_id":"office"}"#,
        "/v1/clients/cline/config?profile_id=office",
    ),
];

/// Given a tool and its REST twin, when both are called, then they give the same JSON, empty
/// members of a payload included; and the tool's result is what its schema says.
#[test]
fn tools_and_rest_give_the_same() {
    let office = &*SHARED;
    let listed = tools(&office.server);
    let compare = |tool: &'static str, arguments: Value, path: &str| {
        let mut from_tool = structured(&office.server, tool, arguments);
        let mut from_rest = without_nulls(office.server.get(path).json());
        from_tool.as_object_mut().unwrap().remove("meta");
        from_rest.as_object_mut().unwrap().remove("meta");
        assert_eq!(from_tool, from_rest, "{tool}");
        let tool = listed.iter().find(|t| t.name == tool).unwrap();
        let schema = Value::Object((**tool.output_schema.as_ref().unwrap()).clone());
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&from_tool), "{}", tool.name);
        for unwanted in ["anyOf", "oneOf", "allOf", "\"uint"] {
            assert!(!schema.to_string().contains(unwanted), "{}: {unwanted}", tool.name);
        }
    };
    for (tool, arguments, path) in SAME {
        compare(tool, serde_json::from_str(arguments).unwrap(), path);
    }
    let payload = json!({ "mcpServers": { "josh": { "url": "http://elsewhere/mcp" } } });
    compare(
        "diff_config",
        json!({ "client_id": "cursor", "local_payload": payload }),
        &format!("/v1/clients/cursor/diff?local_payload={}", segment(&payload.to_string())),
    );
    let cline = structured(&office.server, "get_config", json!({ "client_id": "cline" }));
    assert_eq!(cline["payload"]["mcpServers"]["josh"]["autoApprove"], json!([]));
    assert_eq!(cline["artifact_id"], artifact_id(&cline["payload"]).unwrap());
}

/// The four tools stay small, and with all toolsets the list stays within its bound.
#[test]
fn the_list_of_all_tools_is_short() {
    let office = &*SHARED;
    let size = |tool: &rmcp::model::Tool| {
        let mut listed = serde_json::to_value(tool).unwrap();
        listed.as_object_mut().unwrap().remove("outputSchema");
        listed.to_string().len()
    };
    let listed = tools(&office.server);
    let names: Vec<&str> = listed.iter().map(|tool| tool.name.as_ref()).collect();
    assert!(names.ends_with(&["list_clients", "list_profiles", "get_config", "diff_config"]));
    let bytes: usize = listed.iter().map(size).sum();
    assert!(bytes / 4 < 13_000, "{} tokens", bytes / 4);
    let own: usize = listed[listed.len() - 4..].iter().map(size).sum();
    assert!(own / 4 < 1_200, "{} tokens", own / 4);
}

/// Given names that are not there, when they are asked for, then the error lists what is.
#[test]
fn errors_say_what_is_available() {
    let office = &*SHARED;
    let unknown = "0".repeat(64);
    for (path, code, hint) in [
        ("/v1/clients/cursr/profiles".to_string(), "client_not_found", "available_clients"),
        ("/v1/clients/cursr/config".to_string(), "client_not_found", "available_clients"),
        ("/v1/clients/cursr/diff".to_string(), "client_not_found", "available_clients"),
        (
            "/v1/clients/cursor/config?profile_id=offce".to_string(),
            "profile_not_found",
            "available_profiles",
        ),
        (
            "/v1/clients/claude-desktop/config?profile_id=default".to_string(),
            "profile_not_found",
            "available_profiles",
        ),
        (
            format!("/v1/clients/cursor/config?artifact_id={unknown}"),
            "artifact_not_found",
            "available_artifacts",
        ),
        ("/v1/clients/cursor/config?artifact_id=abc".to_string(), "invalid_input", "next"),
        ("/v1/clients/cursor/diff".to_string(), "invalid_input", "next"),
        (
            format!("/v1/clients/cursor/diff?local_artifact_id={unknown}&local_payload=%7B%7D"),
            "invalid_input",
            "next",
        ),
        ("/v1/clients/cursor/diff?local_payload=%5B%5D".to_string(), "invalid_input", "next"),
        ("/v1/clients/cursor/diff?local_payload=%7B".to_string(), "invalid_input", "next"),
        (
            format!("/v1/clients/cursor/diff?local_payload={}", segment(r#"{"mcpServers":[]}"#)),
            "invalid_input",
            "next",
        ),
        ("/v1/clients/cursor/config?profil_id=x".to_string(), "invalid_parameter", "did_you_mean"),
        ("/v1/clients?limit=3".to_string(), "invalid_parameter", "next"),
    ] {
        let answer = office.server.get(&path);
        assert_eq!(answer.code(), code, "{path}: {}", answer.text());
        assert!(!answer.json()["error"]["hint"][hint].is_null(), "{path}: {}", answer.text());
    }
    let code = |path: &str| office.server.get(path).code();
    assert_eq!(code("/v1/clients/cursor/config?profile_id=offce"), "profile_not_found");
    let path = format!("/v1/clients/cursor/config?artifact_id={unknown}");
    assert_eq!(code(&path), "artifact_not_found");
    assert_eq!(code("/v1/clients/cursor/diff"), "invalid_input");
    let refused = once(&office.server, "get_config", json!({ "client_id": "cursr" }));
    let meta = serde_json::to_value(&refused.meta).unwrap();
    assert_eq!((refused.is_error, &meta["error_code"]), (Some(true), &json!("client_not_found")));
    assert_eq!(meta["hint"]["did_you_mean"], "cursor");
    let large = json!({ "client_id": "cursor", "local_payload": { "x": "y".repeat(40_000) } });
    let too_large = block_on(async {
        let client = connect(&office.server.url, eras()[0].clone()).await;
        let arguments = large.as_object().unwrap().clone();
        let call = rmcp::model::CallToolRequestParams::new("diff_config").with_arguments(arguments);
        client.call_tool(call).await.unwrap_err().to_string()
    });
    assert!(too_large.contains("the limit is"), "{too_large}");
}

/// Given a client that can't use HTTP, when its configuration is asked for without a profile, then
/// it gets the one that it can use.
#[test]
fn a_client_without_the_default_profile_gets_its_first() {
    let config = SHARED.server.get("/v1/clients/claude-desktop/config").json();
    assert_eq!(config["profile_id"], "stdio");
    let command = config["payload"]["mcpServers"]["josh"]["command"].as_str().unwrap();
    assert_eq!(Path::new(command), Path::new(crate::support::JOSH), "this very program");
}

/// Both resources of the reference can be read, and name the key's address.
#[test]
fn resources_describe_server_and_clients() {
    let office = &*SHARED;
    let read = |uri: &str| {
        block_on(async {
            let client = connect(&office.server.url, eras()[1].clone()).await;
            let request = rmcp::model::ReadResourceRequestParams::new(uri);
            let read = client.read_resource(request).await.unwrap();
            let contents = serde_json::to_value(&read.contents[0]).unwrap();
            serde_json::from_str::<Value>(contents["text"].as_str().unwrap()).unwrap()
        })
    };
    let server = read("capabilities://server");
    let url = server["endpoints"]["verification_key_url"].as_str().unwrap();
    assert_eq!(url, format!("{}/keys/verification_key.pem", office.server.url));
    assert_eq!(server["features"]["signature_algorithm"], "Ed25519");
    assert_eq!(server["signing_key_id"], office.key().id());
    assert_eq!(
        server["capabilities"]["tools"],
        json!(["list_clients", "list_profiles", "get_config", "diff_config"])
    );
    let clients = read("capabilities://clients");
    let goose = clients["clients"].as_array().unwrap().iter().find(|c| c["client_id"] == "goose");
    assert_eq!(goose.unwrap()["config_format"], "yaml");
    assert!(clients["clients"].as_array().unwrap().iter().all(|c| c["checked"].is_string()));
}

/// Given a server without the toolset, when its paths are asked for, then they are not there, and
/// the key's path says how to switch it on.
#[test]
fn without_the_toolset_nothing_is_handed_out() {
    let sample = &*crate::support::SAMPLE;
    assert_eq!(sample.get("/v1/clients").code(), "unknown_source");
    let key = sample.get("/keys/verification_key.pem");
    assert!(
        key.status == 404 && key.text().contains("--toolsets policy,clients"),
        "{}",
        key.text()
    );
    let out = josh(&["get", "/v1/clients", "--toolsets", "clients"]).output().unwrap();
    let body: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(body["clients"][0]["client_id"], "claude-code");
    assert_eq!(
        body["clients"][0]["available_profiles"],
        json!(["stdio"]),
        "no address, no default"
    );
}

/// Given a caller who lies about the host, when configuration is asked for, then what is signed
/// names the operator's address, not the caller's.
#[test]
fn nobody_can_have_another_address_signed() {
    let office = &*SHARED;
    let path = "/v1/clients/cursor/config";
    let lied = office.server.send("GET", path, &[("host", "evil.example")]).json();
    let url = &lied["payload"]["mcpServers"]["josh"]["url"];
    assert_eq!(url, &json!(format!("{}/mcp", office.server.url)));
    let public = Office::start(&["--public-url", "https://josh.example.org"]);
    let config = public.server.get(path).json();
    assert_eq!(config["payload"]["mcpServers"]["josh"]["url"], "https://josh.example.org/mcp");
    let stdio = public.server.get("/v1/clients/cursor/config?profile_id=stdio").json();
    assert_eq!(stdio["payload"]["mcpServers"]["josh"]["command"], "josh", "no path of the server");
}

/// Given a signing key that others can read, or none at all, when the server starts, then it
/// refuses and says what to do; its own key is private.
#[test]
fn the_signing_key_is_private() {
    let office = Office::start(&[]);
    let own = office.data.path().join("josh/signing-key.pem");
    assert_eq!(std::fs::metadata(&own).unwrap().permissions().mode() & 0o777, 0o600);
    let start = |key: &Path| {
        let args = ["serve", "--listen", "127.0.0.1:0", "--toolsets", "clients", "--signing-key"];
        let out = josh(&[&args[..], &[key.to_str().unwrap()]].concat()).output().unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    let loose = office.data.path().join("loose.pem");
    std::fs::copy(&own, &loose).unwrap();
    std::fs::set_permissions(&loose, std::fs::Permissions::from_mode(0o640)).unwrap();
    let (code, said) = start(&loose);
    assert!(code == Some(2) && said.contains("chmod 600"), "{said}");
    let (code, said) = start(Path::new("/nowhere/key.pem"));
    assert!(code == Some(2) && said.contains("cannot read it"), "{said}");
    let (code, said) = start(Path::new("/proc/self/status"));
    assert!(code == Some(2), "{said}");
}

/// The keys and the page are open, the configuration is not, where access is restricted; payloads
/// then refer to the key.
#[test]
fn access_is_as_for_everything_else() {
    let guarded = crate::access::Guarded::start(None, &["--toolsets", "policy,clients"]);
    let key = guarded.keys(&["add", "alice"]);
    assert_eq!(guarded.server.get("/keys/verification_key.pem").status, 200);
    assert_eq!(guarded.server.get("/v1/clients").status, 401);
    let config = guarded.get("/v1/clients/claude-code/config", &key).json();
    assert_eq!(
        config["payload"]["mcpServers"]["josh"]["headers"]["Authorization"],
        "Bearer ${JOSH_API_KEY}"
    );
    assert!(!config.to_string().contains(&key));
}
