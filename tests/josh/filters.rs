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

/// Given a name where an id is asked for, when it is clear who is meant, then the answer says how
/// it was read; when not, the error lists who may be meant.
#[test]
fn names_do_where_ids_are_asked_for() {
    let cruz = SAMPLE.get("/v1/bills?sponsor=Ted%20Cruz").json();
    assert_eq!(cruz["meta"]["understood"][0]["value"], "C001098", "{cruz}");
    assert_eq!(cruz["total"], SAMPLE.get("/v1/bills?sponsor=C001098").json()["total"]);
    let visa = SAMPLE.get("/v1/lda-filings?client=visa").json();
    assert_eq!(visa["meta"]["understood"][0]["value"], "VISA, INC.", "{visa}");
    let exact = SAMPLE.get("/v1/lda-filings?client=%22visa,%20inc.%22").json();
    assert_eq!((&exact["total"], exact["meta"].get("understood")), (&visa["total"], None));
    let several = SAMPLE.get("/v1/bills?sponsor=Mike");
    assert_eq!((several.status, several.code().as_str()), (400, "invalid_parameter"));
    let candidates = several.json()["error"]["hint"]["candidates"].as_array().unwrap().len();
    assert!(candidates > 1, "{}", several.text());
    assert_eq!(SAMPLE.get("/v1/legislators/Ted%20Cruz").json()["data"]["id"], "C001098");
    assert_eq!(SAMPLE.get("/v1/legislators/Nobody%20At%20All").status, 400);
}

/// Given two fields of a record, when one is compared with the other, then SQL agrees; a field of
/// another kind is refused with those that can be compared.
#[test]
fn fields_are_compared_with_fields() {
    let tied = SAMPLE.get("/v1/roll-call-votes?yea=%24nay&fields=yea,nay").json();
    let votes = tied["data"].as_array().unwrap();
    assert!(!votes.is_empty() && votes.iter().all(|vote| vote["yea"] == vote["nay"]), "{tied}");
    let refused = SAMPLE.get("/v1/roll-call-votes?yea=%24date");
    assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_parameter"));
    let valid = refused.json()["error"]["hint"]["valid"].to_string();
    assert!(valid.contains("\"nay\"") && !valid.contains("date"), "{valid}");
}
