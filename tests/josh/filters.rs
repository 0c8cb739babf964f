//! Filter values: a value with a comma in it is one value when it comes from JSON; in a query
//! string it stands in double quotes.

use serde_json::{Value, json};

use crate::mcp::{block_on, call, connect, eras};
use crate::support::{SAMPLE, Server, changed, segment};

/// The sample as a bundle with more than 100 clients has it: without a list of the known values.
fn without_known_values(folder: &std::path::Path) -> Server {
    let path = changed(folder, "many.db", |manifest| {
        let filings = manifest.sources.iter_mut().find(|s| s.key == "lda-filings").unwrap();
        for field in ["client", "registrant"] {
            filings.fields.get_mut(field).unwrap().values = None;
        }
    });
    Server::start(&["--bundle", path.to_str().unwrap()])
}

/// Given groups that `count` returned, when each key is filtered on, through MCP and through REST,
/// then the number of records is the group's: also of "… , INC.".
#[test]
fn a_key_that_count_returned_can_be_filtered_on() {
    let folder = tempfile::tempdir().unwrap();
    let server = without_known_values(folder.path());
    for field in ["client", "registrant"] {
        let groups = server
            .get(&format!("/v1/lda-filings?aggregate=count&group_by={field}&limit=100"))
            .json();
        let groups = groups["buckets"].as_array().unwrap().clone();
        let with_comma =
            |group: &&Value| group["key"].as_str().is_some_and(|key| key.contains(','));
        assert!(groups.iter().filter(with_comma).count() > 0, "the sample has names with commas");
        block_on(async {
            let client = connect(&server.url, eras()[0].clone()).await;
            for group in groups.iter().filter(|group| group["key"].is_string()) {
                let key = group["key"].as_str().unwrap();
                for filter in [json!(key), json!([key])] {
                    let filters = json!({ field: filter });
                    let with = json!({ "resource": "lda-filings", "filters": filters });
                    let counted = call(&client, "count", with).await;
                    let counted = counted.structured_content.unwrap();
                    assert_eq!(counted["value"], group["value"], "{field} {key:?} by MCP");
                }
                let quoted = segment(&format!("\"{key}\""));
                let counted =
                    server.get(&format!("/v1/lda-filings?aggregate=count&{field}={quoted}"));
                assert_eq!(counted.json()["value"], group["value"], "{field} {key:?} by REST");
            }
        });
    }
}

/// Given a query string, when commas stand outside quotes, then they separate alternatives.
#[test]
fn commas_separate_alternatives_in_a_query_string() {
    let total =
        |query: &str| SAMPLE.get(&format!("/v1/bills?{query}&limit=1")).json()["total"].clone();
    let (hr, s) = (total("type=hr"), total("type=s"));
    assert_eq!(total("type=hr,s"), hr.as_u64().unwrap() + s.as_u64().unwrap());
    assert_eq!(total("type=%22hr%22,s"), total("type=hr,s"));
    let refused = SAMPLE.get("/v1/bills?type=%22hr,s%22");
    assert_eq!(refused.code(), "invalid_parameter", "in quotes it is one value, which no bill has");
}
