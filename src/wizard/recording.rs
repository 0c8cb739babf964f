//! Recordings of a person who fills a form, as one wizard file: JSON of Chrome's Recorder, and
//! projects of Selenium IDE (`.side`). A recording shows one path with one person's answers. What
//! it does not show becomes a `TODO`, which `check` refuses: the other options of a choice, and
//! what the result looks like.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::import::{draft, host_and_path};

/// What the person did, as far as a recording tells.
enum Act {
    Open {
        url: String,
    },
    Fill {
        find: Vec<String>,
        value: String,
    },
    Select {
        find: Vec<String>,
        option: String,
    },
    Check {
        find: Vec<String>,
        state: bool,
    },
    /// And where it led, if the recording says so.
    Click {
        find: Vec<String>,
        to: Option<String>,
    },
}

/// The wizard file as far as it can be written.
pub fn import_recording(recording: &Value, today: time::Date) -> Result<Value, String> {
    let (acts, title, from) = if let Some(steps) = recording["steps"].as_array() {
        let acts = steps.iter().filter_map(recorder_act).collect();
        (acts, &recording["title"], "a recording of Chrome's Recorder")
    } else if let Some(tests) = recording["tests"].as_array() {
        let base = recording["url"].as_str().unwrap_or_default();
        let commands = tests.first().and_then(|test| test["commands"].as_array());
        let commands = commands.into_iter().flatten();
        let acts = commands.filter_map(|command| selenium_act(command, base)).collect();
        (acts, &recording["name"], "a recording of Selenium IDE")
    } else {
        return Err("this is neither a recording of Chrome's Recorder (steps) nor a project of \
                    Selenium IDE (tests); a structure of FederalRunner needs its schema beside it"
            .into());
    };
    let acts = without_focusing(acts);
    let url = acts.iter().find_map(|act| match act {
        Act::Open { url } => Some(url.clone()),
        _ => None,
    });
    let url = url.ok_or("the recording opens no page")?;
    let title = title.as_str().unwrap_or("recording");
    let mut filled = Filled::new(&url);
    let last_click = acts.iter().rposition(|act| matches!(act, Act::Click { .. }));
    for (n, act) in acts.into_iter().enumerate() {
        filled.take(act, last_click == Some(n));
    }
    if filled.properties.is_empty() {
        return Err("nothing was entered in the recording".into());
    }
    filled.end_page(vec!["TODO the button that goes on".into()], None);
    let names: Vec<&String> = filled.properties.keys().collect();
    let contract = json!({ "type": "object", "required": names, "properties": filled.properties });
    let provenance = json!({ "status": "recorded", "recorded_on": today.to_string(), "from": from,
                             "note": "Imported, not tried." });
    let mut file =
        draft(&slug(title, '-'), title, &url, provenance, &contract, filled.pages, filled.example);
    file["outcomes"][0]["at"]["path"] = json!(filled.path);
    Ok(file)
}

/// The pages so far, and the one that is being filled.
struct Filled {
    properties: Map<String, Value>,
    example: Map<String, Value>,
    pages: Vec<Value>,
    fields: Vec<Value>,
    path: String,
}

impl Filled {
    fn new(url: &str) -> Filled {
        Filled {
            properties: Map::new(),
            example: Map::new(),
            pages: Vec::new(),
            fields: Vec::new(),
            path: host_and_path(url).1,
        }
    }

