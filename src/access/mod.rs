//! Who may access the server: everyone, holders of an API key, or holders of an API key or of a
//! token from the OAuth server that the operator named.

mod jwks;
mod keys;
mod scope;
mod tokens;

use std::path::PathBuf;
use std::time::Duration;

pub use jwks::JwksAddress;
pub use keys::{Key, KeyFile, default_key_file};
pub use scope::Scope;

use keys::Keys;
use tokens::{Claims, Tokens};

/// A file that could not be read is read again after this time, even if it looks unchanged: what
/// was in the way, such as missing permissions on its folder, may be gone.
const RETRY: Duration = Duration::from_secs(5);

/// How callers are identified.
#[derive(Clone, Debug)]
pub struct Options {
    /// The file of API keys and subjects.
    pub keys: PathBuf,
    /// Whose tokens are accepted; without it, only API keys are.
    pub tokens: Option<TokenOptions>,
}

#[derive(Clone, Debug)]
pub struct TokenOptions {
    pub issuer: String,
    pub audience: String,
    pub jwks: JwksAddress,
}

/// An identified caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// How the caller was identified: `api_key` or `oauth`.
    pub kind: &'static str,
    /// The id of the row in the key file, used by logs and limits.
    pub key: String,
    scopes: Vec<String>,
}

impl Identity {
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.iter().any(|own| Scope::read(own) == Some(scope))
    }
}

/// Why a caller was not identified. Shown to the caller: it never contains the credential, or what
/// a valid one would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No credential was sent.
    Missing,
    /// The credential is not valid.
    Invalid(&'static str),
}

/// Checks credentials. Created once, used by every request.
pub struct Access {
    keys: Keys,
    tokens: Option<Tokens>,
}

impl Access {
    pub fn new(options: &Options) -> Access {
        Access { keys: Keys::new(&options.keys), tokens: options.tokens.as_ref().map(Tokens::new) }
    }

    /// The URL of the OAuth server, for clients that look for one.
    pub fn issuer(&self) -> Option<&str> {
        self.tokens.as_ref().map(Tokens::issuer)
    }

    /// Whether tokens are accepted beside API keys.
    pub fn accepts_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    /// Reads what checking needs. A file that can't be used is an error that names the setting: it
    /// is better found now than by the first request.
    pub async fn prepare(&self) -> Result<(), String> {
        self.keys.check().map_err(|why| format!("keys: {why}"))?;
        match &self.tokens {
            Some(tokens) => tokens.prepare().await.map_err(|why| format!("auth_jwks: {why}")),
            None => Ok(()),
        }
    }

    /// Whether the key file can't be read at the moment, so that the keys known before stay in use.
    pub fn keys_are_unreadable(&self) -> bool {
        self.keys.are_unreadable()
    }

    /// Identifies the caller by the `Authorization` header if that needs no signature to be
    /// checked: by an API key, or by a token that was checked before.
    pub fn identify_cheaply(&self, authorization: &str) -> Option<Result<Identity, Refusal>> {
        let credential = match credential(authorization) {
            Ok(credential) => credential,
            Err(refusal) => return Some(Err(refusal)),
        };
        if let Some(secret) = credential.strip_prefix(keys::PREFIX) {
            let rows = self.keys.now();
            let unknown = Refusal::Invalid("The API key is unknown or revoked.");
            return Some(rows.by_secret(secret).ok_or(unknown).map(|key| Identity {
                kind: "api_key",
                key: key.id.clone(),
                scopes: key.scopes.clone(),
            }));
        }
        match &self.tokens {
            None => Some(Err(Refusal::Invalid("Only API keys are accepted here."))),
            Some(tokens) => tokens.known(credential).map(|claims| self.of_claims(&claims)),
        }
    }

    /// Identifies the caller by the `Authorization` header.
    pub async fn identify(&self, authorization: &str) -> Result<Identity, Refusal> {
        if let Some(identified) = self.identify_cheaply(authorization) {
            return identified;
        }
        match &self.tokens {
            Some(tokens) => self.of_claims(&*tokens.check(credential(authorization)?).await?),
            None => Err(Refusal::Missing),
        }
    }

    /// A token gives what its subject may do, and no more than it was issued for.
    fn of_claims(&self, claims: &Claims) -> Result<Identity, Refusal> {
        let rows = self.keys.now();
        let key = rows
            .by_subject(&claims.sub)
            .ok_or(Refusal::Invalid("The token's subject is not registered here."))?;
        let scopes = key
            .scopes
            .iter()
            .filter(|scope| claims.scopes().any(|given| Scope::read(given) == Scope::read(scope)));
        Ok(Identity { kind: "oauth", key: key.id.clone(), scopes: scopes.cloned().collect() })
    }
}

/// The API key or token in an `Authorization` header.
fn credential(authorization: &str) -> Result<&str, Refusal> {
    match authorization.split_once(' ') {
        Some((scheme, credential)) if scheme.eq_ignore_ascii_case("bearer") => {
            Ok(credential.trim())
        }
        _ => Err(Refusal::Invalid("The Authorization header must be Bearer and a credential.")),
    }
}
