//! The six tools of the reference. They have no routes: series are records over REST.

use std::sync::Arc;

use serde_json::Value;

use super::input::{
    DataCode, DataLayer, MessageCatalog, Metadata, Nothing, ParameterCatalog, WHOLE, read,
};
use super::output::{self, Data, Selection};
use super::{catalogs, schemas, supplier};
use crate::api::{
    Arguments, Context, Cost, Kind, Operation, Outcome, Parameter, Result, Scope, Tool,
};
use crate::boj::{Failure, Question};

pub const OPERATIONS: &[Operation] = &[
    Operation {
        tools: &[Tool {
            about: |_| {
                "Values of time series of the Bank of Japan by their codes, all of one frequency. \
                 Follow next_position until it is null."
                    .into()
            },
            examples: &["db FM01, codes [\"STRDCLUCON\"], start_date 202501"],
            arguments: &[&[AS_GIVEN, DB, CODES, FORMAT, LANG, START, END, POSITION, RAW]],
            output: |_| schemas::data(),
            ..tool("boj_get_data_code", "Get BOJ series by code")
        }],
        run: |arguments, context| {
            run_data(arguments, context, |input: DataCode| {
                let include_raw = input.include_raw.unwrap_or(false);
                Ok((input.question()?, include_raw))
            })
        },
        ..operation("boj_get_data_code", "Get BOJ series by code", Cost::External)
    },
    Operation {
        tools: &[Tool {
            about: |_| {
                "Values of all time series of the Bank of Japan in a part of a database's tree, of \
                 one frequency. Follow next_position until it is null."
                    .into()
            },
            examples: &["db BP01, frequency M, layers [\"1\", \"1\", \"*\"]"],
            arguments: &[&[
                AS_GIVEN, DB, FREQUENCY, LAYERS, FORMAT, LANG, START, END, POSITION, RAW,
            ]],
            output: |_| schemas::data(),
            ..tool("boj_get_data_layer", "Get BOJ series by layer")
        }],
        run: |arguments, context| {
            run_data(arguments, context, |input: DataLayer| {
                let include_raw = input.include_raw.unwrap_or(false);
                Ok((input.question()?, include_raw))
            })
        },
        ..operation("boj_get_data_layer", "Get BOJ series by layer", Cost::External)
    },
    Operation {
        tools: &[Tool {
            about: |_| {
                "The series of one database of the Bank of Japan: code, name, unit, frequency, \
                 layers, first and last period. `contains` narrows by words."
                    .into()
            },
            examples: &["db FM08, contains dollar"],
            arguments: &[&[AS_GIVEN, DB, FORMAT, LANG, RAW, CONTAINS, LAYER_FILTER, POSITION]],
            output: |_| schemas::metadata(),
            ..tool("boj_get_metadata", "List the series of a BOJ database")
        }],
        run: run_metadata,
        ..operation("boj_get_metadata", "List the series of a BOJ database", Cost::External)
    },
    Operation {
        tools: &[Tool {
            about: |_| "The 50 databases of the Bank of Japan, with codes and names.".into(),
            examples: &["which database has exchange rates"],
            arguments: &[&[AS_GIVEN]],
            output: |_| schemas::databases(),
            ..tool("boj_list_databases", "List BOJ databases")
        }],
        run: |arguments, _| run_catalog(arguments, |_: Nothing| Ok(catalogs::databases())),
        ..operation("boj_list_databases", "List BOJ databases", Cost::Lookup)
    },
    Operation {
        tools: &[Tool {
            about: |_| "What each endpoint takes: values, date forms, layers, limits.".into(),
            examples: &["how is a quarter written"],
            arguments: &[&[AS_GIVEN, ENDPOINT]],
            output: |_| schemas::parameters(),
            ..tool("boj_get_parameter_catalog", "List BOJ parameters")
        }],
        run: |arguments, _| {
            run_catalog(arguments, |input: ParameterCatalog| {
                catalogs::parameters(input.endpoint.as_deref().unwrap_or("all"))
            })
        },
        ..operation("boj_get_parameter_catalog", "List BOJ parameters", Cost::Lookup)
    },
    Operation {
        tools: &[Tool {
            about: |_| "Messages of the Bank of Japan's API and what they mean.".into(),
            examples: &["what is M181013E"],
            arguments: &[&[AS_GIVEN, STATUS]],
            output: |_| schemas::messages(),
            ..tool("boj_get_message_catalog", "List BOJ messages")
        }],
        run: |arguments, _| {
            run_catalog(arguments, |input: MessageCatalog| Ok(catalogs::messages(input.status)))
        },
        ..operation("boj_get_message_catalog", "List BOJ messages", Cost::Lookup)
    },
];

