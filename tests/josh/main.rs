//! The contract, over real parts: the real binary, a real bundle, real HTTP. One test binary, one
//! file a subject.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod access_modes;
mod aggregates;
mod architecture;
mod cli;
mod client_guides;
mod clients;
mod clients_catalog;
mod clients_history;
mod connect;
mod connect_refused;
mod contract;
mod coverage;
mod damage;
mod dossiers;
mod errors;
mod eval;
mod exhaustion;
mod explorer;
mod features;
mod filters;
mod ids;
mod limits;
mod lists;
mod login;
mod mcp;
mod mcp_criteria;
mod mcp_criteria_retrieval;
mod mcp_wire;
mod names;
mod notice;
mod operations;
mod pull;
mod readme;
mod rest;
mod routing;
mod search;
mod security;
mod snapshots;
mod soak;
mod supply_chain;
mod support;
mod swap;
mod tls;
mod toolsets;
mod trust;
