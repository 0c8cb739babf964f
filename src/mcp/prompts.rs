//! Prompts as the protocol lists and fills them.

use rmcp::model::{GetPromptResult, JsonObject, Prompt as ListedPrompt, PromptArgument};
use rmcp::model::{PromptMessage, Role};
use serde_json::Value;

use crate::api::Prompt;

pub fn listed(prompt: &Prompt) -> ListedPrompt {
    let argument = |(name, about, required): &(&'static str, &'static str, bool)| {
        PromptArgument::new(*name).with_description(*about).with_required(*required)
    };
    let arguments = prompt.arguments.iter().map(argument).collect();
    ListedPrompt::new(prompt.name, Some(prompt.about), Some(arguments)).with_title(prompt.title)
}

/// The filled-in prompt; the error names what is wrong.
pub fn fill(prompt: &Prompt, given: Option<JsonObject>) -> Result<GetPromptResult, String> {
    let given = given.unwrap_or_default();
    let is_known = |key: &String| prompt.arguments.iter().any(|(name, _, _)| name == key);
    if let Some(unknown) = given.keys().find(|key| !is_known(key)) {
        return Err(format!("`{unknown}` is no argument of {}.", prompt.name));
    }
    let mut texts = vec![(Role::User, prompt.text.to_string())];
    texts.extend(prompt.reply.map(|reply| (Role::Assistant, reply.to_string())));
    for (name, about, required) in prompt.arguments {
        let value = given.get(*name).and_then(Value::as_str).map(str::trim).unwrap_or_default();
        if value.is_empty() && *required {
            return Err(format!("`{name}` is missing: {about}."));
        }
        if value.len() > crate::api::argument::LONGEST_TEXT {
            return Err(format!("`{name}` is too long."));
        }
        for (_, text) in &mut texts {
            *text = fill_argument(text, name, value);
        }
    }
    let messages = texts.into_iter().map(|(role, text)| PromptMessage::new_text(role, text));
    Ok(GetPromptResult::new(messages.collect()).with_description(prompt.about))
}

/// Replaces `{name}`, and `{name: in %}` where there is a value.
fn fill_argument(text: &str, name: &str, value: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let (plain, optional) = (format!("{{{name}}}"), format!("{{{name}:"));
    while let Some(at) = rest.find(&format!("{{{name}")) {
        out.push_str(&rest[..at]);
        let here = &rest[at..];
        let Some(end) = here.find('}') else { break };
        if here.starts_with(&plain) {
            out.push_str(value);
        } else if here.starts_with(&optional) {
            if !value.is_empty() {
                out.push_str(&here[optional.len()..end].replace('%', value));
            }
        } else {
            out.push_str(&here[..=end]);
        }
        rest = &here[end + 1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_filled_in_and_optional_parts_left_out() {
        let text = "Report on {topic}{since: since %}, {topic_other}.";
        assert_eq!(
            fill_argument(text, "topic", "AI"),
            "Report on AI{since: since %}, {topic_other}."
        );
        assert_eq!(fill_argument("on{since: since %}", "since", "2025"), "on since 2025");
        assert_eq!(fill_argument("on{since: since %}", "since", ""), "on");
        assert_eq!(fill_argument("{a} {a}", "a", "{a}"), "{a} {a}", "a value is not filled again");
    }
}
