//! What `josh serve` says once it listens.

use std::net::SocketAddr;

use crate::bundle::Bundle;

pub fn text(address: SocketAddr, bundle: &Bundle, is_sample: bool) -> String {
    let manifest = &bundle.manifest;
    let records: u64 = manifest.sources.iter().map(|s| s.records).sum();
    let from = if is_sample {
        "embedded sample; give a bundle of your own with --bundle FILE".to_string()
    } else {
        bundle.path.display().to_string()
    };
    let first = bundle.source("bills").and_then(|(s, _)| bundle.records().by_number(bundle.first_number(s)));
    let example = match bundle.records().by_id("hr:119:1").map(|(_, entry)| entry).or(first) {
        Some(entry) => format!("/v1/fetch/{}", entry.id),
        None => "/v1/sources".to_string(),
    };
    let signed = if manifest.signature.is_some() { "signed" } else { "not signed" };
    format!(
        "Josh {version}\n\
         \x20 bundle  {id}, data up to {as_of}, {records} records, {signed}\n\
         \x20         {from}\n\
         \x20 web     http://{address}/\n\
         \x20 REST    http://{address}/v1/sources, docs at http://{address}/docs\n\
         \x20 MCP     http://{address}/mcp\n\
         \x20         claude mcp add --transport http josh http://{address}/mcp\n\
         \x20 access  open to everyone who can reach {address}\n\
         \x20 try     curl http://{address}{example}\n",
        version = env!("CARGO_PKG_VERSION"),
        id = manifest.id,
        as_of = manifest.as_of,
    )
}
