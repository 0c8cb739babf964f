//! Whether the server answers, and how current its data are.

use serde_json::json;

use crate::api::{Cost, Operation, Outcome, Scope, Tool};

pub const OPERATION: Operation = Operation {
    name: "ping",
    title: "Check the server",
    about: "Whether the server answers, its version, and the day up to which its data go",
    route: None,
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    cost_with: None,
    is_list: false,
    endpoints: |_| Vec::new(),
    tools: &[Tool {
        name: "ping",
        title: "Check the server",
        is_offered: |_| true,
        about: |_| {
            "Whether the server answers, its version, and the day up to which its data go.".into()
        },
        examples: &["are you up", "how current are the data"],
        fixed: &[],
        arguments: &[],
        output: |_| {
            let text = json!({ "type": "string" });
            let bundle = json!({ "type": "object", "properties": { "id": text, "as_of": text } });
            let properties = json!({ "status": text, "version": text, "bundle": bundle });
            json!({ "type": "object", "properties": properties })
        },
    }],
    run: |arguments, context| {
        arguments.finish(&[])?;
        let manifest = &context.bundle.manifest;
        Ok(Outcome::typed(json!({
            "status": "ok",
            "version": env!("CARGO_PKG_VERSION"),
            "bundle": { "id": manifest.id, "as_of": manifest.as_of },
        })))
    },
};
