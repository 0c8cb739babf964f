//! The capability `statistics`: the Bank of Japan's time series by the contract of boj-mcp-server,
//! answered from the bundle, or by the Bank where the operator turned that on. Series of any
//! publisher are records of the capability `policy`.

mod catalogs;
mod guides;
mod held;
mod input;
mod operations;
mod output;
mod query;
mod schemas;
mod supplier;

use crate::api::Capability;
use crate::catalog::BOJ_CREDIT;

pub const CAPABILITY: Capability = Capability {
    name: "statistics",
    about: "Time series of the Bank of Japan",
    operations: operations::OPERATIONS,
    schemas: |_| serde_json::Map::new(),
    instructions: |_| {
        format!(
            "The boj_ tools give time series of the Bank of Japan: boj_list_databases, then \
             boj_get_metadata for the codes of a database, then boj_get_data_code. Follow \
             next_position until it is null. Show this wherever you use its values: {BOJ_CREDIT}"
        )
    },
    prompts: guides::PROMPTS,
    resources: |_| guides::resources(),
    templates: guides::TEMPLATES,
    read_resource: |_, uri| guides::read(uri),
    complete: |_, argument, typed| Ok(guides::complete(argument, typed)),
};
