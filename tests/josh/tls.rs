//! Section 11: HTTPS. Certificates from files that may change, self-signed ones, client
//! certificates, HTTP/2, redirects.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};

use crate::mcp::block_on;
use crate::support::{Server, eventually, josh};

/// A certificate for this machine in two files, and what can be signed with it.
struct Authority {
    chain: PathBuf,
    key: PathBuf,
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
}

fn certificate(folder: &Path, name: &str) -> Authority {
    issued(folder, name, rcgen::IsCa::NoCa)
}

fn authority(folder: &Path, name: &str) -> Authority {
    issued(folder, name, rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained))
}

fn issued(folder: &Path, name: &str, is_ca: rcgen::IsCa) -> Authority {
    let pair = rcgen::KeyPair::generate().unwrap();
    let mut params =
        rcgen::CertificateParams::new(["localhost".to_string(), "127.0.0.1".to_string()]).unwrap();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params.is_ca = is_ca;
    let (chain, key) = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
    std::fs::write(&chain, params.self_signed(&pair).unwrap().pem()).unwrap();
    std::fs::write(&key, pair.serialize_pem()).unwrap();
    Authority { chain, key, issuer: rcgen::Issuer::new(params, pair) }
}

fn start(authority: &Authority, more: &[&str]) -> Server {
    let mut args = vec![
        "--tls-cert",
        authority.chain.to_str().unwrap(),
        "--tls-key",
        authority.key.to_str().unwrap(),
    ];
    args.extend(more);
    Server::start(&args)
}

#[test]
fn records_and_mcp_over_https() {
    let folder = tempfile::tempdir().unwrap();
    let authority = certificate(folder.path(), "one");
    let server = start(&authority, &[]).trusting(&authority.chain);
    assert!(server.url.starts_with("https://"), "{}", server.url);
    assert_eq!(server.get("/v1/bills/hr:119:1").json()["data"]["id"], "hr:119:1");
    let about = server.get("/.well-known/oauth-protected-resource").json();
    assert_eq!(about["resource"], format!("{}/mcp", server.url));
    let list = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let headers =
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    assert_eq!(server.post("/mcp", &headers, list).status, 200);
    let stranger = certificate(folder.path(), "other");
    let server = server.trusting(&stranger.chain);
    assert!(
        server.try_send("GET", "/livez", &[]).is_err(),
        "a client that does not trust the certificate does not connect"
    );
}

/// Given a running server, when its certificate is replaced, then new connections get the new one;
/// when by garbage, the old one stays in use and `/readyz` says so.
#[test]
fn a_new_certificate_is_loaded_and_a_bad_one_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (certificate(folder.path(), "old"), certificate(folder.path(), "new"));
    let served = Authority {
        chain: folder.path().join("served.pem"),
        key: folder.path().join("served.key"),
        issuer: certificate(folder.path(), "x").issuer,
    };
    std::fs::copy(&old.chain, &served.chain).unwrap();
    std::fs::copy(&old.key, &served.key).unwrap();
    let server = start(&served, &[]).trusting(&old.chain);
    assert_eq!(server.get("/livez").status, 200);
    std::fs::copy(&new.chain, &served.chain).unwrap();
    std::fs::copy(&new.key, &served.key).unwrap();
    let mut server = server.trusting(&new.chain);
    eventually("the new certificate is served", || server.try_send("GET", "/livez", &[]).is_ok());
    std::fs::write(&served.chain, "no certificate").unwrap();
    server.signal("HUP");
    eventually("it is refused", || server.logged("new certificate refused"));
    server = server.trusting(&new.chain);
    let ready = server.get("/readyz");
    assert_eq!((ready.status, &ready.json()["status"]), (200, &serde_json::json!("ready")));
    assert!(ready.json()["refused"]["certificate"].is_string(), "{}", ready.text());
    // A key of another certificate does not match.
    std::fs::copy(&new.chain, &served.chain).unwrap();
    std::fs::copy(&old.key, &served.key).unwrap();
    server.signal("HUP");
    eventually("it is refused", || server.logged("do not match"));
    std::fs::copy(&new.key, &served.key).unwrap();
    server.signal("HUP");
    eventually("all is well again", || server.get("/readyz").json()["refused"].is_null());
}

