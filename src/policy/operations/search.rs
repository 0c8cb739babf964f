//! Text search: by words, by meaning, or both.

use std::sync::Arc;

use serde_json::json;

use crate::api::{
    Arguments, Context, Cost, Endpoint, EndpointParameter, Kind, Operation, Outcome, Parameter,
    Result, Scope, Tool,
};
use crate::bundle::Bundle;
use crate::metrics::METRICS;
use crate::policy::endpoints::{
    facets_parameter, filter_parameters, page_parameters, query_parameter, text,
};
use crate::policy::parameters::{DATES, FACETS, FILTERS, PAGE};
use crate::policy::query::{Listing, facet_fields};
use crate::policy::search::{self, Mode, SearchRequest};
use crate::policy::{advertised, schemas};

const QUERY: Parameter = Parameter::required(
    "query",
    Kind::Text,
    "What to look for; \"exact phrases\", -word and title:word are understood",
)
.sets("q");

const SOURCE: Parameter = Parameter::optional(
    "source",
    Kind::SomeOf(advertised::searchable, 21),
    "One source or several",
);

pub const OPERATION: Operation = Operation {
    name: "search",
    title: "Search texts",
    about: "Full text and meaning: the best passages of the records that carry a text",
    route: Some("/v1/search"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Search,
    cost_with: None,
    is_list: true,
    endpoints: |bundle| {
        vec![Endpoint {
            path: "/v1/search".into(),
            id: "search".into(),
            summary: "Full text and meaning: the best passages of the records that carry a text"
                .into(),
            parameters: parameters(bundle),
            output: schemas::search_results(),
        }]
    },
    tools: &[
        Tool {
            name: "search",
            title: "Search federal documents",
            is_offered: |bundle| !advertised::searchable(bundle).is_empty(),
            about: |bundle| {
                format!(
                    "Search by words and by meaning together, over the texts of: {}. The first \
                     choice for a question on a subject, or to find documents, with dates or \
                     sources to narrow. Results have id, title, url, a marked snippet and a \
                     citation; pass an id to fetch. Only exact wording: lexical_search. Only \
                     similar meaning: semantic_search. People, committees and organizations by \
                     name: resolve_entity. How many: count.",
                    advertised::searchable(bundle).join(", ")
                )
            },
            examples: &[
                "what has EPA done on lead pipes since 2024",
                "what is out there on data centers from Congress, agencies and CRS",
                "any recent GAO work on ships",
            ],
            fixed: &[],
            arguments: &[&[QUERY, SOURCE], DATES, FILTERS, FACETS, PAGE],
            output: |_| schemas::search_results(),
        },
        Tool {
            name: "lexical_search",
            title: "Search exact words",
            is_offered: |bundle| !advertised::searchable(bundle).is_empty(),
            about: |bundle| {
                format!(
                    "Keyword search (BM25) for texts that contain, mention or use these very \
                     words, a quoted phrase or a statutory citation; `total` is the exact number \
                     of records. No synonyms: for a subject in other words use search. Sources: \
                     {}.",
                    advertised::searchable(bundle).join(", ")
                )
            },
            examples: &[
                "every rule that cites 5 U.S.C. 553",
                "documents that say \"clear and convincing\"",
                "bills with 'lynching' in the title",
            ],
            fixed: &[("mode", "lexical")],
            arguments: &[&[QUERY, SOURCE], DATES, FILTERS, PAGE],
            output: |_| schemas::search_results(),
        },
        Tool {
            name: "semantic_search",
            title: "Search by meaning",
            is_offered: |bundle| !advertised::with_vectors(bundle).is_empty(),
            about: |bundle| {
                format!(
                    "Vector search for passages similar in meaning to a description, concept or \
                     another text, though they share no word with it: \"like\", \"similar to\", \
                     \"about the idea of\". Filters apply before ranking. Not for names, numbers \
                     or exact words. Sources: {}.",
                    advertised::with_vectors(bundle).join(", ")
                )
            },
            examples: &[
                "anything in the spirit of a wealth tax, whatever it is called",
                "which bills come closest to this paragraph of our draft",
                "the same argument in other words",
            ],
            fixed: &[("mode", "semantic")],
            arguments: &[
                &[
                    QUERY,
                    Parameter::optional(
                        "source",
                        Kind::SomeOf(advertised::with_vectors, 21),
                        "One source or several",
                    ),
                ],
                DATES,
                FILTERS,
                PAGE,
            ],
            output: |_| schemas::search_results(),
        },
    ],
    run,
};

fn run(arguments: Arguments, context: &Arc<Context>) -> Result<Outcome> {
    let request = SearchRequest::read(context, arguments)?;
    METRICS.searches.with_label_values(&[request.mode.name()]).inc();
    search::search(context, &request)
}

/// Search takes the filters of every source that it searches.
fn parameters(bundle: &Bundle) -> Vec<EndpointParameter> {
    let searched: Vec<_> = bundle.sources().filter(|(source, _)| source.shape.has_body()).collect();
    let keys: Vec<&str> = searched.iter().map(|(source, _)| source.key).collect();
    let modes = json!({ "type": "string", "enum": Mode::NAMES.map(|(name, _)| name) });
    let words = json!({ "type": "string", "examples": ["drinking water"] });
    let sources = json!({ "type": "string", "examples": keys });
    let mut question = query_parameter("q", words, "Words, \"phrases\", -without, title:word");
    question.required = true;
    let mut parameters = vec![
        question,
        query_parameter("mode", modes, "hybrid by default"),
        query_parameter("source", sources, "Sources to search, separated by commas"),
        query_parameter("since", text(), "Main date on or after"),
        query_parameter("until", text(), "Main date on or before"),
    ];
    parameters.extend(page_parameters());
    let listings = searched.iter().map(|(s, facts)| Listing::of_source(bundle, s, facts));
    let mut facets: Vec<&str> = listings.flat_map(|listing| facet_fields(&listing)).collect();
    facets.push("source");
    facets.sort_unstable();
    facets.dedup();
    parameters.push(facets_parameter(facets));
    for (source, facts) in searched {
        for parameter in filter_parameters(&Listing::of_source(bundle, source, facts)) {
            if !parameters.iter().any(|known| known.name == parameter.name) {
                parameters.push(parameter);
            }
        }
    }
    parameters
}
