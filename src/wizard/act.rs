//! What is done to single controls: find exactly one, act as a person would, read it back. A
//! control that does not hold what was entered ends the run.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::fold::fold;
use super::plan::{Action, Step};
use super::report::{Failure, FailureKind};
use super::tab::Tab;

/// How long a control may take to appear when nothing loads, to take a value, and to list options.
pub const SETTLE: Duration = Duration::from_secs(4);
const TAKE: Duration = Duration::from_secs(2);
const LIST: Duration = Duration::from_secs(4);
/// How long anything may take while the page still loads.
pub const LONGEST: Duration = Duration::from_secs(30);
pub const POLL: Duration = Duration::from_millis(50);

/// Where controls are looked for: in a row of a repeated group.
#[derive(Clone)]
struct Within<'a> {
    item: &'a str,
    index: u64,
}

/// Acts on one page.
pub struct Actor<'a> {
    pub tab: &'a mut Tab,
    /// What should be looked at: a control that was found by its second locator.
    pub warnings: &'a mut Vec<String>,
}

impl Actor<'_> {
    /// Takes one step of a plan.
    pub fn take(&mut self, step: &Step) -> Result<(), Failure> {
        self.act(step, None).map_err(|failure| match step.pointer.is_empty() {
            true => failure,
            false => failure.field(&step.pointer),
        })
    }

    fn act(&mut self, step: &Step, within: Option<&Within>) -> Result<(), Failure> {
        let pointer = &step.pointer;
        match &step.action {
            Action::Fill { find, text } => {
                self.enter(find, within, text, pointer)?;
                self.tab.ask(&json!({ "op": "blur" }))?;
                self.until(find, within, "does not keep what was entered", |found| {
                    is_same(found["value"].as_str().unwrap_or_default(), text)
                })
            }
            Action::Choose { find, .. } => self.set(find, within, true, pointer),
            Action::Check { find, state } => self.set(find, within, *state, pointer),
            Action::Select { find, option } => self.select(find, within, option, pointer),
            Action::Typeahead { find, list, text } => {
                self.enter(find, within, text, pointer)?;
                self.pick(list, text)?;
                self.until(find, within, "does not keep the option", |found| {
                    fold(found["value"].as_str().unwrap_or_default()) == fold(text)
                })
            }
            Action::Press { find } => self.press(find, within),
            Action::Repeat { field, rows } => {
                let (Some(add), Some(item)) = (&field.add, &field.item) else {
                    return Err(changed("The file does not say how rows are added."));
                };
                let first = self.count(item)?;
                for (n, row) in rows.iter().enumerate() {
                    let index = first + n as u64;
                    self.press(&add.find, None)?;
                    self.wait_for_rows(item, index + 1)?;
                    let within = Within { item, index };
                    for step in row {
                        let told = |failure: Failure| failure.field(&step.pointer);
                        self.act(step, Some(&within)).map_err(told)?;
                    }
                    if let Some(save) = &field.save {
                        self.press(&save.find, Some(&within))?;
                    }
                }
                self.wait_for_rows(item, first + rows.len() as u64)
            }
        }
    }

    /// Presses a button or link. A radio button or checkbox is then on.
    pub fn press_button(&mut self, find: &[String]) -> Result<(), Failure> {
        self.press(find, None)
    }

    fn press(&mut self, find: &[String], within: Option<&Within>) -> Result<(), Failure> {
        let found = self.locate(find, within, "")?;
        let is_switch = ["radio", "checkbox"].contains(&found["type"].as_str().unwrap_or_default());
        match is_switch {
            true => self.set(find, within, true, ""),
            false => self.click(find, within),
        }
    }

    /// Types into a control, over what it holds.
    fn enter(
        &mut self,
        find: &[String],
        within: Option<&Within>,
        text: &str,
        pointer: &str,
    ) -> Result<(), Failure> {
        let found = self.locate(find, within, pointer)?;
        if found["readonly"] == true {
            return Err(not_taken("The control can't be changed."));
        }
        let focused = self.ask("focus", find, within, json!({}))?;
        if !focused.is_some_and(|focused| focused["focused"] == true) {
            return Err(not_taken("The control does not take the focus."));
        }
        self.tab.call("Input.insertText", json!({ "text": text }))?;
        Ok(())
    }

    /// Brings a radio button or checkbox into a state.
    fn set(
        &mut self,
        find: &[String],
        within: Option<&Within>,
        state: bool,
        pointer: &str,
    ) -> Result<(), Failure> {
        let found = self.locate(find, within, pointer)?;
        if found["checked"] != state {
            self.click(find, within)?;
        }
        self.until(find, within, "does not keep its state", |found| found["checked"] == state)
    }

    fn select(
        &mut self,
        find: &[String],
        within: Option<&Within>,
        option: &str,
        pointer: &str,
    ) -> Result<(), Failure> {
        self.locate(find, within, pointer)?;
        let chosen = self.ask("select", find, within, json!({ "option": option }))?;
        match chosen.as_ref().and_then(|chosen| chosen["reason"].as_str()) {
            Some("no select") => return Err(changed("The control is no list of options.")),
            Some(_) => return Err(not_taken("The control offers no such option, or several.")),
            None => {}
        }
        let wanted = chosen.map(|chosen| chosen["option"].clone()).unwrap_or_default();
        self.tab.ask(&json!({ "op": "blur" }))?;
        self.until(find, within, "does not keep the option", |found| found["option"] == wanted)
    }

    /// Picks the option whose words are equal, not the first in the list.
    fn pick(&mut self, list: &[String], text: &str) -> Result<(), Failure> {
        let end = Instant::now() + LIST;
        loop {
            let request = json!({ "op": "options", "find": list, "option": text });
            let found = self.tab.ask(&request)?.unwrap_or_default();
            if let (Some(x), Some(y)) = (found["x"].as_f64(), found["y"].as_f64()) {
                return self.tab.click(x, y);
            }
            if Instant::now() >= end {
                let count = found["count"].as_u64().unwrap_or(0);
                let fits = found["fits"].as_u64().unwrap_or(0);
                let message = "The list does not offer the given text, or more than once.";
                return Err(not_taken(message)
                    .expected(["1 equal option".to_string()])
                    .found([format!("{fits} equal among {count} options")]));
            }
            self.tab.wait(POLL)?;
        }
    }

    fn click(&mut self, find: &[String], within: Option<&Within>) -> Result<(), Failure> {
        let end = Instant::now() + TAKE;
        loop {
            let found = self.ask("point", find, within, json!({}))?.unwrap_or_default();
            if let (Some(x), Some(y)) = (found["x"].as_f64(), found["y"].as_f64())
                && found["disabled"] != true
            {
                return self.tab.click(x, y);
            }
            if Instant::now() >= end {
                let why = match found["reason"].as_str() {
                    Some("covered") => "The control is covered by something else.",
                    Some(_) => "The control is hidden.",
                    None if found["disabled"] == true => "The control is disabled.",
                    None => "The control is no longer there.",
                };
                return Err(not_taken(why).expected(find.iter().cloned()));
            }
            self.tab.wait(POLL)?;
        }
    }

    /// Waits until exactly one element is meant, by the first locator that does so.
    fn locate(
        &mut self,
        find: &[String],
        within: Option<&Within>,
        pointer: &str,
    ) -> Result<Value, Failure> {
        let end = Instant::now() + LONGEST;
        self.tab.restart_quiet();
        loop {
            let found = self.ask("look", find, within, json!({}))?.unwrap_or_default();
            if let Some(index) = found["index"].as_u64() {
                if index > 0 {
                    let name = if pointer.is_empty() { "a control" } else { pointer };
                    let warning = format!(
                        "{name} was found by its locator number {}: the page has changed, and \
                         the description should be looked at.",
                        index + 1
                    );
                    if !self.warnings.contains(&warning) {
                        self.warnings.push(warning);
                    }
                }
                return Ok(found);
            }
            if self.tab.quiet() >= SETTLE || Instant::now() >= end {
                let counts = found["counts"].as_array().into_iter().flatten();
                let counts = find.iter().zip(counts.map(|count| count.as_u64().unwrap_or(0)));
                let found = counts.map(|(locator, count)| format!("{count} × {locator}"));
                let found: Vec<String> = found.collect();
                return Err(changed("A control of the description is not on the page.")
                    .expected(find.iter().map(|locator| format!("1 × {locator}")))
                    .found(found));
            }
            self.tab.wait(POLL)?;
        }
    }

    /// Waits until the control is as it should be.
    fn until(
        &mut self,
        find: &[String],
        within: Option<&Within>,
        complaint: &str,
        is_right: impl Fn(&Value) -> bool,
    ) -> Result<(), Failure> {
        let end = Instant::now() + TAKE;
        loop {
            if self.ask("look", find, within, json!({}))?.is_some_and(|found| is_right(&found)) {
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(not_taken(format!("The control {complaint}.")));
            }
            self.tab.wait(POLL)?;
        }
    }

    fn count(&mut self, item: &str) -> Result<u64, Failure> {
        let found = self.tab.ask(&json!({ "op": "count", "item": item }))?.unwrap_or_default();
        Ok(found["count"].as_u64().unwrap_or(0))
    }

    fn wait_for_rows(&mut self, item: &str, wanted: u64) -> Result<(), Failure> {
        let end = Instant::now() + SETTLE;
        loop {
            let count = self.count(item)?;
            if count == wanted {
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(changed("The group does not have the rows that were added.")
                    .expected([format!("{wanted} × {item}")])
                    .found([format!("{count} × {item}")]));
            }
            self.tab.wait(POLL)?;
        }
    }

    fn ask(
        &mut self,
        op: &str,
        find: &[String],
        within: Option<&Within>,
        more: Value,
    ) -> Result<Option<Value>, Failure> {
        let mut request = more;
        request["op"] = json!(op);
        request["find"] = json!(find);
        if let Some(Within { item, index }) = within {
            request["within"] = json!({ "item": item, "index": index });
        }
        self.tab.ask(&request)
    }
}

fn changed(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::PageChanged, message)
}

fn not_taken(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::FieldNotTaken, message)
}

/// Whether a control holds what was typed. Forms write sums in their own way.
fn is_same(held: &str, typed: &str) -> bool {
    let number = |text: &str| {
        let digits: String =
            text.chars().filter(|c| !matches!(c, '$' | ',') && !c.is_whitespace()).collect();
        digits.parse::<f64>().ok()
    };
    held == typed
        || match (number(held), number(typed)) {
            (Some(held), Some(typed)) => held == typed,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn a_sum_may_be_written_in_the_forms_way_and_nothing_else() {
        for (held, typed) in
            [("75000", "75000"), ("$75,000", "75000"), ("5", "05"), ("12.50", "12.5")]
        {
            assert!(is_same(held, typed), "{held} {typed}");
        }
        for (held, typed) in [("7500", "75000"), ("", "0"), ("Ohi", "Ohio"), ("1980", "1981")] {
            assert!(!is_same(held, typed), "{held} {typed}");
        }
    }
}
