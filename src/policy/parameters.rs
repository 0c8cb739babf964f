//! Arguments that several tools share.

use super::query::MOST_ITEMS;
use crate::api::parameter::DETAIL as DETAIL_PARAMETER;
use crate::api::{Kind, Parameter};
use crate::bundle::Bundle;

/// Items per page, unless an agent asks for more.
const DEFAULT_LIMIT: u64 = 10;

const LIMIT: Kind = Kind::Integer { min: 1, max: MOST_ITEMS as u64, default: Some(DEFAULT_LIMIT) };

pub const CURSOR: Parameter =
    Parameter::optional("cursor", Kind::Cursor, "next_cursor of the page before");

pub const DETAIL: &[Parameter] = &[DETAIL_PARAMETER];

pub const PAGE: &[Parameter] =
    &[Parameter::optional("limit", LIMIT, "Items per page"), CURSOR, DETAIL_PARAMETER];

/// Buckets of counts and sums.
pub const TOP: &[Parameter] = &[
    Parameter::optional(
        "limit",
        Kind::Integer { min: 1, max: MOST_ITEMS as u64, default: None },
        "Buckets, the largest first",
    ),
    DETAIL_PARAMETER,
];

pub const BILL: &[Parameter] = &[Parameter::required(
    "bill_id",
    Kind::Id("hr:119:1"),
    "Bill: hr:119:1, or as people write it (H.R. 1, 119th)",
)
.sets("{id}")];

pub const MEMBER: &[Parameter] =
    &[Parameter::required("bioguide_id", Kind::Id("M000133"), "Member: bioguide id or name")
        .or("bioguide")
        .sets("{id}")];

pub const COMMITTEE: &[Parameter] =
    &[Parameter::required("committee_id", Kind::Id("HSWM"), "Committee: id or name")
        .or("id")
        .sets("{id}")];

pub const CONGRESS: &[Parameter] = &[Parameter::optional(
    "congress",
    Kind::Integer { min: 1, max: 200, default: None },
    "Number of a Congress, to narrow to it",
)];

/// Narrowing by the source's main date.
pub const DATES: &[Parameter] = &[
    Parameter::optional("since", Kind::Date, "First day: 2025-01-31, 2025-01 or 2025"),
    Parameter::optional("until", Kind::Date, "Last day"),
];

/// Counts beside results.
pub const FACETS: &[Parameter] =
    &[Parameter::optional("facets", Kind::Names, "Fields to count by")];

/// Filters on the records of a source.
pub const FILTERS: &[Parameter] = &[Parameter::optional(
    "filters",
    Kind::Filters(|_| String::new()),
    "Fields (see list_records) and values: {\"congress\": 119, \"amount.gte\": 5000}",
)];

/// Filters on the rows of a sub-resource, which the description names.
pub const fn row_filters(describe: fn(&Bundle) -> String) -> Parameter {
    Parameter::optional("filters", Kind::Filters(describe), "Fields and values")
}
