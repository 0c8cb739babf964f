//! The operations of the capability, one file each. Adding one: its file and a line in
//! `OPERATIONS`.

mod aggregate_records;
mod aggregate_sub_resource;
mod fetch;
mod fetch_document;
mod get_dossier;
mod get_guide;
mod get_record;
pub mod get_source;
mod list_records;
pub mod list_sources;
mod list_sub_resource;
mod ping;
mod resolve_entity;
mod search;

use crate::api::Operation;

/// In the order in which their tools are listed.
pub const OPERATIONS: &[Operation] = &[
    list_sources::OPERATION,
    get_source::OPERATION,
    get_record::OPERATION,
    aggregate_sub_resource::OPERATION,
    list_sub_resource::OPERATION,
    search::OPERATION,
    fetch::OPERATION,
    fetch_document::OPERATION,
    resolve_entity::OPERATION,
    aggregate_records::OPERATION,
    list_records::OPERATION,
    get_dossier::OPERATION,
    ping::OPERATION,
    get_guide::OPERATION,
];