/// Everything of an operation but its tool and what it does.
const fn operation(name: &'static str, title: &'static str, cost: Cost) -> Operation {
    Operation {
        name,
        title,
        about: title,
        route: None,
        takes_body: false,
        selects: None,
        scope: Scope::Read,
        cost,
        cost_with: None,
        is_list: false,
        endpoints: |_| Vec::new(),
        tools: &[],
        run: |_, _| Ok(Outcome::typed(Value::Null)),
    }
}

/// Everything of a tool but what it says, takes and gives.
const fn tool(name: &'static str, title: &'static str) -> Tool {
    Tool {
        name,
        title,
        is_offered: |_| true,
        about: |_| String::new(),
        examples: &[],
        fixed: &[],
        arguments: &[],
        output: |_| Value::Null,
    }
}

const AS_GIVEN: Parameter = Parameter::optional(WHOLE, Kind::Whole, "");
const DB: Parameter = Parameter::required("db", Kind::Text, "Database, like FM01");
const CODES: Parameter = Parameter::required("codes", Kind::Names, "Series codes, 1 to 1,250");
const FREQUENCY: Parameter = Parameter::required(
    "frequency",
    Kind::Choice(&["CY", "FY", "CH", "FH", "Q", "M", "W", "D"]),
    "Frequency",
);
const LAYERS: Parameter =
    Parameter::required("layers", Kind::Names, "1 to 5 layers, each a number or *");
const FORMAT: Parameter =
    Parameter::optional("format", Kind::Choice(&["json", "csv"]), "json by default");
const LANG: Parameter = Parameter::optional("lang", Kind::Choice(&["jp", "en"]), "jp by default");
const START: Parameter = Parameter::optional(
    "start_date",
    Kind::Text,
    "First period: YYYY, YYYYHH, YYYYQQ or YYYYMM by frequency",
);
const END: Parameter = Parameter::optional("end_date", Kind::Text, "Last period, written alike");
const POSITION: Parameter = Parameter::optional(
    "start_position",
    Kind::Integer { min: 1, max: 10_000_000, default: None },
    "next_position of the result before",
);
const RAW: Parameter = Parameter::optional("include_raw", Kind::Flag, "The answer as text, too");
const CONTAINS: Parameter = Parameter::optional("contains", Kind::Text, "Words of name or code");
const LAYER_FILTER: Parameter = Parameter::optional("layers", Kind::Names, "Only below these");
const ENDPOINT: Parameter = Parameter::optional(
    "endpoint",
    Kind::Choice(&["all", "get_data_code", "get_data_layer", "get_metadata"]),
    "all by default",
);
const STATUS: Parameter = Parameter::optional(
    "status",
    Kind::Integer { min: 0, max: 999, default: None },
    "Only messages with this status",
);

type Told = std::result::Result<Value, Failure>;

fn outcome(told: Told) -> Outcome {
    match told {
        Ok(value) => Outcome::tree(value).verbatim(),
        Err(failure) => Outcome::tree(output::failure(&failure)).verbatim_error(),
    }
}

fn run_catalog<T: serde::de::DeserializeOwned>(
    mut arguments: Arguments,
    answer: impl FnOnce(T) -> Told,
) -> Result<Outcome> {
    Ok(outcome(read::<T>(&mut arguments)?.and_then(answer)))
}

/// Asks for values, with the text as it was received if `question` says so.
fn run_data<T: serde::de::DeserializeOwned>(
    mut arguments: Arguments,
    context: &Arc<Context>,
    question: impl FnOnce(T) -> std::result::Result<(Question, bool), Failure>,
) -> Result<Outcome> {
    let (question, include_raw) = match read::<T>(&mut arguments)?.and_then(question) {
        Ok(read) => read,
        Err(failure) => return Ok(outcome(Err(failure))),
    };
    Ok(match supplier::ask(&question, context)? {
        Ok(supplied) => Outcome::typed(Data::new(supplied, question, include_raw)).verbatim(),
        Err(failure) => outcome(Err(failure)),
    })
}

fn run_metadata(mut arguments: Arguments, context: &Arc<Context>) -> Result<Outcome> {
    let asked = read::<Metadata>(&mut arguments)?.and_then(|input| {
        let question = input.question()?;
        let (contains, layers) = (input.contains, input.layers);
        let selection = Selection { contains, layers, start_position: input.start_position };
        Ok((question, selection, input.include_raw.unwrap_or(false)))
    });
    let (question, selection, include_raw) = match asked {
        Ok(asked) => asked,
        Err(failure) => return Ok(outcome(Err(failure))),
    };
    let supplied = supplier::ask(&question, context)?;
    Ok(outcome(
        supplied.map(|supplied| output::metadata(supplied, &question, &selection, include_raw)),
    ))
}
