//! Signs bundles and checks signatures. Whether an unsigned bundle is acceptable is up to the
//! caller.

use std::fmt::Display;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::manifest::{Manifest, Signature};
use super::{BundleError, read_manifest, writer};
use crate::signing::{self, PrivateKey, PublicKey};

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
            Trust::Key(path) => Ok(PublicKey::read(path).map(drop)?),
            Trust::Embedded => Ok(()),
        }
    }
}

/// Signs a bundle. Only manifest and footer change; the new file replaces the old one.
pub fn sign(bundle: &Path, key: &Path) -> Result<Manifest, BundleError> {
    let fail = |e: &dyn Display| BundleError::Signature(format!("cannot sign it: {e}"));
    let key = PrivateKey::read(key)?;
    let (_, mut manifest) = read_manifest(bundle)?;
    let message = manifest.signed_bytes().map_err(|e| fail(&e))?;
    manifest.signature = Some(Signature {
        algorithm: "ed25519".into(),
        public_key: key.public().to_base64(),
        value: key.sign(&message),
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
        let named = PublicKey::from_base64(&signature.public_key).map_err(|e| bad(e.0))?;
        let key = match trust {
            Trust::Embedded => named.clone(),
            Trust::Key(path) => PublicKey::read(path)?,
        };
        if key != named {
            return Err(bad("was made with another key than the one given"));
        }
        let message =
            self.signed_bytes().map_err(|_| bad("covers a manifest that cannot be read"))?;
        key.verify(&message, &signature.value).map_err(|e| bad(e.0))?;
        Ok(true)
    }
}

/// Writes a new pair of keys; see [`signing::generate`].
pub fn generate_key(path: &Path) -> Result<(), BundleError> {
    Ok(signing::generate(path)?)
}
