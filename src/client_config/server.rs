//! One server that a client is to use, before it has the shape of any client.

use std::collections::BTreeMap;

/// The name of this server in the files of clients: lower case, no underscore, which all take.
pub const SERVER_NAME: &str = "josh";

/// The variable from which clients take the API key of this server.
pub const KEY_VARIABLE: &str = "JOSH_API_KEY";

/// A server and how it is reached. It never holds a secret, only names of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSpec {
    pub name: String,
    pub description: String,
    pub transport: Transport,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    Http {
        url: String,
        /// The variable that holds the API key, where one is asked for.
        key: Option<String>,
    },
    Stdio {
        command: String,
        args: Vec<String>,
        /// Variables with their values, none of them secret.
        env: BTreeMap<String, String>,
        /// Variables whose values the client's machine has.
        env_names: Vec<String>,
    },
}

impl ServerSpec {
    /// This server over HTTP.
    pub fn remote(base: &str, needs_key: bool) -> ServerSpec {
        ServerSpec::at(format!("{base}/mcp"), needs_key)
    }

    /// The same at a certain endpoint.
    pub fn at(url: String, needs_key: bool) -> ServerSpec {
        let key = needs_key.then(|| KEY_VARIABLE.to_string());
        ServerSpec::new(Transport::Http { url, key })
    }

    /// This binary, started by the client.
    pub fn local(command: String, args: Vec<String>) -> ServerSpec {
        let (env, env_names) = (BTreeMap::new(), Vec::new());
        ServerSpec::new(Transport::Stdio { command, args, env, env_names })
    }

    fn new(transport: Transport) -> ServerSpec {
        let description = "United States federal policy data".to_string();
        ServerSpec { name: SERVER_NAME.to_string(), description, transport }
    }
}

/// Whether a name can be used in every client: as a key of JSON, TOML and YAML, and in a tool's
/// name.
pub fn is_server_name(name: &str) -> bool {
    let is_fine = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    (1..=40).contains(&name.len()) && name.bytes().all(is_fine)
}

/// Whether this can be the name of a variable of the environment.
pub fn is_variable(name: &str) -> bool {
    let is_fine = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (1..=64).contains(&name.len())
        && name.bytes().all(is_fine)
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether this is an address that a client can connect to: http or https, a host, no credentials.
pub fn is_server_url(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let is_plain = |b: u8| b.is_ascii_graphic() && !br#"{}"'<>\^`|"#.contains(&b);
    rest.is_some_and(|rest| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        !host.is_empty() && !host.contains('@') && url.len() <= 2_000 && url.bytes().all(is_plain)
    })
}
