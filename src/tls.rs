//! TLS: a certificate from files, reloaded when they change, or a self-signed one that is created
//! once and kept; client certificates if required.

use std::fs::OpenOptions;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use arc_swap::ArcSwap;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{
    DigitallySignedStruct, DistinguishedName, RootCertStore, ServerConfig, SignatureScheme,
};
use sha2::{Digest, Sha256};

use crate::folders;
use crate::stamp::Stamp;

#[derive(Clone, Debug)]
pub struct Options {
    pub certificate: Certificate,
    /// Only clients with a certificate of these authorities may connect.
    pub client_ca: Option<PathBuf>,
    /// Where plain HTTP is redirected to HTTPS.
    pub redirect: Option<SocketAddr>,
}

#[derive(Clone, Debug)]
pub enum Certificate {
    Files {
        chain: PathBuf,
        key: PathBuf,
    },
    /// For these names and addresses.
    SelfSigned {
        names: Vec<String>,
    },
}

/// The certificate that new connections get.
#[derive(Debug)]
pub struct Tls {
    chain: PathBuf,
    key: PathBuf,
    client_ca: Option<ClientAuthorities>,
    current: ArcSwap<CertifiedKey>,
    pub is_self_signed: bool,
}

impl Options {
    /// Whether the certificate is one that the operator has.
    pub fn is_from_files(&self) -> bool {
        matches!(self.certificate, Certificate::Files { .. })
    }
}

/// By which a change of the files is noticed: chain, key and authorities of clients.
pub type Stamps = [Option<Stamp>; 3];

impl Tls {
    pub fn new(options: &Options) -> Result<Tls> {
        let (chain, key) = match &options.certificate {
            Certificate::Files { chain, key } => (chain.clone(), key.clone()),
            Certificate::SelfSigned { names } => self_signed(names)?,
        };
        let current = ArcSwap::from_pointee(read(&chain, &key)?);
        let is_self_signed = matches!(options.certificate, Certificate::SelfSigned { .. });
        let client_ca = options.client_ca.as_deref().map(ClientAuthorities::new).transpose()?;
        Ok(Tls { chain, key, client_ca, current, is_self_signed })
    }

    /// Reads the files again; the old certificate and authorities stay in use if they can't be
    /// used.
    pub fn reload(&self) -> Result<()> {
        let current = Arc::new(read(&self.chain, &self.key)?);
        if let Some(authorities) = &self.client_ca {
            authorities.reload()?;
        }
        self.current.store(current);
        Ok(())
    }

    pub fn stamps(&self) -> Stamps {
        let client_ca = self.client_ca.as_ref().and_then(|ca| Stamp::of(&ca.path).ok());
        [Stamp::of(&self.chain).ok(), Stamp::of(&self.key).ok(), client_ca]
    }

    /// SHA-256 of the certificate, as browsers and `openssl x509 -fingerprint -sha256` show it.
    pub fn fingerprint(&self) -> String {
        let current = self.current.load();
        let hash = Sha256::digest(current.cert.first().map(|c| c.as_ref()).unwrap_or_default());
        let pairs: Vec<String> = hash.iter().map(|byte| hex::encode_upper([*byte])).collect();
        pairs.join(":")
    }

    /// TLS 1.2 and 1.3 with the ciphers that rustls chooses.
    pub fn config(self: &Arc<Self>) -> Result<ServerConfig> {
        let builder = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?;
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(authorities) => builder.with_client_cert_verifier(Arc::new(authorities.clone())),
        };
        Ok(builder.with_cert_resolver(self.clone()))
    }
}

/// Who may issue certificates of clients, as the file says it now.
#[derive(Clone, Debug)]
struct ClientAuthorities {
    path: PathBuf,
    current: Arc<ArcSwap<WebPkiClientAuthorities>>,
}

/// A sized holder: the verifier of rustls is a trait object.
#[derive(Debug)]
struct WebPkiClientAuthorities(Arc<dyn ClientCertVerifier>);

