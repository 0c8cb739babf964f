//! The public keys of an OAuth server: from a file, or from a URL with a bounded number of
//! requests. A key that is removed from the set is no longer valid.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use tokio::sync::Mutex;

use super::RETRY;
use crate::stamp::Stamp;

/// A set is fetched again when it is this old.
const MAX_AGE: Duration = Duration::from_secs(600);
/// However many unknown keys tokens name, the server is not asked more often than this.
const MIN_PAUSE: Duration = Duration::from_secs(10);
/// Limits of one response.
const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_BYTES: u64 = 1 << 20;

/// Where a key set is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JwksAddress {
    File(PathBuf),
    Url(String),
}

impl JwksAddress {
    pub fn parse(text: &str) -> Result<JwksAddress, String> {
        let host = |rest: &str| rest.split(['/', ':', '?']).next().unwrap_or_default().to_string();
        match text.split_once("://") {
            None => Ok(JwksAddress::File(text.into())),
            Some(("https", _)) => Ok(JwksAddress::Url(text.into())),
            // On this machine nobody is in between.
            Some(("http", rest)) if ["127.0.0.1", "localhost"].contains(&host(rest).as_str()) => {
                Ok(JwksAddress::Url(text.into()))
            }
            Some(_) => {
                Err(format!("{text:?} could be changed in transit; give an https URL or a file"))
            }
        }
    }
}

/// A key, and the only algorithm it is used with: what a token claims about itself decides
/// nothing.
pub struct PublicKey {
    pub key: DecodingKey,
    pub algorithm: Algorithm,
}

#[derive(Clone, Default)]
pub struct KeySet {
    /// Grows with every new set, so that tokens accepted with an old one are checked again.
    pub edition: u64,
    stamp: Option<Stamp>,
    /// When a newer file could not be read.
    failed: Option<Instant>,
    by_id: HashMap<String, Arc<PublicKey>>,
    without_id: Vec<Arc<PublicKey>>,
}

impl KeySet {
    /// The key that a token names. If it names none: the only key for its algorithm, if there is
    /// only one.
    pub fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> Option<Arc<PublicKey>> {
        match kid {
            Some(kid) => self.by_id.get(kid).filter(|key| key.algorithm == algorithm).cloned(),
            None => {
                let mut fitting = self
                    .by_id
                    .values()
                    .chain(&self.without_id)
                    .filter(|key| key.algorithm == algorithm);
                fitting.next().filter(|_| fitting.next().is_none()).cloned()
            }
        }
    }

    fn parse(text: &str) -> Result<KeySet, String> {
        // Key by key: an unknown kind must not spoil the others.
        let set: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let keys = set["keys"].as_array().ok_or("it has no list named keys")?;
        let mut found = KeySet::default();
        for jwk in keys.iter().filter_map(|key| serde_json::from_value::<Jwk>(key.clone()).ok()) {
            let Some(key) = public_key(&jwk) else { continue };
            match jwk.common.key_id {
                Some(id) => drop(found.by_id.insert(id, Arc::new(key))),
                None => found.without_id.push(Arc::new(key)),
            }
        }
        if found.by_id.is_empty() && found.without_id.is_empty() {
            return Err("it holds no key for RS256, ES256 or EdDSA signatures".into());
        }
        Ok(found)
    }
}

/// The key, if it is for signatures that we accept.
fn public_key(jwk: &Jwk) -> Option<PublicKey> {
    if jwk.common.public_key_use.as_ref().is_some_and(|kind| *kind != PublicKeyUse::Signature) {
        return None;
    }
    let algorithm = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => {
            Algorithm::ES256
        }
        AlgorithmParameters::OctetKeyPair(curve) if curve.curve == EllipticCurve::Ed25519 => {
            Algorithm::EdDSA
        }
        _ => return None,
    };
    let named = jwk.common.key_algorithm;
    if named.is_some_and(|named| named.to_string() != format!("{algorithm:?}")) {
        return None;
    }
    Some(PublicKey { key: DecodingKey::from_jwk(jwk).ok()?, algorithm })
}

/// The key set, kept up to date.
pub struct Jwks {
    address: JwksAddress,
    current: ArcSwap<KeySet>,
    editions: AtomicU64,
    /// When the set was last fetched. Locked during a fetch, so that one request fetches and the
    /// others wait for it.
    fetched: Mutex<Option<Instant>>,
}

impl Jwks {
    pub fn new(address: JwksAddress) -> Jwks {
        Jwks {
            address,
            current: ArcSwap::default(),
            editions: AtomicU64::new(0),
            fetched: Mutex::new(None),
        }
    }

    /// Gets the set for the first time. A file that can't be used is a mistake in the settings; a
    /// server that is down may be up later.
    pub async fn prepare(self: &Arc<Self>) -> Result<(), String> {
        if let JwksAddress::File(path) = &self.address {
            read_file(path).map_err(|why| format!("{}: {why}", path.display()))?;
        }
        self.refresh(false).await;
        Ok(())
    }

    /// The key set as far as it is known.
    pub fn now(&self) -> Arc<KeySet> {
        self.current.load_full()
    }

