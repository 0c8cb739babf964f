//! Prompts, resources and completion, as the reference names them.

use serde_json::Value;

use super::catalogs;
use crate::api::{Prompt, Resource};
use crate::boj::catalog::{DATABASES, FREQUENCIES, MESSAGES};

pub const PROMPTS: &[Prompt] = &[
    Prompt {
        name: "boj_discovery_flow",
        title: "Find out what the Bank of Japan publishes",
        about: "From databases to the codes of series and the parameters of an endpoint",
        arguments: &[("endpoint", "all, get_data_code, get_data_layer or get_metadata", false)],
        text: "Find out what the Bank of Japan publishes{endpoint: and what % takes}. Call \
               boj_list_databases, choose the database, call boj_get_metadata for it (contains \
               narrows it), and boj_get_parameter_catalog{endpoint: with endpoint %} before the \
               first data call. Name the codes, units and frequencies that you found.",
        reply: Some(
            "I start with boj_list_databases and go on with boj_get_metadata for the database \
             that fits; no data before its codes and parameters are known.",
        ),
        is_offered: |_| true,
    },
    Prompt {
        name: "boj_fetch_data_code_flow",
        title: "Get series of the Bank of Japan by code",
        about: "Values of series whose codes are known, all pages",
        arguments: &[
            ("db", "Database, like FM01", true),
            ("codes", "Series codes, separated by commas, like STRDCLUCON", true),
            ("start_date", "First period: YYYY, or YYYY and two digits", false),
            ("end_date", "Last period, written alike", false),
            ("format", "json or csv", false),
            ("lang", "jp or en", false),
        ],
        text: "Call boj_get_data_code with db {db} and codes {codes}{start_date:, start_date %}\
               {end_date:, end_date %}{format:, format %}{lang:, lang %}. While next_position is \
               not null, call again with it as start_position. Report the values with their \
               periods and unit; a null value is a missing one. If error_type is \
               VALIDATION_ERROR, mend the arguments; try again only if retryable is true.",
        reply: Some(
            "I call boj_get_data_code for {codes} in {db} and follow next_position until it is \
             null.",
        ),
        is_offered: |_| true,
    },
    Prompt {
        name: "boj_latest_value_flow",
        title: "Get the latest value of a series of the Bank of Japan",
        about: "The newest value that is not missing, with its period and unit",
        arguments: &[
            ("db", "Database, like FM01", true),
            ("series_code", "Series code, like STRDCLUCON", true),
            ("format", "json or csv", false),
            ("lang", "jp or en", false),
        ],
        text: "Call boj_get_data_code with db {db} and codes [\"{series_code}\"]\
               {format:, format %}{lang:, lang %}. Take the last point whose value is not null, \
               and report it with its survey_date, unit and last_update.",
        reply: Some(
            "I call boj_get_data_code for {series_code} in {db} and look for the last value that \
             is not null.",
        ),
        is_offered: |_| true,
    },
];

const CALL_ORDER: &str = "\
1. boj_list_databases: the 50 databases, with codes.
2. boj_get_metadata: the series of one database, with code, frequency, unit and layers.
   `contains` narrows by words, `start_position` continues.
3. boj_get_parameter_catalog: how dates are written for each frequency, and the limits.
4. boj_get_data_code for known codes of one frequency, or boj_get_data_layer for a part of the tree.
5. While next_position is not null: the same call with start_position = next_position.
6. boj_get_message_catalog explains a message_id.
";

const INPUT_NORMALIZATION: &str = "\
db: any case; sent in upper case.
format: json or csv, also JSON, CSV. lang: jp or en, also JP, EN.
frequency: CY FY CH FH Q M W D, any case. The long names of answers are refused.
codes: without the database's prefix, all of one frequency, at most 1,250.
layers: 1 to 5, each * or a number from 1.
start_date, end_date: YYYY for CY, FY; YYYY and 01 or 02 for CH, FH; YYYY and 01 to 04 for Q;
YYYYMM for M, W, D. Both have as many digits.
";

const DATABASES_URI: &str = "boj://catalog/databases";
const PARAMETERS_URI: &str = "boj://catalog/parameters/";
const MESSAGES_URI: &str = "boj://catalog/messages/";
const TEXT: &str = "text/plain";
const JSON: &str = "application/json";

const GUIDES: &[(&str, &str, &str, &str)] = &[
    ("boj://guide/call-order", "Call order", "Which tool to call when", CALL_ORDER),
    (
        "boj://guide/input-normalization",
        "Input normalization",
        "How arguments are written",
        INPUT_NORMALIZATION,
    ),
];

pub const TEMPLATES: &[(&str, &str, &str, &str)] = &[
    (
        "boj://catalog/parameters/{endpoint}",
        "Parameters",
        "Parameters of an endpoint: all, get_data_code, get_data_layer, get_metadata",
        JSON,
    ),
    ("boj://catalog/messages/{status}", "Messages", "Messages with a status: 200, 400 …", JSON),
];

pub fn resources() -> Vec<Resource> {
    let resource = |uri: &str, title: &str, about: &str, mime| Resource {
        uri: uri.into(),
        title: title.into(),
        about: about.into(),
        mime,
    };
    let guides = GUIDES.iter().map(|(uri, title, about, _)| resource(uri, title, about, TEXT));
    let databases = resource(DATABASES_URI, "Databases", "The Bank of Japan's databases", JSON);
    guides.chain([databases]).collect()
}

pub fn read(uri: &str) -> Option<(&'static str, String)> {
    let pretty = |value: Value| serde_json::to_string_pretty(&value).ok().map(|text| (JSON, text));
    if let Some((.., text)) = GUIDES.iter().find(|(known, ..)| *known == uri) {
        return Some((TEXT, text.to_string()));
    }
    if uri == DATABASES_URI {
        return pretty(catalogs::databases());
    }
    if let Some(endpoint) = uri.strip_prefix(PARAMETERS_URI) {
        return pretty(catalogs::parameters(endpoint).ok()?);
    }
    match uri.strip_prefix(MESSAGES_URI)? {
        "all" => pretty(catalogs::messages(None)),
        status => {
            let status: i64 = status.parse().ok()?;
            let is_known = MESSAGES.iter().any(|message| message.status == status);
            is_known.then(|| pretty(catalogs::messages(Some(status)))).flatten()
        }
    }
}

/// Values of an argument that begin with what was typed, in any case.
pub fn complete(argument: &str, typed: &str) -> Vec<String> {
    let values: Vec<String> = match argument {
        "db" => DATABASES.iter().map(|database| database.code.to_string()).collect(),
        "format" => vec!["json".into(), "csv".into()],
        "lang" => vec!["jp".into(), "en".into()],
        "endpoint" => catalogs::ENDPOINTS.iter().map(|(name, _)| name.to_string()).collect(),
        "status" => ["200", "400", "500", "503"].map(String::from).to_vec(),
        "frequency" => FREQUENCIES.iter().map(|(code, _)| code.to_string()).collect(),
        _ => Vec::new(),
    };
    let typed = typed.to_lowercase();
    values.into_iter().filter(|value| value.to_lowercase().starts_with(&typed)).collect()
}
