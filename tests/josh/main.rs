//! The contract, over real parts: the real binary, a real bundle, real HTTP. One test binary, one
//! file a subject.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod access_modes;
mod aggregates;
mod architecture;
mod cli;
mod contract;
mod damage;
mod dossiers;
mod errors;
mod eval;
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
mod readme;
mod rest;
mod routing;
mod search;
mod security;
mod snapshots;
mod soak;
mod support;
mod swap;
mod tls;
mod toolsets;