    /// Gets a newer set if there is one: from a file when it changed; from a URL when the set is
    /// old or, no more often than `MIN_PAUSE` allows, when a key is missing from it.
    pub async fn refresh(self: &Arc<Self>, is_key_missing: bool) {
        match &self.address {
            JwksAddress::File(path) => {
                if self.is_due() {
                    // Before reading: a change during the read is noticed by the next request.
                    let stamp = Stamp::of(path).ok();
                    self.store(read_file(path), stamp);
                }
            }
            JwksAddress::Url(url) => {
                let mut fetched = self.fetched.lock().await;
                let pause = if is_key_missing { MIN_PAUSE } else { MAX_AGE };
                if fetched.is_none_or(|at| at.elapsed() >= pause) {
                    let url = url.clone();
                    let got = tokio::task::spawn_blocking(move || get(&url)).await;
                    let got = got.map_err(|e| e.to_string()).and_then(|got| got);
                    self.store(got.and_then(|text| KeySet::parse(&text)), None);
                    *fetched = Some(Instant::now());
                }
            }
        }
    }

    /// Whether `refresh` is due, as far as is known without a request.
    pub fn is_due(&self) -> bool {
        match &self.address {
            JwksAddress::File(path) => {
                let known = self.now();
                known.stamp != Stamp::of(path).ok()
                    || known.failed.is_some_and(|failed| failed.elapsed() >= RETRY)
            }
            JwksAddress::Url(_) => {
                self.fetched.try_lock().is_ok_and(|at| at.is_none_or(|at| at.elapsed() >= MAX_AGE))
            }
        }
    }

    fn store(&self, read: Result<KeySet, String>, stamp: Option<Stamp>) {
        match read {
            Ok(set) => {
                let edition = self.editions.fetch_add(1, Ordering::Relaxed) + 1;
                self.current.store(Arc::new(KeySet { edition, stamp, ..set }));
            }
            Err(error) => {
                // With the new stamp: the file is read again when it changes, or after a while.
                let failed = Some(Instant::now());
                self.current.store(Arc::new(KeySet { stamp, failed, ..(*self.now()).clone() }));
                tracing::error!(
                    from = ?self.address,
                    "the OAuth server's keys can't be read, the known keys stay in use: {error}"
                );
            }
        }
    }
}

fn read_file(path: &Path) -> Result<KeySet, String> {
    KeySet::parse(&std::fs::read_to_string(path).map_err(|e| e.to_string())?)
}

fn get(url: &str) -> Result<String, String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .max_redirects(0)
        .tls_config(
            ureq::tls::TlsConfig::builder()
                .root_certs(ureq::tls::RootCerts::PlatformVerifier)
                .build(),
        )
        .build()
        .into();
    let mut response = agent.get(url).call().map_err(|e| e.to_string())?;
    response.body_mut().with_config().limit(MAX_BYTES).read_to_string().map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ED: &str = r#"{"kty":"OKP","crv":"Ed25519","kid":"a",
        "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

    /// Given a file that could not be read, when it looks the same later, then it is read again all
    /// the same: what was in the way may be gone.
    #[test]
    fn a_failed_read_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jwks.json");
        std::fs::write(&path, format!(r#"{{"keys":[{ED}]}}"#)).unwrap();
        let jwks = Arc::new(Jwks::new(JwksAddress::File(path.clone())));
        let failed = |ago| KeySet {
            stamp: Stamp::of(&path).ok(),
            failed: Some(Instant::now() - ago),
            ..KeySet::default()
        };
        jwks.current.store(Arc::new(failed(RETRY / 2)));
        assert!(!jwks.is_due(), "not on every request");
        jwks.current.store(Arc::new(failed(RETRY)));
        assert!(jwks.is_due());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(jwks.refresh(false));
        assert!(jwks.now().find(Some("a"), Algorithm::EdDSA).is_some() && !jwks.is_due());
    }

    #[test]
    fn an_address_is_a_file_or_a_url_that_can_be_trusted() {
        assert_eq!(JwksAddress::parse("keys.json"), Ok(JwksAddress::File("keys.json".into())));
        assert!(matches!(JwksAddress::parse("https://a.example/jwks"), Ok(JwksAddress::Url(_))));
        assert!(matches!(JwksAddress::parse("http://127.0.0.1:9/jwks"), Ok(JwksAddress::Url(_))));
        for bad in
            ["http://a.example/jwks", "ftp://a.example", "http://localhost.evil.example/jwks"]
        {
            assert!(JwksAddress::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_of_other_kinds_are_skipped() {
        let ed = ED;
        let oct = r#"{"kty":"oct","kid":"b","k":"c2VjcmV0"}"#;
        let odd = r#"{"kty":"XYZ","kid":"c"}"#;
        let wrong = ed.replace("\"a\"", "\"d\",\"alg\":\"RS256\"");
        let encryption = ed.replace("\"a\"", "\"e\",\"use\":\"enc\"");
        let set = KeySet::parse(&format!(r#"{{"keys":[{ed},{oct},{odd},{wrong},{encryption}]}}"#))
            .unwrap();
        assert!(
            set.find(Some("a"), Algorithm::EdDSA).is_some()
                && set.find(None, Algorithm::EdDSA).is_some()
        );
        assert!(set.find(Some("a"), Algorithm::RS256).is_none(), "a key is for one algorithm");
        assert!(
            ["b", "c", "d", "e"].iter().all(|id| set.find(Some(id), Algorithm::EdDSA).is_none())
        );
        assert!(set.find(Some("b"), Algorithm::HS256).is_none());
        for bad in ["", "{}", "[]", r#"{"keys":[]}"#, &format!(r#"{{"keys":[{oct}]}}"#)] {
            assert!(KeySet::parse(bad).is_err(), "{bad}");
        }
    }
}
