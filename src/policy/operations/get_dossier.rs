//! Everything about one thing in one answer.

use serde_json::{Value, json};

use crate::api::{Cost, Endpoint, Kind, Operation, Parameter, Scope, Tool};
use crate::bundle::{Bundle, SourceFacts};
use crate::catalog::{self, Source};
use crate::policy::dossier::{self, available_sections};
use crate::policy::endpoints::{id_parameter, query_parameter};
use crate::policy::parameters::{BILL, COMMITTEE, CONGRESS, DETAIL, MEMBER};
use crate::policy::record::require_source;
use crate::policy::schemas;

pub const OPERATION: Operation = Operation {
    name: "get_dossier",
    title: "Get a dossier",
    about: "The record and the first items of its sub-resources, in one answer",
    route: Some("/v1/{source}/{id}/dossier"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Query,
    cost_with: None,
    is_list: false,
    endpoints,
    tools: &[
        Tool {
            name: "get_bill_dossier",
            title: "Everything about a bill",
            is_offered: |bundle| bundle.source("bills").is_some(),
            about: |bundle| {
                format!(
                    "Everything about one bill in one answer: the record and the first items of \
                     {}, each with its total and more_url. Only the record: get_bill.",
                    sections(bundle, "bills")
                )
            },
            examples: &[
                "everything about HR 1",
                "prep me on S. 5: cost estimate, White House position, roll calls",
            ],
            fixed: &[("{source}", "bills")],
            arguments: &[BILL, DETAIL],
            output: |bundle| output(bundle, "bills"),
        },
        Tool {
            name: "get_legislator_dossier",
            title: "A member's profile",
            is_offered: |bundle| bundle.source("legislators").is_some(),
            about: |bundle| {
                format!(
                    "A member's whole profile in one answer: the record and the first items of {}. \
                     Needs a bioguide id. Single facts: get_legislator; votes: list_member_votes.",
                    sections(bundle, "legislators")
                )
            },
            examples: &[
                "profile of S000033",
                "which committees does she sit on, what has she sponsored",
            ],
            fixed: &[("{source}", "legislators")],
            arguments: &[MEMBER, CONGRESS, DETAIL],
            output: |bundle| output(bundle, "legislators"),
        },
        Tool {
            name: "get_committee_dossier",
            title: "Everything about a committee",
            is_offered: |bundle| bundle.source("committees").is_some(),
            about: |bundle| {
                format!(
                    "A committee's work in one answer: the record and the first items of {}. Only \
                     who sits on it: list_committee_members.",
                    sections(bundle, "committees")
                )
            },
            examples: &[
                "complete rundown on HSAG",
                "what has SSFI been up to: hearings, measures, reports",
            ],
            fixed: &[("{source}", "committees")],
            arguments: &[COMMITTEE, CONGRESS, DETAIL],
            output: |bundle| output(bundle, "committees"),
        },
        Tool {
            name: "get_public_law_dossier",
            title: "Everything about a public law",
            is_offered: |bundle| bundle.source("public-laws").is_some(),
            about: |bundle| {
                format!(
                    "One enacted public law in one answer: the record and the first items of {}. \
                     Only the record or its text: fetch.",
                    sections(bundle, "public-laws")
                )
            },
            examples: &["everything on P.L. 117-58", "what regulations came out of a public law"],
            fixed: &[("{source}", "public-laws")],
            arguments: &[
                &[Parameter::required(
                    "id",
                    Kind::Id("pl:119:21"),
                    "Public law: pl:119:21, or P.L. 119-21",
                )
                .sets("{id}")],
                DETAIL,
            ],
            output: |bundle| output(bundle, "public-laws"),
        },
    ],
    run: |mut arguments, context| {
        let (source, _) = require_source(&context.bundle, &arguments.require("{source}")?)?;
        let id = arguments.require("{id}")?;
        dossier::gather(context, source, &id, arguments)
    },
};

fn sections(bundle: &Bundle, key: &str) -> String {
    let source = catalog::source(key);
    source.map_or_else(String::new, |source| available_sections(bundle, source).join(", "))
}

fn output(bundle: &Bundle, key: &str) -> Value {
    catalog::source(key).map_or(Value::Null, |source| schemas::dossier(bundle, source))
}

fn endpoints(bundle: &Bundle) -> Vec<Endpoint> {
    let endpoint = |(source, _): (&'static Source, &SourceFacts)| {
        let spec = source.dossier.as_ref()?;
        let mut parameters = vec![id_parameter(bundle, source)];
        if spec.takes_congress {
            let about = "Only what belongs to this congress";
            parameters.push(query_parameter("congress", json!({ "type": "integer" }), about));
        }
        Some(Endpoint {
            path: format!("/v1/{}/{{id}}/dossier", source.key),
            id: format!("get_{}_dossier", source.table()),
            summary: format!(
                "Everything about a {}: the record and the first items of each section",
                source.singular
            ),
            parameters,
            output: schemas::dossier(bundle, source),
        })
    };
    bundle.sources().filter_map(endpoint).collect()
}
