//! Who may ask: everyone, or those with an API key or a token of the OAuth server that the operator named.

mod jwks;
mod keys;
mod tokens;

use std::path::PathBuf;

pub use jwks::JwksAddress;
pub use keys::{Key, KeyFile, default_key_file};

use keys::Keys;
use tokens::Tokens;

/// Reading: all of REST and every tool there is.
pub const READ: &str = "josh:read";
/// Reserved for tools that do something; there is none yet.
pub const EXECUTE: &str = "josh:execute";
pub const SCOPES: &[&str] = &[READ, EXECUTE];

/// How callers are known.
#[derive(Clone, Debug)]
pub struct Options {
    /// The file of API keys and subjects.
    pub keys: PathBuf,
    /// Whose tokens are taken; without, only API keys are.
    pub tokens: Option<TokenOptions>,
}

#[derive(Clone, Debug)]
pub struct TokenOptions {
    pub issuer: String,
    pub audience: String,
    pub jwks: JwksAddress,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// How they are known: `api_key` or `oauth`.
    pub kind: &'static str,
    /// The row of the key file: what logs and limits go by.
    pub key: String,
    scopes: Vec<String>,
}

impl Identity {
    pub fn may(&self, scope: &str) -> bool {
        self.scopes.iter().any(|own| own == scope)
    }
}

/// Why a caller is not known. Said to the caller: it never holds the token, or what a right one would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing was given.
    Missing,
    /// What was given is not good.
    Invalid(&'static str),
}

/// Checks credentials. Made once, asked by every request.
pub struct Access {
    keys: Keys,
    tokens: Option<Tokens>,
}

impl Access {
    pub fn new(options: &Options) -> Access {
        Access { keys: Keys::new(&options.keys), tokens: options.tokens.as_ref().map(Tokens::new) }
    }

    /// The address of the OAuth server, for clients that look for one.
    pub fn issuer(&self) -> Option<&str> {
        self.tokens.as_ref().map(Tokens::issuer)
    }

    /// Gets what checking needs from elsewhere, so that the first request does not wait for it.
    pub async fn prepare(&self) -> Result<(), String> {
        match &self.tokens {
            Some(tokens) => tokens.prepare().await,
            None => Ok(()),
        }
    }

    /// Who asks, by the `Authorization` header.
    pub async fn identify(&self, authorization: &str) -> Result<Identity, Refusal> {
        let credential = match authorization.split_once(' ') {
            Some((scheme, credential)) if scheme.eq_ignore_ascii_case("bearer") => credential.trim(),
            _ => return Err(Refusal::Invalid("Send Authorization: Bearer and the key or token.")),
        };
        let rows = self.keys.now();
        if let Some(secret) = credential.strip_prefix(keys::PREFIX) {
            let key = rows.by_secret(secret).ok_or(Refusal::Invalid("The API key is unknown or revoked."))?;
            return Ok(Identity { kind: "api_key", key: key.id.clone(), scopes: key.scopes.clone() });
        }
        let tokens = self.tokens.as_ref().ok_or(Refusal::Invalid("Only API keys are taken here."))?;
        let claims = tokens.check(credential).await?;
        let key =
            rows.by_subject(&claims.sub).ok_or(Refusal::Invalid("The token's subject is not registered here."))?;
        // A token is good for what its subject may do, and for no more than it was issued for.
        let scopes = key.scopes.iter().filter(|scope| claims.scopes().any(|given| given == scope.as_str()));
        Ok(Identity { kind: "oauth", key: key.id.clone(), scopes: scopes.cloned().collect() })
    }
}
