//! Signing in to the pages of a server that asks for a key.

use crate::access::Guarded;
use crate::explorer::BROWSER;

const FORM: &[(&str, &str)] = &[("content-type", "application/x-www-form-urlencoded")];

/// Given a server with keys, when somebody signs in, then a cookie reads pages and REST, but never
/// calls tools, and is good for nothing once the key is revoked or they signed out.
#[test]
fn a_cookie_stands_for_a_key_and_only_for_reading() {
    let guarded = Guarded::start(None, &[]);
    let server = &guarded.server;
    let refused = server.send("GET", "/bills", BROWSER);
    assert_eq!(refused.status, 401);
    assert!(refused.text().contains("href=\"/login\""), "{}", refused.text());
    let home = server.send("GET", "/", BROWSER);
    assert_eq!(home.status, 200);
    assert!(home.text().contains("sign in") && !home.text().contains("Newest laws"));
    assert!(server.send("GET", "/login", BROWSER).text().contains("type=\"password\""));

    let wrong = server.post("/login", FORM, b"key=josh_nonsense");
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, ""));
    let key = guarded.keys(&["add", "reader"]);
    let sign_in = || {
        let answer = server.post("/login", FORM, format!("key={key}").as_bytes());
        assert_eq!((answer.status, answer.header("location")), (303, "/"));
        let cookie = answer.header("set-cookie").to_string();
        assert!(cookie.starts_with("__Host-josh=") && !cookie.contains(&key), "{cookie}");
        for flag in ["Secure", "HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
            assert!(cookie.contains(flag), "{cookie}");
        }
        cookie.split(';').next().unwrap().to_string()
    };
    let cookie = sign_in();
    let with = |path: &str, cookie: &str| {
        server.send("GET", path, &[("accept", "text/html"), ("cookie", cookie)])
    };
    for path in ["/bills", "/bills/hr:119:1", "/search?q=water", "/v1/bills?limit=1"] {
        assert_eq!(with(path, &cookie).status, 200, "{path}");
        assert_eq!(with(path, "__Host-josh=00").status, 401, "{path}");
    }
    let home = with("/", &cookie);
    assert!(home.text().contains("Newest laws"));
    assert!(home.header("cache-control").starts_with("private"));
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("cookie", cookie.as_str()),
    ];
    assert_eq!(server.post("/mcp", &headers, call).status, 401, "never for agents");

    let out = server.post("/logout", &[("cookie", cookie.as_str())], b"");
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(with("/bills", &cookie).status, 401, "signed out");

    let cookie = sign_in();
    assert_eq!(with("/bills", &cookie).status, 200);
    guarded.keys(&["revoke", "reader"]);
    assert_eq!(with("/bills", &cookie).status, 401, "revoked at once");
}