impl ClientAuthorities {
    fn new(path: &Path) -> Result<ClientAuthorities> {
        let current = Arc::new(ArcSwap::from_pointee(read_authorities(path)?));
        Ok(ClientAuthorities { path: path.to_path_buf(), current })
    }

    fn reload(&self) -> Result<()> {
        self.current.store(Arc::new(read_authorities(&self.path)?));
        Ok(())
    }
}

fn read_authorities(path: &Path) -> Result<WebPkiClientAuthorities> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots
            .add(certificate)
            .with_context(|| format!("{} holds no certificate authority", path.display()))?;
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider())
        .build()
        .with_context(|| format!("{}", path.display()))?;
    Ok(WebPkiClientAuthorities(verifier))
}

impl ClientCertVerifier for ClientAuthorities {
    /// None: they may change during a handshake, and clients do not need them.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        self.current.load().0.verify_client_cert(end_entity, intermediates, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.current.load().0.verify_tls12_signature(message, cert, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.current.load().0.verify_tls13_signature(message, cert, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.current.load().0.supported_verify_schemes()
    }
}

impl ResolvesServerCert for Tls {
    fn resolve(&self, _: ClientHello) -> Option<Arc<CertifiedKey>> {
        Some(self.current.load_full())
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_file_iter(path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let found: Vec<_> = found
        .collect::<Result<_, _>>()
        .with_context(|| format!("{} is not a PEM file", path.display()))?;
    if found.is_empty() {
        bail!("{} holds no certificate", path.display());
    }
    Ok(found)
}

/// A chain and its key, which must match.
fn read(chain: &Path, key: &Path) -> Result<CertifiedKey> {
    let certificates = certificates(chain)?;
    let private = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("{} holds no private key in PEM form", key.display()))?;
    CertifiedKey::from_der(certificates, private, &provider())
        .with_context(|| format!("{} and {} do not match", chain.display(), key.display()))
}

/// A self-signed certificate is valid for ten years; a server that starts in the last one makes
/// another.
const SELF_SIGNED_DAYS: i64 = 3650;
const SELF_SIGNED_USE: Duration = Duration::from_secs(9 * 365 * 86_400);

/// The self-signed certificate and its key, created the first time and kept, so that clients need
/// to trust it only once.
fn self_signed(names: &[String]) -> Result<(PathBuf, PathBuf)> {
    let folder = folders::of_user("XDG_DATA_HOME", ".local/share");
    // systemd gives a service a folder of its own.
    let folder =
        std::env::var_os("STATE_DIRECTORY").map(PathBuf::from).or(folder.map(|f| f.join("josh")));
    let folder = folder
        .context("tls: there is no folder for the certificate; set XDG_DATA_HOME")?
        .join("tls");
    let (chain, key) = (folder.join("self-signed.pem"), folder.join("self-signed.key"));
    let age = std::fs::metadata(&chain).and_then(|m| m.modified()).map(|at| at.elapsed());
    let is_fresh = age.is_ok_and(|age| age.is_ok_and(|age| age < SELF_SIGNED_USE));
    if is_fresh && key.exists() {
        return Ok((chain, key));
    }
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot store a certificate in {}", folder.display()))?;
    let pair = rcgen::KeyPair::generate()?;
    let mut parameters = rcgen::CertificateParams::new(names)?;
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "Josh, self-signed");
    parameters.not_before = time::OffsetDateTime::now_utc() - time::Duration::days(1);
    parameters.not_after = time::OffsetDateTime::now_utc() + time::Duration::days(SELF_SIGNED_DAYS);
    let certificate = parameters.self_signed(&pair)?;
    let mut file =
        OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&key)?;
    file.write_all(pair.serialize_pem().as_bytes())?;
    std::fs::write(&chain, certificate.pem())?;
    Ok((chain, key))
}
