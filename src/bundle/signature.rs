//! Signs bundles and checks signatures, with Ed25519. Keys are PEM files, PKCS#8 for the private
//! key. Whether an unsigned bundle is acceptable is up to the caller.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use ed25519_dalek::{Signature as Ed25519, Signer, SigningKey, VerifyingKey};

use super::manifest::{Manifest, Signature};
use super::{BundleError, read_manifest, writer};

/// Whose signature is accepted.
pub enum Trust<'a> {
    /// That of the public (or private) key in this file.
    Key(&'a Path),
    /// That of the key which the bundle itself names. This proves only that the manifest was not
    /// changed since it was signed.
    Embedded,
}

impl Trust<'_> {
    /// Whether the key can be read.
    pub fn check(&self) -> Result<(), BundleError> {
        match self {
            Trust::Key(path) => read_public_key(path).map(drop),
            Trust::Embedded => Ok(()),
        }
    }
}

/// Signs a bundle. Only manifest and footer change; the new file replaces the old one.
pub fn sign(bundle: &Path, key: &Path) -> Result<Manifest, BundleError> {
    let fail = |e: &dyn Display| BundleError::Signature(format!("cannot sign it: {e}"));
    let key = SigningKey::from_pkcs8_pem(&read_key(key)?).map_err(|e| {
        bad_key(key, format!("it is not a PKCS#8 PEM private key for Ed25519 ({e})"))
    })?;
    let (_, mut manifest) = read_manifest(bundle)?;
    let message = manifest.signed_bytes().map_err(|e| fail(&e))?;
    manifest.signature = Some(Signature {
        algorithm: "ed25519".into(),
        public_key: STANDARD.encode(key.verifying_key().to_bytes()),
        value: STANDARD.encode(key.sign(&message).to_bytes()),
    });
    let at = manifest
        .sections
        .iter()
        .map(|s| super::format::aligned(s.offset + s.length))
        .max()
        .unwrap_or(0);
    // A copy is signed and renamed over the bundle: a running server keeps the file that it opened.
    let folder = bundle.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut copy = tempfile::NamedTempFile::new_in(folder).map_err(|e| fail(&e))?;
    let mut original = File::open(bundle).map_err(|e| fail(&e))?;
    std::io::copy(&mut original, copy.as_file_mut()).map_err(|e| fail(&e))?;
    writer::write_end(copy.as_file_mut(), at, &manifest).map_err(|e| fail(&e))?;
    copy.as_file().set_permissions(std::fs::Permissions::from_mode(0o444)).map_err(|e| fail(&e))?;
    copy.persist(bundle).map_err(|e| fail(&e))?;
    Ok(manifest)
}

impl Manifest {
    /// Checks the signature; `Ok(false)` when there is none.
    pub fn check_signature(&self, trust: &Trust) -> Result<bool, BundleError> {
        let bad = |why: &str| BundleError::Signature(format!("its signature {why}"));
        let Some(signature) = &self.signature else { return Ok(false) };
        let bytes = |text: &str| STANDARD.decode(text).map_err(|_| bad("is not valid Base64"));
        let named: [u8; 32] =
            bytes(&signature.public_key)?.try_into().map_err(|_| bad("names no valid key"))?;
        let named = VerifyingKey::from_bytes(&named).map_err(|_| bad("names no valid key"))?;
        let key = match trust {
            Trust::Embedded => named,
            Trust::Key(path) => read_public_key(path)?,
        };
        if key != named {
            return Err(bad("was made with another key than the one given"));
        }
        let value = Ed25519::from_slice(&bytes(&signature.value)?)
            .map_err(|_| bad("has a wrong length"))?;
        let message =
            self.signed_bytes().map_err(|_| bad("covers a manifest that cannot be read"))?;
        key.verify_strict(&message, &value)
            .map_err(|_| bad("does not match its content: do not use it"))?;
        Ok(true)
    }
}

fn read_public_key(path: &Path) -> Result<VerifyingKey, BundleError> {
    let text = read_key(path)?;
    VerifyingKey::from_public_key_pem(&text)
        .or_else(|_| SigningKey::from_pkcs8_pem(&text).map(|k| k.verifying_key()))
        .map_err(|e| bad_key(path, format!("it is not an Ed25519 key in PEM form ({e})")))
}

/// Reads a key file, or as much of it as a key can have.
fn read_key(path: &Path) -> Result<String, BundleError> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(64 * 1024).read_to_string(&mut text))
        .map_err(|e| bad_key(path, format!("cannot read it: {e}")))?;
    Ok(text)
}

/// An error that blames the key and not the bundle.
fn bad_key(path: &Path, why: impl Display) -> BundleError {
    BundleError::Key { path: path.to_path_buf(), why: why.to_string() }
}

/// Writes a new private key to `path`, readable by its owner only, and its public key beside it as
/// `path.pub`. Existing files are never overwritten.
pub fn generate_key(path: &Path) -> Result<(), BundleError> {
    let mut public_path = path.as_os_str().to_owned();
    public_path.push(".pub");
    let public_path = PathBuf::from(public_path);
    // Both before either is written, so that no half of a pair is left behind.
    if let Some(taken) = [path, &public_path].into_iter().find(|path| path.exists()) {
        return Err(exists_already(taken));
    }
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|e| bad_key(path, e))?;
    let key = SigningKey::from_bytes(&seed);
    let private = key.to_pkcs8_pem(LineEnding::LF).map_err(|e| bad_key(path, e))?;
    let public = key.verifying_key().to_public_key_pem(LineEnding::LF);
    let public = public.map_err(|e| bad_key(&public_path, e))?;
    write_new(path, 0o600, private.as_bytes())?;
    write_new(&public_path, 0o644, public.as_bytes())
}

fn write_new(path: &Path, mode: u32, bytes: &[u8]) -> Result<(), BundleError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    file.and_then(|mut file| file.write_all(bytes)).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => exists_already(path),
        _ => bad_key(path, format!("cannot write it: {e}")),
    })
}

fn exists_already(path: &Path) -> BundleError {
    bad_key(path, "it exists already and is not overwritten; choose another name")
}
