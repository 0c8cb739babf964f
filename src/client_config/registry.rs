//! What a server hands out: every client in every profile that it can use, signed when the server
//! starts and held in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::artifact::Artifact;
use super::catalog::{Client, catalog};
use super::entry::payload;
use super::profile::{DEFAULT, Profile, STDIO};
use super::profile_file::{ProfileError, read_profiles};
use super::server::ServerSpec;
use super::store::Store;
use crate::folders;
use crate::signing::{KeyError, PrivateKey, PublicKey};
use crate::timestamp;

/// How a server hands out configuration.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folder with an administrator's profiles.
    pub profiles: Option<PathBuf>,
    /// The private key; without one, it is created and kept.
    pub signing_key: Option<PathBuf>,
    /// Whether clients need an API key.
    pub needs_key: bool,
}

/// Why configuration can't be handed out.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error("profile {profile}: {why}")]
    Payload { profile: String, why: String },
    #[error("there is no folder for the signing key; set XDG_DATA_HOME, or give --signing-key")]
    NoFolder,
}

/// Everything that is handed out.
pub struct ClientConfigs {
    public: PublicKey,
    base_url: Option<String>,
    profiles: Vec<Profile>,
    /// By client and profile.
    offers: BTreeMap<(String, String), Offer>,
    edition: String,
}

/// What one client gets in one profile.
pub struct Offer {
    pub latest: Artifact,
    /// What it got before, oldest first.
    pub earlier: Vec<Artifact>,
    /// IDs of kept files that are not what was signed.
    pub damaged: BTreeSet<String>,
}

impl Offer {
    /// The artifact with this ID.
    pub fn artifact(&self, id: &str) -> Option<&Artifact> {
        let all = [&self.latest].into_iter().chain(&self.earlier);
        all.into_iter().find(|artifact| artifact.artifact_id == id)
    }
}

impl ClientConfigs {
    /// Reads key, profiles and earlier artifacts, and signs what is new. `base_url` is the address
    /// of this server, as its operator says it: never as a caller does, who could have it signed.
    pub fn open(
        options: &Options,
        base_url: Option<&str>,
        local: ServerSpec,
    ) -> Result<ClientConfigs, Unusable> {
        let folder = folders::of_user("XDG_DATA_HOME", ".local/share").map(|f| f.join("josh"));
        let key = match (&options.signing_key, &folder) {
            (Some(path), _) => PrivateKey::read_secret(path)?,
            (None, Some(folder)) => PrivateKey::read_or_create(&folder.join("signing-key.pem"))?,
            (None, None) => return Err(Unusable::NoFolder),
        };
        let store = folder.map(|folder| Store::new(folder.join("client-artifacts")));
        let mut profiles = built_in(base_url, options.needs_key, local);
        if let Some(folder) = &options.profiles {
            profiles.extend(read_profiles(folder)?);
        }
        let mut configs = ClientConfigs {
            public: key.public(),
            base_url: base_url.map(str::to_string),
            profiles,
            offers: BTreeMap::new(),
            edition: String::new(),
        };
        configs.sign_all(&key, store.as_ref())?;
        Ok(configs)
    }

    fn sign_all(&mut self, key: &PrivateKey, store: Option<&Store>) -> Result<(), Unusable> {
        let now = timestamp::now();
        let mut edition = Sha256::new_with_prefix(self.public.id());
        for profile in &self.profiles {
            for client in &catalog().clients {
                let Some(payload) = payload(client, &profile.servers(client)) else { continue };
                let kept = store.map(|s| s.read(&client.id, &profile.id, &self.public));
                let kept = kept.unwrap_or_default();
                let signed = Artifact::sign(payload.0, &client.id, &profile.id, &now, key)
                    .map_err(|why| Unusable::Payload { profile: profile.id.clone(), why })?;
                let (same, earlier): (Vec<Artifact>, Vec<Artifact>) =
                    kept.artifacts.into_iter().partition(|a| a.artifact_id == signed.artifact_id);
                let mut damaged = kept.damaged;
                let latest = same.into_iter().next().unwrap_or_else(|| {
                    if let Some(Err(error)) = store.map(|store| store.keep(&signed)) {
                        tracing::warn!(%error, "cannot keep an artifact; it is gone at a restart");
                    }
                    damaged.remove(&signed.artifact_id);
                    signed
                });
                edition.update(&latest.artifact_id);
                edition.update(&latest.created_at);
                let offer = Offer { latest, earlier, damaged };
                self.offers.insert((client.id.clone(), profile.id.clone()), offer);
            }
        }
        self.edition = hex::encode(edition.finalize());
        Ok(())
    }

    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    pub fn base_url(&self) -> Option<&str> {
        self.base_url.as_deref()
    }

    /// Changes when anything does that is handed out.
    pub fn edition(&self) -> &str {
        &self.edition
    }

    /// The profiles that a client can use, each with what it gets.
    pub fn profiles(&self, client: &Client) -> impl Iterator<Item = (&Profile, &Offer)> {
        self.profiles.iter().filter_map(|profile| Some((profile, self.offer(client, &profile.id)?)))
    }

    pub fn offer(&self, client: &Client, profile_id: &str) -> Option<&Offer> {
        self.offers.get(&(client.id.clone(), profile_id.to_string()))
    }
}

fn built_in(base_url: Option<&str>, needs_key: bool, local: ServerSpec) -> Vec<Profile> {
    let default = base_url.map(|base| {
        let about = "This server, over HTTP";
        Profile::built_in(DEFAULT, "Default", about, ServerSpec::remote(base, needs_key))
    });
    let about = "Josh on the client's own machine, started by the client";
    let stdio = Profile::built_in(STDIO, "Local program", about, local);
    default.into_iter().chain([stdio]).collect()
}
