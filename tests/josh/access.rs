//! Section 12: who may access the server. API keys, tokens of an OAuth server, scopes, and one
//! access guard for everything.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use crate::mcp_criteria::initialize;
use crate::mcp_wire::{ACCEPT, JSON, request as message};
use crate::support::{Answer, SAMPLE, Server, josh, segment};

pub const ISSUER: &str = "https://login.example.org/";
pub const AUDIENCE: &str = "https://josh.example.org/mcp";

/// A key pair of the OAuth server.
pub struct Signer {
    kid: String,
    algorithm: Algorithm,
    key: EncodingKey,
    jwk: Value,
}

impl Signer {
    pub fn new(kid: &str, algorithm: Algorithm) -> Signer {
        let of = |key: &EncodingKey| {
            serde_json::to_value(Jwk::from_encoding_key(key, algorithm).unwrap()).unwrap()
        };
        let (key, jwk) = match algorithm {
            Algorithm::RS256 => {
                let key = EncodingKey::from_rsa_der(include_bytes!("rsa.der"));
                (key.clone(), of(&key))
            }
            Algorithm::ES256 => {
                let key =
                    EncodingKey::from_ec_der(&rcgen::KeyPair::generate().unwrap().serialize_der());
                (key.clone(), of(&key))
            }
            _ => {
                let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
                let jwk =
                    json!({ "kty": "OKP", "crv": "Ed25519", "x": base64(pair.public_key_raw()) });
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

    /// A token with these claims in place of the valid ones; null removes one.
    pub fn token(&self, changes: Value) -> String {
        let mut header = Header::new(self.algorithm);
        header.kid = Some(self.kid.clone());
        jsonwebtoken::encode(&header, &claims(changes), &self.key).unwrap()
    }
}

fn claims(changes: Value) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let mut claims = json!({
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "auth0|alice",
        "exp": now + 600,
        "iat": now,
        "scope": "openid josh:read",
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

/// A server with restricted access, and its file of keys.
pub struct Guarded {
    pub server: Server,
    pub keys: PathBuf,
    _folder: tempfile::TempDir,
}

impl Guarded {
    /// With API keys alone, or also with tokens, which are checked with these public keys.
    pub fn start(jwks: Option<&str>, more: &[&str]) -> Guarded {
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path().join("keys.json");
        let mut args = vec!["--keys", keys.to_str().unwrap()];
        if let Some(jwks) = jwks {
            args.extend([
                "--auth-issuer",
                ISSUER,
                "--auth-audience",
                AUDIENCE,
                "--auth-jwks",
                jwks,
            ]);
        }
        args.extend(more);
        let auth = if jwks.is_some() { "oauth" } else { "keys" };
        let server = Server::start_with(&args, &[("JOSH_AUTH", auth)]);
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

/// A server whose tokens are checked with keys in a file, shared by most tests.
pub static SHARED: LazyLock<(Guarded, Vec<Signer>, tempfile::TempDir)> = LazyLock::new(|| {
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

/// Given a server with restricted access, when every route and every tool is tried without a
/// credential, then only those that are listed as open answer; with a key all do.
#[test]
fn every_route_and_every_tool_is_behind_the_guard() {
    let (guarded, ..) = &*SHARED;
    let key = guarded.keys(&["add", "walker", "--scopes", "josh:read,josh:metrics"]);
    let document = SAMPLE.get("/openapi.json").json();
    let paths: Vec<String> = document["paths"].as_object().unwrap().keys().cloned().collect();
    assert!(paths.len() > 60, "{}", paths.len());
    let id = segment("hr:119:1");
    let open = [
        "/",
        "/docs",
        "/openapi.json",
        "/livez",
        "/readyz",
        "/health",
        "/mcp",
        "/mcp/manifest.json",
    ];
    let filled = paths.iter().map(|path| path.replace("{id}", &id));
    for path in filled.chain(
        ["/metrics", "/nothing", "/v1/", "/v1/bills/hr:119:1", "//v1/bills", "/V1/bills"]
            .map(String::from),
    ) {
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

/// Given the table of methods, when each is called without a token, then `initialize`,
/// `server/discover` and `notifications/initialized` pass and everything else does not.
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
    let headers =
        [JSON, ACCEPT, ("mcp-protocol-version", version), ("mcp-method", "server/discover")];
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
    // An invalid message, a batch, or a message with two methods is not open either.
    for body in [
        "",
        "[]",
        "{",
        r#"[{"jsonrpc":"2.0","id":1,"method":"initialize"}]"#,
        r#"{"method":"initialize","method":"tools/list"}"#,
    ] {
        assert_eq!(
            guarded.server.post("/mcp", &[JSON, ACCEPT], body.as_bytes()).status,
            401,
            "{body}"
        );
    }
    assert_eq!(guarded.server.send("GET", "/mcp", &[("accept", "text/event-stream")]).status, 401);
    assert_eq!(guarded.server.send("DELETE", "/mcp", &[("mcp-session-id", "x")]).status, 401);
}

#[test]
fn tokens_of_all_three_algorithms_are_accepted() {
    let (guarded, signers, _) = &*SHARED;
    for signer in signers {
        let token = signer.token(json!({}));
        for _ in 0..2 {
            let answer = guarded.get("/v1/bills/hr:119:1", &token);
            assert_eq!(answer.status, 200, "{:?}: {}", signer.algorithm, answer.text());
        }
        let listed =
            signer.token(json!({ "scope": null, "scp": ["josh:read"], "aud": ["else", AUDIENCE] }));
        assert_eq!(guarded.get("/v1/bills/hr:119:1", &listed).status, 200);
    }
}

/// Given tokens with one fault each, when they are sent, then each is refused with 401 and a
/// reason.
#[test]
fn invalid_tokens_are_refused() {
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
    let confused = jsonwebtoken::encode(
        &header,
        &claims(json!({})),
        &EncodingKey::from_secret(public.as_bytes()),
    )
    .unwrap();
    let changed = base64(claims(json!({ "sub": "auth0|root" })).to_string().as_bytes());
    let critical = {
        let header = base64(br#"{"alg":"ES256","kid":"ec","crit":["exp"]}"#);
        format!("{header}.{}.{}", parts[1], parts[2])
    };
    let of_kind = |typ: &str| {
        let mut header = Header::new(Algorithm::ES256);
        (header.kid, header.typ) = (Some("ec".into()), Some(typ.into()));
        jsonwebtoken::encode(&header, &claims(json!({})), &signer.key).unwrap()
    };
    assert_eq!(guarded.get("/v1/sources", &of_kind("at+jwt")).status, 200);
    for (what, token) in [
        ("a token for a logout", of_kind("logout+jwt")),
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
        assert!(
            token.len() < 8 || !answer.text().contains(&token),
            "{what}: the token is not repeated"
        );
    }
    for header in ["Basic YWxpY2U6c2VjcmV0", "Bearer", "bearer", "Token x", ""] {
        assert_eq!(
            guarded.server.send("GET", "/v1/sources", &[("authorization", header)]).status,
            401,
            "{header}"
        );
    }
    // In the URL a key would end up in logs: there is no such parameter.
    assert_eq!(guarded.get("/v1/sources?access_token=x", "").status, 401);
}

/// Given tokens whose scopes are in other claims, as a list or as one text, when they are used,
/// then they count.
#[test]
fn scopes_are_read_from_lists_and_texts() {
    let (guarded, signers, _) = &*SHARED;
    for (name, value, status) in [
        ("scp", json!(["openid", "josh:read"]), 200),
        ("scp", json!("openid josh:read"), 200),
        ("permissions", json!(["josh:read"]), 200),
        ("scp", json!("josh:readers"), 403),
    ] {
        let token = signers[1].token(json!({ "scope": null, name: value }));
        assert_eq!(guarded.get("/v1/sources", &token).status, status, "{name} {value}");
    }
}

/// Given a key that reads records, when it asks for the metrics, then it is refused: they tell of
/// all callers, and have a scope of their own.
#[test]
fn metrics_have_a_scope_of_their_own() {
    let (guarded, _, _) = &*SHARED;
    let reader = guarded.keys(&["add", "reader"]);
    let monitor = guarded.keys(&["add", "monitor", "--scopes", "josh:metrics"]);
    let refused = guarded.get("/metrics", &reader);
    assert_eq!((refused.status, refused.code().as_str()), (403, "insufficient_scope"));
    assert_eq!(refused.json()["error"]["hint"]["scope"], "josh:metrics");
    assert_eq!(guarded.get("/metrics", &monitor).status, 200);
    assert_eq!(guarded.get("/v1/sources", &monitor).status, 403);
}

/// Given keys and tokens without `josh:read`, when they are used, then 403 names the missing scope.
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
        // A token gives no more than its subject may do.
        token(json!({ "sub": "auth0|bob" })),
    ] {
        for answer in [
            guarded.get("/v1/sources", &credential),
            guarded.rpc(&message("tools/list", json!({})), Some(&credential)),
        ] {
            assert_eq!((answer.status, answer.code().as_str()), (403, "insufficient_scope"));
            assert_eq!(answer.json()["error"]["hint"]["scope"], "josh:read");
            let challenge = answer.header("www-authenticate");
            assert!(
                challenge.contains("error=\"insufficient_scope\"")
                    && challenge.contains("scope=\"josh:read\""),
                "{challenge}"
            );
        }
    }
}

/// Given a running server, when a key is added, used and revoked, then each takes effect on the
/// next request, without a restart.
#[test]
fn keys_take_effect_at_once_and_are_stored_as_hashes() {
    let guarded = Guarded::start(None, &[]);
    let path = "/v1/bills/hr:119:1";
    assert_eq!(guarded.server.get(path).status, 401);
    let key = guarded.keys(&["add", "alice"]);
    assert!(
        key.starts_with("josh_") && key.len() > 40 && !key.contains('\n'),
        "standard output is the key alone"
    );
    let answer = guarded.get(path, &key);
    assert_eq!((answer.status, answer.header("cache-control")), (200, "private, no-cache"));
    let file = std::fs::read_to_string(&guarded.keys).unwrap();
    assert!(!file.contains(&key[5..]) && file.contains("sha256"), "{file}");
    let list = guarded.keys(&["list"]);
    assert!(
        list.contains("alice") && list.contains("josh:read") && !list.contains(&key[5..]),
        "{list}"
    );
    let listed: Value = serde_json::from_str(&guarded.keys(&["list", "--json"])).unwrap();
    assert!(listed[0]["name"] == "alice" && listed[0]["sha256"].is_null(), "{listed}");
    guarded.keys(&["revoke", "alice"]);
    assert_eq!(guarded.get(path, &key).status, 401);
    assert!(guarded.keys(&["list"]).contains("revoked"));
    for args in [&["revoke", "nobody"][..], &["add", "x", "--scopes", "everything"], &["add", " "]]
    {
        let mut all = vec!["keys"];
        all.extend(args);
        all.extend(["--keys", guarded.keys.to_str().unwrap()]);
        assert_eq!(josh(&all).output().unwrap().status.code(), Some(2), "{args:?}");
    }
}

/// Given a server that accepts tokens, when a client looks for the OAuth server, then both
/// documents of RFC 9728 name it, and the challenge leads there.
#[test]
fn clients_find_the_oauth_server() {
    let (guarded, ..) = &*SHARED;
    let challenge = guarded.server.get("/v1/sources").header("www-authenticate").to_string();
    let metadata = challenge.split('"').nth(1).unwrap();
    assert!(metadata.starts_with(&guarded.server.url), "{challenge}");
    for path in [
        "/.well-known/oauth-protected-resource",
        metadata.strip_prefix(&guarded.server.url).unwrap(),
    ] {
        let about = guarded.server.get(path).json();
        assert_eq!(about["resource"], format!("{}/mcp", guarded.server.url), "{path}");
        assert_eq!(about["authorization_servers"], json!([ISSUER]));
        assert_eq!(about["scopes_supported"], json!(["josh:read"]));
        assert_eq!(about["bearer_methods_supported"], json!(["header"]));
    }
    let page = guarded.server.get("/mcp").text();
    assert!(
        page.contains("--header 'Authorization: Bearer ${JOSH_API_KEY}'")
            && page.contains("Bearer ${env:JOSH_API_KEY}"),
        "{page}"
    );
    assert!(!SAMPLE.get("/mcp").text().contains("Bearer"));
    let public = Guarded::start(None, &["--public-url", "https://josh.example.org"]);
    let challenge = public.server.get("/v1/sources").header("www-authenticate").to_string();
    assert!(
        challenge.contains("\"https://josh.example.org/.well-known/oauth-protected-resource/mcp\""),
        "{challenge}"
    );
    let about = public.server.get("/.well-known/oauth-protected-resource").json();
    assert_eq!(
        (&about["resource"], &about["authorization_servers"]),
        (&json!("https://josh.example.org/mcp"), &json!([]))
    );
}