    fn take(&mut self, act: Act, is_last_click: bool) {
        match act {
            Act::Open { .. } => {}
            Act::Fill { find, value } => {
                let name = self.add(&find, json!({ "type": "string" }), json!(value));
                self.fields.push(json!({ "field": name, "do": "fill", "find": find }));
            }
            Act::Check { find, state } => {
                let name = self.add(&find, json!({ "type": "boolean" }), json!(state));
                self.fields.push(json!({ "field": name, "do": "check", "find": find }));
            }
            Act::Select { find, option } => {
                let values = json!([option, "TODO the other options"]);
                let name =
                    self.add(&find, json!({ "type": "string", "enum": values }), json!(option));
                self.fields.push(json!({ "field": name, "do": "choose", "find": find }));
            }
            Act::Click { find, to } if to.is_some() || is_last_click => self.end_page(find, to),
            // One answer of a question, or a button that only shows more: the recording does not
            // tell which.
            Act::Click { find, .. } => {
                let schema = json!({ "type": "string", "enum": ["chosen", "other"] });
                let name = self.add(&find, schema, json!("chosen"));
                let todo = "TODO the other answers; or press, if it is a button";
                let options = json!({ "chosen": { "find": find }, "other": { "find": [todo] } });
                self.fields.push(json!({ "field": name, "do": "choose", "options": options }));
            }
        }
    }

    /// Adds a property that is named after its control.
    fn add(&mut self, find: &[String], mut schema: Value, value: Value) -> String {
        let first = find.first().map(String::as_str).unwrap_or_default();
        let stem = slug(first.strip_prefix("label=").unwrap_or(first), '_');
        let numbered = (2..).map(|n| format!("{stem}_{n}"));
        let mut names = std::iter::once(stem.clone()).chain(numbered);
        let is_free = |name: &String| !self.properties.contains_key(name);
        let name = names.find(is_free).unwrap_or_default();
        let label = find.iter().find_map(|find| find.strip_prefix("label="));
        schema["description"] = json!(label.unwrap_or(&name));
        self.properties.insert(name.clone(), schema);
        self.example.insert(name.clone(), value);
        name
    }

    /// Ends the page with the button that was pressed. Pages without fields lead to the form.
    fn end_page(&mut self, next: Vec<String>, to: Option<String>) {
        let fields = std::mem::take(&mut self.fields);
        let path = std::mem::take(&mut self.path);
        self.path = to.map_or_else(|| path.clone(), |url| host_and_path(&url).1);
        let Some(first) = fields.first() else {
            return;
        };
        let found = [&first["find"], &first["options"]["chosen"]["find"]];
        let has = found.into_iter().find_map(|find| find[0].as_str());
        let id = format!("page-{}", self.pages.len() + 1);
        self.pages.push(json!({
            "id": id, "title": path, "at": { "path": path, "has": [has] }, "fields": fields,
            "next": { "find": next },
        }));
    }
}

/// Clicks that only put the focus where something is then entered say nothing.
fn without_focusing(acts: Vec<Act>) -> Vec<Act> {
    let entered = acts.iter().filter_map(|act| match act {
        Act::Fill { find, .. } | Act::Select { find, .. } | Act::Check { find, .. } => {
            control(find)
        }
        Act::Open { .. } | Act::Click { .. } => None,
    });
    let entered: BTreeSet<String> = entered.map(str::to_string).collect();
    let is_focusing = |act: &Act| match act {
        Act::Click { find, to: None } => control(find).is_some_and(|find| entered.contains(find)),
        _ => false,
    };
    acts.into_iter().filter(|act| !is_focusing(act)).collect()
}

/// What is meant by the first locator, whether it is clicked or entered.
fn control(find: &[String]) -> Option<&str> {
    let first = find.first()?;
    let button = first.strip_prefix("role=button[").and_then(|rest| rest.strip_suffix(']'));
    Some(button.or_else(|| first.strip_prefix("label=")).unwrap_or(first))
}

fn recorder_act(step: &Value) -> Option<Act> {
    let text = |key: &str| step[key].as_str().map(str::to_string);
    match step["type"].as_str()? {
        "navigate" => Some(Act::Open { url: text("url")? }),
        "change" => Some(Act::Fill { find: recorder_find(step, false)?, value: text("value")? }),
        "click" => {
            let events = step["assertedEvents"].as_array().into_iter().flatten();
            let mut places = events.filter(|event| event["type"] == "navigation");
            let to = places.next().and_then(|event| event["url"].as_str());
            Some(Act::Click { find: recorder_find(step, true)?, to: to.map(str::to_string) })
        }
        _ => None,
    }
}

