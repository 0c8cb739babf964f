//! Section 12: who may ask. API keys, tokens of an OAuth server, scopes, and one guard for everything.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use crate::support::{Answer, JOSH, SAMPLE, Server, eventually, josh, segment};

pub const ISSUER: &str = "https://login.example.org/";
pub const AUDIENCE: &str = "https://josh.example.org/mcp";
const JSON: (&str, &str) = ("content-type", "application/json");
const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

/// A key pair of the OAuth server.
pub struct Signer {
    kid: String,
    algorithm: Algorithm,
    key: EncodingKey,
    jwk: Value,
}

impl Signer {
    pub fn new(kid: &str, algorithm: Algorithm) -> Signer {
        let of = |key: &EncodingKey| serde_json::to_value(Jwk::from_encoding_key(key, algorithm).unwrap()).unwrap();
        let (key, jwk) = match algorithm {
            Algorithm::RS256 => {
                let key = EncodingKey::from_rsa_der(include_bytes!("rsa.der"));
                (key.clone(), of(&key))
            }
            Algorithm::ES256 => {
                let key = EncodingKey::from_ec_der(&rcgen::KeyPair::generate().unwrap().serialize_der());
                (key.clone(), of(&key))
            }
            _ => {
                let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
                let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": base64(pair.public_key_raw()) });
                (EncodingKey::from_ed_der(&pair.serialize_der()), jwk)
            }
        };
        Signer { kid: kid.into(), algorithm, key, jwk }
    }

    fn jwk(&self) -> Value {
        let mut jwk = self.jwk.clone();
        jwk["kid"] = json!(self.kid);
        jwk
    }

    /// A token with these claims in place of the good ones; null takes one away.
    pub fn token(&self, changes: Value) -> String {
        let mut header = Header::new(self.algorithm);
        header.kid = Some(self.kid.clone());
        jsonwebtoken::encode(&header, &claims(changes), &self.key).unwrap()
    }
}

fn claims(changes: Value) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let mut claims = json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": "auth0|alice", "exp": now + 600, "iat": now, "scope": "openid josh:read",
    });
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}

pub fn jwks(signers: &[&Signer]) -> String {
    json!({ "keys": signers.iter().map(|s| s.jwk()).collect::<Vec<_>>() }).to_string()
}

/// A server that asks who you are, with its file of keys.
pub struct Guarded {
    pub server: Server,
    keys: PathBuf,
    _folder: tempfile::TempDir,
}

impl Guarded {
    /// With API keys alone, or with tokens too, whose keys are found there.
    pub fn start(jwks: Option<&str>, more: &[&str]) -> Guarded {
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path().join("keys.json");
        let mut args = vec!["--keys", keys.to_str().unwrap()];
        if let Some(jwks) = jwks {
            args.extend(["--auth-issuer", ISSUER, "--auth-audience", AUDIENCE, "--auth-jwks", jwks]);
        }
        args.extend(more);
        let server = Server::start_with(&args, &[("JOSH_AUTH", "oauth")]);
        Guarded { server, keys, _folder: folder }
    }

    /// Runs `josh keys`; what it prints on standard output.
    pub fn keys(&self, args: &[&str]) -> String {
        let mut all = vec!["keys"];
        all.extend(args);
        all.extend(["--keys", self.keys.to_str().unwrap()]);
        let output = josh(&all).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_string()
    }

    pub fn get(&self, path: &str, credential: &str) -> Answer {
        self.server.send("GET", path, &[("authorization", &format!("Bearer {credential}"))])
    }

    pub fn rpc(&self, message: &Value, credential: Option<&str>) -> Answer {
        let bearer = credential.map(|c| format!("Bearer {c}"));
        let mut headers = vec![JSON, ACCEPT];
        headers.extend(bearer.as_deref().map(|b| ("authorization", b)));
        self.server.post("/mcp", &headers, message.to_string().as_bytes())
    }
}