/// Given no certificate, when `--tls self-signed` is given, then one is created and kept for the
/// next start, with a key that only its owner can read, and its fingerprint is printed.
#[test]
fn a_self_signed_certificate_is_kept_and_its_fingerprint_printed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = [("XDG_DATA_HOME", folder.path().to_str().unwrap())];
    let start = || Server::start_with(&["--tls", "self-signed"], &data);
    let printed = |server: &Server| {
        let log = server.log();
        let line = log.iter().find(|l| l.contains("SHA-256")).expect("a fingerprint").clone();
        line.rsplit(' ').next().unwrap().to_string()
    };
    let first = start();
    let fingerprint = printed(&first);
    let chain = folder.path().join("josh/tls/self-signed.pem");
    let der = CertificateDer::from_pem_file(&chain).unwrap();
    use sha2::Digest;
    let expected: Vec<String> =
        sha2::Sha256::digest(&der).iter().map(|b| format!("{b:02X}")).collect();
    assert_eq!(fingerprint, expected.join(":"));
    let mode = std::fs::metadata(folder.path().join("josh/tls/self-signed.key"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let first = first.trusting(&chain);
    assert_eq!(first.get("/livez").status, 200);
    drop(first);
    assert_eq!(printed(&start()), fingerprint);
}

fn client(roots: &Path, identity: Option<(&Path, &Path)>) -> ClientConfig {
    let mut store = RootCertStore::empty();
    store.add(CertificateDer::from_pem_file(roots).unwrap()).unwrap();
    let builder =
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(store);
    match identity {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => builder
            .with_client_auth_cert(
                vec![CertificateDer::from_pem_file(chain).unwrap()],
                PrivateKeyDer::from_pem_file(key).unwrap(),
            )
            .unwrap(),
    }
}

/// Sends one request as a browser does, which offers HTTP/2, too, and returns the status, or why
/// there is none.
fn request(url: &str, mut config: ClientConfig, path: &str) -> Result<u16, String> {
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let address = url.strip_prefix("https://").unwrap().to_string();
    block_on(async move {
        let tcp = tokio::net::TcpStream::connect(&address).await.map_err(|e| e.to_string())?;
        let name = ServerName::try_from("localhost").unwrap();
        let tls = tokio_rustls::TlsConnector::from(Arc::new(config));
        let mut stream = tls.connect(name, tcp).await.map_err(|e| e.to_string())?;
        // HTTP/2 is not offered: actix can't limit what a client does with it.
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.map_err(|e| e.to_string())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.map_err(|e| e.to_string())?;
        let status = answer.get(9..12).ok_or("no answer")?;
        String::from_utf8_lossy(status).parse().map_err(|_| "no status".to_string())
    })
}

#[test]
fn a_client_that_offers_http_2_gets_http_1() {
    let folder = tempfile::tempdir().unwrap();
    let authority = certificate(folder.path(), "one");
    let server = start(&authority, &[]).trusting(&authority.chain);
    assert_eq!(server.get("/livez").header("strict-transport-security"), "max-age=31536000");
    assert_eq!(request(&server.url, client(&authority.chain, None), "/v1/bills/hr:119:1"), Ok(200));
    assert_eq!(request(&server.url, client(&authority.chain, None), "/v1/nothing"), Ok(404));
}

/// Given a server that requires certificates of one authority, when clients connect with one, with
/// none, or with one of another authority, then only the first is accepted.
#[test]
fn clients_without_the_right_certificate_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (own, stranger) = (authority(folder.path(), "own"), authority(folder.path(), "stranger"));
    let issue = |by: &Authority, name: &str| {
        let pair = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec![name.to_string()]).unwrap();
        let (chain, key) =
            (folder.path().join(format!("{name}.pem")), folder.path().join(format!("{name}.key")));
        std::fs::write(&chain, params.signed_by(&pair, &by.issuer).unwrap().pem()).unwrap();
        std::fs::write(&key, pair.serialize_pem()).unwrap();
        (chain, key)
    };
    let (member, outsider) = (issue(&own, "member"), issue(&stranger, "outsider"));
    let served = certificate(folder.path(), "served");
    let server = start(&served, &["--tls-client-ca", own.chain.to_str().unwrap()]);
    let ask = |identity: Option<(&Path, &Path)>| {
        request(&server.url, client(&served.chain, identity), "/livez")
    };
    assert_eq!(ask(Some((&member.0, &member.1))), Ok(200));
    assert!(ask(None).is_err());
    assert!(ask(Some((&outsider.0, &outsider.1))).is_err());
    // Another authority, without a restart.
    std::fs::copy(&stranger.chain, &own.chain).unwrap();
    eventually("the new authority counts", || ask(Some((&outsider.0, &outsider.1))) == Ok(200));
    assert!(ask(Some((&member.0, &member.1))).is_err());
}

/// Given a second address for plain HTTP, when anything is requested there, then it is redirected
/// to HTTPS.
#[test]
fn plain_http_is_redirected_to_https() {
    let folder = tempfile::tempdir().unwrap();
    let authority = certificate(folder.path(), "one");
    let server = start(&authority, &["--tls-redirect", "127.0.0.1:0"]);
    let banner = server.log();
    let plain = banner
        .iter()
        .find_map(|l| l.trim().strip_suffix("/ redirects to HTTPS"))
        .unwrap()
        .to_string();
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into();
    let answer = agent.get(format!("{plain}/v1/bills?limit=1")).call().unwrap();
    assert_eq!(answer.status(), 308);
    assert_eq!(
        answer.headers()["location"].to_str().unwrap(),
        format!("{}/v1/bills?limit=1", server.url)
    );
    // A name that may be anybody's.
    let answer = agent.get(&plain).header("host", "evil.example").call().unwrap();
    assert_eq!((answer.status().as_u16(), answer.headers().get("location")), (400, None));
}

/// Given an address that other machines can reach, when TLS or access control is missing, then Josh
/// does not start and says what to do.
#[test]
fn an_open_server_must_be_asked_for_explicitly() {
    let refused = |args: &[&str]| {
        let mut all = vec!["serve", "--listen", "0.0.0.0:0"];
        all.extend(args);
        let output = josh(&all).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let plain = refused(&[]);
    assert!(plain.contains("--tls-cert") && plain.contains("--allow-no-tls"), "{plain}");
    let open = refused(&["--tls", "self-signed"]);
    assert!(open.contains("josh keys add") && open.contains("--allow-no-auth"), "{open}");
    let folder = tempfile::tempdir().unwrap();
    for (args, says) in [
        (vec!["--tls-cert", "/nowhere.pem", "--tls-key", "/nowhere.key"], "/nowhere.pem"),
        (vec!["--tls-cert", "/nowhere.pem"], "--tls-key"),
        (
            vec!["--tls", "self-signed", "--tls-client-ca", "/nowhere.pem", "--allow-no-auth"],
            "/nowhere.pem",
        ),
    ] {
        let mut all = vec!["serve", "--listen", "127.0.0.1:0"];
        all.extend(args);
        let output = josh(&all).env("XDG_DATA_HOME", folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(says), "{says}");
    }
}
