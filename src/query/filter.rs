//! One condition on one column: read from a parameter, written as SQL with bound values.

use crate::catalog::{Field, Kind};
use crate::error::{Error, Result};

use super::table::Table;

/// More alternatives than this in one parameter are a mistake.
const MOST_VALUES: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Any,
    Lt,
    Lte,
    Gt,
    Gte,
}

impl Op {
    pub const SUFFIXES: [(&'static str, Op); 4] = [("lt", Op::Lt), ("lte", Op::Lte), ("gt", Op::Gt), ("gte", Op::Gte)];

    const fn sql(self) -> &'static str {
        match self {
            Op::Any => "=",
            Op::Lt => "<",
            Op::Lte => "<=",
            Op::Gt => ">",
            Op::Gte => ">=",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Filter {
    /// The parameter as it was written, for explanations.
    pub said: String,
    column: &'static str,
    kind: Kind,
    op: Op,
    values: Vec<String>,
}

/// Turns an id as written into its canonical form; the one who holds the bundle knows the newest congress.
pub type ReadId<'a> = &'a dyn Fn(&'static str, &str) -> Result<String>;

impl Filter {
    /// Rows of the current version of a text.
    pub fn current() -> Filter {
        Filter { said: String::new(), column: "current", kind: Kind::Bool, op: Op::Any, values: vec!["true".into()] }
    }

    pub fn is_on(&self, column: &str) -> bool {
        self.column == column
    }

    /// Reads the value of a parameter named after `column`.
    pub fn read(table: &Table, name: &str, column: Field, op: Op, raw: &str, read_id: ReadId) -> Result<Filter> {
        let fail = |message: String| Error::invalid(name, message);
        if !column.can_filter() {
            return Err(fail(format!("`{}` is prose and can't be filtered.", column.name)));
        }
        if op != Op::Any && !matches!(column.kind, Kind::Int | Kind::Date) {
            let kind = column.kind.name();
            return Err(fail(format!("`{}` is a {kind}: only numbers and dates can be compared.", column.name)));
        }
        let raw = raw.trim();
        if raw.is_empty() {
            return Err(fail(format!("`{name}` has no value.")));
        }
        let known = table.values(column.name);
        let parts = match known.and_then(|values| known_value(values, raw)) {
            // "Arts, Culture, Religion" is one value, not three.
            Some(value) => vec![value.to_string()],
            None if op == Op::Any => split(raw),
            None => vec![raw.to_string()],
        };
        if parts.len() > MOST_VALUES {
            return Err(fail(format!("`{name}` lists {} values; at most {MOST_VALUES} are taken.", parts.len())));
        }
        let read = |part: &String| -> Result<String> {
            match column.kind {
                Kind::Int => match part.parse::<i64>() {
                    Ok(n) => Ok(n.to_string()),
                    Err(_) => Err(fail(format!("`{name}` takes a whole number, and {part:?} is none."))),
                },
                Kind::Bool => match part.to_ascii_lowercase().as_str() {
                    "true" | "1" | "yes" => Ok("true".into()),
                    "false" | "0" | "no" => Ok("false".into()),
                    _ => Err(fail(format!("`{name}` takes true or false, not {part:?}."))),
                },
                Kind::Date => match Span::read(part) {
                    Some(span) => Ok(span.bound(op)),
                    None => Err(fail(format!("`{name}` takes a date (2025-01-31, 2025-01 or 2025), not {part:?}."))),
                },
                Kind::Id(source) | Kind::Ids(source) => read_id(source, part).map_err(|mut e| {
                    e.field = Some(name.to_string());
                    e
                }),
                Kind::Keyword | Kind::Keywords => match known {
                    None => Ok(part.to_lowercase()),
                    Some(values) => match known_value(values, part) {
                        Some(value) => Ok(value.to_lowercase()),
                        None => Err(fail(format!("No record has {} {part:?}.", column.name))
                            .suggest(part, values.iter().map(String::as_str))),
                    },
                },
                Kind::Text => Ok(part.clone()),
            }
        };
        let values = parts.iter().map(read).collect::<Result<Vec<_>>>()?;
        Ok(Filter { said: format!("{name}={raw}"), column: column.name, kind: column.kind, op, values })
    }

    /// The condition, with its values pushed onto `bound`.
    pub fn sql(&self, bound: &mut Vec<String>) -> String {
        let column = quoted(self.column);
        let marks = |cast: &str| vec![format!("?::{cast}"); self.values.len()].join(", ");
        bound.extend(self.values.iter().cloned());
        match self.kind {
            Kind::Keyword | Kind::Text => format!("lower({column}) IN ({})", marks("VARCHAR")),
            Kind::Id(_) => format!("{column} IN ({})", marks("VARCHAR")),
            Kind::Keywords => {
                format!("list_has_any(list_transform({column}, lambda x: lower(x)), [{}])", marks("VARCHAR"))
            }
            Kind::Ids(_) => format!("list_has_any({column}, [{}])", marks("VARCHAR")),
            Kind::Bool => format!("{column} IN ({})", marks("BOOLEAN")),
            Kind::Int if self.op == Op::Any => format!("{column} IN ({})", marks("BIGINT")),
            Kind::Int => format!("{column} {} ?::BIGINT", self.op.sql()),
            Kind::Date if self.op == Op::Any => {
                bound.truncate(bound.len() - self.values.len());
                let spans = self.values.iter().filter_map(|v| v.split_once(".."));
                let between = spans.map(|(first, last)| {
                    bound.extend([first.to_string(), last.to_string()]);
                    format!("{column} BETWEEN ?::DATE AND ?::DATE")
                });
                format!("({})", between.collect::<Vec<_>>().join(" OR "))
            }
            Kind::Date => format!("{column} {} ?::DATE", self.op.sql()),
        }
    }

    /// What tells this condition from others, for cursors.
    pub fn key(&self) -> String {
        format!("{}{}{}", self.column, self.op.sql(), self.values.join("\u{1f}"))
    }
}

/// An identifier of the catalog as SQL. Names come from the catalog only; quoting guards reserved words.
pub fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn known_value<'v>(values: &'v [String], raw: &str) -> Option<&'v str> {
    let lower = raw.to_lowercase();
    values.iter().find(|v| v.to_lowercase() == lower).map(String::as_str)
}

/// Comma-separated values; one that holds a comma is written in double quotes.
fn split(raw: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut in_quotes = false;
    for c in raw.chars() {
        match c {
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => parts.push(String::new()),
            c => {
                if let Some(part) = parts.last_mut() {
                    part.push(c);
                }
            }
        }
    }
    parts.iter().map(|p| p.trim().to_string()).filter(|p| !p.is_empty()).collect()
}

/// A day, a month or a year as its first and last day.
#[derive(Debug, PartialEq, Eq)]
struct Span {
    first: String,
    last: String,
}

impl Span {
    fn read(text: &str) -> Option<Span> {
        let parts: Vec<&str> = text.split('-').collect();
        let digits = |s: &str, n: usize| {
            (s.len() == n && s.bytes().all(|b| b.is_ascii_digit())).then(|| s.parse::<u32>().ok())?
        };
        let year = digits(parts.first()?, 4).filter(|y| (1..=9999).contains(y))?;
        let month = parts.get(1).map(|m| digits(m, 2).filter(|m| (1..=12).contains(m)));
        let day = parts.get(2).map(|d| digits(d, 2));
        let days_in = |month: u32| match month {
            2 if (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let (first, last) = match (parts.len(), month, day) {
            (1, None, None) => ((1, 1), (12, 31)),
            (2, Some(Some(m)), None) => ((m, 1), (m, days_in(m))),
            (3, Some(Some(m)), Some(Some(d))) if (1..=days_in(m)).contains(&d) => ((m, d), (m, d)),
            _ => return None,
        };
        let iso = |(m, d): (u32, u32)| format!("{year:04}-{m:02}-{d:02}");
        Some(Span { first: iso(first), last: iso(last) })
    }

    /// What a comparison compares with: `lte=2025` means up to the last day of 2025, `gt=2025` after it.
    fn bound(self, op: Op) -> String {
        match op {
            Op::Any => format!("{}..{}", self.first, self.last),
            Op::Lt | Op::Gte => self.first,
            Op::Lte | Op::Gt => self.last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_a_day_a_month_or_a_year() {
        let span = |text: &str| Span::read(text).map(|s| (s.first, s.last));
        let pair = |a: &str, b: &str| Some((a.to_string(), b.to_string()));
        assert_eq!(span("2024"), pair("2024-01-01", "2024-12-31"));
        assert_eq!(span("2024-02"), pair("2024-02-01", "2024-02-29"));
        assert_eq!(span("2025-01-31"), pair("2025-01-31", "2025-01-31"));
        for bad in ["", "25", "2025-13", "2025-02-29", "2025-1-1", "2025-01-01-01", "-2025", "20x5", "2025-00-01"] {
            assert_eq!(span(bad), None, "{bad}");
        }
    }

    #[test]
    fn values_are_split_at_commas_outside_quotes() {
        assert_eq!(split("118,119"), ["118", "119"]);
        assert_eq!(split(r#""Arts, Culture, Religion", Health"#), ["Arts, Culture, Religion", "Health"]);
        assert!(split(",,").is_empty());
    }
}
