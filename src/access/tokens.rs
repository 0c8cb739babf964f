//! Bearer tokens of an OAuth server: signature, issuer, audience and validity, checked on every
//! request.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use quick_cache::sync::Cache;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::jwks::Jwks;
use super::{Refusal, TokenOptions};

/// Longer than any token that a server issues.
const MAX_LENGTH: usize = 16 * 1024;

/// Tokens whose signature was verified and need not be verified again.
const CACHED_TOKENS: usize = 4096;

/// Seconds by which two clocks may differ.
const LEEWAY: u64 = 60;

/// The claims of a token that matter here.
#[derive(Debug, Deserialize)]
pub struct Claims {
    pub sub: String,
    exp: u64,
    #[serde(default)]
    nbf: u64,
    #[serde(default)]
    scope: String,
    /// The same in the forms that some servers use.
    #[serde(default)]
    scp: Words,
    #[serde(default)]
    permissions: Words,
}

/// A list of words, or one text with spaces between them.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    List(Vec<String>),
    Text(String),
}

impl Default for Words {
    fn default() -> Words {
        Words::List(Vec::new())
    }
}

impl Words {
    fn each(&self) -> impl Iterator<Item = &str> {
        let (list, text) = match self {
            Words::List(list) => (list.as_slice(), ""),
            Words::Text(text) => (&[][..], text.as_str()),
        };
        list.iter().map(String::as_str).chain(text.split(' '))
    }
}

/// Whether a token is meant for access to a server: other kinds (of an identity, of a logout) may
/// be signed with the same key. Many servers say only that it is a JWT, or nothing.
fn is_access_token(typ: Option<&str>) -> bool {
    let typ = typ.unwrap_or("JWT").to_ascii_lowercase();
    matches!(typ.strip_prefix("application/").unwrap_or(&typ), "jwt" | "at+jwt")
}

impl Claims {
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scope.split(' ').chain(self.scp.each()).chain(self.permissions.each())
    }

    fn is_valid_now(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        now <= self.exp.saturating_add(LEEWAY) && self.nbf <= now.saturating_add(LEEWAY)
    }
}

pub struct Tokens {
    issuer: String,
    audience: String,
    jwks: Arc<Jwks>,
    /// By the hash of the token and the edition of the key set it was verified with. Validity in
    /// time is checked on every request.
    known: Cache<([u8; 32], u64), Arc<Claims>>,
}

impl Tokens {
    pub fn new(options: &TokenOptions) -> Tokens {
        Tokens {
            issuer: options.issuer.clone(),
            audience: options.audience.clone(),
            jwks: Arc::new(Jwks::new(options.jwks.clone())),
            known: Cache::new(CACHED_TOKENS),
        }
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    pub async fn prepare(&self) -> Result<(), String> {
        self.jwks.prepare().await
    }

    /// The claims of a token whose signature is known to be right.
    pub fn known(&self, token: &str) -> Option<Arc<Claims>> {
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let claims = self.known.get(&(hash, self.jwks.now().edition))?;
        (!self.jwks.is_due() && claims.is_valid_now()).then_some(claims)
    }

    pub async fn check(&self, token: &str) -> Result<Arc<Claims>, Refusal> {
        if token.len() > MAX_LENGTH {
            return Err(Refusal::Invalid("The token is too long."));
        }
        if self.jwks.is_due() {
            self.jwks.refresh(false).await;
        }
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        if let Some(claims) = self.known.get(&(hash, self.jwks.now().edition)) {
            return if claims.is_valid_now() { Ok(claims) } else { Err(EXPIRED) };
        }
        let header = decode_header(token)
            .map_err(|_| Refusal::Invalid("This is neither an API key nor a token."))?;
        if !matches!(header.alg, Algorithm::RS256 | Algorithm::ES256 | Algorithm::EdDSA) {
            return Err(Refusal::Invalid("The token is not signed with RS256, ES256 or EdDSA."));
        }
        if !is_access_token(header.typ.as_deref()) {
            return Err(Refusal::Invalid("The token is not an access token."));
        }
        if header.crit.is_some() {
            return Err(Refusal::Invalid(
                "The token has critical header fields that are not supported.",
            ));
        }
        let kid = header.kid.as_deref();
        let mut set = self.jwks.now();
        let mut key = set.find(kid, header.alg);
        if key.is_none() {
            // Keys are rotated: this one may be new.
            self.jwks.refresh(true).await;
            set = self.jwks.now();
            key = set.find(kid, header.alg);
        }
        let key = key.ok_or(Refusal::Invalid(
            "The token is signed with a key that the OAuth server does not publish.",
        ))?;
        let mut rules = Validation::new(key.algorithm);
        rules.set_issuer(&[&self.issuer]);
        rules.set_audience(&[&self.audience]);
        rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        rules.validate_nbf = true;
        rules.leeway = LEEWAY;
        let claims =
            decode::<Claims>(token, &key.key, &rules).map_err(|error| refusal(&error))?.claims;
        let claims = Arc::new(claims);
        self.known.insert((hash, set.edition), claims.clone());
        Ok(claims)
    }
}

const EXPIRED: Refusal = Refusal::Invalid("The token is not valid at this time; get a new one.");

fn refusal(error: &jsonwebtoken::errors::Error) -> Refusal {
    use jsonwebtoken::errors::ErrorKind;
    match error.kind() {
        ErrorKind::ExpiredSignature | ErrorKind::ImmatureSignature => EXPIRED,
        ErrorKind::InvalidIssuer => Refusal::Invalid("The token is from another issuer."),
        ErrorKind::InvalidAudience => Refusal::Invalid("The token is for another audience."),
        ErrorKind::InvalidSignature => Refusal::Invalid("The token's signature is wrong."),
        _ => Refusal::Invalid("The token needs the claims sub, iss, aud and exp."),
    }
}