/// The locators of a step that we have too, CSS first. Those that reach into shadow trees have
/// several parts.
fn recorder_find(step: &Value, is_click: bool) -> Option<Vec<String>> {
    let one = |selector: &Value| match selector {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) if parts.len() == 1 => parts[0].as_str().map(str::to_string),
        _ => None,
    };
    let selectors: Vec<String> = step["selectors"].as_array()?.iter().filter_map(one).collect();
    let is_css = |text: &&String| {
        !["aria/", "text/", "xpath/", "pierce/"].iter().any(|prefix| text.starts_with(prefix))
    };
    let named = |text: &String| {
        let name = text.strip_prefix("aria/").or_else(|| text.strip_prefix("text/"))?;
        let (name, role) = name.split_once("[role=").unwrap_or((name, ""));
        let role = role.trim_matches(|c| c == '"' || c == ']');
        Some(match (is_click, role) {
            (false, _) => format!("label={name}"),
            (true, "") => format!("role=button[{name}]"),
            (true, role) => format!("role={role}[{name}]"),
        })
    };
    let css = selectors.iter().filter(is_css).cloned();
    let mut find: Vec<String> = css.chain(selectors.iter().filter_map(named)).collect();
    find.dedup();
    Some(find).filter(|find| !find.is_empty())
}

fn selenium_act(command: &Value, base: &str) -> Option<Act> {
    let value = command["value"].as_str().unwrap_or_default().to_string();
    let find = || selenium_find(command);
    match command["command"].as_str()? {
        "open" => {
            let target = command["target"].as_str().unwrap_or_default();
            let url = match target.contains("://") {
                true => target.to_string(),
                false => {
                    format!("{}/{}", base.trim_end_matches('/'), target.trim_start_matches('/'))
                }
            };
            Some(Act::Open { url })
        }
        "type" | "sendKeys" => Some(Act::Fill { find: find()?, value }),
        "select" => {
            let option = value.split_once('=').map_or(value.as_str(), |(_, option)| option);
            Some(Act::Select { find: find()?, option: option.to_string() })
        }
        "check" => Some(Act::Check { find: find()?, state: true }),
        "uncheck" => Some(Act::Check { find: find()?, state: false }),
        "click" => Some(Act::Click { find: find()?, to: None }),
        _ => None,
    }
}

fn selenium_find(command: &Value) -> Option<Vec<String>> {
    let others = command["targets"].as_array().into_iter().flatten().map(|target| &target[0]);
    let mut find = Vec::new();
    for target in std::iter::once(&command["target"]).chain(others).filter_map(Value::as_str) {
        let Some((kind, rest)) = target.split_once('=') else { continue };
        let is_word = rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        let locator = match kind {
            "id" if is_word && !rest.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("#{rest}")
            }
            "id" | "name" => format!("[{kind}='{}']", rest.replace('\'', "\\'")),
            "css" => rest.to_string(),
            "linkText" => format!("role=link[{rest}]"),
            _ => continue,
        };
        if !find.contains(&locator) {
            find.push(locator);
        }
    }
    Some(find).filter(|find| !find.is_empty())
}

