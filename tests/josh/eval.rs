//! Questions whose answers SQL knows, asked through MCP alone: `tests/eval/tasks.jsonl`.
//!
//! The scripted agent calls what a task says, after checking the arguments against the schema that
//! the server lists, and its answer must be the one that SQL gives over the same bundle. So a tool
//! that changes its arguments, or counts otherwise, fails here. `tests/eval/README.md` says how to
//! put the same questions to a language model.

use std::collections::BTreeMap;

use josh::bundle::{Bundle, Interrupt};
use rmcp::ClientLifecycleMode;
use rmcp::model::{CallToolRequestParams, Tool};
use serde::Deserialize;
use serde_json::Value;

use crate::mcp::{Client, block_on, connect};
use crate::support::{SAMPLE, sample};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    question: String,
    calls: Vec<Call>,
    /// Where the answer stands in the last result; `*` stands for every element of a list.
    answer: String,
    /// One column of text: the answer's values.
    sql: String,
}

#[derive(Deserialize)]
struct Call {
    tool: String,
    /// A string `$1/data/0/id` stands for that place in the result of the first call.
    arguments: Value,
}

fn tasks() -> Vec<Task> {
    let lines = include_str!("../eval/tasks.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"))).collect()
}

/// Every value at a path, as text.
fn values(value: &Value, path: &str) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    match path.split_once("/*") {
        Some((list, rest)) => {
            let items = value.pointer(list).and_then(Value::as_array).into_iter().flatten();
            items.flat_map(|item| values(item, rest)).collect()
        }
        None => value.pointer(path).and_then(text).into_iter().collect(),
    }
}

fn fill(arguments: &Value, results: &[Value]) -> Value {
    match arguments {
        Value::String(text) => match text.strip_prefix("$1/").zip(results.first()) {
            Some((path, first)) => {
                first.pointer(&format!("/{path}")).cloned().unwrap_or(Value::Null)
            }
            None => arguments.clone(),
        },
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(k, v)| (k.clone(), fill(v, results))).collect())
        }
        other => other.clone(),
    }
}

async fn answer(client: &Client, tools: &[Tool], task: &Task) -> Result<Vec<String>, String> {
    let mut results: Vec<Value> = Vec::new();
    for call in &task.calls {
        let arguments = fill(&call.arguments, &results);
        let tool = tools.iter().find(|tool| tool.name == call.tool);
        let tool = tool.ok_or_else(|| format!("there is no tool {}", call.tool))?;
        let schema = Value::Object((*tool.input_schema).clone());
        let validator = jsonschema::validator_for(&schema).unwrap();
        if let Err(error) = validator.validate(&arguments) {
            return Err(format!("{} does not take {arguments}: {error}", call.tool));
        }
        let fields = arguments.as_object().cloned().unwrap_or_default();
        let request = CallToolRequestParams::new(call.tool.clone()).with_arguments(fields);
        let result = client.call_tool(request).await.map_err(|error| error.to_string())?;
        if result.is_error == Some(true) {
            return Err(format!("{}: {:?}", call.tool, result.content));
        }
        results.push(result.structured_content.unwrap_or_default());
    }
    let last = results.last().ok_or("no call")?;
    let found = values(last, &task.answer);
    if found.is_empty() {
        return Err(format!("nothing at {} in {last}", task.answer));
    }
    Ok(found)
}

/// Given questions over all classes of tools, when they are answered through MCP, then every answer
/// is the one that SQL gives, with one call for most and two at the most.
#[test]
fn answers_through_tools_are_those_of_sql() {
    let tasks = tasks();
    let bundle = Bundle::open(&sample()).unwrap();
    let known = |task: &Task| -> Vec<String> {
        let rows = bundle
            .db
            .query(&task.sql, &[], &Interrupt::never(), |row| row.get::<Option<String>>(0));
        let rows = rows.unwrap_or_else(|error| panic!("{}: {error}", task.sql));
        rows.into_iter().flatten().collect()
    };
    let mut wrong = Vec::new();
    let mut by_tool: BTreeMap<&str, usize> = BTreeMap::new();
    block_on(async {
        let client = connect(&SAMPLE.url, ClientLifecycleMode::Initialize).await;
        let tools = client.list_all_tools().await.unwrap();
        for task in &tasks {
            *by_tool.entry(&task.calls[0].tool).or_default() += 1;
            let mut expected = known(task);
            let found = answer(&client, &tools, task).await.map(|mut found| {
                // Ids and names come in the list's order, which SQL need not share.
                if task.answer.contains("/*/") && !task.answer.ends_with("/value") {
                    found.sort();
                    expected.sort();
                }
                found
            });
            match found {
                Ok(found) if found == expected => {}
                Ok(found) => {
                    wrong.push(format!("{}: SQL says {expected:?}, tools {found:?}", task.question))
                }
                Err(error) => wrong.push(format!("{}: {error}", task.question)),
            }
        }
        let _ = client.cancel().await;
    });
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), tasks.len(), wrong.join("\n"));
    let one = tasks.iter().filter(|task| task.calls.len() == 1).count();
    assert!(tasks.len() >= 80 && tasks.iter().all(|task| task.calls.len() <= 2));
    println!("{} tasks, {one} with one call; by first tool: {by_tool:?}", tasks.len());
    assert!(one * 2 > tasks.len(), "the median is one call");
}
