//! The tools, prompts and resources of the API reference, as the open bundle offers them.

use super::{MOST_NAMES, cell, some};
use crate::api::{Capability, Kind, Parameter, Tool};
use crate::bundle::Bundle;

/// One tool with its arguments.
pub fn section(tool: &Tool, bundle: &Bundle) -> String {
    let mut out = format!(
        "\n#### Tool `{}`\n\n**{}.** {}\n\nFor example: {}.\n",
        tool.name,
        tool.title,
        (tool.about)(bundle),
        tool.examples.join("; ")
    );
    if !tool.fixed.is_empty() {
        let fixed: Vec<String> =
            tool.fixed.iter().map(|(name, value)| format!("`{name}={value}`")).collect();
        out.push_str(&format!("\nSets {}.\n", fixed.join(", ")));
    }
    if tool.parameters().next().is_none() {
        out.push_str("\nNo arguments.\n");
        return out;
    }
    out.push_str("\n| argument | takes | what it does |\n|---|---|---|\n");
    for parameter in tool.parameters().filter(|p| !matches!(p.kind, Kind::Whole)) {
        let alias = parameter.alias.map(|alias| format!(" or `{alias}`")).unwrap_or_default();
        let required = if parameter.required { ", required" } else { "" };
        let (takes, about) = (argument(parameter, bundle), cell(parameter.about));
        out.push_str(&format!("| `{}`{alias} | {takes}{required} | {about} |\n", parameter.name));
    }
    out
}

/// What an argument accepts, in words.
fn argument(parameter: &Parameter, bundle: &Bundle) -> String {
    match parameter.kind {
        Kind::Text | Kind::Cursor => "string".to_string(),
        Kind::Id(example) => format!("id, like `{example}`"),
        Kind::Date => "date".to_string(),
        Kind::Integer { min, max, default } => {
            let default = default.map(|default| format!(", {default} by default"));
            format!("integer from {min} to {max}{}", default.unwrap_or_default())
        }
        Kind::Choice(names) => format!("one of {}", some(names)),
        Kind::OneOf(choices) => format!("one of {}", some(&choices(bundle))),
        Kind::SomeOf(choices, most) => {
            format!("one of {}; or a list of at most {most}", some(&choices(bundle)))
        }
        Kind::Names => "list of names".to_string(),
        Kind::Boolean => "boolean".to_string(),
        Kind::Json(_) => "object".to_string(),
        Kind::Flag => "true or false".to_string(),
        Kind::Whole => "object".to_string(),
        Kind::Filters(_) => "object of fields and values".to_string(),
    }
}

pub fn prompts(capability: &Capability, bundle: &Bundle) -> String {
    let mut out = String::new();
    for prompt in capability.prompts.iter().filter(|prompt| (prompt.is_offered)(bundle)) {
        let argument = |(name, about, required): &(&str, &str, bool)| {
            let optional = if *required { "" } else { ", optional" };
            format!("`{name}` ({about}{optional})")
        };
        let arguments: Vec<String> = prompt.arguments.iter().map(argument).collect();
        out.push_str(&format!(
            "| `{}` | {} | {} |\n",
            prompt.name,
            cell(prompt.about),
            cell(&arguments.join(", "))
        ));
    }
    match out.is_empty() {
        true => out,
        false => {
            format!(
                "\n### Prompts\n\n| prompt | what it asks for | arguments |\n|---|---|---|\n{out}"
            )
        }
    }
}

/// Resources and templates. Of many below one address the first stands for all.
pub fn resources(capability: &Capability, bundle: &Bundle) -> String {
    let listed = (capability.resources)(bundle);
    let folder =
        |uri: &str| uri.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.into());
    let mut rows: Vec<String> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for resource in &listed {
        let own = folder(&resource.uri);
        let alike = listed.iter().filter(|other| folder(&other.uri) == own).count();
        let more = match alike {
            n if n <= MOST_NAMES => String::new(),
            _ if seen.contains(&own) => continue,
            n => format!(", … ({n} in the sample)"),
        };
        seen.push(own);
        let (title, about) = (cell(&resource.title), cell(&resource.about));
        rows.push(format!("| `{}`{more} | {title}: {about} |\n", resource.uri));
    }
    for (uri, title, about, _) in capability.templates {
        rows.push(format!("| `{uri}` | {}: {} |\n", cell(title), cell(about)));
    }
    match rows.is_empty() {
        true => String::new(),
        false => {
            let head = "\n### Resources\n\n| address | what it holds |\n|---|---|\n";
            format!("{head}{}", rows.concat())
        }
    }
}