/// Small letters and digits of a text, joined where something else stood between them.
fn slug(text: &str, joint: char) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric();
    let parts = text.split(|c| !is_plain(c)).filter(|part| !part.is_empty());
    let joined = parts.collect::<Vec<_>>().join(&joint.to_string()).to_ascii_lowercase();
    let slug: String = joined.chars().take(50).collect();
    if slug.is_empty() { "recorded".into() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wizard::library::checked;
    use crate::wizard::today;

    /// What is left to be written, then a file that is fine.
    fn completed(mut file: Value) -> crate::wizard::Wizard {
        let refused = checked(&file.to_string()).unwrap_err();
        assert!(refused.contains("still to be written"), "{refused}");
        file["agency"] = json!("X");
        file["effect"] = json!("An estimate.");
        file["outcomes"][0]["about"] = json!("Done");
        file["outcomes"][0]["at"]["has"] = json!(["#result"]);
        file["outcomes"][0]["results"]["result"]["find"] = json!(["#result"]);
        let text =
            file.to_string().replace("TODO the other answers; or press, if it is a button", "#no");
        let text = text.replace("TODO the other options", "Iowa");
        checked(&text).unwrap_or_else(|why| panic!("{why}"))
    }

    /// Given a recording of Chrome's Recorder, when it is imported, then pages end where it went
    /// on, and what it does not show is to be written.
    #[test]
    fn a_recording_of_chrome_becomes_pages() {
        let to = |url: &str| json!([{ "type": "navigation", "url": url, "title": "" }]);
        let recording = json!({ "title": "My Estimate!", "steps": [
            { "type": "setViewport", "width": 800 },
            { "type": "navigate", "url": "https://x.gov/form?a=1", "assertedEvents": [] },
            { "type": "click", "selectors": [["aria/Year"], ["#year"]], "target": "main" },
            { "type": "change", "value": "1980", "selectors":
                [["aria/Year"], ["#year"], ["xpath///*"], ["a", "b"], ["pierce/#year"]] },
            { "type": "keyUp", "key": "Tab" },
            { "type": "click", "selectors": ["#yes"] },
            { "type": "click", "selectors": [["aria/Continue[role=\"button\"]"], ["#next"]],
              "assertedEvents": to("https://x.gov/more") },
            { "type": "change", "value": "7", "selectors": [["aria/Rooms of  it"]] },
            { "type": "click", "selectors": [["text/Send"]],
              "assertedEvents": to("https://x.gov/done") },
        ] });
        let file = import_recording(&recording, today()).unwrap();
        assert_eq!(file["wizard_id"], "my-estimate");
        let wizard = completed(file);
        let [first, second] = &wizard.pages[..] else { panic!("{} pages", wizard.pages.len()) };
        assert_eq!(first.at.path.as_deref(), Some("/form"));
        assert_eq!(first.fields[0].find, ["#year", "label=Year"]);
        assert_eq!(first.next.find, ["#next", "role=button[Continue]"]);
        assert_eq!(second.at.path.as_deref(), Some("/more"));
        assert_eq!(second.next.find, ["role=button[Send]"]);
        assert_eq!(wizard.outcomes[0].at.path.as_deref(), Some("/done"));
        let data = json!({ "year": "1980", "yes": "chosen", "rooms_of_it": "7" });
        assert_eq!(wizard.examples[0].user_data, data);
        for nothing in [json!({}), json!({ "steps": [] }), json!({ "tests": [] }), json!([])] {
            assert!(import_recording(&nothing, today()).is_err());
        }
    }

    /// Given a project of Selenium IDE, when it is imported, then kinds of controls are kept.
    #[test]
    fn a_project_of_selenium_becomes_a_page() {
        let command = |command: &str, target: &str, value: &str| {
            json!({ "command": command, "target": target, "value": value,
                    "targets": [[target, "id"], ["name=other", "name"], ["xpath=//a", "xpath"]] })
        };
        let project = json!({ "name": "Taxes", "url": "https://x.gov/", "tests": [{ "commands": [
            command("open", "/start", ""), command("setWindowSize", "800x600", ""),
            command("click", "id=sum", ""), command("type", "id=sum", "12"),
            command("select", "id=/state", "label=Ohio"), command("check", "css=.old", ""),
            command("click", "linkText=Go on", ""),
        ] }] });
        let wizard = completed(import_recording(&project, today()).unwrap());
        let page = &wizard.pages[0];
        assert_eq!(wizard.url, "https://x.gov/start");
        assert_eq!(page.fields[0].find, ["#sum", "[name='other']"]);
        assert_eq!(page.fields[1].find, ["[id='/state']", "[name='other']"]);
        assert_eq!(page.next.find, ["role=link[Go on]", "[name='other']"]);
        let data = json!({ "sum": "12", "id_state": "Ohio", "old": true });
        assert_eq!(wizard.examples[0].user_data, data);
    }
}
