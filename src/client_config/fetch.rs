//! Gets a client's configuration from a server and checks that it is what it should be: the right
//! client and profile, its hash, and both signatures by a key that the user has.

use std::time::Duration;

use super::artifact::{Artifact, LARGEST_PAYLOAD};
use super::catalog::Client;
use super::entry::Payload;
use super::server::{KEY_VARIABLE, is_server_name, is_server_url};
use crate::signing::PublicKey;

/// Room for what surrounds the payload, and its text.
const LARGEST_ANSWER: u64 = 8 * LARGEST_PAYLOAD as u64;
const TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("{0:?} is no address of a server; write it like https://josh.example.org")]
    Address(String),
    #[error("{url}: {why}")]
    Request { url: String, why: String },
    #[error("the configuration from {url} is refused: {why}. Nothing was written")]
    Refused { url: String, why: String },
}

/// The verified payload of a client, with the name of its profile.
pub fn fetch(
    base: &str,
    client: &Client,
    profile: Option<&str>,
    key: &PublicKey,
) -> Result<(String, Payload), FetchError> {
    let base = base.trim_end_matches('/');
    if !is_server_url(base) {
        return Err(FetchError::Address(base.to_string()));
    }
    let profile_query = match profile {
        Some(profile) if is_server_name(profile) => format!("?profile_id={profile}"),
        Some(profile) => {
            let why = format!("{profile:?} is no name of a profile");
            return Err(FetchError::Request { url: base.to_string(), why });
        }
        None => String::new(),
    };
    let url = format!("{base}/v1/clients/{}/config{profile_query}", client.id);
    let text = get(&url)?;
    let refuse = |why: String| FetchError::Refused { url: url.clone(), why };
    let artifact: Artifact = serde_json::from_str(&text)
        .map_err(|e| refuse(format!("it is not a signed configuration ({e})")))?;
    if artifact.client_id != client.id {
        return Err(refuse(format!("it is for the client {:?}", artifact.client_id)));
    }
    if profile.is_some_and(|profile| profile != artifact.profile_id) {
        return Err(refuse(format!("it is for the profile {:?}", artifact.profile_id)));
    }
    artifact.verify(key).map_err(refuse)?;
    let payload = Payload(artifact.payload);
    let servers = payload.servers(client);
    if servers.is_empty() || !servers.keys().all(|name| is_server_name(name)) {
        return Err(refuse("it holds no servers that this client could use".into()));
    }
    Ok((artifact.profile_id, payload))
}

fn get(url: &str) -> Result<String, FetchError> {
    let failed = |why: String| FetchError::Request { url: url.to_string(), why };
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(TIMEOUT))
        .build();
    let agent: ureq::Agent = config.into();
    let mut request = agent.get(url).header("accept", "application/json");
    if let Some(key) = std::env::var(KEY_VARIABLE).ok().filter(|key| !key.is_empty()) {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let mut answer = request.call().map_err(|e| failed(e.to_string()))?;
    let body = answer.body_mut().with_config().limit(LARGEST_ANSWER).read_to_string();
    let body = body.map_err(|e| failed(e.to_string()))?;
    match answer.status().as_u16() {
        200 => Ok(body),
        401 | 403 => {
            Err(failed(format!("it asks for an API key. Put one into the variable {KEY_VARIABLE}")))
        }
        status => {
            let answer: serde_json::Value = serde_json::from_str(&body).unwrap_or_default();
            let message = answer["error"]["message"].as_str().unwrap_or("no answer of a Josh");
            Err(failed(format!("{message} (status {status})")))
        }
    }
}
