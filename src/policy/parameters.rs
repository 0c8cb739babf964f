//! Arguments that several tools share.

use super::query::MOST_ITEMS;
use crate::api::parameter::DETAIL as DETAIL_PARAMETER;
use crate::api::{Kind, Parameter};

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
    &[Parameter::required("bioguide_id", Kind::Id("M000133"), "Bioguide id of a member")
        .or("bioguide")
        .sets("{id}")];

pub const COMMITTEE: &[Parameter] =
    &[Parameter::required("committee_id", Kind::Id("HSWM"), "Committee id").or("id").sets("{id}")];

pub const CONGRESS: &[Parameter] = &[Parameter::optional(
    "congress",
    Kind::Integer { min: 1, max: 200, default: None },
    "Number of a Congress, to narrow to it",
)];

pub const FILTERS: &[Parameter] = &[Parameter::optional(
    "filters",
    Kind::Filters,
    "Fields and values: {\"congress\": 119, \"introduced_date.gte\": \"2025-01-01\"}",
)];
