//! TOML. A server is a table of its own at the end of the file, or a member of an inline table
//! where the file has one.

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::render::{toml_key, toml_tables, toml_value};
use super::layout::{Items, newline};
use super::{EditError, Editor, Splice};

pub struct Toml {
    text: String,
}

type Table<'a> = DeTable<'a>;

impl Editor for Toml {
    const NAME: &'static str = "TOML";

    fn parse(text: &str) -> Result<Toml, String> {
        toml::from_str::<toml::Table>(text).map_err(|error| {
            let line = error.span().map(|s| text[..s.start].matches('\n').count() + 1);
            let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            format!("{line}{}", error.message())
        })?;
        Ok(Toml { text: text.to_string() })
    }

    fn value(&self) -> Value {
        let table = toml::from_str::<toml::Table>(&self.text).ok();
        table.and_then(|table| serde_json::to_value(table).ok()).unwrap_or(Value::Null)
    }

    fn set(&self, container: &str, name: &str, entry: &Value) -> Result<Splice, EditError> {
        let root = self.table()?;
        let servers = member(root.get_ref(), container);
        let Some((_, servers)) = servers else { return Ok(self.append(container, name, entry)) };
        let inner = self.members(servers, container)?;
        let is_inline = self.is_inline(servers);
        match member(inner, name) {
            Some((_, own)) if self.is_inline(own) => {
                let span = own.span();
                Ok(Splice { from: span.start, to: span.end, text: toml_value(entry) })
            }
            Some((key, own)) => {
                let (from, to) = self.block(key.span().start, own.get_ref(), container, name)?;
                Ok(Splice { from, to, text: self.render(container, name, entry) })
            }
            None if is_inline => {
                let item = format!("{} = {}", toml_key(name), toml_value(entry));
                Ok(self.items(servers, inner).insert_inline(&item))
            }
            None => Ok(self.append(container, name, entry)),
        }
    }

    fn remove(&self, container: &str, name: &str) -> Result<Option<Splice>, EditError> {
        let root = self.table()?;
        let Some((_, servers)) = member(root.get_ref(), container) else { return Ok(None) };
        let inner = self.members(servers, container)?;
        let Some((key, own)) = member(inner, name) else { return Ok(None) };
        if self.is_inline(servers) {
            let items = self.items(servers, inner);
            let number = items.items.iter().position(|(from, _)| *from == key.span().start);
            return Ok(number.map(|number| items.remove(number)));
        }
        if self.is_inline(own) {
            return Err(EditError::Unusual(format!("{container}.{name} is written as one value")));
        }
        let (from, to) = self.block(key.span().start, own.get_ref(), container, name)?;
        let line_end = self.text[to..].find('\n').map_or(self.text.len(), |n| to + n + 1);
        // With the empty line before it, which it brought along.
        let before = &self.text[..from];
        let shorter = before.strip_suffix('\n').unwrap_or(before);
        let shorter = shorter.strip_suffix('\r').unwrap_or(shorter);
        let from = if shorter.is_empty() || shorter.ends_with('\n') { shorter.len() } else { from };
        Ok(Some(Splice { from, to: line_end, text: String::new() }))
    }
}

impl Toml {
    fn table(&self) -> Result<Spanned<Table<'_>>, EditError> {
        DeTable::parse(&self.text).map_err(|error| EditError::Unreadable {
            format: Toml::NAME,
            why: error.message().to_string(),
        })
    }

    fn members<'a, 'b>(
        &self,
        value: &'a Spanned<DeValue<'b>>,
        what: &str,
    ) -> Result<&'a Table<'b>, EditError> {
        let table = value.get_ref().as_table();
        table.ok_or_else(|| EditError::Unusual(format!("{what} is not a table")))
    }

    /// Whether a value is written in braces.
    fn is_inline(&self, value: &Spanned<DeValue>) -> bool {
        self.text[value.span().start..].starts_with('{')
    }

    fn items<'a>(&'a self, value: &Spanned<DeValue>, table: &Table) -> Items<'a> {
        let span = value.span();
        let mut items: Vec<(usize, usize)> =
            table.iter().map(|(key, value)| (key.span().start, value.span().end)).collect();
        items.sort_unstable();
        let (from, to) = (span.start + 1, span.end - 1);
        Items { text: &self.text, from, to, items, line_comment: "#" }
    }

    fn render(&self, container: &str, name: &str, entry: &Value) -> String {
        let mut path = vec![container.to_string(), name.to_string()];
        let tables = toml_tables(entry, &mut path);
        tables.trim().replace('\n', newline(&self.text))
    }

    /// A new table behind everything else.
    fn append(&self, container: &str, name: &str, entry: &Value) -> Splice {
        let (at, newline) = (self.text.len(), newline(&self.text));
        let before = match self.text.as_str() {
            "" => String::new(),
            text if text.ends_with('\n') => newline.to_string(),
            _ => newline.repeat(2),
        };
        let text = format!("{before}{}{newline}", self.render(container, name, entry));
        Splice { from: at, to: at, text }
    }

    /// The lines of a table and of those below it, which must stand together.
    fn block(
        &self,
        key: usize,
        table: &DeValue,
        container: &str,
        name: &str,
    ) -> Result<(usize, usize), EditError> {
        let scattered =
            || EditError::Unusual(format!("{container}.{name} is written in several places"));
        let from = self.text[..key].rfind('\n').map_or(0, |n| n + 1);
        let header = self.text[from..].trim_start();
        let own = [format!("[{container}.{name}"), format!("[{container}.\"{name}\"")];
        if !own.iter().any(|own| header.starts_with(own)) {
            return Err(scattered());
        }
        let header_end = self.text[from..].find(']').map_or(self.text.len(), |n| from + n + 1);
        let to = last(table).unwrap_or(header_end).max(header_end);
        // Headers of other tables in between belong to others.
        let others = self.text[from..to]
            .lines()
            .map(str::trim_start)
            .any(|line| line.starts_with('[') && !own.iter().any(|own| line.starts_with(own)));
        if others { Err(scattered()) } else { Ok((from, to)) }
    }
}

/// Where the last plain value of a table ends.
fn last(value: &DeValue) -> Option<usize> {
    let table = value.as_table()?;
    let end = |value: &Spanned<DeValue>| match value.get_ref().as_table() {
        Some(_) => last(value.get_ref()).or(Some(value.span().end)),
        None => Some(value.span().end),
    };
    table.iter().filter_map(|(_, value)| end(value)).max()
}

fn member<'a, 'b>(
    table: &'a Table<'b>,
    name: &str,
) -> Option<(&'a Spanned<toml::de::DeString<'b>>, &'a Spanned<DeValue<'b>>)> {
    table.iter().find(|(key, _)| key.get_ref().as_ref() == name)
}
