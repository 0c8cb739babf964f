//! Ed25519 keys as PEM files (PKCS#8 for private keys): reading, creating, signing, checking. What
//! is signed, and whose signature counts, is up to the caller.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};

/// A key file that can't be used.
#[derive(Debug, thiserror::Error)]
#[error("key file {}: {why}", path.display())]
pub struct KeyError {
    pub path: PathBuf,
    pub why: String,
}

impl KeyError {
    fn new(path: &Path, why: impl std::fmt::Display) -> KeyError {
        KeyError { path: path.to_path_buf(), why: why.to_string() }
    }
}

/// A signature that does not hold, as the end of a sentence about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadSignature(pub &'static str);

/// A private key.
pub struct PrivateKey(SigningKey);

impl PrivateKey {
    pub fn read(path: &Path) -> Result<PrivateKey, KeyError> {
        let key = SigningKey::from_pkcs8_pem(&read_text(path)?).map_err(|e| {
            KeyError::new(path, format!("it is not a PKCS#8 PEM private key for Ed25519 ({e})"))
        })?;
        Ok(PrivateKey(key))
    }

    /// The same, refused if others than its owner can read it.
    pub fn read_secret(path: &Path) -> Result<PrivateKey, KeyError> {
        let cannot = |e: io::Error| KeyError::new(path, format!("cannot read it: {e}"));
        let mode = std::fs::metadata(path).map_err(cannot)?.mode() & 0o777;
        if mode & 0o077 != 0 {
            let why = format!(
                "others can read it (mode {mode:o}), and could sign in its name. Run: chmod 600 {}",
                path.display()
            );
            return Err(KeyError::new(path, why));
        }
        PrivateKey::read(path)
    }

    /// The key in this file, which is created first if it is not there.
    pub fn read_or_create(path: &Path) -> Result<PrivateKey, KeyError> {
        if !path.exists() {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)
                    .map_err(|e| KeyError::new(path, format!("cannot create its folder: {e}")))?;
            }
            match generate(path) {
                // Another process was faster: its key counts.
                Err(_) if path.exists() => {}
                created => created?,
            }
        }
        PrivateKey::read_secret(path)
    }

    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// The signature of a message, in Base64.
    pub fn sign(&self, message: &[u8]) -> String {
        STANDARD.encode(self.0.sign(message).to_bytes())
    }
}

/// A public key.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads a public key, or the public half of a private one.
    pub fn read(path: &Path) -> Result<PublicKey, KeyError> {
        let text = read_text(path)?;
        let key = VerifyingKey::from_public_key_pem(&text)
            .or_else(|_| SigningKey::from_pkcs8_pem(&text).map(|k| k.verifying_key()));
        let wrong = |e| KeyError::new(path, format!("it is not an Ed25519 key in PEM form ({e})"));
        key.map(PublicKey).map_err(wrong)
    }

    pub fn from_base64(text: &str) -> Result<PublicKey, BadSignature> {
        let bad = || BadSignature("names no valid key");
        let bytes = STANDARD.decode(text).map_err(|_| bad())?;
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| bad())?;
        VerifyingKey::from_bytes(&bytes).map(PublicKey).map_err(|_| bad())
    }

    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.0.to_bytes())
    }

    pub fn to_pem(&self) -> String {
        // Only an algorithm without an encoding could fail.
        self.0.to_public_key_pem(LineEnding::LF).unwrap_or_default()
    }

    /// A short name of the key: the beginning of the SHA-256 of its 32 bytes.
    pub fn id(&self) -> String {
        format!("ed25519-{}", &hex::encode(Sha256::digest(self.0.to_bytes()))[..16])
    }

    /// Checks a signature in Base64.
    pub fn verify(&self, message: &[u8], signature: &str) -> Result<(), BadSignature> {
        let bytes = STANDARD.decode(signature).map_err(|_| BadSignature("is not valid Base64"))?;
        let signature =
            Signature::from_slice(&bytes).map_err(|_| BadSignature("has a wrong length"))?;
        self.0
            .verify_strict(message, &signature)
            .map_err(|_| BadSignature("does not match its content: do not use it"))
    }
}

/// Reads a key file, or as much of it as a key can have.
fn read_text(path: &Path) -> Result<String, KeyError> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(64 * 1024).read_to_string(&mut text))
        .map_err(|e| KeyError::new(path, format!("cannot read it: {e}")))?;
    Ok(text)
}

/// Writes a new private key to `path`, readable by its owner only, and its public key beside it as
/// `path.pub`. Existing files are never overwritten.
pub fn generate(path: &Path) -> Result<(), KeyError> {
    let mut public_path = path.as_os_str().to_owned();
    public_path.push(".pub");
    let public_path = PathBuf::from(public_path);
    // Both before either is written, so that no half of a pair is left behind.
    if let Some(taken) = [path, &public_path].into_iter().find(|path| path.exists()) {
        return Err(exists_already(taken));
    }
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|e| KeyError::new(path, e))?;
    let key = SigningKey::from_bytes(&seed);
    let private = key.to_pkcs8_pem(LineEnding::LF).map_err(|e| KeyError::new(path, e))?;
    let public = PublicKey(key.verifying_key()).to_pem();
    write_new(path, 0o600, private.as_bytes())?;
    write_new(&public_path, 0o644, public.as_bytes())
}

fn write_new(path: &Path, mode: u32, bytes: &[u8]) -> Result<(), KeyError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    file.and_then(|mut file| file.write_all(bytes)).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => exists_already(path),
        _ => KeyError::new(path, format!("cannot write it: {e}")),
    })
}

fn exists_already(path: &Path) -> KeyError {
    KeyError::new(path, "it exists already and is not overwritten; choose another name")
}
