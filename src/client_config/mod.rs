//! How MCP clients are configured: which there are, what an entry looks like in each, profiles of
//! servers, signed artifacts, comparing a client's own file with them, and editing that file. It
//! knows no surface: `clients/` offers this as operations, `josh connect` applies it.

mod artifact;
mod catalog;
mod compare;
pub mod edit;
mod entry;
mod fetch;
pub mod install;
mod ledger;
mod profile;
mod profile_file;
mod registry;
mod render;
mod secrets;
mod server;
mod setup;
mod store;
mod template;

pub use artifact::{Artifact, LARGEST_PAYLOAD, Statement, artifact_id, canonical, is_artifact_id};
pub use catalog::{Catalog, Client, ClientKind, FactGroup, Format, Limits, Moved, Paths, catalog};
pub use compare::{Change, Comparison, Modified, Status, compare, describe, managed};
pub use entry::{Payload, payload};
pub use fetch::{FetchError, fetch};
pub use profile::{DEFAULT, Profile, STDIO};
pub use profile_file::{ProfileError, read_profiles};
pub use registry::{ClientConfigs, Offer, Options, Unusable};
pub use render::render;
pub use server::{KEY_VARIABLE, SERVER_NAME, ServerSpec, Transport};
pub use setup::{Setup, setup};
