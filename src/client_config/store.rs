//! Artifacts that were handed out, one file each, `CLIENT/PROFILE/ARTIFACT_ID.json`. They are read
//! once, when the server starts; what does not match its hash, or was not signed with the server's
//! key, is never handed out.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::artifact::{Artifact, is_artifact_id};
use crate::signing::PublicKey;

/// Artifacts of one client and profile that are read: the newest.
const MOST_KEPT: usize = 100;

/// What was kept of one client and profile.
#[derive(Debug, Default)]
pub struct Kept {
    /// Oldest first.
    pub artifacts: Vec<Artifact>,
    /// IDs of files whose content is not what was signed.
    pub damaged: BTreeSet<String>,
}

pub struct Store {
    folder: PathBuf,
}

impl Store {
    pub fn new(folder: PathBuf) -> Store {
        Store { folder }
    }

    fn folder(&self, client_id: &str, profile_id: &str) -> PathBuf {
        self.folder.join(client_id).join(profile_id)
    }

    /// What was kept, as far as it can be trusted.
    pub fn read(&self, client_id: &str, profile_id: &str, key: &PublicKey) -> Kept {
        let mut kept = Kept::default();
        let listed = std::fs::read_dir(self.folder(client_id, profile_id));
        for path in listed.into_iter().flatten().flatten().map(|entry| entry.path()) {
            let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if !is_artifact_id(id) || path.extension().is_none_or(|e| e != "json") {
                continue;
            }
            let read = read(&path).filter(|artifact| {
                let Artifact { artifact_id, client_id: client, profile_id: profile, .. } = artifact;
                (artifact_id.as_str(), client.as_str(), profile.as_str())
                    == (id, client_id, profile_id)
            });
            match read {
                Some(artifact) if artifact.verify(key).is_ok() => kept.artifacts.push(artifact),
                // Of another key: not damaged, and not ours to vouch for.
                Some(artifact)
                    if artifact.matches_its_hash() && artifact.signing_key_id != key.id() => {}
                _ => {
                    let path = path.display();
                    tracing::warn!("artifact {path} is not what was signed; it is not handed out");
                    kept.damaged.insert(id.to_string());
                }
            }
        }
        kept.artifacts.sort_by(|a, b| a.created_at.cmp(&b.created_at));
        let excess = kept.artifacts.len().saturating_sub(MOST_KEPT);
        kept.artifacts.drain(..excess);
        kept
    }

    /// Keeps an artifact: a file that is there whole or not at all.
    pub fn keep(&self, artifact: &Artifact) -> std::io::Result<()> {
        let folder = self.folder(&artifact.client_id, &artifact.profile_id);
        std::fs::create_dir_all(&folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        file.write_all(&serde_json::to_vec_pretty(artifact)?)?;
        file.persist(folder.join(format!("{}.json", artifact.artifact_id)))?;
        Ok(())
    }
}

fn read(path: &Path) -> Option<Artifact> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}
