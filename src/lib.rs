//! Josh serves United States federal policy data from one bundle file.
//!
//! The path of `GET /v1/bills/hr:119:1/actions?limit=5`:
//! 1. `http::front` gives the request an id and checks its size and method, `http::door` who asks and how often;
//! 2. `http::rest` reads the path as a `service::Call`, and `Josh::answer` waits for its turn and moves to a blocking thread;
//! 3. `service::list_sub_resource` finds source and sub-resource in the `catalog` and the bundle's manifest;
//! 4. `record` reads the id with the one grammar of `catalog::ids` and finds the record in the memory map;
//! 5. `query` checks every parameter against the catalog, writes the SQL and asks `bundle::Database`;
//! 6. `answer` makes JSON of the page, `http::respond` a response with ETag and the link to the next one.
//!
//! A tool of `mcp` becomes the same `service::Call`. One direction: `cli, http -> mcp -> service, answer -> aggregate, dossier, resolve -> search -> record -> query -> catalog, bundle -> embed, error`.

pub mod access;
pub mod aggregate;
pub mod answer;
pub mod banner;
pub mod bundle;
pub mod catalog;
pub mod cli;
pub mod dossier;
pub mod embed;
pub mod error;
pub mod gate;
pub mod http;
pub mod mcp;
pub mod metrics;
pub mod query;
pub mod record;
pub mod resolve;
pub mod search;
pub mod service;
pub mod settings;
pub mod telemetry;
pub mod tls;
