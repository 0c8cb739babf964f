//! One record of a source by its id.

use std::sync::Arc;

use crate::api::{
    Arguments, Context, Cost, Endpoint, Notes, Operation, Outcome, Result, Scope, Tool,
};
use crate::catalog;
use crate::policy::endpoints::{fields_parameter, id_parameter};
use crate::policy::parameters::{BILL, COMMITTEE, DETAIL, MEMBER};
use crate::policy::query::{select_fields, take_fields};
use crate::policy::record::{FoundRecord, require_source};
use crate::policy::result::{RecordParts, RecordResult};
use crate::policy::schemas;
use crate::policy::understand::{self, may_be_name};

pub const OPERATION: Operation = Operation {
    name: "get_record",
    title: "Get a record",
    about: "One record with its citation",
    route: Some("/v1/{source}/{id}"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    // A name must be looked for.
    cost_with: Some(|arguments| match arguments.one("{id}").is_some_and(may_be_name) {
        true => Cost::Query,
        false => Cost::Lookup,
    }),
    is_list: false,
    endpoints: |bundle| {
        let endpoint = |(source, _): (&'static catalog::Source, _)| Endpoint {
            path: format!("/v1/{}/{{id}}", source.key),
            id: format!("get_{}", source.table()),
            summary: format!("One {} with its citation", source.singular),
            parameters: vec![id_parameter(bundle, source), fields_parameter()],
            output: schemas::record(source),
        };
        bundle.sources().map(endpoint).collect()
    },
    tools: &[
        Tool {
            name: "get_bill",
            title: "Get a bill",
            is_offered: |bundle| bundle.source("bills").is_some(),
            about: |_| {
                "One bill or resolution by its number: title, sponsor, status, latest action, \
                 committees, the law it became, with citation. Not for its wording \
                 (get_bill_text), everything around it (get_bill_dossier) or finding bills on a \
                 subject (search)."
                    .into()
            },
            examples: &[
                "H.R. 815, 118th",
                "where does S. 5 stand",
                "who sponsors HR 22, which committees was it sent to",
            ],
            fixed: &[("{source}", "bills")],
            arguments: &[BILL, DETAIL],
            output: |_| output("bills"),
        },
        Tool {
            name: "get_legislator",
            title: "Get a legislator",
            is_offered: |bundle| bundle.source("legislators").is_some(),
            about: |_| {
                "One member of Congress by bioguide id: name, party, state, chamber, service, \
                 contact. With only a name use resolve_entity first; for votes list_member_votes, \
                 for a profile with bills and committees get_legislator_dossier."
                    .into()
            },
            examples: &[
                "state, party and district of bioguide P000197",
                "is member S000033 still in office",
            ],
            fixed: &[("{source}", "legislators")],
            arguments: &[MEMBER, DETAIL],
            output: |_| output("legislators"),
        },
        Tool {
            name: "get_committee",
            title: "Get a committee",
            is_offered: |bundle| bundle.source("committees").is_some(),
            about: |_| {
                "One congressional committee or subcommittee by id: name, chamber, jurisdiction, \
                 parent. Who sits on it: list_committee_members. With only a name use \
                 resolve_entity first."
                    .into()
            },
            examples: &["what is HSWM", "which committee is this subcommittee part of"],
            fixed: &[("{source}", "committees")],
            arguments: &[COMMITTEE, DETAIL],
            output: |_| output("committees"),
        },
    ],
    run,
};

fn output(key: &str) -> serde_json::Value {
    catalog::source(key).map_or_else(schemas::any_record, schemas::record)
}

fn run(mut arguments: Arguments, context: &Arc<Context>) -> Result<Outcome> {
    let (source, _) = require_source(&context.bundle, &arguments.require("{source}")?)?;
    let found = understand::record(context, source, &arguments.require("{id}")?)?;
    outcome(context, &found, arguments)
}

/// The record as an outcome, with the fields that were asked for.
pub fn outcome(
    context: &Arc<Context>,
    found: &FoundRecord,
    mut arguments: Arguments,
) -> Result<Outcome> {
    let mut parts = RecordParts::new(context.bundle.clone(), found);
    if let Some(fields) = take_fields(&mut arguments, &found.source.columns())? {
        parts = parts.with_data(select_fields(found.entry.data, &fields)?);
    }
    arguments.finish(&["fields"])?;
    let notes = Notes { resolved: found.resolved(), ..Notes::default() };
    Ok(Outcome::new(RecordResult(parts)).with(notes))
}
