//! Section 12: settings of access. What each mode accepts and says, files that can't be used,
//! public keys that are rotated, and what the log may hold.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use crate::access::{AUDIENCE, Guarded, ISSUER, SHARED, Signer, jwks};
use crate::mcp_wire::request as message;
use crate::support::{Answer, JOSH, Server, eventually, josh};

/// Given the modes of access, when a request is refused, then message and hint speak only of what
/// the mode accepts.
#[test]
fn errors_fit_the_mode_of_access() {
    let (with_tokens, ..) = &*SHARED;
    let keys_only = Guarded::start(None, &[]);
    let doer = keys_only.keys(&["add", "doer", "--scopes", "josh:execute"]);
    let said = |answer: &Answer| {
        let error = &answer.json()["error"];
        format!("{} {}", error["message"], error["hint"]["next"])
    };
    let path = "/v1/bills/hr:119:1";
    let basic = [("authorization", "Basic YWxpY2U6c2VjcmV0")];
    let list = message("tools/list", json!({}));
    for (status, answer) in [
        (401, keys_only.server.get(path)),
        (401, keys_only.get(path, "josh_wrong")),
        (401, keys_only.get(path, "eyJhbGciOiJub25lIn0.e30.")),
        (401, keys_only.server.send("GET", path, &basic)),
        (401, keys_only.rpc(&list, None)),
        (403, keys_only.get(path, &doer)),
    ] {
        let said = said(&answer);
        assert_eq!(answer.status, status, "{said}");
        assert!(said.contains("API key") && !said.to_lowercase().contains("token"), "{said}");
    }
    let both = said(&with_tokens.server.get(path));
    assert!(both.contains("API key") && both.contains("token"), "{both}");
    assert!(both.contains("/.well-known/oauth-protected-resource"), "{both}");
}

/// Given a configuration from before `auth = keys`, when it starts, then it works as before and the
/// log recommends `keys`.
#[test]
fn oauth_without_an_oauth_server_still_works_and_warns() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.json");
    let server = Server::start(&["--auth", "oauth", "--keys", keys.to_str().unwrap()]);
    assert_eq!(server.get("/v1/sources").status, 401);
    eventually("it warns", || server.logged("Set auth to keys"));
    let quiet = Guarded::start(None, &[]);
    assert_eq!(quiet.server.get("/v1/sources").status, 401);
    assert!(!quiet.server.logged("WARN"), "{:?}", quiet.server.log());
}

/// Given a keys file that can't be used, when the server starts, then it refuses, with the file and
/// the cause; given one that breaks later, then `/readyz` says so until it is repaired.
#[test]
fn a_keys_file_that_cannot_be_used_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    let start = ["serve", "--listen", "127.0.0.1:0", "--auth", "keys", "--keys"];
    for text in ["{", "[]", r#"{"api_keys":[{"id":1}]}"#] {
        std::fs::write(&path, text).unwrap();
        let mut args = start.to_vec();
        args.push(path.to_str().unwrap());
        let output = josh(&args).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(
            message.contains("keys: ") && message.contains(path.to_str().unwrap()),
            "{message}"
        );
        assert!(!message.contains("struct"), "{message}");
    }
    let args: Vec<&str> = start.iter().copied().chain([folder.path().to_str().unwrap()]).collect();
    let output = josh(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "a folder can't be read");

    let guarded = Guarded::start(None, &[]);
    let key = guarded.keys(&["add", "alice"]);
    assert_eq!(guarded.get("/v1/sources", &key).status, 200);
    let good = std::fs::read(&guarded.keys).unwrap();
    std::fs::write(&guarded.keys, "{").unwrap();
    // Without any request that would read the file.
    eventually("readiness names it", || {
        guarded.server.get("/readyz").json()["refused"]["keys"].is_string()
    });
    assert_eq!(guarded.get("/v1/sources", &key).status, 200, "the known keys stay in use");
    assert!(!guarded.server.get("/readyz").text().contains("keys.json"), "it names no path");
    std::fs::write(&guarded.keys, good).unwrap();
    eventually("all is well again", || {
        guarded.server.get("/readyz").json() == json!({ "status": "ready" })
    });
    assert_eq!(guarded.get("/v1/sources", &key).status, 200);
}

#[test]
fn settings_of_access_that_cannot_work_are_refused_at_the_start() {
    let missing = Path::new("/nowhere/jwks.json").to_str().unwrap();
    let tokens = ["--auth-issuer", ISSUER, "--auth-audience", AUDIENCE, "--auth-jwks"];
    let args: Vec<&str> =
        ["serve", "--listen", "127.0.0.1:0", "--auth", "oauth"].into_iter().chain(tokens).collect();
    for jwks in [missing, JOSH] {
        let mut args = args.clone();
        args.push(jwks);
        let output = josh(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stderr).contains("auth_jwks"));
    }
}

