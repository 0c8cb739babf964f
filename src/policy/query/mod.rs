//! Requests as types: arguments checked against the catalog and the bundle, answered from the
//! bundle's columns or, where these can't tell, by SQL. SQL for serving is written here and nowhere
//! else.

mod aggregate;
mod aggregate_request;
mod columns;
mod coverage;
mod cursor;
mod facets;
mod filter;
mod find;
mod interval;
mod listing;
mod page;
mod request;
mod row_numbers;
mod rows;
mod sections;
mod selection;
mod text;
mod values;

pub use aggregate::{Aggregate, AggregateResult, Bucket, Figure, MOST_BUCKETS, aggregate};
pub use aggregate_request::{AGGREGATE_PARAMETERS, AggregateRequest, Statistic, aggregates};
pub use columns::column_value;
pub use coverage::Outside;
pub use cursor::Cursor;
pub use facets::{
    FacetCounts, FacetScope, FacetValue, YEAR, facet, facet_fields, take_facets, title,
    unknown_facet,
};
pub use filter::Op;
pub use interval::Interval;
pub use listing::{Items, Listing};
pub use page::{list, page, row_json, select_fields};
pub use request::{
    DEFAULT_LIMIT, LEAST_TEXT, LIST_PARAMETERS, ListRequest, MOST_ITEMS, MOST_TEXT, take_cursor,
    take_fields, take_limit,
};
pub use selection::{Selection, select_ords};
pub use values::values_with;
