//! What the operations give back: the fields of the reference, and what a client needs besides.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::client_config::{Comparison, Status};

#[derive(Serialize, JsonSchema)]
pub struct ClientList {
    pub clients: Vec<ClientSummary>,
    pub count: usize,
}

#[derive(Serialize, JsonSchema)]
pub struct ClientSummary {
    pub client_id: &'static str,
    pub display_name: &'static str,
    /// macos, windows, linux or cross-platform
    pub platform: &'static str,
    /// file: reads a file; form: takes the text in its settings; hosted: has no file
    pub kind: &'static str,
    /// Its file on this server's operating system
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub config_location: Option<&'static str>,
    /// Its files by operating system, and below the folder of a project
    pub config_locations: BTreeMap<&'static str, &'static [String]>,
    pub available_profiles: Vec<String>,
    /// Facts that are in doubt, and why
    pub uncertain: BTreeMap<String, &'static str>,
    /// Day of the oldest source of these facts
    pub checked: &'static str,
}

#[derive(Serialize, JsonSchema)]
pub struct ProfileList {
    pub client_id: String,
    pub profiles: Vec<ProfileSummary>,
    pub count: usize,
}

#[derive(Serialize, JsonSchema)]
pub struct ProfileSummary {
    pub profile_id: String,
    pub display_name: String,
    pub description: String,
    /// SHA-256 of the latest payload
    pub latest_artifact_id: String,
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Config {
    /// SHA-256 of the canonical payload (RFC 8785)
    #[schemars(extend("pattern" = "^[a-f0-9]{64}$"))]
    pub artifact_id: String,
    pub client_id: String,
    pub profile_id: String,
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// The servers in the client's own shape
    #[schemars(with = "Map<String, Value>")]
    pub payload: Value,
    /// Ed25519 over the canonical payload, Base64
    pub signature: String,
    /// Ed25519 over the canonical JSON of artifact_id, client_id, created_at, profile_id and
    /// signing_key_id, Base64
    pub statement_signature: String,
    pub signing_key_id: String,
    pub metadata: Metadata,
    pub installation: Installation,
}

#[derive(Serialize, JsonSchema)]
pub struct Metadata {
    pub generator: &'static str,
    pub generator_version: &'static str,
}

/// How to put the payload to use. Not signed: it follows from the payload.
#[derive(Serialize, JsonSchema)]
pub struct Installation {
    /// json, jsonc, toml or yaml
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub format: Option<&'static str>,
    /// The payload as text in that format
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub text: Option<String>,
    /// Files that take it
    pub files: BTreeMap<&'static str, &'static [String]>,
    pub steps: &'static [String],
    pub notes: Vec<String>,
    pub uncertain: BTreeMap<String, &'static str>,
}

#[derive(Serialize, JsonSchema)]
pub struct Difference {
    pub status: Status,
    /// SHA-256 of the local payload, as far as this profile manages it
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub local_artifact_id: Option<String>,
    pub remote_artifact_id: String,
    pub profile_id: String,
    pub diff: Comparison,
    pub summary: Summary,
    pub recommendation: String,
    /// What to mind about what was sent
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub warning: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
pub struct Summary {
    pub total_changes: usize,
    pub added_count: usize,
    pub removed_count: usize,
    pub modified_count: usize,
}
