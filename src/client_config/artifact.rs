//! A payload that was signed: content-addressed by its canonical JSON (RFC 8785), with one
//! signature over the payload alone and one over what it is for. Both are checked before an
//! artifact is used.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::signing::{PrivateKey, PublicKey};

/// Bytes of the canonical payload. The largest real one has some kilobytes.
pub const LARGEST_PAYLOAD: usize = 32 * 1024;

/// The bytes that are hashed and signed.
pub fn canonical(value: &Value) -> Result<Vec<u8>, serde_json::Error> {
    serde_json_canonicalizer::to_vec(value)
}

/// SHA-256 of the canonical payload.
pub fn artifact_id(payload: &Value) -> Result<String, serde_json::Error> {
    Ok(hex::encode(Sha256::digest(canonical(payload)?)))
}

/// Whether this has the form of an artifact's ID.
pub fn is_artifact_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// What the second signature covers, besides the payload by its ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement<'a> {
    pub artifact_id: &'a str,
    pub client_id: &'a str,
    pub profile_id: &'a str,
    pub created_at: &'a str,
    pub signing_key_id: &'a str,
}

impl Statement<'_> {
    pub fn bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        canonical(&json!({
            "artifact_id": self.artifact_id,
            "client_id": self.client_id,
            "created_at": self.created_at,
            "profile_id": self.profile_id,
            "signing_key_id": self.signing_key_id,
        }))
    }
}

/// A signed configuration of one client.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Artifact {
    pub artifact_id: String,
    pub client_id: String,
    pub profile_id: String,
    pub created_at: String,
    pub payload: Value,
    /// Over the canonical payload.
    pub signature: String,
    /// Over artifact, client, profile, time and key.
    pub statement_signature: String,
    pub signing_key_id: String,
}

impl Artifact {
    /// Signs a payload.
    pub fn sign(
        payload: Value,
        client_id: &str,
        profile_id: &str,
        created_at: &str,
        key: &PrivateKey,
    ) -> Result<Artifact, String> {
        let bytes = canonical(&payload).map_err(|e| e.to_string())?;
        if bytes.len() > LARGEST_PAYLOAD {
            return Err(format!(
                "the configuration for {client_id} has {} bytes; the limit is {LARGEST_PAYLOAD}",
                bytes.len()
            ));
        }
        let mut artifact = Artifact {
            artifact_id: hex::encode(Sha256::digest(&bytes)),
            client_id: client_id.to_string(),
            profile_id: profile_id.to_string(),
            created_at: created_at.to_string(),
            payload,
            signature: key.sign(&bytes),
            statement_signature: String::new(),
            signing_key_id: key.public().id(),
        };
        let statement = artifact.statement().bytes().map_err(|e| e.to_string())?;
        artifact.statement_signature = key.sign(&statement);
        Ok(artifact)
    }

    pub fn statement(&self) -> Statement<'_> {
        Statement {
            artifact_id: &self.artifact_id,
            client_id: &self.client_id,
            profile_id: &self.profile_id,
            created_at: &self.created_at,
            signing_key_id: &self.signing_key_id,
        }
    }

    /// Whether the ID is that of the payload.
    pub fn matches_its_hash(&self) -> bool {
        artifact_id(&self.payload).is_ok_and(|id| id == self.artifact_id)
    }

    /// Checks hash, key and both signatures; the error says what is wrong.
    pub fn verify(&self, key: &PublicKey) -> Result<(), String> {
        if !self.matches_its_hash() {
            return Err("its content does not match its artifact ID".into());
        }
        if self.signing_key_id != key.id() {
            return Err(format!(
                "it was signed with the key {}, and the given key is {}",
                self.signing_key_id,
                key.id()
            ));
        }
        let payload = canonical(&self.payload).map_err(|e| e.to_string())?;
        let statement = self.statement().bytes().map_err(|e| e.to_string())?;
        key.verify(&payload, &self.signature).map_err(|e| format!("its signature {e}"))?;
        key.verify(&statement, &self.statement_signature)
            .map_err(|e| format!("the signature over client, profile and time {e}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> (tempfile::TempDir, PrivateKey) {
        let folder = tempfile::tempdir().unwrap();
        let key = PrivateKey::read_or_create(&folder.path().join("k/signing.pem")).unwrap();
        (folder, key)
    }

    /// The example of RFC 8785, section 3.2.2, and letters beyond ASCII, which Python's
    /// `json.dumps` would escape.
    #[test]
    fn canonical_json_is_rfc_8785() {
        let value: Value = serde_json::from_str(
            r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
                "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
                "literals":[null,true,false]}"#,
        )
        .unwrap();
        let text = String::from_utf8(canonical(&value).unwrap()).unwrap();
        assert_eq!(
            text,
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
        );
        // Keys by UTF-16 code units: U+1F600 (D83D…) sorts before U+FB33.
        let keys: Value = json!({ "\u{fb33}": 1, "\u{1f600}": 2, "ö": 3 });
        let text = String::from_utf8(canonical(&keys).unwrap()).unwrap();
        assert_eq!(text, "{\"ö\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}");
    }

    /// Given a signed artifact, when any part that the signatures cover is changed, then it is
    /// refused; the same payload for another client is another statement.
    #[test]
    fn every_part_of_an_artifact_is_covered() {
        let (_folder, key) = key();
        let payload = json!({ "mcpServers": { "josh": { "url": "https://x.example/mcp" } } });
        let good =
            Artifact::sign(payload, "cursor", "default", "2026-11-18T00:00:00Z", &key).unwrap();
        good.verify(&key.public()).unwrap();
        let changes: [fn(&mut Artifact); 7] = [
            |a| a.payload["mcpServers"]["josh"]["url"] = json!("https://evil.example/mcp"),
            |a| a.client_id = "junie".into(),
            |a| a.profile_id = "office".into(),
            |a| a.created_at = "2030-01-01T00:00:00Z".into(),
            |a| a.artifact_id = "0".repeat(64),
            |a| a.signature = a.statement_signature.clone(),
            |a| a.signing_key_id = "ed25519-0000000000000000".into(),
        ];
        for (n, change) in changes.iter().enumerate() {
            let mut bad = good.clone();
            change(&mut bad);
            assert!(bad.verify(&key.public()).is_err(), "change {n}");
        }
        let (_other, stranger) = self::key();
        assert!(good.verify(&stranger.public()).unwrap_err().contains("the given key is"));
    }

    #[test]
    fn a_payload_has_a_largest_size() {
        let (_folder, key) = key();
        let payload = json!({ "servers": "x".repeat(LARGEST_PAYLOAD) });
        let refused = Artifact::sign(payload, "vscode", "p", "t", &key).unwrap_err();
        assert!(refused.contains("the limit is"), "{refused}");
    }
}