/// Given requests with good and bad credentials, when the log is read, then it names the caller
/// and holds no credential.
#[test]
fn no_token_is_in_any_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jwks.json");
    let signer = Signer::new("a", Algorithm::ES256);
    std::fs::write(&path, jwks(&[&signer])).unwrap();
    let guarded = Guarded::start(path.to_str(), &["--log", "trace", "--log-format", "json"]);
    let key = guarded.keys(&["add", "alice"]);
    guarded.keys(&["add", "al", "--subject", "auth0|alice"]);
    let (good, bad) = (signer.token(json!({})), signer.token(json!({ "aud": "else" })));
    for credential in
        [key.as_str(), &good, &bad, "josh_wrongwrongwrongwrong", "secret-garbage-0123"]
    {
        guarded.get("/v1/bills/hr:119:1", credential);
        guarded.rpc(
            &message("tools/call", json!({ "name": "ping", "arguments": {} })),
            Some(credential),
        );
    }
    eventually("the calls are logged", || {
        guarded.server.log().iter().filter(|l| l.contains("tool call")).count() >= 2
    });
    let id = serde_json::from_str::<Value>(&guarded.keys(&["list", "--json"])).unwrap()[0]["id"]
        .as_str()
        .unwrap()
        .to_string();
    assert!(guarded.server.logged(&format!("\"caller\":\"{id}\"")));
    assert!(
        guarded.server.logged("\"caller_kind\":\"api_key\"")
            && guarded.server.logged("\"caller_kind\":\"oauth\"")
    );
    for line in guarded.server.log() {
        for secret in [
            &key[5..],
            good.rsplit('.').next().unwrap(),
            bad.rsplit('.').next().unwrap(),
            "wrongwrong",
            "secret-garbage",
        ] {
            assert!(!line.contains(secret), "{line}");
        }
    }
}

/// A key set at a URL, and how often it was fetched.
struct KeyServer {
    url: String,
    answer: Arc<Mutex<String>>,
    asked: Arc<AtomicUsize>,
}

impl KeyServer {
    fn start(answer: String) -> KeyServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/jwks.json", listener.local_addr().unwrap());
        let (answer, asked) = (Arc::new(Mutex::new(answer)), Arc::new(AtomicUsize::new(0)));
        let (said, counted) = (answer.clone(), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
                while lines.next().is_some_and(|line| !line.is_empty()) {}
                counted.fetch_add(1, Ordering::SeqCst);
                let body = said.lock().unwrap().clone();
                let _ = write!(
                    &stream,
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        KeyServer { url, answer, asked }
    }
}

/// Given keys at a URL, when they are rotated, then a token of the new key is accepted, and tokens
/// with unknown keys do not cause a fetch each.
#[test]
fn keys_of_the_oauth_server_are_rotated_and_fetched_seldom() {
    let (old, new) = (Signer::new("old", Algorithm::ES256), Signer::new("new", Algorithm::EdDSA));
    let server = KeyServer::start(jwks(&[&old]));
    let guarded = Guarded::start(Some(&server.url), &[]);
    guarded.keys(&["add", "alice", "--subject", "auth0|alice"]);
    assert_eq!(guarded.get("/v1/sources", &old.token(json!({}))).status, 200);
    let asked = server.asked.load(Ordering::SeqCst);
    assert_eq!(asked, 1, "once, at the start");
    for n in 0..50 {
        let unknown = Signer::new(&format!("unknown {n}"), Algorithm::EdDSA);
        assert_eq!(guarded.get("/v1/sources", &unknown.token(json!({}))).status, 401);
    }
    assert!(server.asked.load(Ordering::SeqCst) <= 4, "50 unknown keys do not cause 50 fetches");
    *server.answer.lock().unwrap() = jwks(&[&new]);
    eventually("the new key is accepted", || {
        guarded.get("/v1/sources", &new.token(json!({}))).status == 200
    });
    assert_eq!(
        guarded.get("/v1/sources", &old.token(json!({}))).status,
        401,
        "the old one is gone"
    );
    *server.answer.lock().unwrap() = "not a key set".into();
    assert_eq!(guarded.get("/v1/sources", &new.token(json!({}))).status, 200);
}

/// Given keys in a file, when the file changes, then the next request uses the new ones; when it is
/// damaged, the old ones stay in use.
#[test]
fn keys_in_a_file_are_reloaded_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jwks.json");
    let replace = |text: &str| {
        let new = folder.path().join("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &path).unwrap();
    };
    let (old, new) = (Signer::new("old", Algorithm::ES256), Signer::new("new", Algorithm::ES256));
    replace(&jwks(&[&old]));
    let guarded = Guarded::start(path.to_str(), &[]);
    guarded.keys(&["add", "alice", "--subject", "auth0|alice"]);
    assert_eq!(guarded.get("/v1/sources", &old.token(json!({}))).status, 200);
    replace(&jwks(&[&new]));
    assert_eq!(guarded.get("/v1/sources", &new.token(json!({}))).status, 200);
    assert_eq!(guarded.get("/v1/sources", &old.token(json!({}))).status, 401);
    replace("{");
    assert_eq!(guarded.get("/v1/sources", &new.token(json!({}))).status, 200);
    guarded.keys(&["revoke", "alice"]);
    assert_eq!(
        guarded.get("/v1/sources", &new.token(json!({}))).status,
        401,
        "a revoked subject is refused"
    );
}
