//! Requests as types: parameters checked against the catalog and the bundle, and the SQL made from them. SQL for
//! serving is written here and nowhere else.

mod aggregate;
mod cursor;
mod filter;
mod listing;
mod params;
mod selection;
mod table;
mod text;

pub use aggregate::{
    Aggregate, AggregateRequest, Answer, INTERVALS, Limits, PARAMETERS as AGGREGATE_PARAMETERS, aggregate,
};
pub use cursor::Cursor;
pub use filter::Op;
pub use listing::{
    DEFAULT_LIMIT, Format, LEAST_TEXT, ListRequest, MOST_ITEMS, MOST_TEXT, Page, RESERVED, list, narrow, read_fields,
    read_limit, row_json,
};
pub use params::Params;
pub use selection::{Selection, select_ords};
pub use table::Table;
