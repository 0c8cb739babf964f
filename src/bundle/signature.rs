//! Signing a bundle and checking the signature, with Ed25519. Keys are PEM files (PKCS#8 for the private key).

use std::fs::OpenOptions;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use ed25519_dalek::{Signature as Ed25519, Signer, SigningKey, VerifyingKey};

use super::manifest::{Manifest, Signature};
use super::{BundleError, read_manifest, read_small, writer};

/// Whose signature is accepted.
pub enum Trust<'a> {
    /// The public (or private) key in this file.
    Key(&'a Path),
    /// Whatever key the bundle names: proves only that the manifest was not changed since it was signed.
    Embedded,
}

/// Signs the bundle in place: only its last bytes, manifest and footer, are written anew.
pub fn sign(bundle: &Path, key: &Path) -> Result<Manifest, BundleError> {
    let fail = |e: &dyn std::fmt::Display| BundleError::Signature(format!("cannot sign it: {e}"));
    let key = SigningKey::from_pkcs8_pem(&read_small(key)?)
        .map_err(|e| BundleError::Signature(format!("the key is not a PKCS#8 PEM private key for Ed25519 ({e})")))?;
    let (_, mut manifest) = read_manifest(bundle)?;
    let message = manifest.signed_bytes().map_err(|e| fail(&e))?;
    manifest.signature = Some(Signature {
        algorithm: "ed25519".into(),
        public_key: STANDARD.encode(key.verifying_key().to_bytes()),
        value: STANDARD.encode(key.sign(&message).to_bytes()),
    });
    let at = manifest.sections.iter().map(|s| super::format::aligned(s.offset + s.length)).max().unwrap_or(0);
    // Signed in a copy that then takes the bundle's name: a running server keeps its file whole.
    let folder = bundle.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut copy = tempfile::NamedTempFile::new_in(folder).map_err(|e| fail(&e))?;
    let mut original = std::fs::File::open(bundle).map_err(|e| fail(&e))?;
    std::io::copy(&mut original, copy.as_file_mut()).map_err(|e| fail(&e))?;
    writer::end(copy.as_file_mut(), at, &manifest).map_err(|e| fail(&e))?;
    copy.as_file().set_permissions(std::fs::Permissions::from_mode(0o444)).map_err(|e| fail(&e))?;
    copy.persist(bundle).map_err(|e| fail(&e))?;
    Ok(manifest)
}

impl Manifest {
    /// Checks the signature; `Ok(false)` when there is none.
    pub fn check_signature(&self, trust: &Trust) -> Result<bool, BundleError> {
        let bad = |why: &str| BundleError::Signature(format!("its signature {why}"));
        let Some(signature) = &self.signature else { return Ok(false) };
        let bytes = |text: &str| STANDARD.decode(text).map_err(|_| bad("cannot be read"));
        let named: [u8; 32] = bytes(&signature.public_key)?.try_into().map_err(|_| bad("names no valid key"))?;
        let named = VerifyingKey::from_bytes(&named).map_err(|_| bad("names no valid key"))?;
        let key = match trust {
            Trust::Embedded => named,
            Trust::Key(path) => read_public_key(path)?,
        };
        if key != named {
            return Err(bad("was made with another key than the one given"));
        }
        let value = Ed25519::from_slice(&bytes(&signature.value)?).map_err(|_| bad("cannot be read"))?;
        let message = self.signed_bytes().map_err(|_| bad("covers a manifest that cannot be read"))?;
        key.verify_strict(&message, &value).map_err(|_| bad("does not match its content: do not use it"))?;
        Ok(true)
    }
}

fn read_public_key(path: &Path) -> Result<VerifyingKey, BundleError> {
    let text = read_small(path)?;
    VerifyingKey::from_public_key_pem(&text)
        .or_else(|_| SigningKey::from_pkcs8_pem(&text).map(|k| k.verifying_key()))
        .map_err(|e| BundleError::Signature(format!("the key is not an Ed25519 key in PEM form ({e})")))
}

/// Writes a new private key to `path`, readable by its owner only, and its public key beside it as `path.pub`.
pub fn generate_key(path: &Path) -> anyhow::Result<()> {
    use std::io::{Read, Write};
    let mut seed = [0u8; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut seed)?;
    let key = SigningKey::from_bytes(&seed);
    let private = key.to_pkcs8_pem(LineEnding::LF)?;
    let public = key.verifying_key().to_public_key_pem(LineEnding::LF)?;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(private.as_bytes())?;
    let mut public_path = path.as_os_str().to_owned();
    public_path.push(".pub");
    OpenOptions::new().write(true).create_new(true).open(public_path)?.write_all(public.as_bytes())?;
    Ok(())
}
