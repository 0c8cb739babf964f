//! Josh serves United States federal policy data from one bundle file.
//!
//! Layers, each of which uses only those below it (`tests/josh/architecture.rs` checks):
//! - surfaces decode requests and encode outcomes: `cli`, `http`, `mcp`; `docs` writes the
//!   generated pages;
//! - `executor` runs operations, `toolsets` names the capabilities;
//! - capabilities own operations, types and logic: `policy`, `clients`, `statistics`,
//!   `forms`;
//! - `api` is the contract: operations, arguments, contexts, outcomes, errors;
//! - data: `catalog` says what a source is, `bundle` is the opened file, `embed` turns text into
//!   vectors, `client_config` knows how MCP clients are configured, `wizard` how forms of
//!   agencies are run;
//! - runtime: `access`, `limits`, `tls`, `settings`, `metrics`, `telemetry`,
//!   `allocator`.
//!
//! The path of `GET /v1/bills/hr:119:1/actions?limit=5`:
//! 1. `http::front` gives the request an id, checks its size and method, and asks the access guard;
//! 2. `http::router` finds the operation and adds the variables of the path to its arguments;
//! 3. `executor` waits for a permit and moves permit, arguments and context to a blocking thread;
//! 4. `policy::operations::list_sub_resource` finds the record and reads a typed `ListRequest`;
//! 5. `policy::query` writes the SQL, and `bundle::Database` runs it until it is done or cancelled;
//! 6. `http::encode` makes JSON of the page, `http::respond` a response with ETag and next link.
//!
//! A tool of `mcp` becomes the same operation with the same arguments.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod access;
pub mod allocator;
pub mod api;
pub mod banner;
pub mod boj;
pub mod bundle;
pub mod catalog;
pub mod cli;
pub mod client_config;
pub mod clients;
pub mod docs;
pub mod embed;
pub mod executor;
pub mod folders;
pub mod forms;
pub mod http;
pub mod limits;
pub mod mcp;
pub mod metrics;
pub mod output;
pub mod policy;
mod priority;
pub mod reloads;
mod request_id;
pub mod settings;
pub mod signing;
pub mod spelling;
pub mod stamp;
pub mod statistics;
pub mod telemetry;
mod timestamp;
pub mod tls;
pub mod toolsets;
pub mod wizard;
