//! Profiles: named sets of servers, with exceptions for single clients. `default` and `stdio` are
//! this server; an administrator adds others as files (`profile_file.rs`).

use std::collections::BTreeMap;

use super::catalog::Client;
use super::server::ServerSpec;

/// This server over HTTP.
pub const DEFAULT: &str = "default";
/// This binary, started by the client.
pub const STDIO: &str = "stdio";

/// A set of servers under a name.
#[derive(Clone, Debug)]
pub struct Profile {
    pub id: String,
    pub name: String,
    pub description: String,
    pub(super) servers: Vec<ServerSpec>,
    /// By client: servers that it does not get, and servers that it gets instead.
    pub(super) exceptions: BTreeMap<String, Exception>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Exception {
    pub exclude: Vec<String>,
    pub servers: Vec<ServerSpec>,
}

impl Profile {
    pub fn built_in(id: &str, name: &str, description: &str, server: ServerSpec) -> Profile {
        Profile {
            id: id.to_string(),
            name: name.to_string(),
            description: description.to_string(),
            servers: vec![server],
            exceptions: BTreeMap::new(),
        }
    }

    /// The servers that this client gets.
    pub fn servers(&self, client: &Client) -> Vec<ServerSpec> {
        let none = Exception::default();
        let exception = self.exceptions.get(&client.id).unwrap_or(&none);
        let is_kept = |server: &&ServerSpec| {
            !exception.exclude.contains(&server.name)
                && !exception.servers.iter().any(|other| other.name == server.name)
        };
        let kept = self.servers.iter().filter(is_kept);
        kept.chain(&exception.servers).cloned().collect()
    }
}
