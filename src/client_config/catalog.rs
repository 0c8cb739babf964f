//! The clients, read from `assets/clients.toml`: types and their JSON schema. What must hold
//! between the facts is checked by a test; nothing here depends on one client.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const DATA: &str = include_str!("../../assets/clients.toml");

/// All clients that are known, with where the facts come from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    /// What a key of `facts` stands for
    pub sources: BTreeMap<String, Source>,
    #[serde(rename = "client")]
    pub clients: Vec<Client>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pub what: String,
    /// The day of the snapshot that was read
    pub date: String,
}

/// One client.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Client {
    pub id: String,
    pub name: String,
    pub kind: ClientKind,
    pub format: Option<Format>,
    /// The member of the file that holds the servers
    pub servers: Option<String>,
    /// The user's own file, by operating system; of several the first that exists
    #[serde(default)]
    pub user: Paths,
    /// A variable that names the folder of the user's file instead
    pub moved: Option<Moved>,
    /// Files of a project, below its folder; of several the first that exists
    #[serde(default)]
    pub project: Vec<String>,
    /// Folders that are there where the client is installed
    #[serde(default)]
    pub detect: Vec<String>,
    pub http: Option<Shape>,
    pub stdio: Option<Shape>,
    /// How the file refers to a secret
    pub secret: Option<String>,
    /// The question for a secret, where the client asks
    pub input: Option<String>,
    /// What to do where there is no file
    #[serde(default)]
    pub steps: Vec<String>,
    pub supports: Supports,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub notes: Vec<String>,
    /// The first version with all this
    pub since: Option<String>,
    pub facts: BTreeMap<FactGroup, Vec<String>>,
    #[serde(default)]
    pub uncertain: BTreeMap<FactGroup, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClientKind {
    /// Reads a file.
    File,
    /// Takes the text of a file in its settings.
    Form,
    /// Keeps servers with an account or on a server of its own.
    Hosted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Json,
    Jsonc,
    Toml,
    Yaml,
}

impl Format {
    pub const fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Jsonc => "jsonc",
            Format::Toml => "toml",
            Format::Yaml => "yaml",
        }
    }
}

#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Paths {
    pub macos: Vec<String>,
    pub linux: Vec<String>,
    pub windows: Vec<String>,
}

impl Paths {
    /// Those of the system that this program runs on.
    pub fn here(&self) -> &[String] {
        if cfg!(target_os = "macos") { &self.macos } else { &self.linux }
    }

    pub fn all(&self) -> [(&'static str, &[String]); 3] {
        [("macos", &self.macos), ("linux", &self.linux), ("windows", &self.windows)]
    }

    pub fn is_empty(&self) -> bool {
        self.all().iter().all(|(_, paths)| paths.is_empty())
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    pub variable: String,
    pub file: String,
}

/// How a server is written down.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Shape {
    pub entry: Option<String>,
    /// What is added where the server asks for an API key
    pub key: Option<String>,
    /// The client's own command that adds the server
    pub command: Option<String>,
    pub command_key: Option<String>,
    pub deeplink: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Supports {
    pub http: bool,
    pub stdio: bool,
    pub environment_variables: bool,
    #[serde(default)]
    pub working_directory: bool,
    pub oauth: Option<bool>,
    pub resources: Option<bool>,
    pub prompts: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub tools: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub tool_name_length: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub result_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub result_characters: Option<u32>,
}

/// What a source is named for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum FactGroup {
    Files,
    Shape,
    Secret,
    Command,
    Deeplink,
    Steps,
    Limits,
}

impl Catalog {
    /// Reads a catalog from the text of a file.
    pub fn parse(text: &str) -> Result<Catalog, toml::de::Error> {
        toml::from_str(text)
    }

    pub fn client(&self, id: &str) -> Option<&Client> {
        self.clients.iter().find(|client| client.id == id)
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.clients.iter().map(|client| client.id.as_str())
    }
}

impl Client {
    /// Why its file or the shape of its entries is not certain.
    pub fn doubt(&self) -> Option<&str> {
        let groups = [FactGroup::Files, FactGroup::Shape];
        groups.iter().find_map(|group| self.uncertain.get(group)).map(String::as_str)
    }

    /// The day of the oldest source of its facts.
    pub fn checked(&self) -> &'static str {
        let sources = self.facts.values().flatten().filter_map(|key| catalog().sources.get(key));
        sources.map(|source| source.date.as_str()).min().unwrap_or_default()
    }
}

/// The catalog of this binary.
pub fn catalog() -> &'static Catalog {
    static CATALOG: LazyLock<Catalog> =
        LazyLock::new(|| Catalog::parse(DATA).expect("assets/clients.toml, which tests read"));
    &CATALOG
}
