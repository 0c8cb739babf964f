//! The public keys of an OAuth server: from a file, or from an address with a bounded number of questions. A key that is taken
//! out of the set is not good any more.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use tokio::sync::Mutex;

use crate::bundle::Stamp;

/// A set is asked for again when it is this old.
const FRESH: Duration = Duration::from_secs(600);
/// However many unknown keys are named, the server is not asked more often than this.
const PAUSE: Duration = Duration::from_secs(10);
/// An answer that takes longer, or is larger, is none.
const PATIENCE: Duration = Duration::from_secs(5);
const LARGEST: u64 = 1 << 20;

/// Where a key set is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JwksAddress {
    File(PathBuf),
    Url(String),
}

impl JwksAddress {
    pub fn read(text: &str) -> Result<JwksAddress, String> {
        let host = |rest: &str| rest.split(['/', ':', '?']).next().unwrap_or_default().to_string();
        match text.split_once("://") {
            None => Ok(JwksAddress::File(text.into())),
            Some(("https", _)) => Ok(JwksAddress::Url(text.into())),
            // On this machine there is nobody in between.
            Some(("http", rest)) if ["127.0.0.1", "localhost"].contains(&host(rest).as_str()) => {
                Ok(JwksAddress::Url(text.into()))
            }
            Some(_) => Err(format!("{text:?} could be changed on its way; give an https address or a file")),
        }
    }
}

/// A key, and the one algorithm that it is for: what a token claims about itself decides nothing.
pub struct PublicKey {
    pub key: DecodingKey,
    pub algorithm: Algorithm,
}

#[derive(Clone, Default)]
pub struct KeySet {
    /// Counts up with every new set, so that what was found good by an old one is looked at again.
    pub edition: u64,
    stamp: Option<Stamp>,
    by_id: HashMap<String, Arc<PublicKey>>,
    nameless: Vec<Arc<PublicKey>>,
}

impl KeySet {
    /// The key that a token names. One that names none gets the only key there is for its algorithm, if it is the only one.
    pub fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> Option<Arc<PublicKey>> {
        match kid {
            Some(kid) => self.by_id.get(kid).filter(|key| key.algorithm == algorithm).cloned(),
            None => {
                let mut fitting = self.by_id.values().chain(&self.nameless).filter(|key| key.algorithm == algorithm);
                fitting.next().filter(|_| fitting.next().is_none()).cloned()
            }
        }
    }

    fn read(text: &str) -> Result<KeySet, String> {
        // Key by key: one of a kind that we don't know must not spoil the others.
        let set: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let keys = set["keys"].as_array().ok_or("it has no list called keys")?;
        let mut found = KeySet::default();
        for jwk in keys.iter().filter_map(|key| serde_json::from_value::<Jwk>(key.clone()).ok()) {
            let Some(key) = usable(&jwk) else { continue };
            match jwk.common.key_id {
                Some(id) => drop(found.by_id.insert(id, Arc::new(key))),
                None => found.nameless.push(Arc::new(key)),
            }
        }
        if found.by_id.is_empty() && found.nameless.is_empty() {
            return Err("it holds no key for RS256, ES256 or EdDSA signatures".into());
        }
        Ok(found)
    }
}

fn usable(jwk: &Jwk) -> Option<PublicKey> {
    if jwk.common.public_key_use.as_ref().is_some_and(|kind| *kind != PublicKeyUse::Signature) {
        return None;
    }
    let algorithm = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => Algorithm::ES256,
        AlgorithmParameters::OctetKeyPair(curve) if curve.curve == EllipticCurve::Ed25519 => Algorithm::EdDSA,
        _ => return None,
    };
    let named = jwk.common.key_algorithm;
    if named.is_some_and(|named| named.to_string() != format!("{algorithm:?}")) {
        return None;
    }
    Some(PublicKey { key: DecodingKey::from_jwk(jwk).ok()?, algorithm })
}

/// The key set as a server keeps it.
pub struct Jwks {
    address: JwksAddress,
    current: ArcSwap<KeySet>,
    editions: AtomicU64,
    /// When the set was last asked for. Held while it is being asked for, so that one asks and the others wait for that answer.
    asked: Mutex<Option<Instant>>,
}

impl Jwks {
    pub fn new(address: JwksAddress) -> Jwks {
        Jwks { address, current: ArcSwap::default(), editions: AtomicU64::new(0), asked: Mutex::new(None) }
    }

