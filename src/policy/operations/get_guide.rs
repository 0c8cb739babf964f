//! Short guides on using this server.

use serde_json::json;

use crate::api::{Cost, Error, Kind, Operation, Outcome, Parameter, Scope, Tool};
use crate::policy::guides::{self, GUIDES};

pub const OPERATION: Operation = Operation {
    name: "get_guide",
    title: "Read a guide",
    about: "A short guide on using this server",
    route: None,
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    cost_with: None,
    is_list: false,
    endpoints: |_| Vec::new(),
    tools: &[Tool {
        name: "get_guide",
        title: "Read a guide",
        is_offered: |_| true,
        about: |_| {
            "A short guide on using this server: how to choose a tool, write ids, filter, cite, \
             and read bill text safely."
                .into()
        },
        examples: &["the right way to cite these records", "how to write ids"],
        fixed: &[],
        arguments: &[&[Parameter::required(
            "guide_key",
            Kind::Choice(guides::KEYS),
            "Which guide",
        )]],
        output: |_| {
            let text = json!({ "type": "string" });
            let properties = json!({ "guide_key": text, "title": text, "text": text });
            json!({ "type": "object", "properties": properties })
        },
    }],
    run: |mut arguments, context| {
        let key = arguments.require("guide_key")?;
        arguments.finish(&["guide_key"])?;
        let unknown = || {
            let error = Error::invalid("guide_key", format!("There is no guide {key:?}."));
            error.suggest(&key, guides::KEYS.iter().copied())
        };
        let guide = GUIDES.iter().find(|guide| guide.key == key).ok_or_else(unknown)?;
        let text = guide.text(&context.bundle);
        Ok(Outcome::typed(json!({ "guide_key": guide.key, "title": guide.title, "text": text })))
    },
};