fn message(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn initialize() -> Value {
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    message("initialize", params)
}

/// Tokens checked by keys in a file: what most tests share.
static SHARED: LazyLock<(Guarded, Vec<Signer>, tempfile::TempDir)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let signers = vec![
        Signer::new("rsa", Algorithm::RS256),
        Signer::new("ec", Algorithm::ES256),
        Signer::new("ed", Algorithm::EdDSA),
    ];
    let path = folder.path().join("jwks.json");
    std::fs::write(&path, jwks(&signers.iter().collect::<Vec<_>>())).unwrap();
    let guarded = Guarded::start(Some(path.to_str().unwrap()), &[]);
    guarded.keys(&["add", "alice", "--subject", "auth0|alice"]);
    (guarded, signers, folder)
});

/// Given a server that asks for a token, when every route and every tool is tried without one, then none answers but those that
/// are listed as open; with a key all do.
#[test]
fn no_route_and_no_tool_is_without_the_guard() {
    let (guarded, ..) = &*SHARED;
    let key = guarded.keys(&["add", "walker"]);
    let document = SAMPLE.get("/openapi.json").json();
    let paths: Vec<String> = document["paths"].as_object().unwrap().keys().cloned().collect();
    assert!(paths.len() > 60, "{}", paths.len());
    let id = segment("hr:119:1");
    let open = ["/", "/docs", "/openapi.json", "/livez", "/readyz", "/health", "/mcp", "/mcp/manifest.json"];
    let filled = paths.iter().map(|path| path.replace("{id}", &id));
    for path in filled
        .chain(["/metrics", "/nothing", "/v1/", "/v1/bills/hr:119:1", "//v1/bills", "/V1/bills"].map(String::from))
    {
        for method in ["GET", "HEAD"] {
            let answer = guarded.server.send(method, &path, &[]);
            if open.contains(&path.as_str()) {
                assert_eq!(answer.status, 200, "{path} is open");
            } else {
                assert_eq!(answer.status, 401, "{method} {path}");
                assert!(answer.header("www-authenticate").starts_with("Bearer "), "{path}");
            }
        }
    }
    for tool in crate::mcp::tools(&SAMPLE) {
        let call = message("tools/call", json!({ "name": tool.name, "arguments": {} }));
        assert_eq!(guarded.rpc(&call, None).status, 401, "{}", tool.name);
        assert_eq!(guarded.rpc(&call, Some(&key)).status, 200, "{}", tool.name);
    }
    for path in ["/v1/bills/hr:119:1", "/v1/search?q=water", "/metrics", "/v1/bills?limit=1"] {
        assert_eq!(guarded.get(path, &key).status, 200, "{path}");
    }
}

/// Given the table of methods, when each is called without a token, then `initialize`, `server/discover` and
/// `notifications/initialized` pass and everything else does not.
#[test]
fn methods_are_open_or_guarded_by_the_table() {
    let (guarded, signers, _) = &*SHARED;
    assert_eq!(guarded.rpc(&initialize(), None).status, 200);
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(guarded.rpc(&note, None).status, 202);
    let version = "2026-07-28";
    let discover = message(
        "server/discover",
        json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        }}),
    );
    let headers = [JSON, ACCEPT, ("mcp-protocol-version", version), ("mcp-method", "server/discover")];
    assert_eq!(guarded.server.post("/mcp", &headers, discover.to_string().as_bytes()).status, 200);
    let token = signers[0].token(json!({}));
    for method in [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "ping",
        "nothing/at_all",
        "logging/setLevel",
    ] {
        let refused = guarded.rpc(&message(method, json!({})), None);
        assert_eq!((refused.status, refused.code().as_str()), (401, "unauthorized"), "{method}");
        assert_ne!(guarded.rpc(&message(method, json!({})), Some(&token)).status, 401, "{method}");
    }
    // What is no message, several of them, or two methods in one, is not open either.
    for body in [
        "",
        "[]",
        "{",
        r#"[{"jsonrpc":"2.0","id":1,"method":"initialize"}]"#,
        r#"{"method":"initialize","method":"tools/list"}"#,
    ] {
        assert_eq!(guarded.server.post("/mcp", &[JSON, ACCEPT], body.as_bytes()).status, 401, "{body}");
    }
    assert_eq!(guarded.server.send("GET", "/mcp", &[("accept", "text/event-stream")]).status, 401);
    assert_eq!(guarded.server.send("DELETE", "/mcp", &[("mcp-session-id", "x")]).status, 401);
}