    /// Gets the set for the first time. A file that can't be used is a mistake of whoever named it; a server may be up later.
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

    /// Looks whether there is a newer set: always for a file that changed; for an address when the set is old, or when a key is
    /// missing from it, but never more often than `PAUSE` allows.
    pub async fn refresh(self: &Arc<Self>, is_missed: bool) {
        match &self.address {
            JwksAddress::File(path) => {
                let stamp = Stamp::of(path).ok();
                if self.now().stamp != stamp {
                    self.take(read_file(path), stamp);
                }
            }
            JwksAddress::Url(url) => {
                let mut asked = self.asked.lock().await;
                let pause = if is_missed { PAUSE } else { FRESH };
                if asked.is_none_or(|asked| asked.elapsed() >= pause) {
                    let url = url.clone();
                    let got = tokio::task::spawn_blocking(move || get(&url)).await;
                    let got = got.map_err(|e| e.to_string()).and_then(|got| got);
                    self.take(got.and_then(|text| KeySet::read(&text)), None);
                    *asked = Some(Instant::now());
                }
            }
        }
    }

    /// Whether the set should be looked at again, as far as can be said without looking.
    pub fn is_due(&self) -> bool {
        match &self.address {
            JwksAddress::File(path) => self.now().stamp != Stamp::of(path).ok(),
            JwksAddress::Url(_) => self.asked.try_lock().is_ok_and(|at| at.is_none_or(|at| at.elapsed() >= FRESH)),
        }
    }

    fn take(&self, read: Result<KeySet, String>, stamp: Option<Stamp>) {
        match read {
            Ok(set) => {
                let edition = self.editions.fetch_add(1, Ordering::Relaxed) + 1;
                self.current.store(Arc::new(KeySet { edition, stamp, ..set }));
            }
            Err(error) => {
                // With the new stamp: a file is not read again before it changes again.
                self.current.store(Arc::new(KeySet { stamp, ..(*self.now()).clone() }));
                tracing::error!(from = ?self.address, "the OAuth server's keys can't be read, the known ones go on: {error}");
            }
        }
    }
}

fn read_file(path: &Path) -> Result<KeySet, String> {
    KeySet::read(&std::fs::read_to_string(path).map_err(|e| e.to_string())?)
}

fn get(url: &str) -> Result<String, String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .max_redirects(0)
        .tls_config(ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::PlatformVerifier).build())
        .build()
        .into();
    let mut answer = agent.get(url).call().map_err(|e| e.to_string())?;
    answer.body_mut().with_config().limit(LARGEST).read_to_string().map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_file_or_can_be_trusted() {
        assert_eq!(JwksAddress::read("keys.json"), Ok(JwksAddress::File("keys.json".into())));
        assert!(matches!(JwksAddress::read("https://a.example/jwks"), Ok(JwksAddress::Url(_))));
        assert!(matches!(JwksAddress::read("http://127.0.0.1:9/jwks"), Ok(JwksAddress::Url(_))));
        for bad in ["http://a.example/jwks", "ftp://a.example", "http://localhost.evil.example/jwks"] {
            assert!(JwksAddress::read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_of_other_kinds_are_passed_over() {
        let ed = r#"{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
        let oct = r#"{"kty":"oct","kid":"b","k":"c2VjcmV0"}"#;
        let odd = r#"{"kty":"XYZ","kid":"c"}"#;
        let wrong = ed.replace("\"a\"", "\"d\",\"alg\":\"RS256\"");
        let encryption = ed.replace("\"a\"", "\"e\",\"use\":\"enc\"");
        let set = KeySet::read(&format!(r#"{{"keys":[{ed},{oct},{odd},{wrong},{encryption}]}}"#)).unwrap();
        assert!(set.find(Some("a"), Algorithm::EdDSA).is_some() && set.find(None, Algorithm::EdDSA).is_some());
        assert!(set.find(Some("a"), Algorithm::RS256).is_none(), "a key is for one algorithm");
        assert!(["b", "c", "d", "e"].iter().all(|id| set.find(Some(id), Algorithm::EdDSA).is_none()));
        assert!(set.find(Some("b"), Algorithm::HS256).is_none());
        for bad in ["", "{}", "[]", r#"{"keys":[]}"#, &format!(r#"{{"keys":[{oct}]}}"#)] {
            assert!(KeySet::read(bad).is_err(), "{bad}");
        }
    }
}