#[test]
fn tokens_of_all_three_kinds_are_taken() {
    let (guarded, signers, _) = &*SHARED;
    for signer in signers {
        let token = signer.token(json!({}));
        for _ in 0..2 {
            let answer = guarded.get("/v1/bills/hr:119:1", &token);
            assert_eq!(answer.status, 200, "{:?}: {}", signer.algorithm, answer.text());
        }
        let listed = signer.token(json!({ "scope": null, "scp": ["josh:read"], "aud": ["else", AUDIENCE] }));
        assert_eq!(guarded.get("/v1/bills/hr:119:1", &listed).status, 200);
    }
}

/// Given tokens that are wrong in one way each, when they are sent, then each is refused with 401 and an answer that says why.
#[test]
fn tokens_that_are_wrong_are_refused() {
    let (guarded, signers, _) = &*SHARED;
    let signer = &signers[1];
    let good = signer.token(json!({}));
    let parts: Vec<&str> = good.split('.').collect();
    let stranger = Signer::new("ec", Algorithm::ES256);
    let nameless = Signer { kid: "rotated-away".into(), ..Signer::new("", Algorithm::ES256) };
    let none = format!("{}.{}.", base64(br#"{"alg":"none","typ":"JWT"}"#), parts[1]);
    // The public key of the RSA pair as the secret of an HMAC: what a careless server would accept.
    let public = signers[0].jwk().to_string();
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some("rsa".into());
    let confused =
        jsonwebtoken::encode(&header, &claims(json!({})), &EncodingKey::from_secret(public.as_bytes())).unwrap();
    let changed = base64(claims(json!({ "sub": "auth0|root" })).to_string().as_bytes());
    let critical = {
        let header = base64(br#"{"alg":"ES256","kid":"ec","crit":["exp"]}"#);
        format!("{header}.{}.{}", parts[1], parts[2])
    };
    for (what, token) in [
        ("unsigned", none),
        ("HS256 with the public key", confused),
        ("signed by a stranger", stranger.token(json!({}))),
        ("an unknown kid", nameless.token(json!({}))),
        ("claims changed after signing", format!("{}.{changed}.{}", parts[0], parts[2])),
        ("signature cut", good[..good.len() - 4].to_string()),
        ("a condition that is not known", critical),
        ("another audience", signer.token(json!({ "aud": "https://other.example.org/mcp" }))),
        ("no audience", signer.token(json!({ "aud": null }))),
        ("another issuer", signer.token(json!({ "iss": "https://evil.example.org/" }))),
        ("no issuer", signer.token(json!({ "iss": null }))),
        ("expired", signer.token(json!({ "exp": 1_700_000_000 }))),
        ("no expiry", signer.token(json!({ "exp": null }))),
        ("not valid yet", signer.token(json!({ "nbf": 4_000_000_000_u64 }))),
        ("no subject", signer.token(json!({ "sub": null }))),
        ("a subject that is not registered", signer.token(json!({ "sub": "auth0|mallory" }))),
        ("garbage", "a.b.c".into()),
        ("empty", String::new()),
        ("huge", "x".repeat(20_000)),
        ("a key that was never made", "josh_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".into()),
    ] {
        let answer = guarded.get("/v1/bills/hr:119:1", &token);
        assert_eq!((answer.status, answer.code().as_str()), (401, "unauthorized"), "{what}");
        assert!(answer.header("www-authenticate").contains("error=\"invalid_token\""), "{what}");
        assert!(token.len() < 8 || !answer.text().contains(&token), "{what}: the token is not repeated");
    }
    for header in ["Basic YWxpY2U6c2VjcmV0", "Bearer", "bearer", "Token x", ""] {
        assert_eq!(guarded.server.send("GET", "/v1/sources", &[("authorization", header)]).status, 401, "{header}");
    }
    // In the address a key would end up in logs: it is no parameter, and not a way in.
    assert_eq!(guarded.get("/v1/sources?access_token=x", "").status, 401);
}

/// Given keys and tokens without `josh:read`, when they ask, then 403 names the scope that is missing.
#[test]
fn scopes_decide_what_a_caller_may_do() {
    let (guarded, signers, _) = &*SHARED;
    let key = guarded.keys(&["add", "doer", "--scopes", "josh:execute"]);
    let both = guarded.keys(&["add", "both", "--scopes", "josh:read,josh:execute"]);
    guarded.keys(&["add", "bob", "--subject", "auth0|bob", "--scopes", "josh:execute"]);
    assert_eq!(guarded.get("/v1/sources", &both).status, 200);
    let token = |changes: Value| signers[2].token(changes);
    for credential in [
        key,
        token(json!({ "scope": "openid" })),
        token(json!({ "scope": null })),
        token(json!({ "scope": "josh:reader" })),
        // More than the subject may do is not given.
        token(json!({ "sub": "auth0|bob" })),
    ] {
        for answer in
            [guarded.get("/v1/sources", &credential), guarded.rpc(&message("tools/list", json!({})), Some(&credential))]
        {
            assert_eq!((answer.status, answer.code().as_str()), (403, "insufficient_scope"));
            assert_eq!(answer.json()["error"]["hint"]["scope"], "josh:read");
            let challenge = answer.header("www-authenticate");
            assert!(
                challenge.contains("error=\"insufficient_scope\"") && challenge.contains("scope=\"josh:read\""),
                "{challenge}"
            );
        }
    }
}

/// Given a running server, when a key is added, used, revoked, then it counts from the next request on, without a restart.
#[test]
fn keys_count_at_once_and_are_kept_hashed() {
    let guarded = Guarded::start(None, &[]);
    let path = "/v1/bills/hr:119:1";
    assert_eq!(guarded.server.get(path).status, 401);
    let key = guarded.keys(&["add", "alice"]);
    assert!(key.starts_with("josh_") && key.len() > 40 && !key.contains('\n'), "standard output is the key alone");
    let answer = guarded.get(path, &key);
    assert_eq!((answer.status, answer.header("cache-control")), (200, "private, no-cache"));
    let file = std::fs::read_to_string(&guarded.keys).unwrap();
    assert!(!file.contains(&key[5..]) && file.contains("sha256"), "{file}");
    let list = guarded.keys(&["list"]);
    assert!(list.contains("alice") && list.contains("josh:read") && !list.contains(&key[5..]), "{list}");
    let listed: Value = serde_json::from_str(&guarded.keys(&["list", "--json"])).unwrap();
    assert!(listed[0]["name"] == "alice" && listed[0]["sha256"].is_null(), "{listed}");
    guarded.keys(&["revoke", "alice"]);
    assert_eq!(guarded.get(path, &key).status, 401);
    assert!(guarded.keys(&["list"]).contains("revoked"));
    for args in [&["revoke", "nobody"][..], &["add", "x", "--scopes", "everything"], &["add", " "]] {
        let mut all = vec!["keys"];
        all.extend(args);
        all.extend(["--keys", guarded.keys.to_str().unwrap()]);
        assert_eq!(josh(&all).output().unwrap().status.code(), Some(2), "{args:?}");
    }
}

/// Given a server that asks for tokens, when a client looks for where they come from, then both documents of RFC 9728 say it, and
/// the challenge leads there.
#[test]
fn clients_find_out_where_tokens_come_from() {
    let (guarded, ..) = &*SHARED;
    let challenge = guarded.server.get("/v1/sources").header("www-authenticate").to_string();
    let metadata = challenge.split('"').nth(1).unwrap();
    assert!(metadata.starts_with(&guarded.server.url), "{challenge}");
    for path in ["/.well-known/oauth-protected-resource", metadata.strip_prefix(&guarded.server.url).unwrap()] {
        let about = guarded.server.get(path).json();
        assert_eq!(about["resource"], format!("{}/mcp", guarded.server.url), "{path}");
        assert_eq!(about["authorization_servers"], json!([ISSUER]));
        assert_eq!(about["scopes_supported"], json!(["josh:read", "josh:execute"]));
        assert_eq!(about["bearer_methods_supported"], json!(["header"]));
    }
    let page = guarded.server.get("/mcp").text();
    assert!(
        page.contains("--header 'Authorization: Bearer KEY'") && page.contains(r#""Authorization": "Bearer KEY""#),
        "{page}"
    );
    assert!(!SAMPLE.get("/mcp").text().contains("Bearer"));
    let public = Guarded::start(None, &["--public-url", "https://josh.example.org"]);
    let challenge = public.server.get("/v1/sources").header("www-authenticate").to_string();
    assert!(challenge.contains("\"https://josh.example.org/.well-known/oauth-protected-resource/mcp\""), "{challenge}");
    let about = public.server.get("/.well-known/oauth-protected-resource").json();
    assert_eq!(
        (&about["resource"], &about["authorization_servers"]),
        (&json!("https://josh.example.org/mcp"), &json!([]))
    );
}

/// A key set behind an address, and how often it was asked for.
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

/// Given keys behind an address, when they rotate, then a token of the new key is taken, and tokens of unknown keys do not make us
/// ask again and again.
#[test]
fn keys_of_the_oauth_server_rotate_and_are_asked_for_seldom() {
    let (old, new) = (Signer::new("old", Algorithm::ES256), Signer::new("new", Algorithm::EdDSA));
    let server = KeyServer::start(jwks(&[&old]));
    let guarded = Guarded::start(Some(&server.url), &[]);
    guarded.keys(&["add", "alice", "--subject", "auth0|alice"]);
    assert_eq!(guarded.get("/v1/sources", &old.token(json!({}))).status, 200);
    let asked = server.asked.load(Ordering::SeqCst);
    assert_eq!(asked, 1, "once, at the start");
    for n in 0..50 {
        let unknown = Signer { kid: format!("unknown {n}"), ..Signer::new("", Algorithm::EdDSA) };
        assert_eq!(guarded.get("/v1/sources", &unknown.token(json!({}))).status, 401);
    }
    assert!(server.asked.load(Ordering::SeqCst) <= 4, "50 unknown keys are no reason to ask each time");
    *server.answer.lock().unwrap() = jwks(&[&new]);
    eventually("the new key is taken", || guarded.get("/v1/sources", &new.token(json!({}))).status == 200);
    assert_eq!(guarded.get("/v1/sources", &old.token(json!({}))).status, 401, "the old one is gone");
    *server.answer.lock().unwrap() = "not a key set".into();
    assert_eq!(guarded.get("/v1/sources", &new.token(json!({}))).status, 200);
}

/// Given keys in a file, when the file changes, then the new keys count with the next request; when it is spoilt, the old ones go on.
#[test]
fn keys_in_a_file_are_taken_up_when_it_changes() {
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
    assert_eq!(guarded.get("/v1/sources", &new.token(json!({}))).status, 401, "a subject that is revoked is out");
}

#[test]
fn settings_of_access_that_cannot_work_are_refused_at_the_start() {
    let missing = Path::new("/nowhere/jwks.json").to_str().unwrap();
    let tokens = ["--auth-issuer", ISSUER, "--auth-audience", AUDIENCE, "--auth-jwks"];
    let args: Vec<&str> = ["serve", "--listen", "127.0.0.1:0", "--auth", "oauth"].into_iter().chain(tokens).collect();
    for jwks in [missing, JOSH] {
        let mut args = args.clone();
        args.push(jwks);
        let output = josh(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stderr).contains("auth_jwks"));
    }
}

/// Given requests with good and bad credentials, when the log is read, then it names the caller and holds no credential.
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
    for credential in [key.as_str(), &good, &bad, "josh_wrongwrongwrongwrong", "secret-garbage-0123"] {
        guarded.get("/v1/bills/hr:119:1", credential);
        guarded.rpc(&message("tools/call", json!({ "name": "ping", "arguments": {} })), Some(credential));
    }
    eventually("the calls are logged", || guarded.server.log().iter().filter(|l| l.contains("tool call")).count() >= 2);
    let id = serde_json::from_str::<Value>(&guarded.keys(&["list", "--json"])).unwrap()[0]["id"]
        .as_str()
        .unwrap()
        .to_string();
    assert!(guarded.server.logged(&format!("\"caller\":\"{id}\"")));
    assert!(guarded.server.logged("\"caller_kind\":\"api_key\"") && guarded.server.logged("\"caller_kind\":\"oauth\""));
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
